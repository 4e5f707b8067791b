"""Beam search in trees of labels, against one of ten lines and against no beam."""

from itertools import pairwise
from math import log1p

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from manylabel._kernels.forest.router import Rows
from manylabel._kernels.label_tree import search

ROOT = 1


def search_reference(tree, x, loss, trust, beam, most):
    """Return the best labels of a row and the logarithms of their scores."""
    nodes, weights, gain = tree
    level, found = {ROOT: 0.0}, {}
    while level:
        below = {}
        for node, score in level.items():
            for child in range(*nodes.child_starts[node : node + 2]):
                margin = weights[child] @ x + nodes.intercept[child]
                if nodes.labels[child] >= 0:
                    found[child] = score + log_factor(margin, loss)
                else:
                    below[child] = score + trust * log_factor(margin, loss)
        level = dict(sorted(below.items(), key=lambda n: -n[1] - gain[n[0]])[:beam])
    scores = {nodes.labels[leaf]: score + gain[leaf] for leaf, score in found.items()}
    return dict(sorted(scores.items(), key=lambda item: -item[1])[:most])


def log_factor(margin, loss):
    if loss == search.LOG_LOSS:
        return -log1p(np.exp(-margin))
    return -(max(0, 1 - margin) ** 3) - 0.1 / (1 + max(0, margin))


def run(tree, X, loss, beam, most, trust=1.0):
    """Return, for each row, what the kernel finds."""
    X, (nodes, _, gain) = sp.csr_array(np.float32(X)), tree
    best = [make_best(X.shape[0], size) for size in (beam, beam, most)]
    place = np.full(X.shape[1], -1, np.int32)
    pairs = np.empty(X.shape[0] * beam, np.int64)
    travel = search.Travel(*best[:2], pairs, place, np.empty(99, np.float32))
    rows = Rows(X.indptr, X.indices, X.data)
    how = np.int64(loss), np.float32(trust)
    search.search(rows, nodes, np.int64(ROOT), gain, *how, travel, best[2])
    assert (place == -1).all(), "what is used again is left as it was"
    counts, keys, items = best[2]
    return [
        dict(zip(items[i, :n].tolist(), keys[i, :n].tolist(), strict=True))
        for i, n in enumerate(counts)
    ]


def make_best(n_rows, capacity):
    return search.Best(
        np.zeros(n_rows, np.int64),
        np.empty((n_rows, capacity), np.float32),
        np.empty((n_rows, capacity), np.int32),
    )


def make_tree(rng, n_features, density=0.6):
    """Return a random tree, its weights by node, and what it gains by each label."""
    counts, is_inner = [1], [True]
    for depth in range(4):
        for inner in is_inner:
            counts.append(int(rng.integers(1, 6)) if inner else 0)
        n_below = sum(counts[len(counts) - len(is_inner) :])
        is_inner = (rng.random(n_below) < 0.5).tolist() if depth < 2 else []
        is_inner += [False] * (n_below - len(is_inner))
    starts = 1 + np.concatenate([[0], np.cumsum(counts)])
    leaves = np.flatnonzero(np.diff(starts) == 0)
    labels = np.full(len(counts), -1, np.int32)
    labels[leaves] = rng.permutation(len(leaves))
    weights = rng.normal(size=(len(counts), n_features)).astype(np.float32)
    weights[rng.random(weights.shape) > density] = 0
    weights = (weights.view(np.uint32) & np.uint32(0xFFFF0000)).view(np.float32)
    gain = rng.random(len(counts))
    for node in reversed(range(1, len(counts))):
        if starts[node] < starts[node + 1]:
            gain[node] = gain[starts[node] : starts[node + 1]].max()
    intercept = rng.normal(size=len(counts)).astype(np.float32)
    blocks = [sp.csr_array(weights[a:b].T) for a, b in pairwise(starts)]
    used = [np.flatnonzero(np.diff(block.indptr)) for block in blocks]
    n_entries = [np.diff(b.indptr)[u] for b, u in zip(blocks, used, strict=True)]
    children = np.concatenate([block.indices for block in blocks])
    data = np.concatenate([block.data for block in blocks])
    nodes = search.Nodes(
        *(starts, labels, intercept, np.cumsum([0, *map(len, used)])),
        features=np.concatenate(used).astype(np.int32),
        entry_starts=np.cumsum([0, *np.concatenate(n_entries)]).astype(np.int32),
        entry_children=children.astype(np.uint16),
        entry_bits=(data.view(np.uint32) >> 16).astype(np.uint16),
    )
    return nodes, weights, gain.astype(np.float32)


def make_rows(rng, n_rows, n_features):
    return rng.normal(size=(n_rows, n_features)) * (rng.random((n_rows, 1)) < 0.9)


seeds = st.integers(0, 2**32 - 1)
losses = st.sampled_from([search.SQUARED_HINGE, search.LOG_LOSS])
trusts = st.sampled_from([1.0, 0.25, 0.0])


@given(seeds, losses, trusts, st.integers(1, 6), st.integers(1, 30))
def test_the_kernel_finds_what_the_reference_finds(seed, loss, trust, beam, most):
    rng = np.random.default_rng(seed)
    tree, X = make_tree(rng, 7), np.float32(make_rows(rng, 5, 7))
    for x, found in zip(X, run(tree, X, loss, beam, most, trust), strict=True):
        expected = search_reference(tree, x, loss, trust, beam, most)
        assert found.keys() == expected.keys()
        assert_allclose(
            [found[n] for n in expected], list(expected.values()), rtol=1e-4
        )


@given(seeds, losses, trusts, st.integers(1, 30))
def test_a_beam_of_all_nodes_is_an_exact_search(seed, loss, trust, most):
    rng = np.random.default_rng(seed)
    tree, X = make_tree(rng, 7), np.float32(make_rows(rng, 3, 7))
    nodes, weights, gain = tree
    parents = np.repeat(np.arange(len(nodes.labels)), np.diff(nodes.child_starts))
    listed = run(tree, X, loss, len(parents), most, trust)
    for x, found in zip(X, listed, strict=True):
        scores = {}
        for leaf in np.flatnonzero(nodes.labels >= 0):
            scores[nodes.labels[leaf]], node = float(gain[leaf]), leaf
            while node != ROOT:
                margin = weights[node] @ x + nodes.intercept[node]
                counts = 1.0 if node == leaf else trust
                scores[nodes.labels[leaf]] += counts * log_factor(margin, loss)
                node = parents[node - 1]
        best = sorted(scores, key=lambda label: -scores[label])[:most]
        assert set(found) == set(best)
        assert_allclose([found[n] for n in best], [scores[n] for n in best], rtol=1e-4)


@given(seeds, losses, st.integers(1, 4))
def test_a_row_alone_has_the_bits_of_a_row_in_company(seed, loss, beam):
    rng = np.random.default_rng(seed)
    tree, X = make_tree(rng, 7), make_rows(rng, 20, 7)
    together = run(tree, X, loss, beam, 4)
    assert together == [run(tree, row[None], loss, beam, 4)[0] for row in X]


@pytest.mark.parametrize("density", [0.5, 1.0])
def test_few_rows_search_for_features_and_find_the_bits_of_many(density):
    rng = np.random.default_rng(0)
    n_features = 3 * search.SEARCHES
    tree = make_tree(rng, n_features, density)
    n_block = np.diff(tree[0].block_starts)
    X = make_rows(rng, 60, n_features) * (rng.random((60, n_features)) < 0.1)
    assert search.SEARCHES < n_block.max() < 60 * search.SEARCHES
    together = run(tree, X, search.SQUARED_HINGE, 9, 9)
    alone = [run(tree, row[None], search.SQUARED_HINGE, 9, 9)[0] for row in X]
    assert together == alone


def test_of_equal_scores_the_lower_columns_are_listed():
    tree = make_tree(np.random.default_rng(1), 2)
    nodes = tree[0]
    starts = np.array([1, 2, 9, *[9] * 7])
    labels = np.array([-1, -1, 6, 5, 4, 3, 2, 1, 0], np.int32)
    nothing = np.zeros(9, np.float32)
    flat = nodes._replace(
        child_starts=starts,
        labels=labels,
        intercept=nothing,
        block_starts=np.zeros(10, np.int64),
    )
    (found,) = run((flat, None, nothing), np.ones((1, 2)), 0, 3, 3)
    assert_array_equal(sorted(found), [0, 1, 2])
