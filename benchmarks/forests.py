"""FastXML beside the authors' program: time, size, precision.

The authors' C++ (g++ -O3, one thread, 50 trees, its defaults) was timed on another
machine, where ``OneVsRestClassifier(LinearSVC(random_state=0))`` took 16.9 s on the
training rows of bibtex. The same is timed here, and the authors' seconds are scaled by
the ratio. Times are CPU seconds of one thread; figures are means over the seeds.
"""

import argparse
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import LinearSVC

import manylabel as ml

FOLDER = Path(__file__).parents[1] / "../shared/data"
YARDSTICK = 16.9
METRICS = [f"{kind}@{k}" for kind in ("P", "PSP") for k in (1, 3, 5)]


class Row(NamedTuple):
    """What the authors' FastXML needs and reaches on a data set."""

    train: float  # seconds
    predict: float  # seconds for all test rows
    megabytes: float
    figures: tuple[float, ...]  # in the order of METRICS


AUTHORS = {
    "bibtex": Row(15.6, 0.36, 35, (63.46, 39.51, 28.72, 48.24, 52.66, 57.78)),
    "rcv1sub1": Row(12.4, 0.20, 14, (57.83, 46.67, 38.50, 40.37, 48.09, 60.38)),
    "delicious": Row(32.0, 2.15, 134, (68.6, 63.06, 58.44, 32.05, 34.08, 35.1)),
    "debtags": Row(53.7, 1.76, 112, (84.36, 60.17, 45.26, 51.06, 57.18, 58.59)),
    "depends": Row(127.2, 14.2, 256, (66.83, 43.59, 32.55, 12.08, 14.67, 16.65)),
}


def seconds(task: Callable[[], Any]) -> tuple[float, Any]:
    """Return the CPU seconds of a task, and its result."""
    start = time.process_time()
    result = task()
    return time.process_time() - start, result


def pace(folder: Path) -> float:
    """Return how many times as long as there the yardstick takes here."""
    train = ml.read(folder / "xmc" / "bibtex" / "train.txt.gz")
    X, Y = train.X.astype(float), train.Y.toarray().astype(int)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = OneVsRestClassifier(LinearSVC(random_state=0))
        elapsed, _ = seconds(lambda: model.fit(X, Y))
    print(f"yardstick: {elapsed:.1f} s here, {YARDSTICK} s there")
    return elapsed / YARDSTICK


def compare(name: str, folder: Path, ratio: float, n_seeds: int) -> None:
    train = ml.read(folder / "xmc" / name / "train.txt.gz")
    test = ml.read(folder / "xmc" / name / "test.txt.gz")
    propensity = ml.Propensity().fit(train.Y)
    rows = []
    for seed in range(n_seeds):
        model = ml.FastXML(random_state=seed)
        training, _ = seconds(lambda model=model: model.fit(train.X, train.Y))
        predicting, best = seconds(lambda model=model: model.predict_topk(test.X, k=5))
        report = ml.evaluate(test.Y, best, k=(1, 3, 5), propensity=propensity)
        arrays = [v for v in model.get_state().values() if isinstance(v, np.ndarray)]
        size = sum(array.nbytes for array in arrays) / 1e6
        figures = [100 * report[metric] for metric in METRICS]
        rows.append([training, predicting, size, *figures])
    ours, theirs = np.mean(rows, axis=0), AUTHORS[name]
    print(name)
    show("ours", *ours[:3], ours[3:])
    scaled = (ratio * theirs.train, ratio * theirs.predict, theirs.megabytes)
    show("authors", *scaled, theirs.figures)


def show(who: str, train: float, predict: float, size: float, figures: Any) -> None:
    values = " / ".join(f"{value:.2f}" for value in figures)
    print(f"  {who:8} {train:6.1f} s {predict:6.2f} s {size:6.1f} MB  {values}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", nargs="*", default=["bibtex", "delicious"])
    parser.add_argument("--data", type=Path, default=FOLDER)
    parser.add_argument("--seeds", type=int, default=3)
    arguments = parser.parse_args()
    rows = np.eye(30)
    ml.FastXML(n_trees=1).fit(rows, rows).predict_topk(rows)  # compile
    print("        train, predict, size, " + " / ".join(METRICS))
    ratio = pace(arguments.data)
    for name in arguments.sets:
        compare(name, arguments.data, ratio, arguments.seeds)


if __name__ == "__main__":
    main()
