"""Training time of OneVsRest beside scikit-learn and LIBLINEAR, one job each.

scikit-learn is ``OneVsRestClassifier(LinearSVC(random_state=0))`` on the rows as they
are; as it keeps all weights, so does ours where the two are compared. LIBLINEAR
(``liblinear-official``) has the same solver and tolerance (``-s 1 -e 0.1 -B 1``) and
the same unit-length rows, and only its training calls are timed; the sums of the
objective over all labels stand side by side. With ``--raw`` both also solve the rows as
they are, which takes minutes. Ours and scikit-learn's runs take turns, and the median
of the ratios is printed.
"""

import argparse
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from liblinear.liblinear import liblinear, parameter, problem, toPyModel
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import normalize
from sklearn.svm import LinearSVC

import manylabel as ml

FOLDER = Path(__file__).parents[1] / "../shared/data"
SETS = ("bibtex", "rcv1sub1", "delicious")
ROUNDS = 3


def seconds(task: Callable[[], Any]) -> tuple[float, Any]:
    """Return how long a task took, and its result."""
    start = time.perf_counter()
    result = task()
    return time.perf_counter() - start, result


def interleaved(*tasks: Callable[[], Any]) -> tuple[Any, list[Any]]:
    """Run the tasks in turn, ``ROUNDS`` times; return the times and last results."""
    rounds = [[seconds(task) for task in tasks] for _ in range(ROUNDS)]
    times = np.array([[elapsed for elapsed, _ in each] for each in rounds])
    return times, [result for _, result in rounds[-1]]


def precision(data: ml.Dataset, scores: Any) -> str:
    report = ml.evaluate(data.Y, scores, k=(1, 3, 5))
    return " / ".join(f"{100 * report[f'P@{k}']:.2f}" for k in (1, 3, 5))


def objective(X: Any, Y: Any, weights: Any, intercept: Any) -> float:
    """Return the sum of all labels' primal objectives at C = 1."""
    targets = 2 * Y.toarray() - 1
    slack = np.maximum(0, 1 - targets * (X @ weights + intercept))
    penalty = (weights**2).sum() + (intercept**2).sum()
    return float(penalty / 2 + (slack**2).sum())


def train_scikit_learn(train: ml.Dataset) -> OneVsRestClassifier:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # labels on no row, labels on every row
        model = OneVsRestClassifier(LinearSVC(random_state=0))
        return model.fit(train.X.astype(float), train.Y.toarray().astype(int))


def train_liblinear(X: Any, Y: Any) -> tuple[float, Any, Any]:
    """Return the seconds within LIBLINEAR, its weights and its intercepts."""
    settings = parameter("-s 1 -c 1 -e 0.1 -B 1 -q")
    rows = problem(np.ones(X.shape[0]), sp.csr_matrix(X.astype(float)), 1.0)
    targets = np.ctypeslib.as_array(rows.y, shape=(X.shape[0],))
    by_label = Y.tocsc()
    weights = np.zeros((X.shape[1] + 1, Y.shape[1]))
    elapsed = 0.0
    for label in np.flatnonzero(np.diff(by_label.indptr)):
        targets[:] = -1
        targets[by_label.indices[slice(*by_label.indptr[label : label + 2])]] = 1
        start = time.perf_counter()
        model = liblinear.train(rows, settings)
        elapsed += time.perf_counter() - start
        sign = 1 if model.contents.label[0] == 1 else -1
        w = np.ctypeslib.as_array(model.contents.w, shape=(X.shape[1] + 1,))
        weights[:, label] = sign * w
        toPyModel(model)  # frees it
    return elapsed, weights[:-1], weights[-1]


def compare_with_liblinear(train: ml.Dataset, *, unit: bool) -> None:
    X = sp.csr_array(normalize(train.X)) if unit else train.X
    ours = ml.OneVsRest(normalize=False, min_weight=0)
    own, model = seconds(lambda: ours.fit(X, train.Y))
    theirs, weights, intercept = train_liblinear(X, train.Y)
    seen = np.diff(train.Y.tocsc().indptr) > 0
    ours = objective(
        X, train.Y[:, seen], model.coef_.toarray()[:, seen], model.intercept_[seen]
    )
    peer = objective(X, train.Y[:, seen], weights[:, seen], intercept[seen])
    kind = "unit-length rows" if unit else "raw rows"
    print(
        f"  LIBLINEAR, {kind}: {theirs:.2f} s, objective {peer:.1f}; "
        f"ours {own:.2f} s, objective {ours:.1f} -> {theirs / own:.1f} times as fast"
    )


def compare(name: str, folder: Path, *, raw: bool) -> None:
    train = ml.read(folder / "xmc" / name / "train.txt.gz")
    test = ml.read(folder / "xmc" / name / "test.txt.gz")
    print(f"{name}: {len(train)} rows, {train.n_features} features, {train.n_labels}")
    times, (model, _, peer) = interleaved(
        lambda: ml.OneVsRest(min_weight=0).fit(train.X, train.Y),
        lambda: ml.OneVsRest(min_weight=0, n_jobs=2).fit(train.X, train.Y),
        lambda: train_scikit_learn(train),
    )
    one, two, theirs = np.median(times, axis=0)
    pruned = ml.OneVsRest().fit(train.X, train.Y)
    predicting, scores = seconds(lambda: pruned.predict_topk(test.X, k=5))
    all_weights = precision(test, model.predict_topk(test.X, k=5))
    print(
        f"  ours: {one:.2f} s, P@1/3/5 {all_weights}; {precision(test, scores)} pruned"
    )
    gain = np.median(times[:, 0] / times[:, 1])
    print(f"  ours, two jobs: {two:.2f} s -> {gain:.2f} times as fast as one")
    print(f"  top 5 of a row: {1e6 * predicting / len(test):.0f} microseconds")
    scores = peer.decision_function(test.X.astype(float))
    gain = np.median(times[:, 2] / times[:, 0])
    print(
        f"  scikit-learn: {theirs:.2f} s, P@1/3/5 {precision(test, scores)} "
        f"-> ours {gain:.1f} times as fast"
    )
    compare_with_liblinear(train, unit=True)
    if raw:
        compare_with_liblinear(train, unit=False)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", nargs="*", default=SETS)
    parser.add_argument("--data", type=Path, default=FOLDER)
    parser.add_argument("--raw", action="store_true")
    arguments = parser.parse_args()
    ml.OneVsRest(n_jobs=2).fit(np.eye(3), np.eye(3)).predict_topk(np.eye(3))  # compile
    for name in arguments.sets:
        compare(name, arguments.data, raw=arguments.raw)


if __name__ == "__main__":
    main()
