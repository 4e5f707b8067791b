"""Huffman's tree: of all binary trees that of the least mean depth (Huffman 1952)."""

from manylabel._kernels._jit import kernel


@kernel
def merge(frequency, pairs, total):
    """Write which two nodes each merger joins, the rarest first.

    ``frequency`` ascends. Leaves are numbered as they stand there, mergers go on from
    there, and the last is the root. Mergers come in ascending order too, so that two
    queues do for a heap; of equals a leaf is taken before a merger (which keeps the
    tree shallow), else the one that came first. ``total`` gets the sizes of mergers.
    """
    n_leaves = frequency.shape[0]
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


@kernel
def lay_out(frequency, total, pairs, children, bounds, leaf):
    """Write the nodes as numbered from the root on, parents before children.

    Rows are thought sorted by leaf, from left to right: ``bounds`` are the stretch of a
    node and where its second child's begins. ``leaf`` is -1 for inner nodes.
    """
    n_leaves, n_nodes = frequency.shape[0], 1
    leaf[0], bounds[0, 0] = 2 * n_leaves - 2, 0  # first the number that it has so far
    for at in range(2 * n_leaves - 1):
        start, node = bounds[at, 0], leaf[at]
        children[at] = 0
        if node < n_leaves:
            bounds[at, 1] = bounds[at, 2] = start + frequency[node]
            continue
        first, second = pairs[node - n_leaves, 0], pairs[node - n_leaves, 1]
        size = frequency[first] if first < n_leaves else total[first - n_leaves]
        bounds[at, 1], bounds[at, 2] = start + size, start + total[node - n_leaves]
        leaf[at], children[at] = -1, n_nodes
        leaf[n_nodes], leaf[n_nodes + 1] = first, second
        bounds[n_nodes, 0], bounds[n_nodes + 1, 0] = start, start + size
        n_nodes += 2
