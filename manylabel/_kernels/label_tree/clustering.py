"""Centroids of labels, and which cluster each is nearest to."""

import numpy as np

from manylabel._kernels._jit import kernel
from manylabel._kernels.csr import stretch
from manylabel._kernels.sorting import sort
from manylabel._kernels.topk import best_positions

ZERO = np.float32(0.0)


@kernel
def find_centroids(rows, by_label, weight, total, is_met, size, met, best, out):
    """Write the mean row of each label, its largest values, scaled to length 1.

    ``rows`` and ``out`` are CSR, ``by_label`` lists the rows of each label, ``weight``
    is how much a row counts. ``out`` has as much room for each label as ``best``;
    ``out.indptr`` tells how much is used. ``total`` and ``is_met`` hold zeros, and do
    so again; ``met`` lists the features of a label, whose sums may well be 0.
    """
    q = 0
    for label in range(by_label.indptr.shape[0] - 1):
        n = 0
        for r in stretch(by_label.indptr, label):
            row = by_label.indices[r]
            for p in stretch(rows.indptr, row):
                j = rows.indices[p]
                if not is_met[j]:
                    is_met[j], met[n] = True, j
                    n += 1
                total[j] += weight[row] * rows.data[p]
        for t in range(n):
            size[t] = abs(total[met[t]])
        n_best, square = best_positions(size[:n], best.shape[0], best), 0.0
        for b in range(n_best):
            best[b] = met[best[b]]
            square += np.float64(total[best[b]]) * total[best[b]]
        scale = 1.0 / np.sqrt(square) if square > 0.0 else 0.0
        sort(best, 0, n_best)
        for b in range(n_best):
            out.indices[q], out.data[q] = best[b], np.float32(total[best[b]] * scale)
            q += 1
        for t in range(n):
            total[met[t]], is_met[met[t]] = ZERO, False
        out.indptr[label + 1] = q


@kernel
def find_nearest(rows, chosen, centres, score, out, out_score):
    """Write the nearest of the centres, (n_features, n_centres), for chosen rows."""
    n_centres = np.uintp(centres.shape[1])
    for n in range(chosen.shape[0]):
        for c in range(n_centres):
            score[c] = ZERO
        for p in stretch(rows.indptr, chosen[n]):
            j, value = rows.indices[p], rows.data[p]
            for c in range(n_centres):
                score[c] += value * centres[j, c]
        best = 0
        for c in range(1, centres.shape[1]):
            if score[c] > score[best]:
                best = c
        out[n], out_score[n] = best, score[best]


@kernel
def fill_nearest(rows, chosen, centres, score, capacity, n_held, out):
    """Write, for chosen rows in turn, the nearest of the centres that have room."""
    n_centres = np.uintp(centres.shape[1])
    for n in range(chosen.shape[0]):
        for c in range(n_centres):
            score[c] = ZERO
        for p in stretch(rows.indptr, chosen[n]):
            j, value = rows.indices[p], rows.data[p]
            for c in range(n_centres):
                score[c] += value * centres[j, c]
        best = -1
        for c in range(centres.shape[1]):
            if n_held[c] < capacity and (best < 0 or score[c] > score[best]):
                best = c
        n_held[best] += 1
        out[n] = best


@kernel
def add_centres(rows, chosen, nearest, centres):
    """Add chosen rows to their centres, and scale these to length 1."""
    for n in range(chosen.shape[0]):
        for p in stretch(rows.indptr, chosen[n]):
            centres[rows.indices[p], nearest[n]] += rows.data[p]
    for c in range(centres.shape[1]):
        square = 0.0
        for j in range(centres.shape[0]):
            square += np.float64(centres[j, c]) * centres[j, c]
        scale = np.float32(1.0 / np.sqrt(square)) if square > 0.0 else ZERO
        for j in range(centres.shape[0]):
            centres[j, c] *= scale
