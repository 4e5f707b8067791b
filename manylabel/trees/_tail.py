"""The tail-label classifiers: a centroid for each label."""

from collections.abc import Callable, Mapping
from typing import Annotated, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from sklearn.utils.sparsefuncs_fast import inplace_csr_row_normalize_l2

from manylabel import parallel
from manylabel._kernels.csr import with_full_rows
from manylabel._kernels.forest import centroid, router, tail
from manylabel._typing import CSR, Array, Floats, Singles
from manylabel.lists import Lists
from manylabel.persistence.records import (
    Ascending,
    Columns,
    Field,
    Finite,
    Number,
    Offsets,
)
from manylabel.trees._grower import Plan
from manylabel.trees._nodes import NARROW, WIDE, column_type

LEAST_COSINE = 0.1  # added to all: a label far off is not ruled out
LARGEST = np.iinfo(np.int16).max
# A centroid of more features is wide: looking up those of a row beats reading it whole.
MOST_OWN = 128
VALUES_AT_ONCE = 1 << 20  # of dense centroids


class Surface(NamedTuple):
    """Log of v in equation 41: ``steepness |x - centroid|^2 + shift``."""

    steepness: float
    shift: float  # log beta


class Tail(NamedTuple):
    """A point among the unit-length rows of each label, and how near a row is to it.

    Attributes
    ----------
    number : ndarray of shape (n_labels,)
        Wide labels, whose centroids have many features, are numbered; others have -1.
    n_wide : int
        How many are wide.
    starts : ndarray of shape (n_features + 1,)
        Where the entries of a feature start in the next two. A feature that a third of
        the wide labels share has an entry for each of them.
    numbers : ndarray of shape (n_entries,)
        Of wide labels; they ascend within a feature.
    values : ndarray of shape (n_entries,)
        Centroids in fixed point, 16 bits: an error of 2e-5 of the largest value of one.
    own_starts : ndarray of shape (n_labels + 1,)
        Where the entries of a label that is not wide start in the next two.
    own_features : ndarray of shape (n_own_entries,)
        Features ascend within a label.
    own_values : ndarray of shape (n_own_entries,)
        As ``values``.
    scale : ndarray of shape (n_labels,)
        What 1 stands for in the centroid of each label.
    constant : ndarray of shape (n_labels,)
        Value of each centroid for the constant feature.
    square : ndarray of shape (n_labels,)
        Squared length of each centroid.
    weight : ndarray of shape (n_features,)
        Factor of each feature, before rows are brought to unit length.
    """

    number: Annotated[Array, Field("int32", "n_labels", Columns("n_labels", -1))]
    n_wide: Annotated[int, Number(0, whole=True)]
    starts: Annotated[Array, Field(WIDE, "n_features + 1", Offsets("numbers"))]
    numbers: Annotated[Array, Field(NARROW, "n_shared", Ascending("starts"))]
    values: Annotated[Array, Field("int16", "n_shared")]
    own_starts: Annotated[Array, Field(WIDE, "n_labels + 1", Offsets("own_features"))]
    own_features: Annotated[
        Array, Field(NARROW, "n_own", Columns("n_features"), Ascending("own_starts"))
    ]
    own_values: Annotated[Array, Field("int16", "n_own")]
    scale: Annotated[Singles, Field("float32", "n_labels", Finite())]
    constant: Annotated[Singles, Field("float32", "n_labels", Finite())]
    square: Annotated[Singles, Field("float32", "n_labels", Finite())]
    weight: Annotated[Singles, Field("float32", "n_features", Finite())]

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
        is_wide = np.bincount(fixed.indices, minlength=fixed.shape[1]) > MOST_OWN
        number = np.where(is_wide, np.cumsum(is_wide) - 1, -1).astype(np.int32)
        wide, n_wide = fixed[:, is_wide], int(is_wide.sum())
        starts, numbers, shared = with_full_rows(
            wide.indptr, wide.indices, wide.data, n_wide
        )
        fixed.data[is_wide[fixed.indices]] = 0
        fixed.eliminate_zeros()
        own = sp.csr_array(fixed.T)
        return cls(
            *(number, n_wide),
            *(starts.astype(np.int32), numbers.astype(column_type(n_wide)), shared),
            *(own.indptr, own.indices.astype(column_type(own.shape[1])), own.data),
            *vectors,
        )

    def csr(self) -> CSR:
        """Return the centroids by feature, shape (n_features, n_labels)."""
        shared, own = self._parts()
        n_labels = len(self.scale)
        wide = np.flatnonzero(self.number >= 0)
        parts = (shared.data, wide[shared.indices], shared.indptr)
        spread = sp.csr_array(parts, shape=(shared.shape[0], n_labels))
        centroids = sp.csr_array(spread.astype(np.float64) + own.T)
        centroids.data *= self.scale[centroids.indices]
        return centroids.astype(np.float32)

    def check(self, sizes: Mapping[str, int]) -> None:
        """Raise ValueError where wide labels are not numbered as they are used."""
        wide = self.number[self.number >= 0]
        if len(wide) != self.n_wide or (wide != np.arange(len(wide))).any():
            raise ValueError("tail_.number must count the wide labels.")
        if self.numbers.size and int(self.numbers.max()) >= self.n_wide:
            raise ValueError("tail_.numbers must hold numbers of wide labels.")

    def _parts(self) -> tuple[CSR, CSR]:
        """Return wide centroids by feature, and the others by label."""
        n_features, n_labels = len(self.weight), len(self.scale)
        shared = (self.values, self.numbers, self.starts)
        own = (self.own_values, self.own_features, self.own_starts)
        return (
            sp.csr_array(shared, shape=(n_features, self.n_wide)),
            sp.csr_array(own, shape=(n_labels, n_features)),
        )

    def log_cosines(self, X: CSR, ranked: Lists) -> Floats:
        """Return the logarithms of cosines, those of 0 and less held up."""
        return np.log(np.maximum(self._products(X, ranked, 0.0), 0.0) + LEAST_COSINE)

    def log_shares(
        self, X: CSR, ranked: Lists, *, bias: float, surface: Surface
    ) -> Floats:
        """Return log P of each label that is ranked for a row (equation 41)."""
        products = self._products(X, ranked, bias)
        distance = self.square[ranked.labels] + 1.0 - 2.0 * products
        return -np.logaddexp(0.0, surface.steepness * distance + surface.shift)

    def _products(self, X: CSR, ranked: Lists, bias: float) -> Floats:
        out = np.empty(len(ranked.labels))
        rows = router.Rows(X.indptr, X.indices, X.data)
        room = tail.make_products(len(self.weight), self.n_wide)
        tail.multiply(rows, bias, ranked, self, room, out)
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
    plan: Plan, propensity: Floats, surface: Surface, n_jobs: int | None
) -> CSR:
    """Return the mean of the rows of each label (section 2.3)."""
    return _means(unit_rows(plan.X, plan.bias), plan)


def exact_centroids(
    plan: Plan, propensity: Floats, surface: Surface, n_jobs: int | None
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
                *(propensity[label], *surface, out[label - start]),
            )
        least = np.abs(out).max(axis=1, keepdims=True) / (2 * LARGEST)
        return sp.csr_array(np.where(np.abs(out) < least, 0.0, out))

    size = max(1, VALUES_AT_ONCE // rows.shape[1])
    tasks = ((n, min(n + size, n_labels)) for n in range(0, n_labels, size))
    return sp.vstack(parallel.run(climb, tasks, n_jobs), format="csr").T


CENTROIDS: dict[str, Callable[[Plan, Floats, Surface, int | None], CSR]] = {
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
