"""Huffman's tree against the textbook."""

import heapq

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from manylabel._kernels.coding_tree import huffman

frequencies = st.lists(st.integers(1, 30), min_size=1, max_size=40).map(sorted)


def textbook_mean(counts):
    """Sum of the frequencies of all mergers of the two rarest."""
    heap, total = list(counts), 0
    heapq.heapify(heap)
    while len(heap) > 1:
        merged = heapq.heappop(heap) + heapq.heappop(heap)
        total += merged
        heapq.heappush(heap, merged)
    return total


def laid_out(counts):
    n = len(counts)
    counts, pairs = np.array(counts), np.empty((n - 1, 2), np.int64)
    total = np.empty(n - 1, np.int64)
    huffman.merge(counts, pairs, total)
    children, leaf = np.empty((2, 2 * n - 1), np.int32)
    bounds = np.empty((2 * n - 1, 3), np.int64)
    huffman.lay_out(counts, total, pairs, children, bounds, leaf)
    return children, bounds, leaf


@given(frequencies)
def test_the_mean_length_is_that_of_the_textbook(counts):
    children, bounds, _ = laid_out(counts)
    assert np.ptp(bounds, axis=1)[children > 0].sum() == textbook_mean(counts)


@given(frequencies)
def test_the_tree_has_each_leaf_once_and_stretches_that_nest(counts):
    children, bounds, leaf = laid_out(counts)
    assert sorted(leaf[leaf >= 0]) == list(range(len(counts)))
    np.testing.assert_array_equal(leaf >= 0, children == 0)
    assert tuple(bounds[0, [0, 2]]) == (0, sum(counts))
    for at, child in enumerate(children):
        if child:
            assert child > at
            assert tuple(bounds[child, [0, 2]]) == tuple(bounds[at, :2])
            assert tuple(bounds[child + 1, [0, 2]]) == tuple(bounds[at, 1:])
        else:
            assert np.ptp(bounds[at]) == counts[leaf[at]]


def test_lengths_of_known_frequencies():
    children, _, leaf = laid_out([1, 1, 3, 3])
    depth = np.zeros(len(children), int)
    for at, child in enumerate(children):
        if child:
            depth[child : child + 2] = depth[at] + 1
    lengths = dict(zip(leaf[leaf >= 0].tolist(), depth[leaf >= 0], strict=True))
    assert lengths == {0: 3, 1: 3, 2: 2, 3: 1}


def test_of_equals_a_leaf_is_merged_before_a_merger():
    children, _, leaf = laid_out([1, 1, 2, 2])
    depth = np.zeros(len(children), int)
    for at in np.flatnonzero(children):
        depth[children[at] : children[at] + 2] = depth[at] + 1
    assert depth[leaf >= 0].tolist() == [2, 2, 2, 2]  # not 1, 2, 3, 3, as short in all
