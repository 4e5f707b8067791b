"""Rows drawn at random, for labels that are seen once or twice."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.metrics import roc_auc_score

from manylabel import Dataset, LabelTree, OneVsRest, load

SMALL = LabelTree(n_clusters=5, leaf_labels=6, tilt=0.0, background=50)
BFLOAT16 = 2**-8  # relative error of a weight, at most
WEIGHT = 5  # of a row that is drawn


def small(**options):
    return clone(SMALL).set_params(**options)


def unit(X):
    return X.toarray() / np.maximum(np.sqrt(X.multiply(X).sum(axis=1)), 1e-30)[:, None]


def find_drawn(n_rows, **options):
    """Return the rows that are drawn from so many, by a tree in which they show.

    Each row has a feature of its own, and the last four have labels, two a cluster. A
    row that labels are told from pulls them down, by its feature.
    """
    Y = np.zeros((n_rows, 4), int)
    Y[-4:] = np.eye(4)
    how = {"parents": [4, 4, 5, 5, -1, -1], "min_weight": 0.0, "tol": 1e-4}
    nodes = LabelTree(**how | options).fit(np.eye(n_rows), Y).nodes_
    seen = [nodes.features[slice(*nodes.block_starts[n : n + 2])] for n in (2, 3)]
    own = np.split(np.arange(n_rows - 4, n_rows), 2)
    others = [np.setdiff1d(*pair) for pair in zip(seen, own, strict=True)]
    return np.union1d(*others).tolist()


def assert_equal_states(one, other):
    for name, value in one.get_state().items():
        assert_array_equal(value, other.get_state()[name], err_msg=name)


def test_without_a_background_no_bit_changes(corpus):
    plain, none = (
        LabelTree(leaf_labels=6, tilt="auto", **options).fit(corpus.X, corpus.Y)
        for options in ({}, {"background": 0})
    )
    assert_equal_states(plain, none)
    assert_array_equal(*(m.decision_function(corpus.X) for m in (plain, none)))


def test_a_generator_gives_the_same_clusters_with_a_background(corpus):
    plain, told = (
        small(background=n, random_state=np.random.default_rng(0))
        for n in (0, np.int64(50))
    )
    shapes = [m.fit(corpus.X, corpus.Y).nodes_.child_starts for m in (plain, told)]
    assert_array_equal(*shapes)


@pytest.mark.parametrize("background", [0, 1, 20, 59])
def test_as_many_rows_are_drawn_as_asked(background):
    assert len(find_drawn(60, background=background)) == background


def test_another_seed_draws_other_rows():
    one, other = (find_drawn(60, background=20, random_state=n) for n in (0, 1))
    assert one != other


@pytest.mark.parametrize("n_estimators", [1, 2])
def test_threads_change_no_bit(n_estimators, corpus):
    one, three = (
        small(n_jobs=n, n_estimators=n_estimators, tilt="auto", cost="f1")
        for n in (None, 3)
    )
    assert_equal_states(*(m.fit(corpus.X, corpus.Y) for m in (one, three)))
    assert find_drawn(60, background=20) == find_drawn(60, background=20, n_jobs=3)


def test_more_rows_than_there_are_is_all_rows(corpus):
    whole, more = (small(background=n) for n in (400, 10**30))
    assert_equal_states(*(m.fit(corpus.X, corpus.Y) for m in (whole, more)))


@pytest.mark.parametrize("weighed", [False, True])
@pytest.mark.parametrize("background", [50, 400])
def test_a_node_is_one_vs_rest_on_its_rows_and_those_drawn(
    background, weighed, corpus, dense_weights
):
    how = {"C": 2.0, "tol": 0.001, "min_weight": 0.0}
    given = np.arange(400) % 3 / 2 + 0.5 if weighed else np.ones(400)
    model = small(background=background, **how)
    model.fit(corpus.X, corpus.Y, sample_weight=given if weighed else None)
    weights, nodes = dense_weights(model), model.nodes_
    drawn = np.zeros(400, bool)
    drawn[find_drawn(400, background=background)] = True
    inner = np.flatnonzero(nodes.labels < 0)[1:]
    assert len(inner) > 4
    for node in inner:
        children = range(*nodes.child_starts[node : node + 2])
        below = [nodes.labels_below(child) for child in children]
        Y = np.stack([corpus.Y[:, b].sum(axis=1) > 0 for b in below], axis=1)
        own = Y.any(axis=1) | (node == 1)
        rows, weight = own | drawn, given * np.where(own, 1, WEIGHT)
        one = OneVsRest(**how).fit(
            corpus.X[rows], Y[rows].astype(int), sample_weight=weight[rows]
        )
        found, size = weights[list(children)].T, np.abs(one.coef_.toarray()).max()
        assert_allclose(found, one.coef_.toarray(), rtol=BFLOAT16, atol=0.003 * size)
        intercept = nodes.intercept[list(children)]
        assert_allclose(intercept, one.intercept_, atol=0.003 * size)


def test_one_cluster_has_no_background(corpus):
    plain, told = (LabelTree(background=n) for n in (0, 50))
    assert_equal_states(*(m.fit(corpus.X, corpus.Y) for m in (plain, told)))
    assert_array_equal(*(m.decision_function(corpus.X) for m in (plain, told)))


@pytest.mark.parametrize("loss", ["squared_hinge", "log_loss"])
@pytest.mark.parametrize("shape", [{}, {"n_clusters": 2, "leaf_labels": 2}])
def test_clusters_count_less_than_labels(shape, loss, corpus, path_scores):
    model = small(loss=loss, beam=None, **shape).fit(corpus.X, corpus.Y)
    assert len(model.nodes_.levels()) > 2
    expected = path_scores(model, unit(corpus.X))
    assert_allclose(model.predict_proba(corpus.X), expected, atol=1e-5)


@pytest.mark.parametrize("tilt", [0.0, 0.3])
def test_a_wide_beam_is_an_exact_search(tilt, corpus):
    exact, wide = (
        small(beam=b, tilt=tilt, n_clusters=3, leaf_labels=2).fit(corpus.X, corpus.Y)
        for b in (None, 50)
    )
    for verb in ("predict_topk", "decision_function"):
        found, expected = (getattr(m, verb)(corpus.X) for m in (wide, exact))
        assert_array_equal(
            sp.csr_array(found).toarray(), sp.csr_array(expected).toarray()
        )


def test_saving_keeps_the_bits(corpus, tmp_path):
    model = small(n_estimators=2, calibrate="auto").fit(corpus.X, corpus.Y)
    model.save(tmp_path / "model")
    again = load(tmp_path / "model")
    assert again.background == 50
    assert_equal_states(model, again)
    assert_array_equal(
        *(m.decision_function(corpus.X) for m in (model, again)),
    )


def test_rows_of_weight_0_are_not_there(corpus):
    weight = np.arange(400) % 3 / 2
    kept = weight > 0
    weighed = small().fit(corpus.X, corpus.Y, sample_weight=weight)
    without = small().fit(corpus.X[kept], corpus.Y[kept], sample_weight=weight[kept])
    assert_equal_states(without, weighed)


@pytest.mark.parametrize("weight", [1e308, 5e-324])
@pytest.mark.filterwarnings("ignore:.* did not converge")
def test_weights_of_any_size_leave_finite_scores(weight, corpus):
    model = small().fit(corpus.X, corpus.Y, sample_weight=np.full(400, weight))
    assert np.isfinite(model.decision_function(corpus.X)).all()


@pytest.fixture(scope="module")
def known(corpus):
    """Return rows, and their labels with the frequent ones last."""
    return Dataset(corpus.X, corpus.Y[:, ::-1].tocsr())


def test_labels_that_came_later_are_found(known, whole):
    model = small(beam=None).fit(known.X, known.Y[:, :-8])
    before = model.decision_function(whole.X[400:])
    model.add_labels(known.X, known.Y)
    after = model.decision_function(whole.X[400:])
    assert_allclose(after[:, :-8], before, atol=1e-5)
    true = whole.complete[400:, ::-1].toarray()[:, -8:]
    assert roc_auc_score(true, after[:, -8:], average="macro") > 0.7


def test_labels_that_came_later_are_also_told_from_rows_drawn(known, dense_weights):
    how = {"tol": 0.001, "min_weight": 0.0}
    model = small(**how).fit(known.X, known.Y[:, :-1]).add_labels(known.X, known.Y)
    nodes, drawn = model.nodes_, find_drawn(400, background=50)
    leaf = np.flatnonzero(nodes.labels == 39)[0]
    below = nodes.labels_below(nodes.parents[leaf])
    own = known.Y[:, below].sum(axis=1) > 0
    rows = np.union1d(np.flatnonzero(own), drawn)
    one = OneVsRest(**how).fit(
        known.X[rows],
        known.Y[:, [39]][rows],
        sample_weight=np.where(own, 1, WEIGHT)[rows],
    )
    found, size = dense_weights(model)[leaf], np.abs(one.coef_.toarray()).max()
    expected = one.coef_.toarray().ravel()
    assert_allclose(found, expected, rtol=BFLOAT16, atol=0.003 * size)


@pytest.mark.parametrize("background", [-1, 2.0, 0.5, True, None, "many", [3]])
def test_what_is_no_number_of_rows_is_refused(background, corpus):
    message = "background must be a whole number of rows, at least 0. Got "
    with pytest.raises(ValueError, match=message):
        small(background=background).fit(corpus.X, corpus.Y)
