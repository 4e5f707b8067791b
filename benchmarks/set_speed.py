"""How fast label trees predict sets, beside OneVsRest, from sparse and dense rows.

    python -m benchmarks.set_speed

All rows of Corel5k; each learner as it is by default, and trees with the settings that
were the default before they were chosen. CPU milliseconds of one thread, the least of
some runs; in brackets how many times as fast as OneVsRest. Then what parts of it take:
the checks of sparse and of dense rows, and the kernel, which makes scores of all labels
or follows the path down a tree. What is left is mostly the matrix of sets.

No path is quicker than reading the weights that it is decided by. So for each tree
these are looked up beforehand, and added up without a decision, in the order in which
they lie in memory: "floor", in brackets how many times as fast as all of OneVsRest. A
kernel that takes dense rows as they are has to read them too, once: "dense". "Way
known" are the decisions of each row in turn, if nothing had to wait for their answers.
"""

import argparse
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

import manylabel as ml
from benchmarks.annotations import FOLDER
from benchmarks.dense_rows import least_ms
from manylabel._kernels._jit import kernel
from manylabel._kernels.coding_tree.chains import AT_ONCE, BLOCK

N_TIMES = 20
PLAIN: dict[str, Any] = {"budget": 20, "C": 1.0}


def least(run: Callable[[], Any]) -> float:
    """Return the CPU milliseconds of the quickest of many runs."""
    return min(least_ms(run) for _ in range(N_TIMES))


def measure_kernel(model: Any, rows: Any) -> float:
    """Return what the kernel of a learner takes for checked rows, in their chunks."""
    is_tree = hasattr(model, "tree_")
    kernel = model._annotator.annotate if is_tree else model._scores
    return sum(least(partial(kernel, chunk)) for (chunk,) in model._chunks(rows))


class Way(NamedTuple):
    """What the paths of all rows are decided by."""

    starts: Any  # where the places of a look-up start, of AT_ONCE decisions
    columns: Any  # the first decision of a look-up
    places: Any  # in the table of weights: AT_ONCE weights from each on
    values: Any  # of the row's features, by place
    n_decisions: float  # of a row
    n_chains: float  # of a row


def follow(chains: Any, X: Any) -> Way:
    """Return the way of checked rows down a tree that has a table of its weights."""
    width, n_decisions, n_chains = len(chains.c_indptr) - 1, 0, 0
    places: list[Any] = []
    values: list[Any] = []
    columns: list[int] = []
    for i in range(X.shape[0]):
        start, stop = X.indptr[i : i + 2]
        number = chains.table[X.indices[start:stop]]
        value, number = X.data[start:stop][number >= 0], number[number >= 0]
        at, end = 0, chains.end[0]
        while at < end:
            n_chains += 1
            leave, j, n = at, int(chains.column[at]), AT_ONCE
            while leave < end and n == AT_ONCE:
                first = j // BLOCK * (width * BLOCK) + j % BLOCK
                places.append(first + number.astype(np.int64) * BLOCK)
                values.append(value)
                columns.append(j)
                own = chains.b_intercept[j : j + AT_ONCE].astype(np.float64)
                weights = chains.b_data[places[-1][:, None] + np.arange(AT_ONCE)]
                turns = (own + value @ weights > 0) != (own > 0)
                n = int(np.argmax(turns)) if turns.any() else AT_ONCE
                leave, j = leave + n, j + n
            leave = min(leave, end)
            n_decisions += leave - at + (leave < end)
            at = chains.other[leave] if leave < end else end
            end = chains.end[at]
    per_row = np.array([n_decisions, n_chains]) / X.shape[0]
    starts = np.cumsum([0, *map(len, places)])
    parts = starts, np.array(columns), np.concatenate(places), np.concatenate(values)
    return Way(*parts, *per_row)


@kernel
def add_weights(places, weights):
    """Return the sum of the weights that decide, AT_ONCE from each place on."""
    total = np.float32(0.0)
    for p in range(places.shape[0]):
        q = np.uintp(places[np.uintp(p)])
        total += (weights[q] + weights[q + np.uintp(1)]) + (
            weights[q + np.uintp(2)] + weights[q + np.uintp(3)]
        )
    return total


@kernel
def decide(starts, columns, places, values, intercept, weights):
    """Return how many decisions of all look-ups say yes."""
    count, one, two, three = 0, np.uintp(1), np.uintp(2), np.uintp(3)
    for g in range(columns.shape[0]):
        j = np.uintp(columns[np.uintp(g)])
        a, b = np.float64(intercept[j]), np.float64(intercept[j + one])
        c, d = np.float64(intercept[j + two]), np.float64(intercept[j + three])
        for p in range(starts[np.uintp(g)], starts[np.uintp(g) + one]):
            q, x = np.uintp(places[np.uintp(p)]), values[np.uintp(p)]
            a += weights[q] * x
            b += weights[q + one] * x
            c += weights[q + two] * x
            d += weights[q + three] * x
        count += (a > 0.0) + (b > 0.0) + (c > 0.0) + (d > 0.0)
    return count


@kernel
def count_values(X):
    """Return how many values of dense rows are not 0."""
    count = 0
    for i in range(X.shape[0]):
        for j in range(X.shape[1]):
            count += X[i, j] != 0
    return count


def print_floor(model: Any, kinds: dict[str, Any], base: dict[str, float]) -> None:
    """Print what reading alone takes, and how long the way of a row is."""
    chains = model._annotator.chains
    way = follow(chains, model._known_features(kinds["sparse"]))
    sparse = least(partial(add_weights, np.sort(way.places), chains.b_data))
    table = chains.b_intercept, chains.b_data
    known = least(partial(decide, *way[:4], *table))
    dense = sparse + least(partial(count_values, kinds["dense"]))
    n_weights = AT_ONCE * len(way.places) / kinds["sparse"].shape[0]
    n_given = sp.csr_array(model.predict(kinds["sparse"])).sum(axis=1).mean()
    asked = model.diagnostics().mean_decisions
    print(
        f"  floor {sparse:.2f} ms ({base['sparse'] / sparse:.1f}), "
        f"dense {dense:.2f} ({base['dense'] / dense:.1f}), "
        f"way known {known:.2f} ({base['sparse'] / known:.1f}); "
        f"C = {model.C_:g}, budget = {model.budget_}; {n_weights:.0f} weights a row, "
        f"{way.n_decisions:.1f} decisions in {way.n_chains:.1f} chains "
        f"for {n_given:.1f} labels; training rows by their labels {asked:.2f}",
        flush=True,
    )


def main() -> None:
    """Print a line for each learner."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=FOLDER)
    folder = parser.parse_args().data / "mulan"
    train, test = (
        ml.read(folder / f"Corel5k-{part}.arff.gz") for part in ("train", "test")
    )
    rows = sp.vstack([train.X, test.X], format="csr")
    kinds = {"sparse": rows, "dense": np.asarray(rows.toarray(), np.float32)}
    learners = {
        "OneVsRest": ml.OneVsRest(),
        "AnnotationTree": ml.AnnotationTree(),
        "AnnotationTree, 20 features, C = 1": ml.AnnotationTree(**PLAIN),
        "PowersetTree": ml.PowersetTree(),
        "PowersetTree, 20 features, C = 1": ml.PowersetTree(**PLAIN),
    }
    base: dict[str, float] = {}
    for name, learner in learners.items():
        model = learner.fit(train.X, train.Y)
        cells = []
        for kind, X in kinds.items():
            found = least(partial(model.predict, X))
            ratio = base.setdefault(kind, found) / found
            checks = least(partial(model._known_features, X))
            cells.append(f"{found:.1f} ms {kind} ({ratio:.1f}), checks {checks:.1f}")
        cells.append(f"kernel {measure_kernel(model, model._known_features(rows)):.1f}")
        print(f"{name}: {', '.join(cells)}", flush=True)
        if hasattr(model, "tree_"):
            print_floor(model, kinds, base)


if __name__ == "__main__":
    main()
