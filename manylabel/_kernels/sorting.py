"""Sorting and searching within stretches of arrays, in place, for all kernels.

NumPy's ``sort``, ``argsort`` and ``searchsorted`` would each take a dozen compiled
functions; these take one. Keys are not NaN.
"""

import numpy as np

from manylabel._kernels._jit import inner


@inner
def sort(keys, start, end):
    """Sort ``keys[start:end]``, small ones first (heap sort).

    A key goes all the way down, past the larger children, and then up to its place:
    half the comparisons, and no branch to guess.
    """
    n = end - start
    for left in range(n + n // 2 - 1, 0, -1):  # to heap up, then to take from the top
        root, stop, key = max(left - n, 0), min(left, n), keys[start + left % n]
        if left < n:
            keys[start + left] = keys[start]
        at, child = root, 2 * root + 1
        while child + 1 < stop:
            p = np.uintp(start + child)  # unsigned, so that reading tests no sign
            other = p + np.uintp(1)
            child += keys[other] > keys[p]
            keys[np.uintp(start + at)] = max(keys[other], keys[p])
            at, child = child, 2 * child + 1
        if child < stop:
            keys[start + at] = keys[start + child]
            at = child
        above = (at - 1) // 2
        while at > root and keys[np.uintp(start + above)] < key:
            keys[np.uintp(start + at)] = keys[np.uintp(start + above)]
            at, above = above, (above - 1) // 2
        keys[start + at] = key


@inner
def sort_pairs(keys, values, start, end):
    """Sort ``keys[start:end]``, and their values with them; of equal keys by value.

    So with ascending numbers as values it is a stable ``argsort`` (heap sort).
    """
    n = end - start
    for left in range(n + n // 2 - 1, 0, -1):  # to heap up, then to take from the top
        if left >= n:
            root, stop = left - n, n
            key, value = keys[start + root], values[start + root]
        else:
            root, stop = 0, left
            key, value = keys[start + left], values[start + left]
            keys[start + left], values[start + left] = keys[start], values[start]
        child = 2 * root + 1
        while child < stop:
            p = start + child
            if child + 1 < stop and (
                keys[p + 1] > keys[p]
                or (keys[p + 1] == keys[p] and values[p + 1] > values[p])
            ):
                child, p = child + 1, p + 1
            if keys[p] < key or (keys[p] == key and values[p] <= value):
                break
            keys[start + root], values[start + root] = keys[p], values[p]
            root, child = child, 2 * child + 1
        keys[start + root], values[start + root] = key, value


@inner
def lower_bound(keys, start, end, key):
    """Return the first place of the sorted ``keys[start:end]`` not below ``key``."""
    while start < end:
        middle = (start + end) // 2
        if keys[middle] < key:
            start = middle + 1
        else:
            end = middle
    return start
