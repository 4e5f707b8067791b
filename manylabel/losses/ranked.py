"""Labels ranked by score beside the truth, ranked once for every measure."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from manylabel import _validation
from manylabel._kernels import ranking, topk
from manylabel._typing import Array, Bools, Floats, Ints, MatrixLike
from manylabel.losses.view import View


@dataclass(frozen=True, eq=False)
class Ranked(View):
    """The best columns of each row, and which of them are true.

    Columns are ranked by score; among equal scores the lower column comes first.

    Parameters
    ----------
    truth : csr_array of shape (n_rows, n_labels)
        Canonical array of ones.
    columns : ndarray of shape (n_rows, depth)
        The best columns, best first; -1 where a row has fewer predictions.
    hits : ndarray of shape (n_rows, depth)
        Whether the column is true.
    weights : ndarray of shape (n_labels,)
        Inverse propensities; ones if no propensity is given.

    Examples
    --------
    >>> Ranked.of([[0, 1, 1]], [[0.2, 0.9, 0.2]], depth=2).columns
    array([[1, 0]], dtype=int32)
    """

    columns: Array
    hits: Bools
    weights: Floats

    @classmethod
    def of(
        cls, Y: MatrixLike, scores: MatrixLike, depth: int, propensity: Any = None
    ) -> Self:
        """Check the arguments and rank each row down to ``depth``."""
        Y = _validation.labels(Y)
        S = _validation.scores(scores, n_rows=Y.shape[0], n_labels=Y.shape[1])
        given = 1.0 if propensity is None else propensity
        weights = 1 / _validation.propensities(given, Y.shape[1])
        columns = np.empty((Y.shape[0], min(depth, Y.shape[1])), np.int32)
        if sp.issparse(S):
            topk.csr_rows(S.indptr, S.indices, S.data, columns.shape[1], columns)
        else:
            topk.dense_rows(S, columns.shape[1], columns)
        hits = np.empty(columns.shape, np.bool_)
        ranking.find_hits(Y.indptr, Y.indices, columns, hits)
        return cls(Y, columns, hits, weights)

    def reranked(self, columns: Array) -> Self:
        """Return the same rows, ranked in another way, as deep."""
        hits = np.empty(columns.shape, np.bool_)
        ranking.find_hits(self.truth.indptr, self.truth.indices, columns, hits)
        other = replace(self, columns=columns, hits=hits)
        vars(other)["best_gains"] = self.best_gains  # depends on the truth alone
        return other

    def n_hits(self, k: int) -> Ints:
        """Return the number of hits among the first ``k`` of each row."""
        return np.asarray(self.hits[:, :k].sum(axis=1), np.int64)

    @cached_property
    def gains(self) -> Floats:
        """The weight of each hit, 0 for a miss; shape (n_rows, depth)."""
        return self.hits * self.weights[self.columns]

    @cached_property
    def best_gains(self) -> Floats:
        """The largest gains that a ranking could have; shape (n_rows, depth)."""
        best = np.empty_like(self.columns)
        indptr, indices = self.truth.indptr, self.truth.indices
        topk.csr_rows(indptr, indices, self.weights[indices], best.shape[1], best)
        return np.where(best < 0, 0.0, self.weights[best])


def mean_ndcg(
    Y: MatrixLike, scores: MatrixLike, k: int, sample_weight: Any = None
) -> float:
    """Return nDCG@k, mean over rows that count as ``sample_weight`` says.

    Examples
    --------
    >>> mean_ndcg([[1, 0], [0, 1]], [[0.9, 0.1], [0.9, 0.1]], 1, [3.0, 1.0])
    0.75
    """
    ranked = Ranked.of(Y, scores, k)
    weight = _validation.row_weights(sample_weight, ranked.n_rows)
    of_rows = dcg(ranked.hits, k) / ideal_dcg(ranked.n_true, k)
    return float(np.average(of_rows, weights=weight))


def cumulative_gain(gains: Array, k: int) -> Floats:
    """Return the sum of the first ``k`` gains of each row."""
    return _sums(gains, np.ones(min(k, gains.shape[1])))


def dcg(gains: Array, k: int) -> Floats:
    """Return the discounted cumulative gain at ``k`` of each row of ``gains``."""
    return _sums(gains, _discounts(min(k, gains.shape[1])))


def ideal_dcg(n_true: Ints, k: int) -> Floats:
    """Return the DCG of ranking min(k, n_true) true labels first.

    A row without true labels has 1: its own DCG is 0, and so is the ratio.
    """
    deepest = min(k, int(n_true.max(initial=0)))
    table = np.concatenate([[1.0], np.cumsum(_discounts(deepest))])
    return table[np.minimum(n_true, deepest)]


def _sums(gains: Array, discounts: Floats) -> Floats:
    out = np.empty(gains.shape[0])
    ranking.discounted_sums(gains, discounts, out)
    return out


def _discounts(depth: int) -> Floats:
    return 1 / np.log2(np.arange(2, depth + 2))
