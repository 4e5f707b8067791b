"""Evaluation time: 100,000 rows x 100,000 labels, sparse truth and top-10 scores.

The peer is scikit-learn, in the same run: its set metrics on the same sparse matrices,
and its nDCG, which takes dense arrays only, on 2,000 rows x 2,000 labels.
"""

import time
import tracemalloc
from collections.abc import Callable

import numpy as np
import scipy.sparse as sp
from sklearn import metrics as peer

from manylabel.evaluation import evaluate
from manylabel.metrics import ndcg_at_k
from manylabel.propensity import Propensity

SIZE, SMALL, LIMIT = 100_000, 2_000, 2.0


def sparse_rows(n: int, n_labels: int, per_row: int, seed: int) -> sp.csr_array:
    """Draw ``per_row`` labels a row, frequent ones first, with scores in (0, 1)."""
    rng = np.random.default_rng(seed)
    columns = (n_labels * rng.random(n * per_row) ** 3).astype(np.int32)
    starts = np.arange(0, n * per_row + 1, per_row)
    matrix = sp.csr_array((rng.random(n * per_row), columns, starts), (n, n_labels))
    matrix.sum_duplicates()
    return matrix


def ones(matrix: sp.csr_array) -> sp.csr_array:
    return (matrix > 0).astype(np.int64)


def seconds(task: Callable[[], object], repeats: int = 3) -> float:
    """Return the shortest of a few runs, after one that compiles."""
    task()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        task()
        times.append(time.perf_counter() - start)
    return min(times)


class Evaluating:
    """Every metric at k = 1, 3 and 5."""

    def setup(self) -> None:
        """Draw the matrices."""
        self.Y = ones(sparse_rows(SIZE, SIZE, per_row=5, seed=0))
        self.scores = sparse_rows(SIZE, SIZE, per_row=10, seed=1)
        self.predictions = ones(self.scores)
        self.propensity = Propensity().fit(self.Y)

    def time_all_metrics(self) -> None:
        """Rank once, then every ranking, propensity-scored and set metric."""
        evaluate(
            self.Y,
            self.scores,
            propensity=self.propensity,
            predictions=self.predictions,
        )

    def time_set_metrics(self) -> None:
        """Time the five costs, micro-F1 and macro-F1."""
        evaluate(self.Y, self.predictions)

    def time_set_metrics_of_scikit_learn(self) -> None:
        """Time those of them that scikit-learn has."""
        Y, P = sp.csr_matrix(self.Y), sp.csr_matrix(self.predictions)
        peer.hamming_loss(Y, P)
        peer.zero_one_loss(Y, P)
        for average in ("samples", "micro", "macro"):
            peer.f1_score(Y, P, average=average, zero_division=0)
        peer.jaccard_score(Y, P, average="samples", zero_division=0)

    def peak_megabytes(self) -> float:
        """Return the most memory that evaluating took beyond its input."""
        tracemalloc.start()
        self.time_all_metrics()
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return peak / 1e6


def compare(what: str, ours: float, theirs: float) -> None:
    print(
        f"{what}: manylabel {ours:.3f} s, scikit-learn {theirs:.3f} s, "
        f"{theirs / ours:.1f} times as fast"
    )


def main() -> None:
    case = Evaluating()
    case.setup()
    ours = seconds(case.time_all_metrics)
    print(
        f"all metrics, {SIZE:,} rows x {SIZE:,} labels: {ours:.3f} s "
        f"(limit {LIMIT} s), peak {case.peak_megabytes():.0f} MB"
    )
    compare(
        "set metrics, same matrices",
        seconds(case.time_set_metrics),
        seconds(case.time_set_metrics_of_scikit_learn, repeats=1),
    )
    rng = np.random.default_rng(0)
    Y, scores = rng.random((SMALL, SMALL)) < 0.005, rng.random((SMALL, SMALL))
    compare(
        f"nDCG@5, dense {SMALL:,} x {SMALL:,}",
        seconds(lambda: ndcg_at_k(Y, scores, 5)),
        seconds(lambda: peer.ndcg_score(Y, scores, k=5)),
    )
    if ours > LIMIT:
        raise SystemExit(f"evaluating took {ours:.2f} s, more than {LIMIT} s")


if __name__ == "__main__":
    main()
