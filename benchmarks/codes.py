"""CS-DPP beside binary relevance and beside NumPy: the seconds of the paper's Table 5.

Each learner predicts every row and then learns it (``progressive``), the runs take
turns, and the median of the ratios is printed. Gradient descent and dense rows as in
the paper; the stream of eurlex size is generated, with sparse rows too. Then the time
of a row against the number of features, at as many that are not zero, and CS-DPP beside
Algorithm 1 in NumPy, as one would write it, with ridge regression.
"""

import argparse
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import scipy.sparse as sp

import manylabel as ml
from benchmarks.algorithm_1 import Algorithm1
from benchmarks.streams import FOLDER, read_scaled

ROUNDS = 3
EURLEX = {"n_features": 5_000, "n_labels": 3_993, "n_entries": 236}


def generated(
    n_rows: int, *, n_features: int, n_labels: int, n_entries: int
) -> tuple[sp.csr_array, sp.csr_array]:
    """Return rows of unit length, and labels whose frequencies fall as 1 / rank."""
    rng = np.random.default_rng(0)
    indptr = np.arange(0, n_rows * n_entries + 1, n_entries)
    columns = [rng.permutation(n_features)[:n_entries] for _ in range(n_rows)]
    data = rng.random(n_rows * n_entries) / np.sqrt(n_entries / 3)
    X = sp.csr_array((data, np.concatenate(columns), indptr), (n_rows, n_features))
    frequency = 1 / np.arange(1, n_labels + 1)
    labels = rng.choice(n_labels, (n_rows, 5), p=frequency / frequency.sum())
    Y = np.zeros((n_rows, n_labels), np.int8)
    np.put_along_axis(Y, labels, 1, axis=1)
    return X, sp.csr_array(Y)


def pace(make: Callable[[], object], X: sp.csr_array, Y: sp.csr_array) -> float:
    """Return the seconds that a row takes."""
    run = ml.progressive(make(), X, Y, costs=("hamming",))
    return run.seconds / run.n_rows


def compare(title: str, ours: Callable, peer: Callable, X: object, Y: object) -> None:
    for make in (ours, peer):
        pace(make, X[:20], Y[:20])  # kernels compiled
    times = np.array([[pace(ours, X, Y), pace(peer, X, Y)] for _ in range(ROUNDS)])
    ratio = np.median(times[:, 1] / times[:, 0])
    mine, theirs = 1e6 * np.median(times, axis=0)
    print(
        f"{title}: {mine:.0f} us a row against {theirs:.0f}: {ratio:.1f} times",
        flush=True,
    )


def dpp(n_components: int, regressor: str = "gradient") -> Callable[[], ml.CSDPP]:
    return lambda: ml.CSDPP(n_components=n_components, regressor=regressor)


def relevance() -> ml.OnlineBinaryRelevance:
    return ml.OnlineBinaryRelevance(regressor="gradient")


def table_5(folder: Path) -> None:
    X, Y = read_scaled("delicious", folder)
    X = sp.csr_array(np.where(X == 0, 1e-6, X))  # dense: every feature is stored
    compare("delicious, dense, M = 10", dpp(10), relevance, X[:7500], Y[:7500])
    X, Y = generated(1500, **EURLEX)
    compare("eurlex size, sparse, M = 25", dpp(25), relevance, X, Y)
    X, Y = generated(200, **EURLEX | {"n_entries": EURLEX["n_features"]})
    compare("eurlex size, dense, M = 25", dpp(25), relevance, X, Y)


def features() -> None:
    streams = {
        d: generated(1500, **EURLEX | {"n_features": d}) for d in (5_000, 500_000)
    }
    times = np.array(
        [[pace(dpp(25), *s) for s in streams.values()] for _ in range(ROUNDS)]
    )
    few, many = 1e6 * np.median(times, axis=0)
    growth = np.median(times[:, 1] / times[:, 0])
    print(f"5,000 features {few:.0f} us a row, 500,000 {many:.0f}: {growth:.2f} times")


def numpy_reference(folder: Path) -> None:
    for name, n_components, n_rows in (("yeast", 2, 2417), ("delicious", 10, 1000)):
        X, Y = read_scaled(name, folder)
        compare(
            f"{name}, Algorithm 1 in NumPy, M = {n_components}",
            lambda m=n_components: ml.CSDPP(cost="f1", n_components=m),
            lambda m=n_components: Algorithm1("f1", m),
            *(sp.csr_array(X[:n_rows]), Y[:n_rows]),
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=FOLDER)
    arguments = parser.parse_args()
    start = time.perf_counter()
    table_5(arguments.data)
    features()
    numpy_reference(arguments.data)
    print(f"{time.perf_counter() - start:.0f} s in all")


if __name__ == "__main__":
    main()
