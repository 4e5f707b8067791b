"""Codes that keep which rows have like labels, and regression to them."""

import numpy as np
import scipy.sparse as sp

from manylabel._kernels.embedding import neighbours
from manylabel._kernels.forest.router import Rows
from manylabel._kernels.label_tree import clustering
from manylabel._typing import CSR, Array, Floats, Ints
from manylabel.solvers import conjugate

N_ROUNDS = 6  # of k-means
STEP = 0.5  # of singular value projection
N_POWERS = 2  # of the subspace, at each step
# Of conjugate gradients: a code is needed to a few digits only.
MAX_STEPS, ACCURACY = 100, 1e-3


def cluster_rows(X: CSR, k: int, rng: np.random.Generator) -> tuple[Array, Ints]:
    """Return centres, (n_features, k), and the one nearest to each row.

    Spherical k-means; a centre that no row is nearest to is left out.
    """
    rows, n_rows = Rows(X.indptr, X.indices, X.data), X.shape[0]
    chosen, score = np.arange(n_rows), np.empty(k, np.float32)
    nearest, near = np.empty(n_rows, np.int64), np.empty(n_rows, np.float32)
    centres = np.zeros((X.shape[1], k), np.float32)
    first = rng.choice(n_rows, k, replace=False)
    clustering.add_centres(rows, first, np.arange(k), centres)
    for _ in range(N_ROUNDS if k > 1 else 0):
        clustering.find_nearest(rows, chosen, centres, score, nearest, near)
        centres[:] = 0
        clustering.add_centres(rows, chosen, nearest, centres)
    clustering.find_nearest(rows, chosen, centres, score, nearest, near)
    used, nearest = np.unique(nearest, return_inverse=True)
    return centres[:, used], nearest


def embed(Y: CSR, n_neighbors: int, size: int, n_steps: int, seed: int) -> Floats:
    """Return codes whose dot products are the cosines of the labels of neighbours.

    Singular value projection: the matrix of dot products moves along the error of the
    pairs of neighbours and is then cut to its ``size`` largest eigenvalues, which
    subspace iteration follows from step to step.
    """
    n_rows = Y.shape[0]
    likeness = _like_rows(Y, n_neighbors)
    errors = likeness.copy()
    pairs = likeness.indptr, likeness.indices, likeness.data
    rng, rank = np.random.default_rng(seed), min(size, n_rows)
    codes, basis = np.zeros((n_rows, size)), rng.normal(size=(n_rows, rank))
    for _ in range(n_steps):
        neighbours.residuals(*pairs, codes, errors.data)
        for _ in range(N_POWERS):
            basis = np.linalg.qr(_move(codes, errors, basis))[0]
        small = basis.T @ _move(codes, errors, basis)
        values, vectors = np.linalg.eigh((small + small.T) / 2)
        codes[:, :rank] = (basis @ vectors) * np.sqrt(np.maximum(values, 0))
    return codes


def _move(codes: Floats, errors: CSR, basis: Floats) -> Floats:
    """Return the product of a basis with the matrix after a step along the errors."""
    moved: Floats = codes @ (codes.T @ basis) + STEP * (errors @ basis)
    return moved


def _like_rows(Y: CSR, n_neighbors: int) -> CSR:
    """Return the cosines of rows that are neighbours by labels, either of the other."""
    n_rows, n_columns = Y.shape[0], min(n_neighbors, Y.shape[0])
    by_label = Y.tocsc()
    columns = np.empty((n_rows, n_columns), np.int64)
    cosines = np.empty(columns.shape)
    neighbours.share_labels(
        *(Y.indptr, Y.indices, Rows(by_label.indptr, by_label.indices, by_label.data)),
        *(np.zeros(n_rows, np.int64), np.empty(n_rows), columns, cosines),
    )
    found, rows = columns >= 0, np.repeat(np.arange(n_rows), n_columns)
    place = rows[found.ravel()], columns[found]
    one_way = sp.csr_array((cosines[found], place), shape=(n_rows, n_rows))
    both_ways = sp.csr_array(one_way.maximum(one_way.T))
    both_ways.sort_indices()
    return both_ways


def solve_ridge(X: CSR, targets: Floats, reg: float) -> Floats:
    """Return the weights of ridge regression, by conjugate gradients."""
    back = X.T.tocsr()
    moments = back @ targets
    scale = X.power(2).sum(axis=0)[:, np.newaxis] + reg
    weights, _ = conjugate.descend(
        lambda weights: back @ (X @ weights) + reg * weights,
        *(moments, np.zeros_like(moments), scale),
        max_iter=MAX_STEPS,
        tol=ACCURACY,
    )
    return weights
