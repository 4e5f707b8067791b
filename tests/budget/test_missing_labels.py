"""Trees that learn from some of the labels, judged by all of them."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import f1_score

import manylabel as ml

PLAIN = {"budget": 20, "C": 1.0}
each_way = pytest.mark.parametrize("hidden", ["at random", "by the law"])


def hide(Y, hidden):
    """Return what is left of the labels, and their propensities."""
    p = np.full(Y.shape[1], 0.3)
    if hidden == "by the law":
        p = ml.Propensity().fit(Y).values_ / 2
    is_left = np.random.default_rng(0).random(Y.nnz) < p[Y.indices]
    left = sp.csr_array((Y.data * is_left, Y.indices, Y.indptr), shape=Y.shape)
    left.eliminate_zeros()
    return left, p


def f1_loss(test, X, Y, kind, **parameters):
    """Return that of a tree on complete test rows."""
    model = kind(**PLAIN, **parameters).fit(X, Y)
    found = model.predict(test.X)
    return 1 - f1_score(test.Y, found, average="samples", zero_division=1)


def compare(train, test, hidden):
    """Return the loss with ``propensity`` alone, and with ``cost`` too."""
    left, p = hide(train.Y, hidden)
    tree = ml.AnnotationTree
    alone = f1_loss(test, train.X, left, tree, propensity=p)
    return alone, f1_loss(test, train.X, left, tree, propensity=p, cost="f1")


def take(data, rows, *, scaled=True):
    X = data.X[rows]
    if scaled:
        dense = data.X.toarray()
        X = (X.toarray() - dense.mean(axis=0)) / (dense.std(axis=0) + 1e-9)
    return ml.Dataset(sp.csr_array(X), data.Y[rows])


def corpus():
    corpus = ml.make_corpus(n_rows=3000, n_features=500, n_labels=50, propensity=1.0)
    return (
        ml.Dataset(corpus.X[rows], corpus.Y[rows])
        for rows in (slice(1500), slice(1500, None))
    )


@each_way
def test_prices_for_f1_pay_off_on_a_corpus(hidden):
    alone, priced = compare(*corpus(), hidden)
    assert priced < alone - 0.02


@each_way
def test_labelsets_priced_for_f1_gain_by_propensities(hidden):
    train, test = corpus()
    left, p = hide(train.Y, hidden)
    blind, aware = (
        f1_loss(test, train.X, left, ml.PowersetTree, cost="f1", propensity=given)
        for given in (None, p)
    )
    assert aware < blind - 0.05


@pytest.mark.slow
@each_way
@pytest.mark.parametrize("name", ["yeast", "CAL500", "tmc2007"])
def test_prices_for_f1_pay_off_on_real_data(name, hidden, data_folder):
    if name == "tmc2007":
        parts = (
            ml.read(data_folder / "xmc" / name / f"{p}.txt.gz")
            for p in ("train", "test")
        )
        train, test = (take(part, slice(6000), scaled=False) for part in parts)
    elif name == "CAL500":
        data = ml.read(data_folder / "mulan" / "CAL500.arff.gz")
        train, test = (take(data, slice(n, None, 2)) for n in range(2))
    else:
        parts = (
            ml.read(data_folder / "mulan" / f"{name}-{p}.arff.gz")
            for p in ("train", "test")
        )
        train, test = (take(part, slice(None)) for part in parts)
    alone, priced = compare(train, test, hidden)
    assert priced <= alone
