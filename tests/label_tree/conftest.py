"""What the tests of label trees share."""

import numpy as np
import pytest

from manylabel import Dataset, make_corpus

TRUST = 0.3  # in a cluster, with a background


@pytest.fixture(scope="package")
def whole():
    return make_corpus(n_rows=1200, n_features=80, n_labels=40, random_state=0)


@pytest.fixture(scope="package")
def corpus(whole):
    return Dataset(whole.X[:400], whole.Y[:400])


@pytest.fixture(scope="package")
def fresh(whole):
    """Return further rows, and their labels."""
    return whole.X[400:], whole.Y[400:]


@pytest.fixture(scope="package")
def dense_weights():
    """Return the weights of the classifier of each node, (n_nodes, n_features)."""

    def read(model):
        nodes = model.nodes_
        weights = np.zeros((nodes.n_nodes, model.n_features_in_), np.float32)
        for node in range(nodes.n_nodes):
            for block in range(*nodes.block_starts[node : node + 2]):
                entries = slice(*nodes.entry_starts[block : block + 2])
                children = nodes.child_starts[node] + nodes.entry_children[entries]
                bits = nodes.entry_bits[entries].astype(np.uint32) << 16
                weights[children, nodes.features[block]] = bits.view(np.float32)
        return weights

    return read


@pytest.fixture(scope="package")
def path_scores(dense_weights):
    """Return the score of each row and label by one tree, without beam or tilt."""

    def score(model, X, root=1):
        nodes, weights = model.nodes_, dense_weights(model)
        margin = X @ weights.T + nodes.intercept
        if model.loss == "log_loss":
            factor = 1 / (1 + np.exp(-margin))
        else:
            rest = 0.1 / (1 + np.maximum(0, margin))
            factor = np.exp(-(np.maximum(0, 1 - margin) ** 3) - rest)
        scores = np.zeros((X.shape[0], len(model.classes_)))
        for leaf in np.flatnonzero((nodes.labels >= 0) & (nodes.find_trees() == root)):
            product, node = np.ones(X.shape[0]), leaf
            while node != root:
                trusted = model.background > 0 and nodes.labels[node] < 0
                product *= factor[:, node] ** (TRUST if trusted else 1)
                node = nodes.parents[node]
            scores[:, nodes.labels[leaf]] = product
        return scores

    return score
