"""ClassifierChain: its links, the best sets by samples, the filter tree's weights."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import expit
from sklearn.preprocessing import StandardScaler

from manylabel import ClassifierChain, OneVsRest, evaluate, load, losses, read
from manylabel.baselines._expected_cost import least_costly

seeds = st.integers(0, 2**32 - 1)
COSTS = ("hamming", "f1", "rank", "subset")


def draw(seed, n_rows=60, n_features=4, n_labels=4):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features)).astype(np.float32)
    Y = X @ rng.normal(size=(n_features, n_labels)) > rng.normal(size=n_labels)
    Y[:, 1:] ^= Y[:, :-1] & (rng.random((n_rows, n_labels - 1)) < 0.5)
    Y[:n_labels] |= np.eye(n_labels, dtype=bool)
    return X, Y.astype(int)


def separator():
    return OneVsRest(loss="log_loss", normalize=False, tol=1e-3)


def walk(models, X, labels):
    """Decide the labels that have a model, told those before them; return all."""
    labels = labels.copy()
    for label, model in sorted(models.items()):
        told = np.hstack([X, labels[:, :label]])
        labels[:, label] = model.predict(told)[:, 0]
    return labels


@given(seeds)
def test_a_plain_chain_is_told_the_labels_before(seed):
    X, Y = draw(seed)
    chain = ClassifierChain(method="greedy", normalize=False, tol=1e-3).fit(X, Y)
    models = {
        label: separator().fit(np.hstack([X, Y[:, :label]]), Y[:, [label]])
        for label in range(4)
    }
    expected, margins = walk(models, X, 0 * Y), chain.decision_function(X)
    alike = (chain.predict(X) == expected).mean()
    assert alike > 0.99, "rounding may tip a label, and those after it"
    for label, model in models.items():
        assert_allclose(
            chain.links_[:label, label], model.coef_.toarray()[4:, 0], atol=0.05
        )
        assert not chain.links_[label:, label].any()
    assert_array_equal(chain.predict(X), margins > 0)


def mean_cost(cost, samples, guess):
    return np.mean([cost(sample, guess) for sample in samples])


@given(seeds, st.sampled_from([*COSTS, "accuracy"]), st.integers(1, 4))
def test_no_set_costs_less_over_the_samples(seed, name, n_labels):
    rng, cost = np.random.default_rng(seed), losses.as_cost(name)
    samples = (rng.random((3, 6, n_labels)) < rng.random(n_labels)).astype(np.uint8)
    chosen = least_costly(samples, cost)
    for mine, drawn in zip(chosen, samples, strict=True):
        every = product([0, 1], repeat=n_labels)
        others = every if name in COSTS else drawn  # accuracy is not linear in hits
        least = min(mean_cost(cost, drawn, other) for other in others)
        assert mean_cost(cost, drawn, mine.astype(int)) <= least + 1e-9


def test_a_cost_of_no_counts_is_that_of_its_own_calls():
    samples = (np.random.default_rng(0).random((9, 7, 4)) < 0.4).astype(np.uint8)
    own = losses.as_cost(lambda y, y_hat: abs(y - y_hat).mean())
    expected = least_costly(samples, losses.as_cost("hamming"))
    assert_array_equal(least_costly(samples, own), expected)


def marginals(chain, X):
    """Return how probable each label is, by all label sets."""
    features = X @ chain.coef_.toarray() + chain.intercept_
    total = np.zeros(features.shape)
    for labels in product([0, 1], repeat=features.shape[1]):
        chance, y = np.ones(len(X)), np.array(labels)
        for label in range(len(y)):
            share = expit(features[:, label] + y[:label] @ chain.links_[:label, label])
            chance *= share if y[label] else 1 - share
        total += chance[:, None] * y
    return total


def test_samples_have_the_probabilities_of_the_chain():
    X, Y = draw(3)
    model = ClassifierChain(cost="hamming", n_samples=800, normalize=False).fit(X, Y)
    scores, expected = model.decision_function(X), marginals(model, X)
    assert_allclose(np.where(scores > 0, scores, scores + 1), expected, atol=0.03)
    clear = abs(expected - 0.5) > 0.05
    assert_array_equal(model.predict(X)[clear], (expected > 0.5)[clear])


def test_chunks_of_rows_do_not_matter(monkeypatch):
    X, Y = draw(4)
    model = ClassifierChain().fit(X, Y)
    whole = model.decision_function(X)
    monkeypatch.setattr("manylabel.baselines._classifier_chain.PAIRS_AT_ONCE", 1)
    assert_array_equal(model.decision_function(X), whole)


def filter_tree(X, Y, cost):
    """Return the classifiers of one round, from the last label to the first."""
    models = {}
    for label in reversed(range(Y.shape[1])):
        prices = []
        for value in range(2):
            guess = Y.copy()
            guess[:, label] = value
            guess = walk(models, X, guess)
            prices.append([cost(y, g) for y, g in zip(Y, guess, strict=True)])
        gain = np.subtract(*prices)
        target = np.where(gain == 0, Y[:, label], gain > 0)[:, None]
        weight = abs(gain) / abs(gain)[gain != 0].mean()
        told = np.hstack([X, Y[:, :label]])
        models[label] = separator().fit(told, target, sample_weight=weight)
    return models


@pytest.mark.parametrize("name", ["hamming", "f1", "rank"])
@pytest.mark.parametrize("seed", range(3))
def test_one_round_of_the_filter_tree_is_that_of_the_reference(name, seed):
    X, Y = draw(seed)
    how = {"normalize": False, "tol": 1e-3, "n_rounds": 1}
    chain = ClassifierChain(method="cft", cost=name, **how).fit(X, Y)
    models = filter_tree(X, Y, losses.as_cost(name))
    for label, model in models.items():
        mine = np.concatenate(
            [chain.coef_.toarray()[:, label], chain.links_[:label, label]]
        )
        assert_allclose(mine, model.coef_.toarray()[:, 0], atol=0.05)


def test_further_rounds_learn_from_what_was_given():
    X, Y = draw(0)
    one, two = (ClassifierChain(method="cft", n_rounds=n).fit(X, Y) for n in (1, 2))
    assert (one.links_ != two.links_).any()


@pytest.mark.parametrize("method", ["pcc", "cft", "greedy"])
def test_saving_keeps_every_method(method, tmp_path):
    X, Y = draw(1)
    model = ClassifierChain(method=method, n_rounds=2).fit(X, Y)
    model.save(tmp_path / "model")
    other = load(tmp_path / "model")
    assert_array_equal(other.decision_function(X), model.decision_function(X))


def test_draws_are_spread_evenly():
    draws = ClassifierChain(n_samples=50).fit(*draw(0)).draws_
    assert_array_equal(np.sort(np.floor(draws * 50), axis=0)[:, 0], np.arange(50))


def test_a_chain_without_draws_is_refused():
    model = ClassifierChain().fit(*draw(0))
    state = model.get_state()
    state["draws_"] = state["draws_"][:0]
    with pytest.raises(ValueError, match="draws_ must have 100 rows"):
        model.set_state(state)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"method": "beam"}, "method must be one of pcc, cft, greedy. Got 'beam'"),
        ({"cost": "auc"}, "cost must be one of"),
        ({"n_samples": 0}, "n_samples == 0, must be >= 1"),
        ({"n_rounds": 0}, "n_rounds == 0, must be >= 1"),
        ({"C": -1}, "C == -1, must be > 0"),
        ({"tol": 0}, "tol == 0, must be > 0"),
    ],
)
def test_parameters_out_of_range_are_refused(params, message):
    with pytest.raises(ValueError, match=message):
        ClassifierChain(**params).fit(*draw(0))


def test_too_many_labels_are_refused(monkeypatch):
    monkeypatch.setattr("manylabel.baselines._classifier_chain.MAX_LABELS", 3)
    with pytest.raises(ValueError, match="at most 3 labels"):
        ClassifierChain().fit(*draw(0))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["emotions", "yeast", "scene"])
def test_a_chain_for_a_cost_has_less_of_it_than_a_plain_one(name, data_folder):
    train, test = (
        read(data_folder / "mulan" / f"{name}-{part}.arff.gz")
        for part in ("train", "test")
    )
    scaler = StandardScaler().fit(train.X.toarray())
    X, Z = (scaler.transform(part.X.toarray()) for part in (train, test))

    def price(cost, method):
        model = ClassifierChain(method=method, cost=cost).fit(X, train.Y)
        report = evaluate(test.Y, model.predict_topk(Z), predictions=model.predict(Z))
        return report[cost]

    for cost in ("hamming", "f1", "rank"):
        plain = price(cost, "greedy")
        assert price(cost, "pcc") < plain
        if cost != "hamming":
            assert price(cost, "cft") < plain
