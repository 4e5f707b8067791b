"""CS-DPP beside binary relevance and beside NumPy: the seconds of the paper's Table 5.

Each learner predicts every row and then learns it, the runs take turns, and the median
of the ratios is printed. Gradient descent and dense rows as in the paper; the stream of
eurlex size is generated, with sparse rows too. Binary relevance is timed twice: with a
row at a time, as rows of a stream come, and with all rows at hand, when it may take
labels by the block through many rows while their weights are in the cache. (CS-DPP
gains nothing by knowing the rows beforehand.) Then the time of a row against the number
of features, at as many that are not zero, and CS-DPP beside Algorithm 1 in NumPy, as
one would write it, with ridge regression.
"""

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

import manylabel as ml
from benchmarks.algorithm_1 import Algorithm1
from benchmarks.streams import FOLDER, read_scaled
from manylabel._kernels.cs_dpp import regression

ROUNDS = 3
EURLEX = {"n_features": 5_000, "n_labels": 3_993, "n_entries": 236}


def generated(
    n_rows: int, *, n_features: int, n_labels: int, n_entries: int
) -> tuple[sp.csr_array, sp.csr_array]:
    """Return rows of unit length, and labels whose frequencies fall as 1 / rank."""
    rng = np.random.default_rng(0)
    indptr = np.arange(0, n_rows * n_entries + 1, n_entries)
    columns = [np.sort(rng.permutation(n_features)[:n_entries]) for _ in range(n_rows)]
    data = rng.random(n_rows * n_entries, np.float32) / np.sqrt(n_entries / 3)
    X = sp.csr_array((data, np.concatenate(columns), indptr), (n_rows, n_features))
    frequency = 1 / np.arange(1, n_labels + 1)
    labels = rng.choice(n_labels, (n_rows, 5), p=frequency / frequency.sum())
    Y = np.zeros((n_rows, n_labels), np.int8)
    np.put_along_axis(Y, labels, 1, axis=1)
    return X, sp.csr_array(Y)


def pace(learn: Callable[[Any, Any], object], X: Any, Y: Any) -> float:
    """Return the seconds that a row takes."""
    start = time.perf_counter()
    learn(X, Y)
    return (time.perf_counter() - start) / X.shape[0]


def compare(
    title: str, X: Any, Y: Any, *learners: Callable[[Any, Any], object]
) -> None:
    """Time the learners in turn; print the first, and the others as ratios to it."""
    for learn in learners:
        learn(X[:20], Y[:20])  # kernels compiled
    times = np.array([[pace(learn, X, Y) for learn in learners] for _ in range(ROUNDS)])
    ratios = np.median(times[:, 1:] / times[:, :1], axis=0)
    micros = 1e6 * np.median(times, axis=0)
    others = ", ".join(
        f"{micro:.0f} ({ratio:.1f} times)"
        for micro, ratio in zip(micros[1:], ratios, strict=True)
    )
    print(f"{title}: {micros[0]:.0f} us a row against {others}", flush=True)


def dpp(n_components: int) -> Callable[[Any, Any], object]:
    return ml.CSDPP(n_components=n_components, regressor="gradient").fit


def relevance(X: Any, Y: Any) -> None:
    """Binary relevance with all rows at hand."""
    ml.OnlineBinaryRelevance(regressor="gradient").fit(X, Y)


def relevance_by_row(X: Any, Y: Any) -> None:
    """Binary relevance with a row at a time, without what Python costs per call."""
    signs, weights = 2.0 * Y.toarray() - 1, np.zeros((X.shape[1] + 1, Y.shape[1]))
    X, no_spread = X.astype(np.float32), np.empty(0)
    for i in range(X.shape[0]):
        row = (X.indptr[i : i + 2], X.indices, X.data, signs[i : i + 1])
        regression.learn_gradient(*row, 1.0, 1.0, 1.0, i, no_spread, weights)


def table_5(folder: Path) -> None:
    print("CS-DPP against binary relevance by row, and with all rows at hand")
    X, Y = read_scaled("delicious", folder)
    X = sp.csr_array(
        np.where(X == 0, 1e-6, X).astype(np.float32)
    )  # dense: every feature is stored
    both = relevance_by_row, relevance
    compare("delicious, dense, M = 10", X[:7500], Y[:7500], dpp(10), *both)
    X, Y = generated(1500, **EURLEX)
    compare("eurlex size, sparse, M = 25", X, Y, dpp(25), *both)
    X, Y = generated(200, **EURLEX | {"n_entries": EURLEX["n_features"]})
    compare("eurlex size, dense, M = 25", X, Y, dpp(25), *both)


def features() -> None:
    streams = [generated(1500, **EURLEX | {"n_features": d}) for d in (5_000, 500_000)]
    times = np.array([[pace(dpp(25), *s) for s in streams] for _ in range(ROUNDS)])
    few, many = 1e6 * np.median(times, axis=0)
    growth = np.median(times[:, 1] / times[:, 0])
    print(f"5,000 features {few:.0f} us a row, 500,000 {many:.0f} ({growth:.2f} times)")


def numpy_reference(folder: Path) -> None:
    print("CS-DPP for F1 against Algorithm 1 in NumPy")
    for name, n_components, n_rows in (("yeast", 2, 2417), ("delicious", 10, 1000)):
        X, Y = read_scaled(name, folder)
        X, Y = sp.csr_array(X[:n_rows]), Y[:n_rows].toarray().astype(int)
        ours = ml.CSDPP(cost="f1", n_components=n_components)
        theirs = Algorithm1("f1", n_components)
        compare(f"{name}, M = {n_components}", X, Y, ours.fit, theirs.fit)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=FOLDER)
    arguments = parser.parse_args()
    table_5(arguments.data)
    features()
    numpy_reference(arguments.data)


if __name__ == "__main__":
    main()
