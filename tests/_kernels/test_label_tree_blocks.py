"""Blocks of label trees: columns by feature, fuller rows with their zeros."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from manylabel._kernels.csr import FULL
from manylabel._kernels.label_tree.blocks import (
    CHUNK,
    BlockRows,
    ColumnBits,
    FeatureCounts,
    index_blocks,
)

N_FEATURES = 2 * CHUNK + 3


def expected_blocks(columns, order, child_starts):
    """Return rows of blocks as lists, the plainest way."""
    features, children, bits, sizes = [], [], [], []
    for node in range(1, len(child_starts) - 1):
        family = order[child_starts[node] : child_starts[node + 1]]
        before = len(features)
        for feature in range(N_FEATURES):
            row = {n: columns[c][feature] for n, c in enumerate(family)}
            row = {n: value for n, value in row.items() if value}
            if FULL * len(row) > len(family):
                row = {n: row.get(n, 0) for n in range(len(family))}
            if row:
                features.append(feature)
                children.append(list(row))
                bits.append(list(row.values()))
        sizes.append(len(features) - before)
    return features, children, bits, sizes


def blank(n_rows, n_entries):
    return BlockRows(
        np.empty(n_rows, np.int32),
        np.zeros(n_rows + 1, np.int64),
        np.empty(n_entries, np.uint16),
        np.zeros(n_entries, np.uint16),
    )


@given(
    st.integers(1, 5), st.integers(0, 9), st.floats(0, 0.5), st.integers(0, 2**32 - 1)
)
def test_columns_by_feature_are_those_of_a_dense_matrix(n_clusters, n_labels, p, seed):
    rng = np.random.default_rng(seed)
    # Node 0 above the root, the root, clusters, then their labels.
    sizes = np.array([1, n_clusters, *rng.integers(0, n_labels + 1, n_clusters)])
    n_nodes = 1 + sizes.sum()
    counts = np.concatenate([sizes, np.zeros(n_nodes - len(sizes), np.int64)])
    child_starts = 1 + np.concatenate([[0], np.cumsum(counts)])
    dense = rng.integers(1, 1 << 16, (n_nodes, N_FEATURES))
    dense *= rng.random(dense.shape) < p
    order = rng.permutation(n_nodes)
    features, children, bits, n_rows = expected_blocks(dense, order, child_starts)

    listed = [np.flatnonzero(column) for column in dense]
    columns = ColumnBits(
        np.cumsum([0, *map(len, listed)]),
        np.concatenate(listed).astype(np.int32),
        dense[dense > 0].astype(np.uint16),
    )
    counted = FeatureCounts(
        np.zeros(N_FEATURES, np.int32),
        np.zeros(N_FEATURES // CHUNK + 1, np.bool_),
        np.zeros(N_FEATURES, np.int64),
    )
    found = np.zeros(n_nodes, np.int64)
    given_ = columns, order, child_starts, counted, found
    n_entries = index_blocks(*given_, blank(0, 0))
    assert n_entries == sum(map(len, children))
    assert found[1:].tolist() == n_rows
    out = blank(len(features), n_entries)
    assert index_blocks(*given_, out) == n_entries
    assert out.features.tolist() == features
    assert np.diff(out.starts).tolist() == [len(row) for row in children]
    assert out.children.tolist() == [n for row in children for n in row]
    assert out.bits.tolist() == [value for row in bits for value in row]
    assert not counted.counts.any()
    assert not counted.touched.any()
