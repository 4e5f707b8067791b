"""Labels that come later."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import NotFittedError
from sklearn.metrics import roc_auc_score

from manylabel import LabelTree, load

LATER = 8  # frequent labels, which are learnt later


@pytest.fixture(scope="module", params=[1, 2])
def grown(request, corpus):
    """Return a model before and after, the frequent labels being the last columns."""
    Y = corpus.Y[:, ::-1].tocsr()
    models = [
        LabelTree(
            n_clusters=4, leaf_labels=5, beam=None, n_estimators=request.param
        ).fit(corpus.X, Y[:, :-LATER])
        for _ in range(2)
    ]
    return models[0], models[1].add_labels(corpus.X, Y), Y


def test_labels_that_came_later_are_found_on_fresh_rows(grown, whole):
    _, after, _ = grown
    true = whole.complete[400:, ::-1].toarray()[:, -LATER:]
    scores = after.decision_function(whole.X[400:])[:, -LATER:]
    assert roc_auc_score(true, scores, average="macro") > 0.7


def test_labels_that_were_known_keep_their_scores(grown, fresh):
    before, after, _ = grown
    known = after.decision_function(fresh[0])[:, :-LATER]
    assert_allclose(known, before.decision_function(fresh[0]), atol=1e-5)


def test_labels_that_came_later_stand_in_every_tree(grown, corpus):
    before, after, Y = grown
    nodes, trees = after.nodes_, after.nodes_.find_trees()
    for root in nodes.roots:
        listed = nodes.labels[(trees == root) & (nodes.labels >= 40 - LATER)]
        assert sorted(listed) == list(range(40 - LATER, 40))
    assert nodes.n_nodes == before.nodes_.n_nodes + LATER * len(nodes.roots)
    assert_array_equal(after.counts_, Y.sum(axis=0))
    assert_array_equal(after.classes_, np.arange(40))


def test_what_was_added_is_saved(grown, fresh, tmp_path):
    _, after, _ = grown
    after.save(tmp_path / "model")
    again = load(tmp_path / "model")
    assert_array_equal(
        again.predict_topk(fresh[0], 9).toarray(),
        after.predict_topk(fresh[0], 9).toarray(),
    )


def test_labels_may_be_added_again_and_again(corpus):
    model = LabelTree(n_clusters=4, leaf_labels=5).fit(corpus.X, corpus.Y[:, :10])
    for n_labels in (11, 25, 40):
        model.add_labels(corpus.X, corpus.Y[:, :n_labels])
    leaves = model.nodes_.labels[model.nodes_.labels >= 0]
    assert sorted(leaves) == np.flatnonzero(corpus.Y.sum(axis=0)).tolist()
    model._check_state()


def test_new_labels_without_rows_rank_last(corpus):
    model = LabelTree(n_clusters=4, leaf_labels=5).fit(corpus.X, corpus.Y)
    empty = sp.csr_array((400, 2), dtype=np.float32)
    model.add_labels(corpus.X, sp.hstack([corpus.Y, empty], format="csr"))
    assert_array_equal(model.decision_function(corpus.X)[:, 40:], -1.5)


def test_a_tree_without_labels_takes_the_first(corpus):
    model = LabelTree().fit(corpus.X, 0 * corpus.Y[:, :2])
    model.add_labels(corpus.X, sp.hstack([0 * corpus.Y[:, :2], corpus.Y[:, :3]]))
    scores = model.decision_function(corpus.X)
    assert roc_auc_score(corpus.Y[:, [0]].toarray(), scores[:, 2]) > 0.8


@pytest.mark.parametrize("n_labels", [39, 40])
def test_fewer_columns_are_refused(n_labels, corpus):
    model = LabelTree().fit(corpus.X, corpus.Y)
    refusal = (
        f"Y must have more than 40 columns, the labels known already. Got {n_labels}"
    )
    with pytest.raises(ValueError, match=refusal):
        model.add_labels(corpus.X, corpus.Y[:, :n_labels])


def test_other_features_and_rows_are_refused(corpus):
    model = LabelTree().fit(corpus.X, corpus.Y[:, :30])
    with pytest.raises(
        ValueError, match="X has 79 features, but LabelTree is expecting"
    ):
        model.add_labels(corpus.X[:, :79], corpus.Y)
    with pytest.raises(ValueError, match="Y must have 9 rows"):
        model.add_labels(corpus.X[:9], corpus.Y)
    with pytest.raises(NotFittedError):
        LabelTree().add_labels(corpus.X, corpus.Y)


def test_too_many_labels_of_a_node_are_refused(corpus, monkeypatch):
    model = LabelTree().fit(corpus.X, corpus.Y[:, :30])
    monkeypatch.setattr("manylabel.label_tree._growth.MOST_CHILDREN", 35)
    with pytest.raises(ValueError, match="Y must not bring a node to over 35 labels"):
        model.add_labels(corpus.X, corpus.Y)
    assert len(model.classes_) == 30
