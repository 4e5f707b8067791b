"""Small data, and what fits in one piece give."""

import pytest

import manylabel as ml


@pytest.fixture(scope="package")
def corpus():
    return ml.make_corpus(n_rows=300, n_features=40, n_labels=150, random_state=0)


@pytest.fixture
def data(corpus):
    return ml.Dataset(corpus.X, corpus.Y)


@pytest.fixture(scope="package")
def texts(corpus):
    """Return texts whose words are the features, and label names."""
    rows = [" ".join(f"w{c}" for c in row.indices) for row in corpus.X]
    names = [f"label {n}" for n in range(corpus.Y.shape[1])]
    return ml.Dataset(None, corpus.Y, label_names=names, texts=rows)
