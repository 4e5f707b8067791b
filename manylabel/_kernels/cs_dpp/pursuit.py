"""Orthogonal matching pursuit: a sparse vector from a few random sums of it."""

from typing import NamedTuple

import numpy as np

from manylabel._kernels._jit import inner, kernel

TINY = 1e-10  # a residual or a new direction this small is rounding


class PursuitScratch(NamedTuple):
    """Memory of one row."""

    closeness: object  # (n_labels,) products of the codes with the rest
    rest: object  # (M,) what is left of the code
    basis: object  # (most labels, M)
    triangle: object  # (most labels, most labels)
    chosen: object  # (most labels,)
    target: object  # (most labels,)


def decode(codes, code, sparsity, out):
    """Write into ``out`` the coefficients of at most ``sparsity[i]`` labels of row i.

    ``code`` has a row of unit length for each label. Step by step the label that is
    closest to what is left of the code joins (the first of equals), and what is left
    is taken anew at right angles to all that joined (Pati, Rezaiifar & Krishnaprasad
    1993). The coefficients are those of least squares on the chosen labels; 0
    elsewhere. A row takes O(sparsity M K).
    """
    columns = code.T.copy()  # so that the loop over labels vectorises
    (n_labels, size), most = code.shape, int(np.max(sparsity, initial=0))
    scratch = PursuitScratch(
        *(np.empty(n_labels), np.empty(size)),
        *(np.empty((most, size)), np.empty((most, most))),
        *(np.empty(most, np.int64), np.empty(most)),
    )
    _decode(codes, columns, sparsity, scratch, out)


@kernel
def _decode(codes, columns, sparsity, scratch, out):
    closeness, rest, basis, triangle, chosen, target = scratch
    for i in range(out.shape[0]):
        n_chosen = np.int64(0)
        for m in range(rest.shape[0]):
            rest[m] = codes[i, m]
        while n_chosen < sparsity[i]:
            label = _closest(columns, rest, closeness)
            if abs(closeness[label]) < TINY:
                break
            if not _orthogonalise(label, columns, n_chosen, basis, triangle):
                break
            product = 0.0
            for m in range(rest.shape[0]):
                product += rest[m] * basis[n_chosen, m]
            for m in range(rest.shape[0]):
                rest[m] -= product * basis[n_chosen, m]
            chosen[n_chosen], target[n_chosen] = label, product
            n_chosen += 1
        for label in range(out.shape[1]):
            out[i, label] = 0.0
        for a in range(n_chosen - 1, -1, -1):
            value = target[a]
            for b in range(a + 1, n_chosen):
                value -= triangle[b, a] * out[i, chosen[b]]
            out[i, chosen[a]] = value / triangle[a, a]


@inner
def _closest(columns, rest, closeness):
    """Return the label whose code has the largest product, of any sign."""
    for label in range(closeness.shape[0]):
        closeness[label] = 0.0
    for m in range(rest.shape[0]):
        for label in range(closeness.shape[0]):
            closeness[label] += rest[m] * columns[m, label]
    best = 0
    for label in range(1, closeness.shape[0]):
        if abs(closeness[label]) > abs(closeness[best]):
            best = label
    return best


@inner
def _orthogonalise(label, columns, n_chosen, basis, triangle):
    """Make a label's code the next vector of ``basis``; return whether it is new.

    Its products with the vectors before it are its row of ``triangle``. They are taken
    twice, since one pass loses digits when the codes are nearly dependent.
    """
    for m in range(basis.shape[1]):
        basis[n_chosen, m] = columns[m, label]
    for a in range(n_chosen):
        triangle[n_chosen, a] = 0.0
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
