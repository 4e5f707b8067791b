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

from manylabel._kernels._jit import allocating_kernel
from manylabel._kernels.cs_dpp import secular
from manylabel._kernels.cs_dpp.block import add_rows, dots, multiply, norm

# A residual below this share of the input is rounding, not a new direction.
ROUNDING = 1e-10
# A residual above this share of the input is orthogonal enough at the first attempt.
LONG = 0.01
SIZE, N_BLOCK = range(2)


class Room(NamedTuple):
    """Scratch memory for rows of Q and M components."""

    residual: object  # (n_labels,)
    coordinates: object  # (block rows,)
    again: object  # (block rows,)
    in_basis: object  # (M + 2,) coordinates of the input in the old rows of Q
    z: object  # (M + 2,)
    values: object  # (M + 2,)
    vectors: object  # (M + 2, M + 2) how the step turned Q: see update
    mixed: object  # (M + 2, block rows)
    secular: object


def block_rows(n_components: int) -> int:
    """Return how many rows the block should have: a fold is worth the room it makes."""
    return n_components + 2 + max(4, n_components // 2)


@allocating_kernel
def make_room(mix, n_labels):
    """Return scratch memory."""
    n_rows, n_block = mix.shape
    return Room(
        *(np.empty(n_labels), np.zeros(n_block), np.zeros(n_block)),
        *(np.zeros(n_rows), np.empty(n_rows), np.empty(n_rows)),
        *(np.zeros((n_rows, n_rows)), np.empty((n_rows, n_block))),
        secular.make_room(n_rows),
    )


@allocating_kernel
def update(
    vector, n_noisy, noisy, noise, rate, n_components, sizes, block, mix, sigma, room
):
    """Take one step towards ``vector``; return how many rows Q had on the way.

    Parameters
    ----------
    vector : (n_labels,) the input.
    n_noisy, noisy, noise : how many labels are known up to errors, which ones, and the
        variances; the arrays may be longer.
    rate : eta; times the squared norm of the input at most eta of the theory.
    n_components : M.
    sizes : (3,) rows of Q, at most M + 1, rows of the block, folds so far; in place.
    block : (block_rows, n_labels) in place.
    mix : (M + 2, block_rows) in place; columns beyond the rows of the block are 0.
    sigma : (M + 2,) eigenvalues, descending, in place.
    room : scratch; left are ``room.vectors``, the coordinates of the new rows of Q in
        the old ones and then in the residual, those cut off too, and
        ``room.in_basis``, the coordinates of ``vector`` in the same.
    """
    if sizes[N_BLOCK] == block.shape[0]:
        fold(sizes, block, mix)
    length = norm(vector)
    _extend_block(vector, length, sizes, block, room)
    n_full = _extend_basis(length, sizes, mix, sigma, room)
    if n_noisy:
        _noisy_eigenpairs(
            n_noisy, noisy, noise, rate, n_full, sizes, block, mix, sigma, room
        )
    else:
        room.z[:] = room.in_basis
        secular.eigenpairs(
            sigma, room.z, rate, n_full, room.values, room.vectors, room.secular
        )
    kept = min(n_full, n_components + 1)
    multiply(room.vectors, kept, n_full, mix, room.mixed)
    mix[:kept] = room.mixed[:kept]
    mix[kept:] = 0.0
    project_sum(room.values, kept, min(n_components, kept), sigma)
    sizes[SIZE] = kept
    return n_full


@allocating_kernel
def _noisy_eigenpairs(n_noisy, noisy, noise, rate, n, sizes, block, mix, sigma, room):
    """Write the eigenpairs of the step less its noise, descending; O(M^3)."""
    step = rate * np.outer(room.in_basis[:n], room.in_basis[:n])
    for i in range(n):
        step[i, i] += sigma[i]
    for p in range(n_noisy):
        column = np.zeros(n)
        for i in range(n):
            for j in range(sizes[N_BLOCK]):
                column[i] += mix[i, j] * block[j, noisy[p]]
        step -= rate * noise[p] * np.outer(column, column)
    values, vectors = np.linalg.eigh(step)
    room.values[:n] = values[::-1]
    room.vectors[:n, :n] = vectors.T[::-1]


@allocating_kernel
def fold(sizes, block, mix):
    """Make Q itself the block."""
    size, n_block = sizes[SIZE], sizes[N_BLOCK]
    folded = np.empty((size, block.shape[1]))
    multiply(mix, size, n_block, block, folded)
    block[:size] = folded
    mix[:] = 0.0
    for i in range(size):
        mix[i, i] = 1.0
    sizes[N_BLOCK] = size


@allocating_kernel
def _extend_block(vector, length, sizes, block, room):
    """Write the coordinates in the block, which gets a row for what is left."""
    n_block, coordinates, residual = sizes[N_BLOCK], room.coordinates, room.residual
    coordinates[n_block:] = 0.0
    dots(block, n_block, vector, coordinates)
    residual[:] = vector
    add_rows(block, n_block, coordinates, -1.0, residual)
    left = norm(residual)
    if ROUNDING * length < left < LONG * length:
        dots(block, n_block, residual, room.again)
        add_rows(block, n_block, room.again, -1.0, residual)
        for i in range(n_block):
            coordinates[i] += room.again[i]
        left = norm(residual)
    if left > ROUNDING * length:
        for k in range(residual.shape[0]):
            block[n_block, k] = residual[k] / left
        coordinates[n_block] = left
        sizes[N_BLOCK] += 1


@allocating_kernel
def _extend_basis(length, sizes, mix, sigma, room):
    """Write the coordinates in Q, which gets a row for the rest; return its rows."""
    size, left = sizes[SIZE], room.coordinates
    room.in_basis[:] = 0.0
    for _ in range(2):  # twice is enough for orthogonality
        dots(mix, size, left, room.values)
        add_rows(mix, size, room.values, -1.0, left)
        for i in range(size):
            room.in_basis[i] += room.values[i]
    far = norm(left)
    if far <= ROUNDING * length:
        return size
    for i in range(left.shape[0]):
        mix[size, i] = left[i] / far
    room.in_basis[size], sigma[size] = far, 0.0
    return size + 1


@allocating_kernel
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
