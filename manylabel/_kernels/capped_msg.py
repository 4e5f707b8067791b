"""Online PCA by matrix stochastic gradient with capped rank.

Capped MSG (Arora, Cotter & Srebro 2013, "Stochastic optimization of PCA with capped
MSG") keeps U = Q' diag(sigma) Q with at most M + 1 orthonormal rows in Q, and after
every step projects the eigenvalues onto {0 <= sigma <= 1, sum = M}. Q and sigma start
empty and grow by one row a step. With fewer than M rows the sum cannot be M; all
eigenvalues are then 1.
"""

import numpy as np

from manylabel._kernels._jit import kernel

# A residual below this share of the input is rounding, not a new direction.
ROUNDING = 1e-10


@kernel
def update(vector, rate, n_components, size, basis, sigma, rotation):
    """Take one step towards ``vector``; return the new number of rows.

    Parameters
    ----------
    vector : (n_labels,) the input; not larger than 1 in norm for the theory to hold.
    rate : eta.
    n_components : M.
    size : rows in use, at most M + 1.
    basis : (M + 2, n_labels) Q, in place; the last row is room for the residual.
    sigma : (M + 2,) eigenvalues, descending, in place.
    rotation : (M + 2, M + 2) out: row i holds the coordinates of new row i in the old
        rows, and then in the residual.
    """
    coordinates = np.zeros(basis.shape[0])
    residual = vector.copy()
    _project_out(basis, size, residual, coordinates)
    _project_out(basis, size, residual, coordinates)  # once more: rounding
    length = np.sqrt((residual**2).sum())
    if length > ROUNDING * np.sqrt((vector**2).sum()):
        basis[size] = residual / length
        coordinates[size] = length
        sigma[size] = 0.0
        size += 1
    values, vectors = _eigenpairs(sigma[:size], coordinates[:size], rate)
    kept = min(size, n_components + 1)
    rotation[:] = 0.0
    rotation[:kept, :size] = vectors[:kept]
    basis[:kept] = np.dot(vectors[:kept], basis[:size])
    project_sum(values[:kept], min(n_components, kept), sigma)
    return kept


@kernel
def _project_out(basis, size, residual, coordinates):
    """Take the span of the basis out of ``residual``; add what was taken."""
    for i in range(size):
        taken = 0.0
        for k in range(residual.shape[0]):
            taken += basis[i, k] * residual[k]
        for k in range(residual.shape[0]):
            residual[k] -= taken * basis[i, k]
        coordinates[i] += taken


@kernel
def _eigenpairs(sigma, coordinates, rate):
    """Return eigenvalues, descending, and eigenvectors, as rows, of the small step."""
    n = sigma.shape[0]
    step = np.empty((n, n))
    for i in range(n):
        for j in range(n):
            step[i, j] = rate * coordinates[i] * coordinates[j]
        step[i, i] += sigma[i]
    values, vectors = np.linalg.eigh(step)
    return values[::-1].copy(), np.ascontiguousarray(vectors.T[::-1])


@kernel
def project_sum(values, total, out):
    """Write ``clip(values + shift, 0, 1)`` with the shift that makes the sum ``total``.

    ``values`` are descending and ``0 <= total <= len(values)``. For every choice of how
    many values are clipped to 1 and to 0 the shift follows; the consistent one is it
    (Arora et al. 2013, Algorithm 2).
    """
    n = values.shape[0]
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
