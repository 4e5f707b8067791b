"""Orthogonal matching pursuit: a sparse vector from a few random sums of it."""

import numpy as np

from manylabel._kernels._jit import allocating_kernel

TINY = 1e-10  # a residual or a new direction this small is rounding


@allocating_kernel
def decode(codes, code, sparsity, out):
    """Write into ``out`` the coefficients of at most ``sparsity[i]`` labels of row i.

    ``code`` has a row of unit length for each label. Step by step the label that is
    closest to what is left of the code joins (the first of equals), and what is left
    is taken anew at right angles to all that joined (Pati, Rezaiifar & Krishnaprasad
    1993). The coefficients are those of least squares on the chosen labels; 0
    elsewhere. A row takes O(sparsity M K).
    """
    n_labels, size = code.shape
    columns = np.ascontiguousarray(code.T)  # so that the loop over labels vectorises
    closeness, rest = np.empty(n_labels), np.empty(size)
    most = 0
    for i in range(sparsity.shape[0]):
        most = max(most, sparsity[i])
    basis, triangle = np.empty((most, size)), np.empty((most, most))
    chosen, target = np.empty(most, np.int64), np.empty(most)
    for i in range(out.shape[0]):
        n_chosen = 0
        for m in range(size):
            rest[m] = codes[i, m]
        while n_chosen < sparsity[i]:
            label = _closest(columns, rest, closeness)
            if abs(closeness[label]) < TINY:
                break
            if not _orthogonalise(label, columns, n_chosen, basis, triangle):
                break
            chosen[n_chosen] = label
            target[n_chosen] = _leave(rest, n_chosen, basis)
            n_chosen += 1
        for label in range(n_labels):
            out[i, label] = 0.0
        for a in range(n_chosen - 1, -1, -1):
            value = target[a]
            for b in range(a + 1, n_chosen):
                value -= triangle[b, a] * out[i, chosen[b]]
            out[i, chosen[a]] = value / triangle[a, a]


@allocating_kernel
def _closest(columns, rest, closeness):
    """Return the label whose code has the largest product, of any sign."""
    closeness[:] = 0.0
    for m in range(rest.shape[0]):
        for label in range(closeness.shape[0]):
            closeness[label] += rest[m] * columns[m, label]
    best = 0
    for label in range(1, closeness.shape[0]):
        if abs(closeness[label]) > abs(closeness[best]):
            best = label
    return best


@allocating_kernel
def _orthogonalise(label, columns, n_chosen, basis, triangle):
    """Make a label's code the next vector of ``basis``; return whether it is new.

    Its products with the vectors before it are its row of ``triangle``. They are taken
    twice, since one pass loses digits when the codes are nearly dependent.
    """
    for m in range(basis.shape[1]):
        basis[n_chosen, m] = columns[m, label]
    triangle[n_chosen, :] = 0.0
    for _ in range(2):
        for a in range(n_chosen):
            product = 0.0
            for m in range(basis.shape[1]):
                product += basis[a, m] * basis[n_chosen, m]
            for m in range(basis.shape[1]):
                basis[n_chosen, m] -= product * basis[a, m]
            triangle[n_chosen, a] += product
    length = 0.0
    for m in range(basis.shape[1]):
        length += basis[n_chosen, m] ** 2
    length = np.sqrt(length)
    if length < TINY:
        return False
    for m in range(basis.shape[1]):
        basis[n_chosen, m] /= length
    triangle[n_chosen, n_chosen] = length
    return True


@allocating_kernel
def _leave(rest, n_chosen, basis):
    """Take the newest direction out of ``rest`` in place; return how much of it."""
    product = 0.0
    for m in range(rest.shape[0]):
        product += rest[m] * basis[n_chosen, m]
    for m in range(rest.shape[0]):
        rest[m] -= product * basis[n_chosen, m]
    return product
