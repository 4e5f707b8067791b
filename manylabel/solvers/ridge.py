"""Ridge regression from sparse rows to many targets."""

from itertools import pairwise
from typing import Any

import joblib
import numpy as np
import scipy.linalg
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from manylabel import parallel
from manylabel._typing import CSR, Floats
from manylabel._warning import warn
from manylabel.solvers import conjugate

MAX_SQUARE = 10_000  # a square matrix of float64 of this width takes 0.8 GB
TARGETS_AT_ONCE = 64
MAX_STEPS, TOL = 1000, 1e-6  # of conjugate gradients, where neither side is so short


def pad(X: CSR, bias: float) -> CSR:
    """Return rows of float64 with the constant feature ``bias`` as their last."""
    last = sp.csr_array(np.full((X.shape[0], 1), bias))
    return sp.csr_array(sp.hstack([X.astype(np.float64), last], format="csr"))


class Products:
    """Products of a sparse matrix with dense ones, on some threads.

    A row of a product has the same bits whatever the number of threads. Where joblib's
    backend is not threads, products are made here: to send a matrix takes longer than
    to multiply it.
    """

    def __init__(self, rows: CSR, n_jobs: int | None = None) -> None:
        self.squares = rows.power(2).sum(axis=0)[:, np.newaxis]  # of each column
        self._n_jobs = 1 if parallel.leaves_process(n_jobs) else n_jobs
        self._rows, self._columns = self._cut(rows), self._cut(rows.T.tocsr())

    def times(self, weights: Floats) -> Floats:
        """Return ``rows @ weights``."""
        return self._multiply(self._rows, weights)

    def turned(self, values: Floats) -> Floats:
        """Return ``rows.T @ values``."""
        return self._multiply(self._columns, values)

    def _cut(self, matrix: CSR) -> list[CSR]:
        n_parts = max(1, min(joblib.effective_n_jobs(self._n_jobs), matrix.shape[0]))
        edges = np.linspace(0, matrix.shape[0], n_parts + 1).astype(int)
        return [matrix[a:b] for a, b in pairwise(edges)]

    def _multiply(self, parts: list[CSR], dense: Floats) -> Floats:
        found = parallel.run(
            _multiplied, [(part,) for part in parts], self._n_jobs, common=(dense,)
        )
        return found[0] if len(found) == 1 else np.vstack(found)


def solve(
    rows: CSR,
    targets: Floats | CSR,
    l2_regularization: float,
    n_jobs: int | None = None,
) -> Floats:
    """Return the weights W of least ``|targets - rows W|^2 + reg |W|^2``.

    The normal equations are solved exactly on the shorter side of ``rows`` if that is
    at most 10,000, else by conjugate gradients, 64 targets at a time, in O(nnz) a step
    and target.

    Parameters
    ----------
    rows : csr_array of shape (n_rows, n_features)
        Features.
    targets : ndarray or csr_array of shape (n_rows, n_targets)
        What to predict. A sparse one stays so unless rows are few.
    l2_regularization : float
        reg, above 0.
    n_jobs : int or None, default=None
        Threads for conjugate gradients.

    Returns
    -------
    ndarray of shape (n_features, n_targets)
        Weights.

    Examples
    --------
    >>> solve(sp.csr_array([[1.0], [1.0]]), np.array([[3.0], [3.0]]), 1.0)
    array([[2.]])
    """
    n_rows, n_features = rows.shape
    if n_rows < n_features and n_rows <= MAX_SQUARE:
        square = _shifted(rows @ rows.T, l2_regularization)
        return np.ascontiguousarray(rows.T @ _solved(square, _dense(targets)))
    moments = _dense(rows.T @ targets)
    if n_features <= MAX_SQUARE:
        return _solved(_shifted(rows.T @ rows, l2_regularization), moments)
    return _approach(rows, moments, l2_regularization, n_jobs)


def _shifted(product: CSR, reg: float) -> Floats:
    square = _dense(product)
    square[np.diag_indices_from(square)] += reg
    return square


def _solved(square: Floats, targets: Floats) -> Floats:
    weights: Floats = scipy.linalg.solve(square, targets, assume_a="pos")
    return np.ascontiguousarray(weights)


def _approach(rows: CSR, moments: Floats, reg: float, n_jobs: int | None) -> Floats:
    products = Products(rows)
    tasks = [
        (moments[:, first : first + TARGETS_AT_ONCE],)
        for first in range(0, moments.shape[1], TARGETS_AT_ONCE)
    ]
    found = parallel.run(_approach_some, tasks, n_jobs, common=(products, reg))
    if not all(converged for _, converged in found):
        warn(
            f"Ridge regression did not converge in {MAX_STEPS} steps: raise "
            "l2_regularization, or scale the features.",
            ConvergenceWarning,
        )
    return np.hstack([weights for weights, _ in found])


def _approach_some(
    products: Products, reg: float, moments: Floats
) -> tuple[Floats, bool]:
    return conjugate.descend(
        lambda weights: products.turned(products.times(weights)) + reg * weights,
        *(moments, np.zeros_like(moments), products.squares + reg),
        max_iter=MAX_STEPS,
        tol=TOL,
    )


def _dense(matrix: Any) -> Floats:
    dense: Floats = matrix.toarray() if sp.issparse(matrix) else matrix
    return dense


def _multiplied(dense: Floats, part: CSR) -> Floats:
    product: Floats = part @ dense
    return product
