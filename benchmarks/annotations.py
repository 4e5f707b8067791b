"""Trees over labels beside binary relevance and the label powerset (Table 8).

The sets of the paper's table are cut into folds, with the published F1 beside; a
learner's setting is one of a small grid, chosen by F1 on a fifth of the training rows
of a fold. Other sets have their own test rows, and P@k and rows/s are shown. BR is
``OneVsRest``, LP ``LabelPowerset``. PT and AT follow a single path, as in the paper;
"f1" prices their decisions, "beam" follows 10 paths, with a threshold chosen for F1.

The grids were laid out on folds of seed 0, so these are not shown: folds are of seed 1.
"""

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.preprocessing import MaxAbsScaler

import manylabel as ml

FOLDER = Path(__file__).parents[1] / "../shared/data"
PUBLISHED: dict[str, dict[str, float]] = {
    "CAL500": {"PT": 0.324, "AT": 0.362},
    "Corel5k": {"BR": 0.100, "LP": 0.138, "PT": 0.123, "AT": 0.141},
    "bibtex": {},
    "delicious": {},
}
SMALL, LARGE = (20, 5), (50, 10)  # features of a plane, and planes


def grid(kind: Any, budgets: list[tuple[int, int]], costs: list[float], **more: Any):
    return [
        kind(budget=budget, max_planes=n_planes, C=C, **more)
        for C in costs
        for budget, n_planes in budgets
    ]


def learners() -> dict[str, list[Any]]:
    """Return the settings that each learner may choose from, the likely ones first."""
    at, pt, both = ml.AnnotationTree, ml.PowersetTree, [SMALL, LARGE]
    soft = {"cost": "f1", "beam": 10}
    return {
        "BR": [ml.OneVsRest(C=C) for C in (1.0, 4.0, 0.1)],
        "LP": [ml.LabelPowerset(C=C) for C in (1.0, 0.1)],
        "PT": grid(pt, [LARGE, (500, 1)], [0.1, 1.0]),
        "AT": grid(at, both, [1.0, 4.0]),
        "PT f1": grid(pt, [LARGE, (500, 1)], [0.1, 1.0], cost="f1"),
        "AT f1": grid(at, both, [1.0, 0.1], cost="f1"),
        "PT beam": grid(pt, [SMALL], [1.0, 0.1], **soft),
        "AT beam": grid(at, [SMALL], [1.0, 0.1], **soft),
        "FastXML": [ml.FastXML()],
    }


def f1(Y: Any, found: Any) -> float:
    """Return the mean F1 of the rows; 1 where nothing is true and nothing given."""
    hits, sizes = Y.multiply(found).sum(axis=1), Y.sum(axis=1) + found.sum(axis=1)
    return float(np.where(sizes > 0, 2 * hits / np.maximum(sizes, 1), 1).mean())


def chosen(settings: list[Any], X: Any, Y: Any) -> Any:
    """Return the setting of the best F1 on a fifth of the rows, fitted to all."""
    if len(settings) == 1:
        return settings[0].fit(X, Y)
    held = np.random.default_rng(0).random(X.shape[0]) < 0.2
    judged = [
        f1(Y[held], model.fit(X[~held], Y[~held]).predict(X[held]))
        for model in settings
    ]
    return settings[int(np.argmax(judged))].fit(X, Y)


def rows_per_second(task: Any, X: Any) -> float:
    """Return the rows of a CPU second, the best of nine."""
    times = []
    for _ in range(9):
        start = time.process_time()
        task(X)
        times.append(time.process_time() - start)
    return float(X.shape[0] / min(times))


def folds(name: str, folder: Path, given: argparse.Namespace) -> None:
    """Print the F1 of each learner, mean over some of the folds."""
    n_folds, n_used = given.folds, given.use
    parts = [ml.read(p) for p in sorted((folder / "mulan").glob(f"{name}*.arff.gz"))]
    X, Y = (sp.vstack([getattr(p, a) for p in parts], format="csr") for a in "XY")
    if name == "CAL500":
        X = sp.csr_array(MaxAbsScaler().fit_transform(sp.csr_matrix(X)))
    fold = np.random.default_rng(1).permutation(X.shape[0]) % n_folds
    print(f"{name}: {X.shape[0]} rows, {n_used} of {n_folds} folds")
    for learner in given.learners:
        found, speeds, settings = [], [], learners()[learner][: given.settings]
        for k in range(n_used):
            model = chosen(settings, X[fold != k], Y[fold != k])
            found.append(f1(Y[fold == k], model.predict(X[fold == k])))
            speeds.append(rows_per_second(model.predict, X))
        published, speed = PUBLISHED[name].get(learner, ""), np.mean(speeds)
        print(
            f"  {learner:8} F1 {np.mean(found):.3f} +- {np.std(found):.3f}  "
            f"{published}  {speed:,.0f} rows/s",
            flush=True,
        )


def split(name: str, folder: Path, who: list[str]) -> None:
    """Print F1, P@k and rows/s of each learner, with the first of its settings."""
    train, test = (
        ml.read(folder / "xmc" / name / f"{part}.txt.gz") for part in ("train", "test")
    )
    print(f"{name}: {len(train)} rows, {train.n_labels} labels")
    for learner in who:
        model = learners()[learner][0]
        start = time.perf_counter()
        model.fit(train.X, train.Y)
        training = time.perf_counter() - start
        few = test.X[:500] if learner in ("BR", "LP") else test.X
        report = ml.evaluate(
            test.Y,
            model.predict_topk(test.X, k=5),
            predictions=model.predict(test.X),
            k=(1, 3, 5),
        )
        precision = " / ".join(f"{100 * report[f'P@{k}']:.1f}" for k in (1, 3, 5))
        speed = rows_per_second(model.predict, few)
        print(
            f"  {learner:8} {training:.0f} s, F1 {1 - report['f1']:.3f}, "
            f"P@k {precision}, {speed:,.0f} rows/s",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", nargs="*", default=["CAL500", "Corel5k", "debtags"])
    parser.add_argument("--data", type=Path, default=FOLDER)
    parser.add_argument("--folds", type=int, default=10)
    parser.add_argument("--use", type=int, default=10, help="folds to run")
    parser.add_argument("--settings", type=int, help="of each learner, to choose from")
    parser.add_argument("--learners", nargs="*", default=list(learners()))
    given = parser.parse_args()
    for name in given.sets:
        if name in PUBLISHED:
            folds(name, given.data, given)
        else:
            split(name, given.data, given.learners)


if __name__ == "__main__":
    main()
