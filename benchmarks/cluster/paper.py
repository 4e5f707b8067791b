"""Ads-9M on 1,000 machines: constants of one core, scaled by sizes."""

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import manylabel as ml
from benchmarks.cluster.simulation import (
    Cluster,
    Job,
    on_paper,
    simulate,
    without_chance,
)

N_ROWS, N_FEATURES, N_LABELS = 70_450_000, 2_080_000, 8_840_000  # of Ads-9M
LABELS_PER_ROW = 1.8  # 14.3 rows of a label, as the repository says
WORDS_PER_ROW = 30.0  # not published; an assumption
N_TREES = 50
GROWING = 88  # bytes a row of each tree that grows, at most
CLUSTERS = 256  # most that a label tree parts a node into
SAMPLE = 2000  # classifiers that are timed
LEAST_SPREAD = 0.1
NET = 1e9  # bytes a second that the driver reads or writes


class Constants(NamedTuple):
    """What was measured on one core."""

    tree_seconds: list[float]
    tree_bytes: float
    root_seconds: float  # of a classifier that learns from all rows
    leaf_seconds: float
    leaf_rows: float  # of the parent of a leaf
    classifier_bytes: float
    clustering_seconds: float
    begin_seconds: float  # of a process that has the rows


def plan_on_paper(data: ml.Dataset) -> dict[str, Any]:
    """Return constants, and what they come to for a forest and for a label tree."""
    found = measure(data)
    cluster = Cluster()
    jobs = {
        "FastXML of 50 trees": (forest_job(found, data), N_TREES),
        "LabelTree": (tree_job(found, data), 8 * cluster.n_machines * cluster.cores),
    }
    tables = {}
    for name, (job, n_parts) in jobs.items():
        seeds = [simulate(job, cluster, n_parts, seed) for seed in range(3)]
        calm = simulate(job, without_chance(cluster), n_parts)
        tables[name] = {
            "parts": n_parts,
            "on_paper": on_paper(job, cluster, n_parts),
            "simulated_without_chance": calm,
            "simulated": seeds,
        }
    rounded = {k: np.round(v, 5).tolist() for k, v in found._asdict().items()}
    return {"constants": rounded, "cluster": vars(cluster), **tables}


def measure(data: ml.Dataset) -> Constants:
    """Time units of both learners, one after another."""
    forest = ml.FastXML(n_estimators=4)._divide(data.X, data.Y)
    forest.fit("trees", range(1))  # loads kernels
    grown = [timed(lambda n=n: forest.fit("trees", range(n, n + 1))) for n in (1, 2, 3)]
    few = data[:SAMPLE]
    warm = ml.LabelTree(leaf_labels=20)._divide(few.X, few.Y)
    warm.fit("classifiers", range(100))
    tree, clustering = timed(lambda: ml.LabelTree()._divide(data.X, data.Y))
    prepared = tree.prepared._asdict()
    _, begin = timed(lambda: ml.LabelTree()._divide(data.X, data.Y, prepared))
    costs = tree.stages["classifiers"]
    n_root = int(np.count_nonzero(costs == costs.max()))
    n_units = len(costs)
    _, root_seconds = timed(lambda: tree.fit("classifiers", range(n_root)))
    some = range(n_units - SAMPLE, n_units)
    leaves, leaf_seconds = timed(lambda: tree.fit("classifiers", some))
    return Constants(
        tree_seconds=[seconds for _, seconds in grown],
        tree_bytes=float(np.mean([_bytes(record) for record, _ in grown])),
        root_seconds=root_seconds / n_root,
        leaf_seconds=leaf_seconds / SAMPLE,
        leaf_rows=float(costs[some.start :].mean()),
        classifier_bytes=_bytes(leaves) / SAMPLE,
        clustering_seconds=clustering - begin,
        begin_seconds=begin,
    )


def forest_job(found: Constants, data: ml.Dataset) -> Job:
    """Return the job of a forest: a tree costs its values, level by level."""
    values = N_ROWS * WORDS_PER_ROW
    depth = np.log(N_ROWS / 10) / np.log(len(data) / 10)
    seconds = np.mean(found.tree_seconds) * values / data.X.nnz * depth
    spread = max(LEAST_SPREAD, float(np.std(np.log(found.tree_seconds))))
    stored = rows_bytes()
    model = found.tree_bytes * N_TREES * N_ROWS / len(data)
    return Job(
        units=np.full(N_TREES, seconds),
        spread=spread,
        read_bytes=stored,
        model_bytes=model,
        machine_bytes=stored + GROWING * N_ROWS,
        driver_seconds=stored / NET,
        merge_seconds=2 * model / NET,
        start_seconds=found.begin_seconds * values / data.X.nnz,
    )


def tree_job(found: Constants, data: ml.Dataset) -> Job:
    """Return the job of a label tree: classifiers of three levels, by their rows."""
    values = N_ROWS * WORDS_PER_ROW
    words = WORDS_PER_ROW / (data.X.nnz / len(data))
    root = found.root_seconds * values / data.X.nnz
    per_row = found.leaf_seconds / found.leaf_rows * words
    middle = N_ROWS * LABELS_PER_ROW / CLUSTERS  # rows of a node of the second level
    bottom = N_LABELS / CLUSTERS**2 * (N_ROWS * LABELS_PER_ROW / N_LABELS)
    leaves = np.full(N_LABELS // 1000, 1000 * per_row * bottom)
    units = [np.full(CLUSTERS, root), np.full(CLUSTERS**2, per_row * middle), leaves]
    stored, labels = rows_bytes(), N_ROWS * LABELS_PER_ROW
    model = found.classifier_bytes * (N_LABELS + CLUSTERS**2)
    return Job(
        units=np.concatenate(units),
        spread=LEAST_SPREAD,
        read_bytes=stored,
        model_bytes=model,
        # The rows, their values at unit length, and the rows of two levels of nodes.
        machine_bytes=stored + 4 * values + 2 * 2 * 8 * labels,
        driver_seconds=stored / NET
        + found.clustering_seconds * N_LABELS / data.n_labels,
        merge_seconds=2 * model / NET,
        start_seconds=found.begin_seconds * values / data.X.nnz,
    )


def rows_bytes() -> float:
    """Return the size of the folder of rows: columns and values of both matrices."""
    return N_ROWS * (8 * WORDS_PER_ROW + 8 * LABELS_PER_ROW + 16)


def timed(call: Callable[[], Any]) -> tuple[Any, float]:
    """Return what a call returns, and its seconds of this process."""
    start = time.process_time()
    return call(), time.process_time() - start


def _bytes(record: Any) -> int:
    return sum(part.nbytes for part in record)
