"""A corpus with planted omissions, and its audit."""

import numpy as np
import pytest

from manylabel import Dataset, Propensity, audit, make_corpus


@pytest.fixture(scope="session")
def corpus():
    """Return rows of which all labels are known."""
    return make_corpus(n_rows=600, n_features=300, n_labels=25, random_state=0)


@pytest.fixture(scope="session")
def data(corpus):
    """Return what was recorded, with names and texts that hold markup."""
    names = [f"<b>label {i}</b>" for i in range(25)]
    ids = [f"id {i}" for i in range(600)]
    texts = [f"row {i} <script>&" for i in range(600)]
    return Dataset(corpus.X, corpus.Y, None, names, ids, texts)


@pytest.fixture(scope="session")
def found(data):
    """Return its audit."""
    return audit(data, propensity=Propensity().fit(data.Y))


@pytest.fixture(scope="session")
def is_missing(corpus):
    """Return which labels were hidden, dense."""
    return (corpus.complete - corpus.Y).toarray() > 0


@pytest.fixture(scope="session")
def rng():
    """Return a generator."""
    return np.random.default_rng(0)
