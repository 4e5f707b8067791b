"""How good probabilities, sets of least cost and macro rankings are, on real data.

    python -m benchmarks.decisions bibtex delicious debtags

For each learner: the calibration error of its five best labels (ECE, by fifteen
stretches of equal size), the F1 of sets of least expected cost beside that of one
threshold tuned on as many rows held out, and macro-F1@5, coverage@5 and P@5 of its own
ranking and of MacroAtK for macro-F1, row by row and for the batch. Official splits;
nothing is chosen on test rows. CPU seconds are those of Calibrated.
"""

import argparse
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import manylabel as ml
from benchmarks.annotations import FOLDER

N_STRETCHES, K = 15, 5
LEARNERS: dict[str, Any] = {
    "OneVsRest": ml.OneVsRest(),
    "LabelTree": ml.LabelTree(),
    "FastXML": ml.FastXML(),
    "PfastreXML": ml.PfastreXML(),
    "CSDPP": ml.CSDPP(regressor="gradient"),
    "Blend": ml.Blend(),
}


def calibration_error(proba: Any, Y: Any) -> float:
    """Return how far probabilities are from the share that is true, on average."""
    rows = np.repeat(np.arange(proba.shape[0]), np.diff(proba.indptr))
    is_true = np.asarray(Y[rows, proba.indices]).ravel() > 0
    parts = np.array_split(np.argsort(proba.data, kind="stable"), N_STRETCHES)
    gaps = [abs(proba.data[part].mean() - is_true[part].mean()) for part in parts]
    return float(np.average(gaps, weights=[len(part) for part in parts]))


def judge(learner: Any, train: Any, test: Any) -> Iterator[str]:
    """Yield the figures of a learner, in words."""
    start = time.process_time()
    model = ml.Calibrated(learner).fit(train.X, train.Y)
    seconds = time.process_time() - start
    error = calibration_error(model.predict_topk(test.X, K, proba=True), test.Y)
    rule = ml.Thresholds(learner, cost="f1").fit(train.X, train.Y)
    sets, tuned = (
        1 - ml.evaluate(test.Y, each.predict(test.X))["f1"] for each in (model, rule)
    )
    yield f"{seconds:.1f} s, ECE {error:.4f}, F1 {sets:.4f} (one threshold {tuned:.4f})"
    macro = ml.MacroAtK(learner, k=K).fit(train.X, train.Y)
    rankings = {
        "own ranking": model.predict_topk(test.X, K),
        "row by row": macro.predict_topk(test.X, K),
        "batch": macro.assign(test.X).astype(np.float64),
    }
    for name, ranking in rankings.items():
        found = ml.evaluate(test.Y, ranking, k=K)
        kinds = ("macro-F1", "coverage", "P")
        yield f"{name}: " + ", ".join(
            f"{k}@5 {100 * found[f'{k}@5']:.1f}" for k in kinds
        )


def main() -> None:
    """Print the figures of each learner on each set."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", nargs="+")
    parser.add_argument("--learners", nargs="*", default=list(LEARNERS))
    parser.add_argument("--data", type=Path, default=FOLDER)
    given = parser.parse_args()
    for name in given.sets:
        folder = given.data / "xmc" / name
        train, test = (ml.read(folder / f"{p}.txt.gz") for p in ("train", "test"))
        for learner in given.learners:
            print(f"{name}, {learner}")
            for line in judge(LEARNERS[learner], train, test):
                print(f"  {line}", flush=True)


if __name__ == "__main__":
    main()
