"""Neighbours: rows that share labels, and rows whose codes are alike."""

from typing import Any, NamedTuple

import numpy as np

from manylabel._kernels._jit import inner, kernel
from manylabel._kernels.csr import stretch
from manylabel._kernels.topk import best_positions

BLOCK = 256  # codes that are compared while they are in the cache
ZERO = np.float32(0.0)
LEAST_WEIGHT = 1e-6  # of a neighbour at a right angle


class Parts(NamedTuple):
    """Regressors and codes of the parts of the rows, those of all learners."""

    learners: Any  # (n_learners + 1,) the first part of each
    centres: Any  # (n_features, n_parts)
    places: Any  # (n_parts, n_features + 1) of a feature in weights, or -1
    weights: Any  # (n_weights, n_components)
    starts: Any  # (n_parts + 1,) the first code of each
    rows: Any  # (n_codes,) training rows
    codes: Any  # (n_components, n_codes), of length 1


class Queries(NamedTuple):
    """Rows to compare, and what is known of them on the way."""

    part: Any  # (n_rows,)
    codes: Any  # (n_rows, n_components)
    alike: Any  # (n_rows, n_codes of the largest part)
    best: Any  # (n_neighbors,)
    near: Any  # (n_parts,)


@kernel
def share_labels(y_indptr, y_indices, by_label, shared, turned, columns, cosines):
    """Write the rows whose labels are the most alike each row's, and how much.

    The likeness is the cosine; rows that share no label are left out, as -1. Of equal
    ones those that follow the row come first, in a circle, so that no row is preferred.
    ``by_label`` has the rows of each label; ``shared`` holds zeros, and does so again.
    """
    n_rows, indptr, indices = shared.shape[0], by_label.indptr, by_label.indices
    for i in range(n_rows):
        for p in stretch(y_indptr, i):
            for q in stretch(indptr, y_indices[p]):
                shared[indices[q]] += 1
        size = y_indptr[i + 1] - y_indptr[i]
        for n in range(n_rows):
            j = i + n if i + n < n_rows else i + n - n_rows
            turned[n] = 0.0
            if shared[j] > 0:
                other = y_indptr[j + 1] - y_indptr[j]
                turned[n] = shared[j] / np.sqrt(np.float64(size * other))
                shared[j] = 0
        best_positions(turned, columns.shape[1], columns[i])
        for n in range(columns.shape[1]):
            place = columns[i, n]
            cosines[i, n] = turned[place]
            columns[i, n] = (i + place) % n_rows if turned[place] > 0.0 else -1


@kernel
def residuals(indptr, indices, targets, codes, out):
    """Write the targets of pairs, in CSR, less the dot products of their codes."""
    for i in range(indptr.shape[0] - 1):
        for p in stretch(indptr, i):
            j, total = indices[p], 0.0
            for m in range(codes.shape[1]):
                total += codes[i, m] * codes[j, m]
            out[p] = targets[p] - total


@kernel
def vote(rows, labels, bias, parts, power, queries, out):
    """Add to ``out`` the labels of the training rows nearest to each row.

    A neighbour whose code has the cosine c weighs as c^power, and the weights of the
    neighbours that one learner finds sum to 1.
    """
    n_learners = parts.learners.shape[0] - 1
    for learner in range(n_learners):
        first, last = parts.learners[learner], parts.learners[learner + 1]
        for i in range(out.shape[0]):
            _find_part(rows, parts, first, last, queries, i)
            _encode(rows, bias, parts, queries, i)
        for part in range(first, last):
            _compare(parts, part, queries)
        for i in range(out.shape[0]):
            part = queries.part[i]
            start, n_codes = parts.starts[part], parts.starts[part + 1]
            n_codes -= start
            alike, best = queries.alike[i, :n_codes], queries.best
            n_best, total = best_positions(alike, best.shape[0], best), 0.0
            for n in range(n_best):
                total += _weight(alike[best[n]], power)
            for n in range(n_best):
                share = _weight(alike[best[n]], power) / (total * n_learners)
                for p in stretch(labels.indptr, parts.rows[start + best[n]]):
                    out[i, labels.indices[p]] += share


@inner
def _weight(cosine, power):
    return max(np.float64(cosine), 0.0) ** power + LEAST_WEIGHT


@inner
def _find_part(rows, parts, first, last, queries, i):
    """Note the part of a learner whose centre is nearest to a row."""
    near, best = queries.near, first
    for part in range(first, last):
        near[part] = ZERO
    for p in stretch(rows.indptr, i):
        j, value = rows.indices[p], rows.data[p]
        for part in range(first, last):
            near[part] += value * parts.centres[j, part]
    for part in range(first, last):
        if near[part] > near[best]:
            best = part
    queries.part[i] = best


@inner
def _encode(rows, bias, parts, queries, i):
    """Write the code of a row, scaled to length 1."""
    part, code, n_features = (
        queries.part[i],
        queries.codes[i],
        parts.places.shape[1] - 1,
    )
    place = parts.places[part, n_features]
    for m in range(code.shape[0]):
        code[m] = bias * parts.weights[place, m] if place >= 0 else ZERO
    for p in stretch(rows.indptr, i):
        place, value = parts.places[part, rows.indices[p]], rows.data[p]
        if place >= 0:
            for m in range(code.shape[0]):
                code[m] += value * parts.weights[place, m]
    square = 0.0
    for m in range(code.shape[0]):
        square += np.float64(code[m]) * code[m]
    scale = np.float32(1.0 / np.sqrt(square)) if square > 0.0 else ZERO
    for m in range(code.shape[0]):
        code[m] *= scale


@inner
def _compare(parts, part, queries):
    """Write the cosines of the rows of a part to all codes of it, block by block."""
    start, end, codes = parts.starts[part], parts.starts[part + 1], parts.codes
    n_components = codes.shape[0]
    for at in range(start, end, BLOCK):
        until = min(at + BLOCK, end)
        for i in range(queries.part.shape[0]):
            if queries.part[i] != part:
                continue
            code, alike = queries.codes[i], queries.alike[i, at - start : until - start]
            for c in range(until - at):
                alike[c] = ZERO
            for m in range(0, n_components - 3, 4):
                one, two, three, four = code[m], code[m + 1], code[m + 2], code[m + 3]
                for c in range(until - at):
                    alike[c] += (
                        one * codes[m, at + c]
                        + two * codes[m + 1, at + c]
                        + three * codes[m + 2, at + c]
                        + four * codes[m + 3, at + c]
                    )
            for m in range(n_components - n_components % 4, n_components):
                for c in range(until - at):
                    alike[c] += code[m] * codes[m, at + c]
