"""Trees over labels beside binary relevance and the label powerset (Table 8).

Every learner is one setting of a small grid, chosen by F1 on a fifth of the training
rows of a fold. CAL500 and Corel5k are cut into folds, with the published F1 beside;
other sets have their own test rows, and P@k and rows/s are shown. BR is ``OneVsRest``,
LP ``LabelPowerset``. PT and AT follow a single path, as in the paper; "f1" prices their
decisions, "beam" follows 10 paths, with a threshold chosen for F1.
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
PUBLISHED = {
    "CAL500": {"PT": 0.324, "AT": 0.362},
    "Corel5k": {"BR": 0.100, "LP": 0.138, "PT": 0.123, "AT": 0.141},
}
BUDGETS = [(20, 5), (50, 10), (500, 1)]  # features of a plane, and planes
COSTS = [0.1, 1.0, 4.0]


def learners() -> dict[str, list[Any]]:
    """Return the settings that each learner may choose from."""
    grid = [{"budget": b, "max_planes": p, "C": c} for b, p in BUDGETS for c in COSTS]
    few = [{"budget": 20, "max_planes": 5, "C": c} for c in COSTS]
    soft = {"cost": "f1", "beam": 10}
    return {
        "BR": [ml.OneVsRest(C=c) for c in COSTS],
        "LP": [ml.LabelPowerset(C=c) for c in COSTS],
        "PT": [ml.PowersetTree(**s) for s in grid],
        "AT": [ml.AnnotationTree(**s) for s in grid],
        "AT f1": [ml.AnnotationTree(**s, cost="f1") for s in few],
        "PT beam": [ml.PowersetTree(**s, **soft) for s in few],
        "AT beam": [ml.AnnotationTree(**s, **soft) for s in few],
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
    """Return the best of three."""
    times = []
    for _ in range(3):
        start = time.perf_counter()
        task(X)
        times.append(time.perf_counter() - start)
    return float(X.shape[0] / min(times))


def folds(name: str, folder: Path, who: list[str], n_folds: int, n_used: int) -> None:
    """Print the F1 of each learner, mean over some of the folds."""
    parts = [ml.read(p) for p in sorted((folder / "mulan").glob(f"{name}*.arff.gz"))]
    X, Y = (sp.vstack([getattr(p, a) for p in parts], format="csr") for a in "XY")
    if name == "CAL500":
        X = sp.csr_array(MaxAbsScaler().fit_transform(sp.csr_matrix(X)))
    fold = np.random.default_rng(0).permutation(X.shape[0]) % n_folds
    print(f"{name}: {X.shape[0]} rows, {n_used} of {n_folds} folds")
    for learner in who:
        found, speeds = [], []
        for k in range(n_used):
            model = chosen(learners()[learner], X[fold != k], Y[fold != k])
            found.append(f1(Y[fold == k], model.predict(X[fold == k])))
            speeds.append(rows_per_second(model.predict, X))
        published, speed = PUBLISHED[name].get(learner, ""), np.mean(speeds)
        print(
            f"  {learner:8} F1 {np.mean(found):.3f} +- {np.std(found):.3f}  "
            f"{published}  {speed:,.0f} rows/s",
            flush=True,
        )


def split(name: str, folder: Path, who: list[str]) -> None:
    """Print F1, P@k and rows/s of each learner, with default settings but one."""
    train, test = (
        ml.read(folder / "xmc" / name / f"{part}.txt.gz") for part in ("train", "test")
    )
    print(f"{name}: {len(train)} rows, {train.n_labels} labels")
    for learner in who:
        settings = learners()[learner]
        model = settings[len(settings) // 2]
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
    parser.add_argument("--learners", nargs="*", default=list(learners()))
    arguments = parser.parse_args()
    for name in arguments.sets:
        if name in PUBLISHED:
            n_folds, n_used = arguments.folds, arguments.use
            folds(name, arguments.data, arguments.learners, n_folds, n_used)
        else:
            split(name, arguments.data, arguments.learners)


if __name__ == "__main__":
    main()
