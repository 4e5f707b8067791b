"""How good probabilities, sets of least cost and macro rankings are, on real data.

    python -m benchmarks.decisions bibtex delicious debtags

For each learner, by its own ``calibrate``: the calibration error of its five best
labels (ECE, by fifteen stretches of equal size) beside what it would be by chance if
each label were true with its probability, and the F1 of sets of least expected cost
beside that of one threshold tuned on as many rows held out. CPU seconds are those of a
fit without and with ``calibrate``; with ``--one-fit`` there is no fit without, and no
threshold. With ``--macro`` also macro-F1@5, coverage@5 and P@5 of its own ranking and
of MacroAtK for macro-F1 and for coverage, row by row and for the batch. Official
splits, and one row in five of CAL500, which has none; nothing is chosen on test rows.
Training rows come in a random order, as streams do. ``--shuffle`` parts training and
test rows anew, at random.
"""

import argparse
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone

import manylabel as ml
from benchmarks.annotations import FOLDER
from manylabel.text._items import Labelled

N_STRETCHES, K = 15, 5
N_DRAWS = 100  # of labels, by their probabilities
DEPTH = 50  # labels that a row may be given
LEARNERS: dict[str, Any] = {
    "OneVsRest": ml.OneVsRest(),
    "LabelTree": ml.LabelTree(),
    "FastXML": ml.FastXML(),
    "PfastreXML": ml.PfastreXML(),
    "CSDPP": ml.CSDPP(regressor="gradient"),
    "Blend": ml.Blend(),
}


def calibration_error(chance: Any, is_true: Any) -> float:
    """Return how far probabilities are from the share that is true, on average."""
    parts = np.array_split(np.argsort(chance, kind="stable"), N_STRETCHES)
    gaps = [abs(chance[part].mean() - is_true[part].mean()) for part in parts]
    return float(np.average(gaps, weights=[len(part) for part in parts]))


def judge_chances(proba: Any, Y: Any) -> str:
    """Return the calibration error, and its mean if probabilities were right."""
    rows = np.repeat(np.arange(proba.shape[0]), np.diff(proba.indptr))
    is_true = np.asarray(Y[rows, proba.indices]).ravel() > 0
    chance, rng = proba.data, np.random.default_rng(0)
    drawn = [rng.random(len(chance)) < chance for _ in range(N_DRAWS)]
    by_chance = np.mean([calibration_error(chance, labels) for labels in drawn])
    return f"ECE {calibration_error(chance, is_true):.4f} (by chance {by_chance:.4f})"


def read(folder: Path, name: str) -> list[Any]:
    """Return the training and the test rows of a set, as features."""
    if (folder / "xmc" / name).exists():
        files = [folder / "xmc" / name / f"{p}.txt.gz" for p in ("train", "test")]
    elif (folder / "text" / name).exists():
        files = [folder / "text" / name / f"{p}.jsonl.gz" for p in ("train", "test")]
    else:
        files = sorted((folder / "mulan").glob(f"{name}*.arff.gz"), reverse=True)
    parts = [ml.read(file) for file in files]
    if len(parts) == 1:
        is_test = np.random.default_rng(0).permutation(len(parts[0])) % 5 == 0
        parts = [parts[0][np.flatnonzero(each)] for each in (~is_test, is_test)]
    train, test = parts
    if train.X is not None:
        return parts
    words = ml.TextVectorizer()
    X, (_, Y) = words.fit_transform(train.texts), Labelled.of(train, None)
    _, truth = Labelled.of(test, None).aligned(train.labels, test)
    rows = words.transform(test.texts), truth[:, : train.n_labels]
    return [ml.Dataset(X, Y), ml.Dataset(*rows)]


def timed(learner: Any, data: Any) -> tuple[Any, float]:
    """Return a fitted learner, and the CPU seconds that it took."""
    start = time.process_time()
    model = learner.fit(data.X, data.Y)
    return model, time.process_time() - start


def judge(learner: Any, train: Any, test: Any, given: Any) -> Iterator[str]:
    """Yield the figures of a learner, in words."""
    model, seconds = timed(clone(learner).set_params(calibrate="auto"), train)
    error = judge_chances(model.predict_topk(test.X, K, proba=True), test.Y)
    proba = model.predict_topk(test.X, DEPTH, proba=True)
    curves = model.calibration_
    rule = ml.LeastCost("f1", n_candidates=DEPTH, size_ratio=curves.size_ratio)
    sets = f1(test, rule.decide(proba, rest=curves.n_unlisted))
    yield f"calibrated {seconds:.1f} s, {error}, F1 {sets:.4f}"
    if not given.one_fit:
        _, plain = timed(clone(learner), train)
        rule = ml.Thresholds(learner, cost="f1").fit(train.X, train.Y)
        tuned = f1(test, rule.predict(test.X))
        yield f"plain {plain:.1f} s, one threshold F1 {tuned:.4f}"
    if given.macro:
        yield from judge_macro(model, learner, train, test)


def f1(test: Any, sets: Any) -> float:
    """Return the mean F1 of sets of labels."""
    return 1 - float(ml.evaluate(test.Y, sets)["f1"])


def judge_macro(model: Any, learner: Any, train: Any, test: Any) -> Iterator[str]:
    """Yield the macro measures of a ranking and of those that are made for one."""
    rankings = {"own ranking": model.predict_topk(test.X, K)}
    for metric in ("f1", "coverage"):
        made = ml.MacroAtK(learner, metric=metric, k=K).fit(train.X, train.Y)
        rankings[f"for {metric}, row by row"] = made.predict_topk(test.X, K)
        rankings[f"for {metric}, batch"] = made.assign(test.X).astype(np.float64)
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
    for flag in ("--macro", "--one-fit", "--shuffle"):
        parser.add_argument(flag, action="store_true")
    parser.add_argument("--data", type=Path, default=FOLDER)
    given = parser.parse_args()
    for name in given.sets:
        train, test = read(given.data, name)
        if given.shuffle:
            train, test = part_anew(train, test)
        train = train[np.random.default_rng(0).permutation(len(train))]
        for learner in given.learners:
            print(f"{name}, {learner}", flush=True)
            for line in judge(LEARNERS[learner], train, test, given):
                print(f"  {line}", flush=True)


def part_anew(train: Any, test: Any) -> list[Any]:
    """Return as many training and test rows, at random among all of them."""
    X = sp.vstack([train.X, test.X], format="csr")
    Y = sp.vstack([train.Y, test.Y], format="csr")
    order = np.random.default_rng(0).permutation(X.shape[0])
    parts = order[: len(train)], order[len(train) :]
    return [ml.Dataset(X[rows], Y[rows]) for rows in parts]


if __name__ == "__main__":
    main()
