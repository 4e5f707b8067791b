"""Sorting and searching within stretches of arrays, in place, for all kernels.

NumPy's ``sort``, ``argsort`` and ``searchsorted`` would each take a dozen compiled
functions; these take one. Keys are not NaN.
"""

from manylabel._kernels._jit import inner

FEW = 16  # keys that are sorted by insertion


@inner
def sort(keys, start, end):
    """Sort ``keys[start:end]``, small ones first (quicksort, median of three).

    It calls itself for the shorter part only: at most once for each doubling of n.
    """
    while end - start > FEW:
        a, b, c = keys[start], keys[(start + end) // 2], keys[end - 1]
        pivot = max(min(a, b), min(max(a, b), c))
        low, high = start, end - 1
        while low <= high:
            while keys[low] < pivot:
                low += 1
            while pivot < keys[high]:
                high -= 1
            if low <= high:
                keys[low], keys[high] = keys[high], keys[low]
                low += 1
                high -= 1
        if high + 1 - start < end - low:
            sort(keys, start, high + 1)
            start = low
        else:
            sort(keys, low, end)
            end = high + 1
    for i in range(start + 1, end):
        key, place = keys[i], i
        while place > start and keys[place - 1] > key:
            keys[place] = keys[place - 1]
            place -= 1
        keys[place] = key


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
