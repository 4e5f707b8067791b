"""The six kernels in which most of the time is spent, on data that never change.

``python -m benchmarks.hot_kernels NAME N NAME N ...`` runs each of them N times, for a
program that counts instructions. As such a program is slow, no more than NumPy and
Numba are imported, once: each run is a fork, whose count goes on from its parent's.
"""

import os
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from manylabel._kernels._jit import kernel
from manylabel._kernels.cs_dpp import capped_msg
from manylabel._kernels.forest import partition, router
from manylabel._kernels.forest.router import Rows
from manylabel._kernels.linear import separator, svm
from manylabel._kernels.text import words as text_words

SEED = np.uint64(7)


class Work(NamedTuple):
    """Something to do again and again, and how much it is."""

    run: Callable[[], Any]
    amount: int
    unit: str


@kernel
def separate(*arguments: Any) -> None:
    """Open the separator, which kernels alone can call, to Python."""
    separator.solve(*arguments)


@kernel
def divide(*arguments: Any) -> Any:
    """Open the partition to Python."""
    return partition.split(*arguments)


def shortened(weights: Any) -> Any:
    """Return the upper halves of single-precision numbers, rounded."""
    bits = weights.view(np.uint32)
    even = (bits >> np.uint32(16)) & np.uint32(1)
    return ((bits + np.uint32(0x7FFF) + even) >> np.uint32(16)).astype(np.uint16)


def sparse(n_rows: int, n_columns: int, per_row: int, seed: int) -> Rows:
    """Return rows of as many values each, columns ascending, small ones more often."""
    rng = np.random.default_rng(seed)
    chances = 1 / np.arange(3, n_columns + 3)
    chances /= chances.sum()
    columns = [
        np.sort(rng.choice(n_columns, per_row, replace=False, p=chances))
        for _ in range(n_rows)
    ]
    indptr = np.arange(0, n_rows * per_row + 1, per_row, dtype=np.int32)
    data = rng.random(n_rows * per_row, dtype=np.float32)
    return Rows(indptr, np.concatenate(columns).astype(np.int32), data)


def transposed(rows: Rows, n_columns: int) -> Rows:
    """Return the same matrix by columns (CSC)."""
    order = np.argsort(rows.indices, kind="stable")
    counts = np.bincount(rows.indices, minlength=n_columns)
    indptr = np.concatenate([[0], np.cumsum(counts)])
    row = np.repeat(np.arange(len(rows.indptr) - 1), np.diff(rows.indptr))
    return Rows(indptr, row[order].astype(np.int32), rows.data[order])


def coordinate_descent() -> Work:
    """OneVsRest: sixteen labels side by side, five passes."""
    n_rows, n_features, n_labels = 2_000, 500, 16
    X = sparse(n_rows, n_features, 20, seed=1)
    Y = transposed(sparse(n_rows, n_labels, 3, seed=2), n_labels)
    problem = svm.Problem(
        *(*X, Y.indptr, Y.indices),
        bias=np.float32(1.0),
        length=np.add.reduceat(X.data**2, X.indptr[:-1]) + np.float32(1.0),
        diagonal=np.full(n_rows, 0.5, np.float32),
        positive_weight=np.ones(n_labels, np.float32),
        tolerance=1e-6,
        is_logistic=False,
    )

    def run() -> None:
        labels = np.arange(n_labels)
        lanes = svm.make_lanes(problem, labels, n_features, n_labels, SEED)
        svm.solve(problem, lanes, 5)

    return Work(run, 5 * len(X.data) * n_labels, "value, label and pass")


def separation() -> Work:
    """FastXML: the separator of a node."""
    n_rows, n_features = 2_000, 500
    X = transposed(sparse(n_rows, n_features, 20, seed=1), n_features)
    columns = separator.Columns(n_rows, n_features, *X)
    side = np.where(np.arange(n_rows) % 3 == 0, 1, -1).astype(np.int8)
    mass, newton = np.ones(n_rows), separator.make_newton(n_rows, n_features)

    def run() -> None:
        separate(columns, side, mass, 1.0, 0.01, 10, np.array([SEED]), newton)

    return Work(run, len(X.data), "value")


def division() -> Work:
    """FastXML: the two sides of the rows of a node, by their labels."""
    n_rows, n_labels = 4_000, 800
    Y = sparse(n_rows, n_labels, 4, seed=3)
    labels = partition.Labels(
        *(n_rows, n_labels, Y.indptr, Y.indices, np.ones(n_rows), np.ones(n_labels))
    )
    discount = 1 / np.log2(np.arange(n_labels) + 2.0)
    sides = partition.make_sides(n_rows, n_labels)

    def run() -> None:
        divide(labels, discount, np.array([SEED]), sides)

    return Work(run, len(Y.data), "label of a row")


def routing() -> Work:
    """Forests: rows down a tree of ten levels."""
    n_rows, n_features, n_inner = 2_000, 500, 1_023
    X, W = sparse(n_rows, n_features, 20, seed=1), sparse(n_inner, n_features, 30, 4)
    n_nodes = 2 * n_inner + 1
    children = np.zeros(n_nodes, np.int32)
    children[:n_inner] = 2 * np.arange(n_inner) + 1
    bits = shortened(W.data - np.float32(0.5))
    starts = np.concatenate([W.indptr, np.full(n_inner + 1, W.indptr[-1])])
    weights = Rows(starts.astype(np.int32), W.indices.astype(np.uint16), bits)
    nodes = (np.array([0, n_nodes]), children, np.zeros(n_nodes, np.float32), weights)
    out = np.empty((n_rows, 1), np.int32)

    def run() -> None:
        router.descend(X, *nodes, router.make_journey(n_rows, n_features), out)

    return Work(run, n_rows, "row")


class Directions(NamedTuple):
    """What the online PCA learns."""

    sizes: Any
    block: Any
    mix: Any
    sigma: Any


@kernel
def take_step(*arguments: Any) -> Any:
    """Open a step of the online PCA to Python."""
    return capped_msg.update(*arguments)


def online_pca() -> Work:
    """CS-DPP: the directions of the labels, moved by one row after another."""
    n_labels, n_components, n_rows = 200, 20, 100
    vectors = np.random.default_rng(5).normal(size=(n_rows, n_labels)) / 15
    nothing = np.empty(0, np.int64), np.empty(0)
    n_block = capped_msg.block_rows(n_components)

    def run() -> None:
        pca = Directions(
            *(np.zeros(2, np.int64), np.zeros((n_block, n_labels))),
            *(np.zeros((n_components + 2, n_block)), np.zeros(n_components + 2)),
        )
        scratch = capped_msg.make_scratch(pca.mix, n_labels)
        for vector in vectors:
            take_step(vector, 0, *nothing, 0.1, capped_msg.ANY, pca, scratch)

    return Work(run, n_rows, "row")


def reading() -> Work:
    """Texts: words, and runs of one and two of them."""
    rng = np.random.default_rng(6)
    letters = np.frombuffer(b"etaoinshrdlu", np.uint8)
    lengths = rng.integers(2, 9, 20_000)
    parts = [rng.choice(letters, n).tobytes() for n in lengths]
    text = np.frombuffer(b" " + b" ".join(parts) + b" ", np.uint8)
    starts = np.array([1, len(text)])
    begins, ends = np.empty((2, len(text)), np.int64)
    w_indptr, g_indptr = np.empty((2, 2), np.int64)
    hashes = np.empty(2 * len(parts), np.uint64)
    places = np.empty((len(hashes), 2), np.int64)

    def run() -> None:
        text_words.find_words(text, starts, w_indptr, begins, ends)
        bounds = w_indptr, begins, ends
        text_words.word_grams(text, *bounds, (1, 2), g_indptr, hashes, places)

    return Work(run, len(text), "byte")


KERNELS: dict[str, Callable[[], Work]] = {
    "OneVsRest coordinate descent": coordinate_descent,
    "FastXML separator": separation,
    "FastXML partition": division,
    "forest router": routing,
    "CS-DPP online PCA": online_pca,
    "words of texts": reading,
}


def main(jobs: list[tuple[str, int]]) -> None:
    """Run the kernels, and print the process of each run."""
    works = {name: KERNELS[name]() for name, _ in jobs}
    for work in works.values():
        work.run()  # compiles, or reads what was compiled
    for name, times in jobs:
        process = os.fork()
        if process == 0:
            for _ in range(times):
                works[name].run()
            os._exit(0)
        os.waitpid(process, 0)
        print(process)


if __name__ == "__main__":
    main(list(zip(sys.argv[1::2], map(int, sys.argv[2::2]), strict=True)))
