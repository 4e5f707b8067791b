"""Label trees: what their nodes learn, and the laws of scores."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from manylabel import LabelTree, OneVsRest, load, make_corpus

SMALL = LabelTree(n_clusters=5, leaf_labels=6, tilt=0.0)
BFLOAT16 = 2**-8  # relative error of a weight, at most


def small(**options):
    return clone(SMALL).set_params(**options)


def unit(X):
    return X.toarray() / np.maximum(np.sqrt(X.multiply(X).sum(axis=1)), 1e-30)[:, None]


@pytest.mark.parametrize("loss", ["squared_hinge", "log_loss"])
def test_a_score_is_the_product_of_a_path(loss, corpus, path_scores):
    model = small(loss=loss, beam=None).fit(corpus.X, corpus.Y)
    assert len(model.nodes_.levels()) > 2
    expected = path_scores(model, unit(corpus.X))
    assert_allclose(model.predict_proba(corpus.X), expected, atol=1e-5)
    seen, scores = model.counts_ > 0, model.decision_function(corpus.X) + 0.5
    assert_allclose(scores[:, seen], expected[:, seen], atol=1e-5)
    assert_array_equal(scores[:, ~seen], -1)


def test_rare_labels_gain_by_the_tilt(corpus):
    plain, tilted = (
        small(tilt=tilt, beam=None).fit(corpus.X, corpus.Y) for tilt in (0.0, 0.3)
    )
    seen = plain.counts_ > 0
    scores, found = (m.decision_function(corpus.X) + 0.5 for m in (plain, tilted))
    scores *= tilted.inverse_propensity_**0.3
    assert_allclose(found[:, seen], scores[:, seen], atol=1e-5)


@pytest.mark.parametrize("beam", [50, 65536])
def test_a_wide_beam_is_an_exact_search(beam, corpus):
    exact, wide = (small(beam=b).fit(corpus.X, corpus.Y) for b in (None, beam))
    for verb in ("predict_topk", "decision_function"):
        found, expected = (getattr(m, verb)(corpus.X) for m in (wide, exact))
        assert_array_equal(
            sp.csr_array(found).toarray(), sp.csr_array(expected).toarray()
        )


def test_a_narrow_beam_finds_most_of_an_exact_search(corpus):
    exact, narrow = (small(beam=b).fit(corpus.X, corpus.Y) for b in (None, 1))
    scores, few = (m.decision_function(corpus.X) for m in (exact, narrow))
    reached = few > -0.5
    assert reached.mean() < 0.5
    assert_array_equal(few[reached], scores[reached])
    best = (scores.argmax(axis=1) == few.argmax(axis=1)).mean()
    assert 0.6 < best < 1


@pytest.mark.parametrize("n_estimators", [1, 2])
def test_rows_alone_have_the_bits_of_a_batch(n_estimators, corpus):
    model = small(n_estimators=n_estimators).fit(corpus.X, corpus.Y)
    together = model.predict_topk(corpus.X, 7)
    alone = sp.vstack([model.predict_topk(corpus.X[[i]], 7) for i in range(400)])
    assert_array_equal(together.toarray(), alone.toarray())
    assert_array_equal(
        model.decision_function(corpus.X[:9]),
        np.vstack([model.decision_function(corpus.X[[i]]) for i in range(9)]),
    )


def test_rows_cut_into_chunks_have_the_bits_of_a_batch(corpus, monkeypatch):
    model = small().fit(corpus.X, corpus.Y)
    whole = [getattr(model, v)(corpus.X) for v in ("decision_function", "predict")]
    monkeypatch.setattr("manylabel.label_tree._label_tree.ROOM", 300)
    monkeypatch.setattr("manylabel.label_tree._label_tree.PAIRS_AT_ONCE", 60)
    cut = [getattr(model, v)(corpus.X) for v in ("decision_function", "predict")]
    assert_array_equal(whole[0], cut[0])
    assert_array_equal(whole[1].toarray(), cut[1].toarray())


def test_the_best_labels_are_those_of_the_highest_scores(corpus):
    model = small(tilt=0.2).fit(corpus.X, corpus.Y)
    scores = model.decision_function(corpus.X)
    order = np.sort(np.argsort(-scores, axis=1, kind="stable")[:, :4], axis=1)
    best = model.predict_topk(corpus.X, 4)
    assert_array_equal(best.indices.reshape(-1, 4), order)
    assert_array_equal(best.data.reshape(-1, 4), np.take_along_axis(scores, order, 1))
    assert_array_equal(model.predict(corpus.X).toarray(), scores > 0)


def test_a_node_is_one_vs_rest_on_the_rows_that_have_its_labels(corpus, dense_weights):
    how = {"C": 2.0, "tol": 0.01, "min_weight": 0.0}
    model = small(**how).fit(corpus.X, corpus.Y)
    weights, nodes = dense_weights(model), model.nodes_
    inner = np.flatnonzero(nodes.labels < 0)[1:]
    assert len(inner) > 4
    for node in inner:
        children = range(*nodes.child_starts[node : node + 2])
        below = [nodes.labels_below(child) for child in children]
        Y = np.stack([corpus.Y[:, b].sum(axis=1) > 0 for b in below], axis=1)
        rows = Y.any(axis=1) | (node == 1)
        one = OneVsRest(**how).fit(corpus.X[rows], Y[rows].astype(int))
        found, size = weights[list(children)].T, np.abs(one.coef_.toarray()).max()
        assert_allclose(found, one.coef_.toarray(), rtol=BFLOAT16, atol=0.02 * size)
        intercept = nodes.intercept[list(children)]
        assert_allclose(intercept, one.intercept_, atol=0.02 * size)


def test_a_tree_of_one_cluster_ranks_as_one_vs_rest(corpus, fresh):
    how = {"C": 1.0, "tol": 0.1, "min_weight": 0.0}
    model = LabelTree(tilt=0.0, **how).fit(corpus.X, corpus.Y)
    assert len(model.nodes_.levels()) == 2
    found = model.predict_topk(fresh[0], 5)
    expected = OneVsRest(**how).fit(corpus.X, corpus.Y).predict_topk(fresh[0], 5)
    same = (found != 0).multiply(expected != 0).nnz
    assert same > 0.99 * expected.nnz


def test_small_weights_are_dropped(corpus, dense_weights):
    whole, pruned = (small(min_weight=w).fit(corpus.X, corpus.Y) for w in (0.0, 0.2))
    left, kept = dense_weights(whole), dense_weights(pruned)
    assert 0 < len(pruned.nodes_.entry_bits) < len(whole.nodes_.entry_bits)
    large = np.abs(left) > 0.2 * (1 + BFLOAT16)
    assert_array_equal(kept[large], left[large])
    assert_array_equal(kept[np.abs(left) < 0.2 * (1 - BFLOAT16)], 0)


def test_rows_of_weight_0_are_not_there(corpus):
    weight = np.arange(400) % 3 / 2
    kept = weight > 0
    weighed = LabelTree(n_clusters=5, leaf_labels=6).fit(
        corpus.X, corpus.Y, sample_weight=weight
    )
    without = LabelTree(n_clusters=5, leaf_labels=6).fit(
        corpus.X[kept], corpus.Y[kept], sample_weight=weight[kept]
    )
    for name, value in without.get_state().items():
        assert_array_equal(value, weighed.get_state()[name], err_msg=name)


def test_weights_of_1_change_no_bit(corpus):
    plain = small().fit(corpus.X, corpus.Y)
    weighed = small().fit(corpus.X, corpus.Y, sample_weight=np.ones(400))
    assert_array_equal(plain.nodes_.entry_bits, weighed.nodes_.entry_bits)


@pytest.mark.parametrize("loss", ["squared_hinge", "log_loss"])
def test_whole_weights_are_repeated_rows(loss, corpus):
    times = np.random.default_rng(0).integers(1, 4, 400)
    again = np.repeat(np.arange(400), times)
    how = {"tol": 1e-3, "min_weight": 0.0, "tilt": 0.0, "loss": loss}
    weighed = LabelTree(**how).fit(corpus.X, corpus.Y, sample_weight=times)
    repeated = LabelTree(**how).fit(corpus.X[again], corpus.Y[again])
    assert_allclose(
        *(m.decision_function(corpus.X) for m in (weighed, repeated)), atol=0.02
    )


@pytest.mark.parametrize("loss", ["squared_hinge", "log_loss"])
@pytest.mark.parametrize("weight", [1e308, 5e-324])
@pytest.mark.filterwarnings("ignore:.* did not converge")
def test_weights_of_any_size_leave_finite_scores(weight, loss, corpus):
    model = small(loss=loss)
    model.fit(corpus.X, corpus.Y, sample_weight=np.full(400, weight))
    assert np.isfinite(model.decision_function(corpus.X)).all()


def test_scores_of_an_ensemble_are_means_of_its_trees(corpus, path_scores):
    model = small(n_estimators=3, beam=None).fit(corpus.X, corpus.Y)
    trees = [path_scores(model, unit(corpus.X), root) for root in model.nodes_.roots]
    assert len(trees) == 3
    assert np.abs(trees[0] - trees[1]).max() > 0.1, "the trees are the same"
    assert_allclose(model.predict_proba(corpus.X), np.mean(trees, axis=0), atol=1e-5)


def test_trees_that_are_joined_keep_their_bits(corpus):
    flat = {"n_clusters": None, "leaf_labels": 400}
    shapes = ({}, {"n_clusters": 2, "leaf_labels": 2}, flat)
    alone = [
        small(beam=None, random_state=n, **shape).fit(corpus.X, corpus.Y)
        for n, shape in enumerate(shapes)
    ]
    joined = small(beam=None).fit(corpus.X, corpus.Y)
    joined.nodes_ = type(joined.nodes_).joined([model.nodes_ for model in alone])
    joined.gain_ = np.zeros(joined.nodes_.n_nodes, np.float32)
    joined._check_state()
    first, second, flat = (model.predict_proba(corpus.X) for model in alone)
    mean = np.float32(0.25) * (first.astype(float) + second) + flat / np.float32(2)
    assert_array_equal(joined.predict_proba(corpus.X), mean.astype(np.float32))


@pytest.mark.parametrize(
    ("n_estimators", "leaf_labels", "expected"),
    [
        (1, None, [1]),
        (3, None, [0.5, 0.25, 0.25]),
        (4, 6, [0.25] * 4),
    ],
)
def test_one_vs_rest_counts_as_much_as_all_other_trees(
    n_estimators, leaf_labels, expected, corpus
):
    model = LabelTree(n_estimators=n_estimators, leaf_labels=leaf_labels)
    shares = model.fit(corpus.X, corpus.Y).nodes_.find_shares()
    assert_array_equal(shares, expected)


def test_threads_change_no_bit(corpus):
    for options in ({}, {"leaf_labels": 400}, {"tilt": "auto", "calibrate": "auto"}):
        one, three = (
            small(n_jobs=n, **options).fit(corpus.X, corpus.Y) for n in (None, 3)
        )
        for name, value in one.get_state().items():
            assert_array_equal(value, three.get_state()[name], err_msg=name)
        assert_array_equal(one.predict_proba(corpus.X), three.predict_proba(corpus.X))


@pytest.mark.filterwarnings("ignore:.* did not converge")
def test_saving_keeps_the_bits(corpus, tmp_path):
    model = small(
        n_estimators=2, tilt="auto", cost="f1", calibrate="auto", parents=[-1] * 40
    ).fit(corpus.X, corpus.Y)
    model.save(tmp_path / "model")
    again = load(tmp_path / "model")
    for name, value in model.get_state().items():
        assert_array_equal(value, again.get_state()[name], err_msg=name)
    assert_array_equal(model.predict_proba(corpus.X), again.predict_proba(corpus.X))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_estimators": 0}, "n_estimators == 0, must be >= 1"),
        ({"leaf_labels": 0}, "leaf_labels == 0, must be >= 1"),
        ({"leaf_labels": 1 << 17}, "leaf_labels == 131072, must be <= 65536"),
        ({"n_clusters": 0}, "n_clusters == 0, must be >= 1"),
        ({"beam": 0}, "beam == 0, must be >= 1"),
        ({"loss": "hinge"}, "loss must be one of squared_hinge, log_loss. Got 'hinge'"),
        ({"C": 0}, "C == 0, must be > 0"),
        ({"tol": 0}, "tol == 0, must be > 0"),
        ({"min_weight": -1}, "min_weight == -1, must be >= 0"),
        ({"tilt": -0.1}, "tilt == -0.1, must be >= 0"),
        ({"tilt": 11}, "tilt == 11, must be <= 10"),
        ({"tilt": "much"}, "tilt must be one of auto. Got 'much'"),
        ({"metric": "P@x"}, "metric"),
        ({"cost": "f2"}, "cost must be one of hamming"),
        ({"propensity": 0.0}, r"propensity must lie in \(0, 1\]. Got 0 for label 0"),
        ({"propensity": [0.5]}, "propensity must have 40 values, one per label"),
    ],
)
def test_parameters_out_of_range_are_refused(options, message, corpus):
    with pytest.raises(ValueError, match=message):
        LabelTree(**options).fit(corpus.X, corpus.Y)


def test_a_fit_that_fails_leaves_the_model_as_it_was(corpus):
    model = small().fit(corpus.X, corpus.Y)
    before = model.get_state()
    with pytest.raises(ValueError, match="parents must have an entry"):
        model.set_params(parents=[0]).fit(corpus.X[:, :9], corpus.Y)
    for name, value in before.items():
        assert_array_equal(value, model.get_state()[name], err_msg=name)


def test_sets_are_those_of_all_labels_however_many_are_listed(monkeypatch):
    corpus = make_corpus(n_rows=120, n_features=40, n_labels=30, random_state=0)
    model = LabelTree(random_state=0, leaf_labels=8).fit(corpus.X, corpus.Y)
    model.threshold_ = 0.02  # many labels are above it
    expected = model.decision_function(corpus.X) > 0
    assert expected.sum(axis=1).max() > 5
    monkeypatch.setattr("manylabel.model_selection.thresholds.DEPTH", 4)
    assert_array_equal(model.predict(corpus.X).toarray(), expected)
