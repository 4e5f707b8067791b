"""How decisions are to be learnt, chosen on rows held out."""

import numpy as np
import pytest
from sklearn.metrics import f1_score

import manylabel as ml
from manylabel.model_selection.stepwise import LARGE, PLAIN, Setting, choose

TREES = [ml.AnnotationTree, ml.PowersetTree]
each_tree = pytest.mark.parametrize("kind", TREES)
N_HELD = 100


def search(loss, any_cost=True, any_budget=True):
    """Return what is chosen, and what was tried, by a loss without noise."""
    tried = []

    def losses(setting):
        tried.append(setting)
        return np.full(N_HELD, loss(setting))

    found = choose(PLAIN, losses, any_cost=any_cost, any_budget=any_budget)
    return found, tried


@pytest.mark.parametrize("best", [1 / 64, 1 / 4, 1.0, 4.0, 64.0])
@pytest.mark.parametrize("budget", [PLAIN.budget, LARGE])
def test_the_search_finds_a_valley(best, budget):
    found, tried = search(lambda s: abs(np.log(s.C / best)) + (s.budget != budget))
    assert found == Setting(best, budget)
    assert len(tried) == len(set(tried)) <= 6


def test_what_is_given_is_not_changed():
    assert search(lambda s: -s.C, any_cost=False)[0].C == PLAIN.C
    assert search(lambda s: -s.budget, any_budget=False)[0].budget == PLAIN.budget


def test_a_gain_within_its_standard_error_is_none():
    noise = np.random.default_rng(0).normal(size=N_HELD)
    noise -= noise.mean()
    for shift, expected in ((0.05, PLAIN.budget), (0.2, LARGE)):
        found = choose(
            PLAIN,
            lambda s, shift=shift: (s.budget == LARGE) * (noise - shift),
            any_cost=False,
            any_budget=True,
        )
        assert found.budget == expected


@each_tree
def test_few_rows_choose_nothing(kind):
    rng = np.random.default_rng(0)
    model = kind().fit(rng.normal(size=(19, 5)), rng.integers(0, 2, (19, 3)))
    assert (model.C_, model.budget_) == PLAIN


@each_tree
def test_what_is_chosen_is_as_good_as_if_it_were_given(kind):
    corpus = ml.make_corpus(n_rows=800, n_features=300, n_labels=20, propensity=1.0)
    chosen = kind().fit(corpus.X, corpus.Y)
    given = kind(C=chosen.C_, budget=chosen.budget_).fit(corpus.X, corpus.Y)
    assert (given.C_, given.budget_) == (chosen.C_, chosen.budget_)
    for part, other in zip(chosen.tree_, given.tree_, strict=True):
        np.testing.assert_array_equal(part, other)


@each_tree
@pytest.mark.parametrize("name", ["C", "budget"])
def test_another_word_is_refused(kind, name):
    with pytest.raises(ValueError, match=f"{name} must be"):
        kind(**{name: "large"}).fit(np.eye(3), np.eye(3))


@pytest.mark.slow
@each_tree
def test_default_settings_gain_on_images(kind, data_folder):
    train, test = (
        ml.read(data_folder / "mulan" / f"Corel5k-{part}.arff.gz")
        for part in ("train", "test")
    )

    def f1(**parameters):
        labels = kind(**parameters).fit(train.X, train.Y).predict(test.X)
        return f1_score(test.Y, labels, average="samples", zero_division=1)

    assert f1() > f1(C=1.0, budget=20) + 0.01
