"""Settings to try, and what they are worth on rows held out."""

import sys
from threading import get_ident

import cloudpickle
import joblib
import numpy as np
import pytest
from joblib.parallel import ThreadingBackend

import manylabel as ml
from manylabel.learners import LEARNERS
from manylabel.model_selection.holdout import hold_out
from manylabel.model_selection.search import GRIDS, search, settings, value


@pytest.fixture(scope="module")
def corpus():
    return ml.make_corpus(n_rows=300, n_features=60, n_labels=12, random_state=0)


@pytest.mark.parametrize("metric", ["P@1", "nDCG@3", "PSP@3", "PSnDCG@5"])
def test_a_setting_is_worth_what_evaluate_says_of_rows_not_learnt(corpus, metric):
    X, Y = corpus.X, corpus.Y
    train, held = hold_out(300, 7)
    assert (len(held), len(train), len(np.intersect1d(held, train))) == (60, 240, 0)
    scores = ml.OneVsRest(C=0.3).fit(X[train], Y[train]).predict_topk(X[held], k=5)
    law = ml.Propensity().fit(Y)
    expected = ml.evaluate(Y[held], scores, propensity=law)[metric]
    found = value(ml.OneVsRest(C=0.3), X, Y, metric, random_state=7)
    assert found == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("kind", GRIDS)
def test_every_setting_is_one_that_the_learner_takes(corpus, kind):
    learner = getattr(ml, kind)()
    tried = settings(learner, "PSP@3")
    assert 1 <= len(tried) <= 12
    assert len({str(setting) for setting in tried}) == len(tried)
    for setting in tried:
        learner.set_params(**setting).fit(corpus.X[:30], corpus.Y[:30])


def test_every_grid_is_of_a_learner_of_the_command_line():
    assert set(GRIDS) == set(LEARNERS.values()) - {"Popularity"}


def test_the_learners_own_setting_comes_first_and_what_is_fixed_stays():
    first, *others = settings(ml.FastXML(), "P@1")
    assert first == {"C": "auto", "leaf_size": 10}
    assert len(others) == 5
    few = settings(ml.PfastreXML(C=0.5), "PSP@1", fixed=["leaf_size"])
    assert few[0] == {"C": 0.5, "metric": "PSP@1"}
    assert [setting["C"] for setting in few] == [0.5, "auto", 4.0]


def test_the_regressor_tells_what_is_tried_of_it():
    (ridge, *_), (gradient, *_) = (
        settings(ml.CSDPP(regressor=name), "P@1") for name in ("ridge", "gradient")
    )
    assert set(ridge) == {"n_components", "l2_regularization"}
    assert set(gradient) == {"n_components", "eta0"}


def test_what_cannot_be_tuned_is_refused(corpus):
    with pytest.raises(ValueError, match=r"metric must be one of P, .*Got 'best'"):
        settings(ml.OneVsRest(), "best")
    with pytest.raises(ValueError, match=r"learner must be one of .*Got Popularity"):
        settings(ml.Popularity(), "P@1")
    with pytest.raises(ValueError, match="All are fixed: C"):
        settings(ml.OneVsRest(), "P@1", fixed=["C"])
    with pytest.raises(ValueError, match=r"at least 20 rows .*Got 19"):
        value(ml.OneVsRest(), corpus.X[:19], corpus.Y[:19], "P@1")


class ElsewhereBackend(ThreadingBackend):
    """Stands for a cluster."""


joblib.register_parallel_backend("elsewhere", ElsewhereBackend)


def test_a_cluster_tries_whole_settings_with_one_thread_each(corpus, monkeypatch):
    tried, seen, fit = [], [], ml.OneVsRest.fit

    def note(self, *given):
        tried.append((self.n_jobs, get_ident()))
        return fit(self, *given)

    monkeypatch.setattr(ml.OneVsRest, "fit", note)
    with joblib.parallel_config(backend="elsewhere", n_jobs=2):
        there = search(
            ml.OneVsRest(n_jobs=2),
            *(corpus.X, corpus.Y, "P@1"),
            watch=lambda *each: seen.append(each),
        )
    assert {n_jobs for n_jobs, _ in tried} == {1}
    assert get_ident() not in dict(tried).values()
    expected = []
    here = search(
        ml.OneVsRest(n_jobs=2),
        *(corpus.X, corpus.Y, "P@1"),
        watch=lambda *each: expected.append(each),
    )
    assert (there, seen) == (here, expected)
    assert tried[-1] == (2, get_ident())


@pytest.mark.filterwarnings("ignore:The tasks run here")
def test_a_cluster_that_runs_one_task_at_a_time_leaves_threads_alone(
    corpus, monkeypatch
):
    tried, fit = [], ml.OneVsRest.fit

    def note(self, *given):
        tried.append(self.n_jobs)
        return fit(self, *given)

    monkeypatch.setattr(ml.OneVsRest, "fit", note)
    with joblib.parallel_config(backend="elsewhere"):
        search(ml.OneVsRest(n_jobs=2), corpus.X, corpus.Y, "P@1")
    assert set(tried) == {2}


class OneVsRest(ml.OneVsRest):
    """Is fitted on a worker of dask alone, and by one thread."""

    def fit(self, *given):
        """Fit, or say what is wrong."""
        pytest.importorskip("distributed").get_worker()
        if self.n_jobs != 1:
            raise RuntimeError(f"n_jobs={self.n_jobs}")
        return super().fit(*given)


@pytest.mark.slow
def test_a_dask_cluster_finds_the_settings_of_this_machine(dask_client, corpus):
    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    with joblib.parallel_config(backend="dask"):
        there = search(OneVsRest(n_jobs=2), corpus.X, corpus.Y, "P@1")
    assert there == search(ml.OneVsRest(n_jobs=2), corpus.X, corpus.Y, "P@1")
    with pytest.raises(ValueError, match="No worker found"):
        search(OneVsRest(n_jobs=2), corpus.X, corpus.Y, "P@1")
