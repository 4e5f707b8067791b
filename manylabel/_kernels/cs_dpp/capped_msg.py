"""Online PCA by matrix stochastic gradient with capped rank.

Capped MSG (Arora, Cotter & Srebro 2013, "Stochastic optimization of PCA with capped
MSG") keeps U = Q' diag(sigma) Q with at most M + 1 orthonormal rows in Q, and after
every step projects the eigenvalues onto {0 <= sigma <= 1, sum = M}. Q and sigma start
empty and grow by one row a step. With fewer than M rows the sum cannot be M; all
eigenvalues are then 1.

A step turns all rows of Q, which would take O(M^2 K) for K labels. So Q is kept as
``mix`` times ``block``: orthonormal rows that stay as they are, plus one for each new
direction since. A step turns ``mix`` only; when the block is full, it is folded to Q.
Rounding hardly adds up: after a million steps rows are orthonormal to 1e-14.

An input v that is known up to independent errors has E[v v'] too large by the diagonal
matrix of their variances, and would draw Q towards the noisiest labels. So a step goes
along v v' - diag(noise), where ``noise`` estimates these variances without bias.
"""

from typing import NamedTuple

import numpy as np

from manylabel._kernels._jit import allocating_inner, inner, kernel
from manylabel._kernels.cs_dpp import secular
from manylabel._kernels.cs_dpp.block import add_rows, dots, multiply, norm

# A residual below this share of the input is rounding, not a new direction.
ROUNDING = 1e-10
# A residual above this share of the input is orthogonal enough at the first attempt.
LONG = 0.01
SIZE, N_BLOCK = range(2)
# Signs of the rows of Q, which no eigenvalue decides: as they come, each near that of
# the row before, or as LAPACK has them.
ANY, ALIGNED, LAPACK = range(3)


class PCAScratch(NamedTuple):
    """Memory of a step, for rows of Q and M components."""

    residual: object  # (n_labels,)
    coordinates: object  # (block rows,)
    again: object  # (block rows,)
    in_basis: object  # (M + 2,) coordinates of the input in the old rows of Q
    z: object  # (M + 2,)
    values: object  # (M + 2,)
    vectors: object  # (M + 2, M + 2) how the step turned Q: see update
    mixed: object  # (M + 2, block rows)
    folded: object  # (M + 2, n_labels)
    secular: object


def block_rows(n_components: int) -> int:
    """Return how many rows the block should have: a fold is worth the room it makes."""
    return n_components + 2 + max(4, n_components // 2)


def make_scratch(mix, n_labels):
    """Return scratch memory."""
    n_rows, n_block = mix.shape
    return PCAScratch(
        *(np.empty(n_labels), np.zeros(n_block), np.zeros(n_block)),
        *(np.zeros(n_rows), np.empty(n_rows), np.empty(n_rows)),
        *(np.zeros((n_rows, n_rows)), np.empty((n_rows, n_block))),
        *(np.empty((n_rows, n_labels)), secular.make_scratch(n_rows)),
    )


@inner
def update(vector, n_noisy, noisy, noise, rate, signs, pca, scratch):
    """Take one step towards ``vector``; return how many rows Q had on the way.

    Parameters
    ----------
    vector : (n_labels,) the input.
    n_noisy, noisy, noise : how many labels are known up to errors, which ones, and the
        variances; the arrays may be longer.
    rate : eta; times the squared norm of the input at most eta of the theory.
    signs : of the new rows: ``ANY``, ``ALIGNED`` or ``LAPACK``.
    pca : record, written in place: ``sizes`` (2,), rows of Q, at most M + 1, and of the
        block; ``block`` (block_rows, n_labels); ``mix`` (M + 2, block_rows), whose
        columns beyond the rows of the block are 0; ``sigma`` (M + 2,), eigenvalues,
        descending.
    scratch : left are ``vectors``, the coordinates of the new rows of Q in the old ones
        and then in the residual, those cut off too, and ``in_basis``, the coordinates
        of ``vector`` in the same.
    """
    sizes, mix, mixed = pca.sizes, pca.mix, scratch.mixed
    if sizes[N_BLOCK] == pca.block.shape[0]:
        fold(sizes, pca.block, mix, scratch.folded)
    length = norm(vector)
    _extend_block(vector, length, sizes, pca.block, scratch)
    n_full = _extend_basis(length, sizes, mix, pca.sigma, scratch)
    if n_noisy or signs == LAPACK:
        _lapack_eigenpairs(n_noisy, noisy, noise, rate, n_full, pca, scratch)
    else:
        for i in range(scratch.z.shape[0]):
            scratch.z[i] = scratch.in_basis[i]
        secular.eigenpairs(
            *(pca.sigma, scratch.z, rate, n_full),
            *(scratch.values, scratch.vectors, scratch.secular),
        )
    if signs == ALIGNED:
        _align(n_full, scratch.vectors)
    n_components = mix.shape[0] - 2
    kept = min(n_full, n_components + 1)
    multiply(scratch.vectors, kept, n_full, mix, mixed)
    for i in range(mix.shape[0]):
        for j in range(mix.shape[1]):
            mix[i, j] = mixed[i, j] if i < kept else 0.0
    project_sum(scratch.values, kept, min(n_components, kept), pca.sigma)
    sizes[SIZE] = kept
    return n_full


@inner
def _align(n, vectors):
    """Let no row point away from the old row of its number."""
    for i in range(n):
        if vectors[i, i] < 0.0:
            for j in range(n):
                vectors[i, j] = -vectors[i, j]


@allocating_inner
def _lapack_eigenpairs(n_noisy, noisy, noise, rate, n, pca, scratch):
    """Write the eigenpairs of the step less its noise, descending; O(M^3)."""
    step, column, inputs = np.empty((n, n)), np.empty(n), scratch.in_basis
    for i in range(n):
        for j in range(n):
            step[i, j] = rate * (inputs[i] * inputs[j])
        step[i, i] += pca.sigma[i]
    for p in range(n_noisy):
        for i in range(n):
            column[i] = 0.0
            for j in range(pca.sizes[N_BLOCK]):
                column[i] += pca.mix[i, j] * pca.block[j, noisy[p]]
        for i in range(n):
            for j in range(n):
                step[i, j] -= rate * noise[p] * (column[i] * column[j])
    values, vectors = np.linalg.eigh(step)
    for i in range(n):
        scratch.values[i] = values[n - 1 - i]
        for j in range(n):
            scratch.vectors[i, j] = vectors[j, n - 1 - i]


@kernel
def fold(sizes, block, mix, folded):
    """Make Q itself the block."""
    size = sizes[SIZE]
    multiply(mix, size, sizes[N_BLOCK], block, folded)
    for i in range(size):
        for k in range(block.shape[1]):
            block[i, k] = folded[i, k]
    for i in range(mix.shape[0]):
        for j in range(mix.shape[1]):
            mix[i, j] = 1.0 if i == j < size else 0.0
    sizes[N_BLOCK] = size


@inner
def _extend_block(vector, length, sizes, block, scratch):
    """Write the coordinates in the block, which gets a row for what is left."""
    n_block, coordinates, residual = (
        sizes[N_BLOCK],
        scratch.coordinates,
        scratch.residual,
    )
    for i in range(n_block, coordinates.shape[0]):
        coordinates[i] = 0.0
    dots(block, n_block, vector, coordinates)
    for k in range(vector.shape[0]):
        residual[k] = vector[k]
    add_rows(block, n_block, coordinates, -1.0, residual)
    left = norm(residual)
    if ROUNDING * length < left < LONG * length:
        dots(block, n_block, residual, scratch.again)
        add_rows(block, n_block, scratch.again, -1.0, residual)
        for i in range(n_block):
            coordinates[i] += scratch.again[i]
        left = norm(residual)
    if left > ROUNDING * length:
        for k in range(residual.shape[0]):
            block[n_block, k] = residual[k] / left
        coordinates[n_block] = left
        sizes[N_BLOCK] += 1


@inner
def _extend_basis(length, sizes, mix, sigma, scratch):
    """Write the coordinates in Q, which gets a row for the rest; return its rows."""
    size, left = sizes[SIZE], scratch.coordinates
    for i in range(scratch.in_basis.shape[0]):
        scratch.in_basis[i] = 0.0
    for _ in range(2):  # twice is enough for orthogonality
        dots(mix, size, left, scratch.values)
        add_rows(mix, size, scratch.values, -1.0, left)
        for i in range(size):
            scratch.in_basis[i] += scratch.values[i]
    far = norm(left)
    if far <= ROUNDING * length:
        return size
    for i in range(left.shape[0]):
        mix[size, i] = left[i] / far
    scratch.in_basis[size], sigma[size] = far, 0.0
    return size + 1


@kernel
def project_sum(values, n, total, out):
    """Write ``clip(values + shift, 0, 1)`` with the shift that makes the sum ``total``.

    The first ``n`` values are meant, descending, and ``0 <= total <= n``. For every
    choice of how many are clipped to 1 and to 0 the shift follows; the consistent one
    is it (Arora et al. 2013, Algorithm 2).
    """
    for n_ones in range(n + 1):
        inner = 0.0
        for end in range(n_ones, n + 1):  # values n_ones..end-1 are not clipped
            if end > n_ones:
                inner += values[end - 1]
            n_inner = end - n_ones
            if n_inner == 0:
                if n_ones != total:
                    continue
                shift = 1.0 - values[n_ones - 1] if n_ones else -values[0]
                if n_ones < n and values[n_ones] + shift > 0.0:
                    continue
            else:
                shift = (total - n_ones - inner) / n_inner
                if values[n_ones] + shift > 1.0 or values[end - 1] + shift < 0.0:
                    continue
                if n_ones and values[n_ones - 1] + shift < 1.0:
                    continue
                if end < n and values[end] + shift > 0.0:
                    continue
            for i in range(n):
                out[i] = min(max(values[i] + shift, 0.0), 1.0)
            return
