"""Huffman's tree: of all binary trees that of the least mean depth (Huffman 1952)."""

import numpy as np

from manylabel._kernels._jit import allocating_kernel


@allocating_kernel
def merge(frequency, pairs):
    """Write which two nodes each merger joins, the rarest first.

    ``frequency`` ascends. Leaves are numbered as they stand there, mergers go on from
    there, and the last is the root. Mergers come in ascending order too, so that two
    queues do for a heap; of equals a leaf is taken before a merger (which keeps the
    tree shallow), else the one that came first.
    """
    n_leaves = frequency.shape[0]
    total = np.empty(n_leaves - 1, np.int64)
    leaf, merger = 0, 0
    for made in range(n_leaves - 1):
        total[made] = 0
        for n in range(2):
            is_leaf = leaf < n_leaves and (
                merger == made or frequency[leaf] <= total[merger]
            )
            if is_leaf:
                pairs[made, n] = leaf
                total[made] += frequency[leaf]
                leaf += 1
            else:
                pairs[made, n] = n_leaves + merger
                total[made] += total[merger]
                merger += 1


@allocating_kernel
def lay_out(frequency, pairs, children, bounds, leaf):
    """Write the nodes as numbered from the root on, parents before children.

    Rows are thought sorted by leaf, from left to right: ``bounds`` are the stretch of a
    node and where its second child's begins. ``leaf`` is -1 for inner nodes.
    """
    n_leaves = frequency.shape[0]
    size = np.empty(2 * n_leaves - 1, np.int64)
    size[:n_leaves] = frequency
    for made in range(n_leaves - 1):
        size[n_leaves + made] = size[pairs[made, 0]] + size[pairs[made, 1]]
    here = np.empty(2 * n_leaves - 1, np.int64)
    here[0], bounds[0, 0], n_nodes = 2 * n_leaves - 2, 0, 1
    for at in range(2 * n_leaves - 1):
        start, node = bounds[at, 0], here[at]
        bounds[at, 1] = bounds[at, 2] = start + size[node]
        leaf[at], children[at] = node, 0
        if node >= n_leaves:
            first, second = pairs[node - n_leaves]
            leaf[at], children[at] = -1, n_nodes
            here[n_nodes], here[n_nodes + 1] = first, second
            bounds[at, 1] = start + size[first]
            bounds[n_nodes, 0], bounds[n_nodes + 1, 0] = start, bounds[at, 1]
            n_nodes += 2
