"""WSABIE: the steps of the paper by hand, bounds, what it ranks, refusals."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose

from manylabel import WSABIE, make_corpus

MASK = (1 << 64) - 1


class Draws:
    """SplitMix64, and integers and permutations by it."""

    def __init__(self, state):
        self.state = int(state)

    def below(self, bound):
        """Return a number from 0 to below a bound."""
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        return (((z ^ (z >> 31)) >> 32) * bound) >> 32

    def shuffle(self, items):
        """Permute a list in place."""
        for i in range(len(items) - 1, 0, -1):
            j = self.below(i + 1)
            items[i], items[j] = items[j], items[i]


def move(vectors, squares, which, factor, gradient, rate, longest):
    squares[which] += factor**2 * (gradient**2).mean()
    vectors[which] += rate * factor / np.sqrt(squares[which] + 1e-12) * gradient
    length = np.linalg.norm(vectors[which])
    vectors[which] *= min(1, longest / length)


def learn_slowly(X, Y, size, rate, n_iter, longest, seeds):
    """Return vectors of features and labels, by Algorithm 1 with AdaGrad."""
    rng, draws, n_labels = np.random.default_rng(seeds[0]), Draws(seeds[1]), len(Y[0])
    W, V = (
        (rng.standard_normal((n, size), np.float32) / np.sqrt(size)).astype(float)
        for n in (X.shape[1] + 1, n_labels)
    )
    rows = np.column_stack([X / np.linalg.norm(X, axis=1, keepdims=True), X[:, 0] ** 0])
    squares, order = (np.zeros(len(W)), np.zeros(len(V))), list(range(len(X)))
    for _ in range(n_iter):
        draws.shuffle(order)
        for i in order:
            z, gradient = rows[i] @ W, np.zeros(size)
            for p in np.flatnonzero(Y[i]):
                top = V[p] @ z - 1
                for n_draws in range(1, n_labels):
                    n = draws.below(n_labels)
                    if not Y[i, n] and V[n] @ z > top:
                        ranks = np.arange(1, (n_labels - 1) // n_draws + 1)
                        weight = (1 / ranks).sum()
                        gradient += weight * (V[p] - V[n])
                        move(V, squares[1], p, weight, z, rate, longest)
                        move(V, squares[1], n, -weight, z, rate, longest)
                        break
            if gradient.any():
                for j in np.flatnonzero(rows[i]):
                    move(W, squares[0], j, rows[i, j], gradient, rate, longest)
    return W, V


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("longest", [1.2, 10.0])
def test_steps_are_those_of_the_paper(seed, longest, monkeypatch):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(10, 4)) * (rng.random((10, 4)) < 0.7)
    X[:, 0] += 3  # the first column of ones above is X ** 0
    Y = (rng.random((10, 6)) < 0.3).astype(int)
    Y[:6] |= np.eye(6, dtype=int)
    seeds = np.array([11 + seed, 17], np.uint64)
    monkeypatch.setattr("manylabel.parallel.spawn_seeds", lambda *_: seeds.copy())
    given = {"n_components": 3, "learning_rate": 0.1, "n_iter": 3}
    model = WSABIE(max_norm=longest, **given).fit(X, Y)
    W, V = learn_slowly(X, Y, 3, 0.1, 3, longest, seeds)
    assert_allclose(model.feature_vectors_, W, atol=1e-3)
    assert_allclose(model.label_vectors_.T, V, atol=1e-3)


def test_no_vector_is_longer_than_it_may_be():
    corpus = make_corpus(n_rows=100, n_features=30, n_labels=9, random_state=0)
    model = WSABIE(max_norm=0.5, learning_rate=1.0).fit(corpus.X, corpus.Y)
    used = np.unique(sp.csr_array(corpus.X).indices)
    assert np.linalg.norm(model.feature_vectors_[used], axis=1).max() <= 0.5 + 1e-5
    assert np.linalg.norm(model.label_vectors_, axis=0).max() <= 0.5 + 1e-5


def test_as_many_labels_are_predicted_as_rows_have():
    corpus = make_corpus(n_rows=200, n_features=40, n_labels=9, random_state=1)
    model = WSABIE().fit(corpus.X, corpus.Y)
    assert abs(model.predict(corpus.X).sum() - corpus.Y.sum()) <= 2


@pytest.mark.parametrize("name", ["n_components", "n_iter"])
def test_nothing_is_no_count(name):
    with pytest.raises(ValueError, match=f"{name} == 0, must be >= 1"):
        WSABIE(**{name: 0}).fit([[1.0]], [[1]])


@pytest.mark.parametrize("name", ["learning_rate", "max_norm"])
def test_nothing_is_no_length(name):
    with pytest.raises(ValueError, match=f"{name} == 0.0, must be > 0"):
        WSABIE(**{name: 0.0}).fit([[1.0]], [[1]])
