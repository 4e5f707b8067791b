"""Numbers for hashes, in the order in which they come, and counts of them by row.

The table is open: ``slots`` holds numbers, -1 where empty, and has a power of two of
them, at least twice as many as there are hashes. The caller makes room beforehand.
"""

import numpy as np

from manylabel._kernels._jit import inner, kernel
from manylabel._kernels.sorting import sort
from manylabel._kernels.text.words import spell


@inner
def _slot(hashed, slots, keys):
    """Return the slot of a hash, or the empty slot where it would be."""
    mask = np.uint64(slots.shape[0] - 1)
    at = hashed & mask
    while slots[at] >= 0 and keys[slots[at]] != hashed:
        at = (at + np.uint64(1)) & mask
    return at


@kernel
def number(hashes, slots, keys, n_known, numbers):
    """Write the number of each hash, entering new ones; return how many are known."""
    for i in range(hashes.shape[0]):
        at = _slot(hashes[i], slots, keys)
        if slots[at] < 0:
            slots[at] = n_known
            keys[n_known] = hashes[i]
            n_known += 1
        numbers[i] = slots[at]
    return n_known


@kernel
def look_up(hashes, slots, keys, numbers):
    """Write the number of each hash, -1 if it is not known."""
    for i in range(hashes.shape[0]):
        numbers[i] = slots[_slot(hashes[i], slots, keys)]


@kernel
def count(g_indptr, numbers, x_indptr, x_indices, x_data):
    """Write the numbers of each row, sorted, and how often each occurs there.

    Those below 0 are left out. Returns how many entries there are.
    """
    n = np.int64(0)
    x_indptr[0] = 0
    for i in range(g_indptr.shape[0] - 1):
        begin, end = n, n
        for j in range(g_indptr[i], g_indptr[i + 1]):
            x_indices[end] = numbers[j]
            end += numbers[j] >= 0
        sort(x_indices, begin, end)
        for j in range(begin, end):
            if n > begin and x_indices[n - 1] == x_indices[j]:
                x_data[n - 1] += np.float32(1)
            else:
                x_indices[n], x_data[n] = x_indices[j], np.float32(1)
                n += 1
        x_indptr[i + 1] = n
    return n


@kernel
def add_rows(x_indices, n_rows):
    """Count the rows that each number is in."""
    for column in x_indices:
        n_rows[column] += 1


@kernel
def spell_new(text, places, numbers, n_rows, least, name, names, ends, n_named):
    """Spell the grams that have been in ``least`` rows by now and have no name yet.

    ``name`` has the place of each number's name, -1 without one; ``names`` gets the
    bytes of the new ones, and ``ends`` where each ends. Returns how many are new.
    """
    n, at = 0, 0
    for i in range(numbers.shape[0]):
        known = numbers[i]
        if n_rows[known] >= least and name[known] < 0:
            name[known] = n_named + n
            at = spell(text, places[i, 0], places[i, 1], names, at)
            ends[n] = at
            n += 1
    return n


@kernel
def weigh(x_indptr, x_data, weights, out):
    """Turn counts c into (1 + ln c) times the entry's weight, rows of unit length."""
    for i in range(x_indptr.shape[0] - 1):
        total = 0.0
        for p in range(x_indptr[i], x_indptr[i + 1]):
            value = (1 + np.log(np.float64(x_data[p]))) * weights[p]
            out[p] = value
            total += value * value
        scale = 1 / np.sqrt(total) if total > 0 else 1.0
        for p in range(x_indptr[i], x_indptr[i + 1]):
            out[p] *= scale
