"""The checks can fail: each is broken on purpose, by a mutation of a good estimator."""

import numpy as np
import pytest
import scipy.sparse as sp

from manylabel import (
    LabelPowerset,
    OneVsRest,
    OnlineBinaryRelevance,
    Popularity,
    base,
)
from manylabel.testing import CHECKS, check_estimator
from manylabel.testing.checks import check_rows_are_judged_alone


def after_fit(change):
    """Return a mutation of ``fit`` that goes on to change what was learnt."""

    def mutate(fit):
        def mutant(self, X, Y):
            before = getattr(self, "frequency_", np.zeros(1))
            fit(self, X, Y)
            change(self, Y, before)
            return self

        return mutant

    return mutate


def before_fit(change):
    """Return a mutation of ``fit`` that first does something to its input."""
    return lambda fit: lambda self, X, Y: fit(self, *change(X, Y))


def changed(change):
    """Return a mutation of a verb whose outcome is changed."""
    return lambda verb: lambda self, X, **k: change(verb(self, X, **k), X)


def depend_on(number):
    """Return a mutation of ``fit`` that makes what is learnt depend on something."""

    def change(self, Y, before):
        self.frequency_ = self.frequency_ + np.float32(number(self, Y, before))

    return after_fit(change)


def depend_on_jobs(self, Y, before):
    self.intercept_ = self.intercept_ + np.float32(self.n_jobs or 0)


def write_to(X, Y):
    if sp.issparse(X):
        X.data[:] = X.data
    return X, Y


def take_no_rows(X, Y):
    return (X, Y) if len(Y) else (np.zeros((1, 12)), np.zeros((1, 7)))


def take_bad_indices(X, Y):
    if sp.issparse(X):
        X = X.copy()
        X.indices %= X.shape[1]
    return X, Y


def round_what_is_loaded(set_state):
    def mutant(self, state):
        return set_state(self, state | {"frequency_": state["frequency_"].round(2)})

    return mutant


def divided_by_the_row(scores, X):
    with np.errstate(all="ignore"):
        return scores / abs(X).sum(axis=1, keepdims=True)


MUTATIONS = [
    ("dense_and_sparse_agree", "fit", depend_on(lambda _, Y, __: sp.issparse(Y))),
    ("dense_and_sparse_agree", "predict", changed(lambda Y, _: np.asarray(Y))),
    ("label_types_agree", "fit", depend_on(lambda _, Y, __: Y.dtype == np.uint64)),
    ("rows_are_judged_alone", "_scores", changed(lambda S, X: S + X.shape[0])),
    ("rows_are_judged_alone", "predict", changed(lambda Y, X: Y * (len(X) > 1))),
    ("label_order_does_not_matter", "fit", depend_on(lambda *_: np.arange(7))),
    ("fit_repeats_and_forgets", "fit", depend_on(lambda _, __, old: old.max())),
    ("saving_keeps_every_bit", "set_state", round_what_is_loaded),
    ("topk_is_the_head_of_the_scores", "predict_topk", changed(lambda S, _: 2 * S)),
    ("topk_is_the_head_of_the_scores", "predict_topk", changed(lambda S, _: S[:-1])),
    ("no_rows", "predict", changed(lambda Y, X: Y if len(X) else Y[0:0, :3])),
    ("no_rows", "fit", before_fit(take_no_rows)),
    ("one_label", "predict", changed(lambda Y, _: Y.squeeze())),
    ("labels_without_rows_rank_last", "_scores", changed(lambda S, _: -S)),
    ("labels_without_rows_rank_last", "predict", changed(lambda Y, _: Y + 1)),
    ("no_labels_at_all", "_scores", changed(lambda S, _: S + 1)),
    ("a_label_on_every_row", "_scores", changed(lambda S, _: S - 1)),
    ("rows_without_features", "decision_function", changed(divided_by_the_row)),
    ("input_is_read_only", "fit", before_fit(write_to)),
    ("bad_indices_are_refused", "fit", before_fit(take_bad_indices)),
    ("bad_indices_are_refused", "predict", lambda verb: lambda self, X: X),
]
BY_NAME = {check.__name__.removeprefix("check_"): check for check in CHECKS}
ESTIMATORS = [Popularity(), OneVsRest(), OneVsRest(n_jobs=2), LabelPowerset()]


@pytest.mark.parametrize(("law", "verb", "mutate"), MUTATIONS)
def test_a_broken_law_is_noticed(monkeypatch, law, verb, mutate):
    BY_NAME[law](Popularity())
    monkeypatch.setattr(Popularity, verb, mutate(getattr(Popularity, verb)))
    with pytest.raises(AssertionError):
        BY_NAME[law](Popularity())


def test_check_estimator_raises_where_any_check_does(monkeypatch):
    check_estimator(Popularity())
    monkeypatch.setattr(Popularity, "predict", lambda self, X: X)
    with pytest.raises(AssertionError):
        check_estimator(Popularity())


def test_n_jobs_that_matter_are_noticed(monkeypatch):
    monkeypatch.setattr(OneVsRest, "fit", after_fit(depend_on_jobs)(OneVsRest.fit))
    with pytest.raises(AssertionError):
        BY_NAME["n_jobs_does_not_matter"](OneVsRest())


def test_chunks_that_matter_are_noticed(monkeypatch):
    learn = OnlineBinaryRelevance._learn

    def forget_the_last_row(self, X, Y):
        learn(self, X[: max(1, X.shape[0] - 1)], Y[: max(1, X.shape[0] - 1)])

    monkeypatch.setattr(OnlineBinaryRelevance, "_learn", forget_the_last_row)
    with pytest.raises(AssertionError):
        BY_NAME["chunks_do_not_matter"](OnlineBinaryRelevance())


def test_every_check_is_seen_to_fail():
    apart = {"n_jobs_does_not_matter", "chunks_do_not_matter"}
    assert {law for law, _, _ in MUTATIONS} | apart == set(BY_NAME)


@pytest.mark.slow
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
def test_laws_hold_when_rows_are_predicted_in_many_chunks(
    monkeypatch, estimator, check
):
    monkeypatch.setattr(base, "PAIRS_AT_ONCE", 30)
    check(estimator)


def test_chunks_in_the_wrong_order_are_noticed(monkeypatch):
    monkeypatch.setattr(base, "PAIRS_AT_ONCE", 30)
    chunks = OneVsRest._chunks
    monkeypatch.setattr(OneVsRest, "_chunks", lambda *X: reversed(list(chunks(*X))))
    for check in (
        check_rows_are_judged_alone,
        BY_NAME["topk_is_the_head_of_the_scores"],
    ):
        with pytest.raises(AssertionError):
            check(OneVsRest())
