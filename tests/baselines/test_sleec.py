"""SLEEC: the vote by a slow reference, what codes keep, laws, refusals."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from manylabel import SLEEC, make_corpus


def draw(seed, n_rows=40, n_features=6, n_labels=5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features)).astype(np.float32)
    X *= rng.random(X.shape) < 0.7
    Y = (X @ rng.normal(size=(n_features, n_labels)) > 0.3).astype(int)
    Y[:n_labels] |= np.eye(n_labels, dtype=int)
    return X, Y


def unit(rows):
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(lengths > 0, lengths, 1)


def vote_slowly(model, X):
    """Return the shares of neighbours that have a label (Algorithm 2), less a half."""
    known, Y = model.embedding_, model.labels_.toarray()
    rows, n_learners = unit(X), len(known.learners) - 1
    out = np.zeros((len(X), Y.shape[1]))
    for first, last in zip(known.learners[:-1], known.learners[1:], strict=True):
        part = first + (rows @ known.centres[:, first:last]).argmax(axis=1)
        for i, c in enumerate(part):
            has = np.append(rows[i], 1) * (known.places[c] >= 0)
            code = unit((has @ known.weights[known.places[c]])[None])[0]
            span = slice(*known.starts[c : c + 2])
            cosines = code @ known.codes[:, span]
            best = np.argsort(-cosines, kind="stable")[: model.n_neighbors]
            weight = np.maximum(cosines[best], 0) ** 4 + 1e-6
            out[i] += weight @ Y[known.rows[span][best]] / weight.sum() / n_learners
    return out - 0.5


@given(
    seed=st.integers(0, 2**32 - 1),
    n_clusters=st.integers(1, 3),
    n_components=st.integers(1, 6),
)
def test_neighbours_vote_as_in_the_paper(seed, n_clusters, n_components):
    X, Y = draw(seed)
    model = SLEEC(
        n_estimators=2,
        n_clusters=n_clusters,
        n_components=n_components,
        n_neighbors=100,  # all: which of two equally near comes first is left to chance
    ).fit(X, Y)
    new = draw(seed + 1)[0]
    assert_allclose(model.decision_function(new), vote_slowly(model, new), atol=1e-4)


def test_the_nearest_alone_votes_if_told_so():
    X, Y = draw(0)
    model = SLEEC(n_estimators=1, n_neighbors=1).fit(X, Y)
    scores = model.decision_function(X)
    assert set(np.unique(scores.round(6))) == {-0.5, 0.5}
    assert_allclose(scores, vote_slowly(model, X), atol=1e-6)


def test_jobs_share_learners_without_a_change():
    corpus = make_corpus(n_rows=300, n_features=60, n_labels=12, random_state=0)
    one, two = (
        SLEEC(n_estimators=3, n_clusters=2, n_jobs=n).fit(corpus.X, corpus.Y)
        for n in (1, 2)
    )
    for mine, theirs in zip(one.embedding_, two.embedding_, strict=True):
        assert_array_equal(mine, theirs)


def test_a_learner_without_parts_is_refused():
    model = SLEEC(n_estimators=2).fit(*draw(0))
    state = model.get_state()
    (name,) = [each for each in state if each.endswith("learners")]
    state[name] = np.array([0, 0, 2])
    with pytest.raises(ValueError, match="learners must have a part each"):
        SLEEC(n_estimators=2).set_state(state)


@pytest.mark.parametrize(
    "name",
    ["n_estimators", "n_clusters", "n_components", "n_label_neighbors", "n_neighbors"],
)
def test_nothing_is_no_count(name):
    with pytest.raises(ValueError, match=f"{name} == 0, must be >= 1"):
        SLEEC(**{name: 0}).fit(*draw(0))


def test_no_regularisation_is_refused():
    with pytest.raises(ValueError, match="l2_regularization == 0, must be > 0"):
        SLEEC(l2_regularization=0).fit(*draw(0))
