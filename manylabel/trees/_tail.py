"""The tail-label classifiers: a centroid for each label."""

from collections.abc import Callable
from typing import NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from sklearn.utils.sparsefuncs_fast import inplace_csr_row_normalize_l2

from manylabel import parallel
from manylabel._kernels import centroid, tail
from manylabel._typing import CSR, Array, Floats, Singles
from manylabel.lists import Lists
from manylabel.trees._grower import Plan
from manylabel.trees._nodes import column_type

LEAST_COSINE = 0.1  # added to all: a label far off is not ruled out
LARGEST = np.iinfo(np.int16).max
VALUES_AT_ONCE = 1 << 20  # of dense centroids


class Tail(NamedTuple):
    """A point among the unit-length rows of each label, and how near a row is to it.

    Attributes
    ----------
    starts : ndarray of shape (n_features + 1,)
        Where the entries of a feature start in the next two. A feature that a third of
        the labels share has an entry for every label.
    labels : ndarray of shape (n_entries,)
        Labels ascend within a feature.
    values : ndarray of shape (n_entries,)
        Centroids in fixed point, 16 bits: an error of 2e-5 of the largest value of one.
    scale : ndarray of shape (n_labels,)
        What 1 stands for in the centroid of each label.
    constant : ndarray of shape (n_labels,)
        Value of each centroid for the constant feature.
    square : ndarray of shape (n_labels,)
        Squared length of each centroid.
    weight : ndarray of shape (n_features,)
        Factor of each feature, before rows are brought to unit length.
    """

    starts: Array
    labels: Array
    values: Array
    scale: Singles
    constant: Singles
    square: Singles
    weight: Singles

    @classmethod
    def of(cls, centroids: CSR, weight: Singles | None = None) -> Self:
        """Return the classifiers of given centroids, shape (n_features + 1, n_labels).

        The last row has the constant feature. No weights are weights of 1.
        """
        centroids = sp.csr_array(centroids)
        centroids.sort_indices()
        square = np.asarray(centroids.power(2).sum(axis=0))
        constant = centroids[-1:].toarray()[0]
        varying = sp.csr_array(centroids[:-1])
        largest = abs(varying).max(axis=0).toarray().ravel()
        scale = np.where(largest > 0, largest, 1.0) / LARGEST
        values = np.rint(varying.data / scale[varying.indices]).astype(np.int16)
        parts = (values, varying.indices, varying.indptr)
        fixed = sp.csr_array(parts, shape=varying.shape)
        fixed.eliminate_zeros()
        if weight is None:
            weight = np.ones(varying.shape[0])
        vectors = [np.asarray(a, np.float32) for a in (scale, constant, square, weight)]
        full = _with_full_rows(fixed)
        labels = full.indices.astype(column_type(full.shape[1]))
        return cls(full.indptr, labels, full.data, *vectors)

    def csr(self) -> CSR:
        """Return the centroids by feature, shape (n_features, n_labels)."""
        values = self.values * self.scale[self.labels]
        shape = (len(self.starts) - 1, len(self.scale))
        return sp.csr_array((values, self.labels, self.starts), shape=shape)

    def check(self) -> None:
        """Raise ValueError where a kernel would find the wrong label, or no number."""
        centroids = self.csr()
        centroids.check_format(full_check=True)
        if not centroids.has_canonical_format:
            raise ValueError("tail_labels_ must ascend.")
        for name in ("scale", "constant", "square", "weight"):
            if not np.isfinite(getattr(self, name)).all():
                raise ValueError(f"tail_{name}_ must hold finite numbers.")

    def log_cosines(self, X: CSR, ranked: Lists) -> Floats:
        """Return the logarithms of cosines, those of 0 and less held up."""
        return np.log(np.maximum(self._products(X, ranked, 0.0), 0.0) + LEAST_COSINE)

    def log_shares(
        self, X: CSR, ranked: Lists, *, bias: float, steepness: float
    ) -> Floats:
        """Return log P of each label that is ranked for a row (Algorithm 3)."""
        products = self._products(X, ranked, bias)
        distance = self.square[ranked.labels] + 1.0 - 2.0 * products
        return -np.logaddexp(0.0, steepness * distance)

    def _products(self, X: CSR, ranked: Lists, bias: float) -> Floats:
        out = np.empty(len(ranked.labels))
        tail.products(
            *(X.indptr, X.indices, X.data, self.weight, bias),
            *(ranked.indptr, ranked.labels, self.starts, self.labels, self.values),
            *(self.scale, self.constant, out),
        )
        return out


def unit_rows(X: CSR, bias: float) -> CSR:
    """Return the rows with a constant feature, which comes last, at unit length.

    The constant counts in the length, as in the authors' program. Rows of zeros stay.
    """
    constant = sp.csr_array(np.full((X.shape[0], 1), float(bias)))
    rows = sp.hstack([X.astype(np.float64, copy=False), constant], format="csr")
    length = np.sqrt(np.asarray(rows.power(2).sum(axis=1)))
    length[length == 0] = 1.0
    rows.data /= np.repeat(length, np.diff(rows.indptr))
    return rows


def rarity(X: CSR) -> Singles:
    """Return a factor for each feature: the rarer it is, the larger (smooth idf)."""
    n_rows = np.bincount(X.indices, minlength=X.shape[1])
    factors = 1 + np.log((1 + X.shape[0]) / (1 + n_rows))
    return np.asarray(factors, np.float32)


def cosine_tail(plan: Plan) -> Tail:
    """Return classifiers whose centroids have unit length; rare features count more."""
    weight = rarity(plan.X)
    rows = unit_rows(plan.X.astype(np.float64) * weight, 0.0)
    by_label = sp.csr_array(_means(rows, plan).T)
    inplace_csr_row_normalize_l2(by_label)
    return Tail.of(sp.csr_array(by_label.T), weight)


def mean_centroids(
    plan: Plan, propensity: Floats, steepness: float, n_jobs: int | None
) -> CSR:
    """Return the mean of the rows of each label (section 2.3)."""
    return _means(unit_rows(plan.X, plan.bias), plan)


def exact_centroids(
    plan: Plan, propensity: Floats, steepness: float, n_jobs: int | None
) -> CSR:
    """Return the points of maximum likelihood (section 2.2).

    Values that 16 bits would take for 0 are left out.
    """
    rows, by_label = unit_rows(plan.X, plan.bias), sp.csr_array(plan.Y.T)
    n_labels = by_label.shape[0]

    def climb(start: int, end: int) -> CSR:
        out = np.zeros((end - start, rows.shape[1]))
        for label in range(start, end):
            centroid.climb(
                *(label, by_label.indptr, by_label.indices),
                *(rows.indptr, rows.indices, rows.data, plan.mass),
                *(propensity[label], steepness, out[label - start]),
            )
        least = np.abs(out).max(axis=1, keepdims=True) / (2 * LARGEST)
        return sp.csr_array(np.where(np.abs(out) < least, 0.0, out))

    size = max(1, VALUES_AT_ONCE // rows.shape[1])
    tasks = ((n, min(n + size, n_labels)) for n in range(0, n_labels, size))
    return sp.vstack(parallel.run(climb, tasks, n_jobs), format="csr").T


CENTROIDS: dict[str, Callable[[Plan, Floats, float, int | None], CSR]] = {
    "mean": mean_centroids,
    "exact": exact_centroids,
}


def _means(rows: CSR, plan: Plan) -> CSR:
    """Return the mean of the rows of each label, by column."""
    Y = plan.Y
    mass = np.repeat(plan.mass, np.diff(Y.indptr))
    total = np.bincount(Y.indices, mass, minlength=Y.shape[1])
    shares = sp.csr_array((mass / total[Y.indices], Y.indices, Y.indptr), shape=Y.shape)
    return rows.T @ shares


def _with_full_rows(matrix: CSR) -> CSR:
    """Return a matrix whose longer rows store their zeros too.

    There a kernel finds the few labels it needs by number, and need not pass the rest.
    """
    width, lengths = matrix.shape[1], np.diff(matrix.indptr)
    is_full = 3 * lengths > width
    grown = np.where(is_full, width, lengths)
    indptr = np.concatenate([[0], np.cumsum(grown)])
    indices, data = (np.empty(indptr[-1], kind) for kind in (np.int32, np.int16))
    full, kept = np.repeat(is_full, grown), ~np.repeat(is_full, lengths)
    indices[full] = np.tile(np.arange(width), is_full.sum())
    indices[~full], data[~full] = matrix.indices[kept], matrix.data[kept]
    data[full] = matrix[is_full].toarray().ravel()
    return sp.csr_array((data, indices, indptr.astype(np.int32)), shape=matrix.shape)
