"""CS-DPP beside river on delicious: rows a second, and the mean F1 loss on the way.

river has a logistic regression per label, in a plain dict, which is quicker than its
``PerOutputClassifier``; it runs at each of several learning rates and is judged by the
best. Its rows are dicts made beforehand, without zeros. Both predict each row and then
learn it, and take turns; how fast they only learn stands beside it. river takes seconds
for a hundred rows, so a few hundred have to do; our pace over all rows is given too.
"""

import argparse
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from river.linear_model import LogisticRegression
from river.optim import SGD

import manylabel as ml
from benchmarks.streams import FOLDER, read_scaled

RATES = (0.01, 0.1, 1.0)  # the first is river's default
AIM = 100  # times river's rows a second


class Outcome(NamedTuple):
    """Rows a second, predicted and learnt or only learnt, and the mean F1 loss."""

    rows_per_second: float
    learnt_per_second: float
    loss: float

    def __str__(self) -> str:
        return (
            f"{self.rows_per_second:.0f} rows/s ({self.learnt_per_second:.0f} only "
            f"learnt), F1 loss {self.loss:.3f}"
        )


def dicts(X: sp.csr_array, Y: sp.csr_array) -> list[tuple[dict, dict]]:
    """Return rows as river has them: features not zero, a boolean for every label."""
    rows = []
    for i, truth in enumerate(Y.toarray().astype(bool).tolist()):
        span = slice(X.indptr[i], X.indptr[i + 1])
        x = zip(X.indices[span].tolist(), X.data[span].tolist(), strict=True)
        rows.append((dict(x), dict(enumerate(truth))))
    return rows


def run_river(rows: list[tuple[dict, dict]], Y: sp.csr_array, rate: float) -> Outcome:
    models = {k: LogisticRegression(optimizer=SGD(rate)) for k in range(Y.shape[1])}
    predicting, learning, predictions = 0.0, 0.0, []
    for x, y in rows:
        start = time.perf_counter()
        predictions.append([model.predict_one(x) for model in models.values()])
        middle = time.perf_counter()
        for label, is_on in y.items():
            models[label].learn_one(x, is_on)
        learning += time.perf_counter() - middle
        predicting += middle - start
    loss = ml.evaluate(Y, np.array(predictions, int))["f1"]
    return Outcome(len(rows) / (predicting + learning), len(rows) / learning, loss)


def run_ours(X: sp.csr_array, Y: sp.csr_array) -> Outcome:
    def learner() -> ml.CSDPP:
        return ml.CSDPP(cost="f1", n_components=10, regressor="gradient")

    run = ml.progressive(learner(), X, Y, costs=["f1"])
    start = time.perf_counter()
    learner().partial_fit(X, Y)
    learning = time.perf_counter() - start
    return Outcome(run.rows_per_second, X.shape[0] / learning, run.mean["f1"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=FOLDER)
    parser.add_argument("--rows", type=int, default=300)
    arguments = parser.parse_args()
    X, Y = read_scaled("delicious", arguments.data)
    order = np.random.default_rng(0).permutation(len(X))
    X, Y = sp.csr_array(X[order]), Y[order]
    few = X[: arguments.rows], Y[: arguments.rows]
    rows = dicts(*few)
    run_ours(X[:50], Y[:50])  # compile
    print(f"delicious: {X.shape[1]} features, {Y.shape[1]} labels, {len(rows)} rows")
    pairs = []
    for rate in RATES:
        theirs, ours = run_river(rows, few[1], rate), run_ours(*few)
        pairs.append((theirs, ours))
        print(f"  river, rate {rate}: {theirs}\n  CS-DPP: {ours}", flush=True)
    print(f"  CS-DPP, all {len(order)} rows: {run_ours(X, Y)}")
    both, learnt = (
        np.median([ours[i] / theirs[i] for theirs, ours in pairs]) for i in (0, 1)
    )
    best = min(theirs.loss for theirs, _ in pairs)
    print(
        f"  -> {both:.0f} times the rows/s, {learnt:.0f} times only learning "
        f"(aim: {AIM}), F1 loss {pairs[-1][1].loss:.3f} against {best:.3f}"
    )


if __name__ == "__main__":
    main()
