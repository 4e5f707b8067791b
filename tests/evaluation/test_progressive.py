"""Progressive runs: the loop as it is told, the laws of streams, the refusals."""

import tracemalloc
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Perceptron, SGDClassifier
from sklearn.multioutput import MultiOutputClassifier

import manylabel as ml
from manylabel import losses
from manylabel.base import OnlineClassifier
from manylabel.evaluation import ledger, plot_runs, progression

COSTS = ("hamming", "f1", "accuracy", "rank")
ONLINE = [
    thing
    for name in ml.__all__
    if isinstance(thing := getattr(ml, name), type)
    and issubclass(thing, OnlineClassifier)
]


class Slow(BaseEstimator):
    """Predicts the labels that a row's features met in more than half of their rows."""

    def partial_fit(self, X, Y):
        """Count."""
        X, Y = _dense(X) != 0, _dense(Y)
        old = getattr(self, "met_", np.zeros((0, 0)))
        self.met_ = np.zeros((X.shape[1], Y.shape[1]))
        self.met_[: old.shape[0], : old.shape[1]] = old
        self.met_ += X.T.astype(float) @ (2 * Y - 1)
        self.n_seen_ = getattr(self, "n_seen_", 0) + len(X)
        return self

    def predict(self, X):
        """Ask for a majority."""
        if not hasattr(self, "met_"):
            raise NotFittedError("learn first")
        X = _dense(X) != 0
        return (X[:, : len(self.met_)].astype(float) @ self.met_ > 0).astype(int)


class Fast(Slow):
    """The same with the private method for many rows at once."""

    calls = 0

    def _progress(self, X, Y):
        assert isinstance(X, sp.csr_array)
        assert isinstance(Y, sp.csr_array)
        Fast.calls += 1
        out = []
        for i in range(X.shape[0]):
            out.append(Slow.predict(self, X[[i]]))
            Slow.partial_fit(self, X[[i]], Y[[i]])
        return np.concatenate(out)


def _dense(M):
    return M.toarray() if sp.issparse(M) else np.asarray(M)


def reference(learner, X, Y, truth=None, batch=1):
    """Predict, charge, learn; the costs of each row."""
    truth, charges = Y if truth is None else truth, []
    for i in range(0, len(X), batch):
        x, y = X[i : i + batch], Y[i : i + batch]
        guess = np.zeros_like(y) if i == 0 else learner.predict(x)
        for pair in zip(truth[i : i + batch], guess, strict=True):
            charges.append([losses.as_cost(cost)(*pair) for cost in COSTS])
        learner.partial_fit(x, y)
    return np.array(charges)


def running(charges):
    return np.cumsum(charges, axis=0) / np.arange(1, len(charges) + 1)[:, None]


def problem(seed=0, n=60, d=6, k=5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)).astype(np.float32) * (rng.random((n, d)) < 0.5)
    return X, ((X[:, :k] > 0) ^ (rng.random((n, k)) < 0.1)).astype(int)


@st.composite
def problems(draw):
    sizes = [draw(st.integers(1, most)) for most in (40, 6, 5)]
    return problem(draw(st.integers(0, 2**31)), *sizes[:2], min(sizes[1:]))


@given(problems(), st.integers(1, 7), st.integers(1, 9))
def test_every_row_is_predicted_then_charged_then_learnt(given_rows, batch, window):
    X, Y = given_rows
    charges = reference(Slow(), X, Y, batch=batch)
    run = ml.progressive(Slow(), X, Y, batch=batch, window=window)
    assert_array_equal(run.rows, np.arange(1, len(X) + 1))
    for j, cost in enumerate(COSTS):
        assert_allclose(run.curve[cost], running(charges)[:, j], rtol=1e-12)
        assert run.mean[cost] == run.curve[cost][-1]
        last = [charges[max(0, t - window) : t, j].mean() for t in run.rows]
        assert_allclose(run.windowed[cost], last, rtol=1e-9, atol=1e-12)


@given(problems())
def test_the_quick_way_finds_the_same(given_rows):
    X, Y = given_rows
    slow, fast = Slow(), Fast()
    one = ml.progressive(slow, X, Y)
    other = ml.progressive(fast, sp.csr_array(X), sp.csr_array(Y))
    assert_array_equal(one.running, other.running)
    assert_array_equal(slow.met_, fast.met_)
    assert slow.n_seen_ == fast.n_seen_ == len(X)


def test_the_quick_way_is_taken_after_the_first_row_unless_rows_are_batched():
    X, Y = problem(n=30)
    before = Fast.calls
    ml.progressive(Fast(), X, Y)
    assert Fast.calls == before + 1
    ml.progressive(Fast(), X, Y, batch=2)
    assert Fast.calls == before + 1


@given(problems(), st.data(), st.sampled_from([Slow, Fast]))
def test_chunks_do_not_matter(given_rows, data, kind):
    X, Y = given_rows
    settings = {"hide": 0.3, "random_state": 0}
    whole = ml.progressive(kind(), X, Y, **settings)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(X)), max_size=4)))
    bounds = [0, *cuts, len(X)]
    rows = [slice(*pair) for pair in pairwise(bounds)]
    pairs = ((X[r], Y[r]) for r in rows)
    assert_array_equal(ml.progressive(kind(), pairs, **settings).running, whole.running)
    sets = (ml.Dataset(X[r], Y[r]) for r in rows)
    assert_array_equal(ml.progressive(kind(), sets, **settings).running, whole.running)


def test_pieces_do_not_matter(monkeypatch):
    X, Y = problem()
    whole = ml.progressive(Fast(), X, Y, hide=0.5, random_state=0)
    monkeypatch.setattr(progression, "PAIRS_AT_ONCE", 1)
    parts = ml.progressive(Fast(), X, Y, hide=0.5, random_state=0)
    assert_array_equal(whole.running, parts.running)
    assert_array_equal(whole.recent, parts.recent)


def test_files_and_datasets_are_streams(tmp_path):
    X, Y = problem()
    data = ml.Dataset(X, Y)
    ml.write(data, tmp_path / "rows.txt")
    expected = ml.progressive(Slow(), X, Y).running
    assert_array_equal(ml.progressive(Slow(), data).running, expected)
    path = tmp_path / "rows.txt"
    for given_path in (path, str(path)):
        assert_array_equal(ml.progressive(Slow(), given_path).running, expected)


def test_the_learner_goes_on_from_what_it_knows():
    X, Y = problem()
    learner = Slow().partial_fit(X, Y)
    run = ml.progressive(learner, X, Y, costs="hamming")
    assert learner.n_seen_ == 2 * len(X)
    expected = (Slow().partial_fit(X, Y).predict(X[:1]) != Y[:1]).mean()
    assert run.curve["hamming"][0] == expected


def test_learners_of_scikit_learn_are_told_the_classes():
    X, Y = problem(n=40)
    X = X.astype(np.float64)
    learner = MultiOutputClassifier(SGDClassifier(random_state=0))
    run = ml.progressive(learner, X, Y)
    mine = MultiOutputClassifier(SGDClassifier(random_state=0))
    mine.partial_fit(X[:1], Y[:1], classes=[np.array([0, 1])] * Y.shape[1])
    charges = [[losses.as_cost(c)(Y[0], 0 * Y[0]) for c in COSTS]]
    for x, y in zip(X[1:], Y[1:], strict=True):
        (guess,) = mine.predict([x])
        charges.append([losses.as_cost(c)(y, guess) for c in COSTS])
        mine.partial_fit([x], [y])
    assert_allclose(list(run.mean.values()), np.mean(charges, axis=0), rtol=1e-12)
    sparse = ml.progressive(
        MultiOutputClassifier(Perceptron()), sp.csr_array(X), sp.csr_array(Y)
    )
    assert sparse.n_rows == len(X)


def test_labels_that_appear_on_the_way_are_not_predicted_before():
    X, Y = problem(n=20)
    parts = [(X[:10, :4], Y[:10, :3]), (X[10:], Y[10:])]
    for kind in (Slow, Fast):
        learner = kind()
        run = ml.progressive(learner, parts, costs="hamming")
        assert learner.met_.shape == (X.shape[1], Y.shape[1])
        assert run.n_rows == 20
    narrow = Slow().partial_fit(X[:10, :4], Y[:10, :3])
    wrong = (np.pad(narrow.predict(X[10:11]), ((0, 0), (0, 2))) != Y[10:11]).mean()
    assert_allclose(11 * run.curve["hamming"][10] - 10 * run.curve["hamming"][9], wrong)


def test_hiding_is_seeded_and_hides_the_right_share():
    X, Y = problem(n=3000)
    seen = []

    class Recorder(Slow):
        def partial_fit(self, X, Y):
            seen.append(_dense(Y))
            return super().partial_fit(X, Y)

    settings = {"hide": 0.3, "batch": 50}
    for seed in (1, 1, 2):
        ml.progressive(Recorder(), X, Y, random_state=seed, **settings)
    first, again, other = np.split(np.concatenate(seen), 3)
    assert_array_equal(first, again)
    assert (first != other).any()
    assert (first <= Y).all()
    n = Y.sum()
    assert abs(1 - first.sum() / n - 0.3) < 4 * np.sqrt(0.3 * 0.7 / n)


def test_hidden_labels_are_judged_by_if_asked_for():
    X, Y = problem(n=300)
    settings = {"hide": 1.0, "random_state": 0, "costs": ["hamming"]}
    complete = ml.progressive(Slow(), X, Y, **settings)
    observed = ml.progressive(Slow(), X, Y, judge="observed", **settings)
    assert_allclose(complete.mean["hamming"], Y.mean())
    assert observed.mean["hamming"] == 0


def test_complete_labels_judge_and_are_not_learnt():
    X, complete = problem()
    Y = complete * (np.random.default_rng(0).random(complete.shape) < 0.5)
    expected = reference(Slow(), X, Y, complete).mean(axis=0)
    for run in (
        ml.progressive(Slow(), X, Y, complete=complete),
        ml.progressive(Slow(), [(X, Y, complete)]),
        ml.progressive(Slow(), ml.Dataset(X, Y), complete=complete),
    ):
        assert_allclose(list(run.mean.values()), expected)
    run = ml.progressive(Slow(), X, Y, complete=complete, judge="observed")
    expected = reference(Slow(), X, Y).mean(axis=0)
    assert_allclose(list(run.mean.values()), expected)


def test_permutations_give_the_standard_error_of_the_mean():
    X, Y = problem()
    learner = Slow()
    run = ml.progressive(learner, X, Y, permutations=4, random_state=0)
    assert not hasattr(learner, "met_")
    assert run.n_permutations == 4
    means = run.running[:, -1]
    assert len(np.unique(means, axis=0)) == 4
    for j, cost in enumerate(COSTS):
        values = means[:, j]
        variance = ((values - values.mean()) ** 2).sum() / 3
        assert_allclose(run.stderr[cost], np.sqrt(variance / 4))
        assert_allclose(run.mean[cost], values.mean())
        assert run.curve_stderr[cost].shape == run.curve[cost].shape == run.rows.shape
    assert all(map(np.isnan, ml.progressive(learner, X, Y).stderr.values()))


def test_jobs_and_the_number_of_orders_do_not_matter():
    X, Y = problem()
    settings = {"random_state": 3, "hide": 0.2}
    four = ml.progressive(Slow(), X, Y, permutations=4, n_jobs=2, **settings)
    two = ml.progressive(Slow(), X, Y, permutations=2, **settings)
    assert_array_equal(four.running[:2], two.running)


def test_an_order_has_every_row_once():
    X, Y = problem(n=50)
    run = ml.progressive(
        Always(), X, Y, permutations=3, random_state=0, costs=["hamming"]
    )
    assert_allclose(run.running[:, -1, 0], 1 - Y.mean())


class Always:
    """Predicts every label; no estimator, and nothing to learn."""

    def partial_fit(self, X, Y):
        """Note the width."""
        self.n_labels = Y.shape[1]

    def predict(self, X):
        """Say yes."""
        return np.ones((X.shape[0], getattr(self, "n_labels", 5)), int)


@pytest.mark.slow
def test_a_long_stream_has_a_short_curve_and_little_memory(monkeypatch):
    monkeypatch.setattr(progression, "ROWS_AT_ONCE", 4096)
    X, Y = np.ones((5_000, 1)), np.tile([[1, 0, 0, 0, 0], [1, 1, 0, 0, 0]], (2_500, 1))
    stream = ((X, Y) for _ in range(200))
    tracemalloc.start()
    run = ml.progressive(Always(), stream, costs=["hamming"], batch=5_000)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert run.n_rows == 1_000_000
    assert len(run.rows) <= ledger.MOST_POINTS + 1
    assert peak < 10e6
    assert_allclose(run.mean["hamming"], 0.7)
    assert_allclose(run.windowed["hamming"][-1], 0.7)
    assert_array_equal(np.diff(run.rows)[:-1], 1024)
    assert run.rows[-1] == 1_000_000


def test_one_may_watch():
    X, Y = problem(n=600)
    seen = []
    run = ml.progressive(
        Slow(), X, Y, watch=lambda now: seen.append((now.n_rows, now.mean["f1"]))
    )
    assert [rows for rows, _ in seen] == [512, 600]
    assert seen[-1][1] == run.mean["f1"]
    assert 0 < run.seconds < np.inf
    assert_allclose(run.rows_per_second, 600 / run.seconds)


def test_costs_may_be_the_users_own():
    X, Y = problem()

    def missed(y, y_hat):
        return (y > y_hat).sum()

    run = ml.progressive(Slow(), X, Y, costs=[missed, losses.F1()])
    assert run.costs == ("missed", "f1")
    assert run.mean["missed"] > 0
    assert repr(run).splitlines()[1].startswith("missed    ")


def test_curves_are_drawn(tmp_path):
    X, Y = problem()
    one = ml.progressive(Slow(), X, Y)
    many = ml.progressive(Slow(), X, Y, permutations=3, random_state=0)
    one.plot(tmp_path / "one.png")
    many.plot(tmp_path / "many.svg", title="orders")
    plot_runs({"one": one, "many": many}, tmp_path / "two.pdf", cost="f1")
    for name, start in (
        ("one.png", b"\x89PNG"),
        ("many.svg", b"<?xml"),
        ("two.pdf", b"%PDF"),
    ):
        assert (tmp_path / name).read_bytes().startswith(start)
    with pytest.raises(ValueError, match=r"must end with one of .png, .pdf, .svg"):
        one.plot(tmp_path / "one.gif")
    with pytest.raises(ValueError, match="must lie in a folder that is there"):
        one.plot(tmp_path / "nowhere" / "one.png")
    with pytest.raises(ValueError, match="cost must be one that 'one' was charged"):
        plot_runs({"one": one}, tmp_path / "x.png", cost="subset")


X0, Y0 = [[1.0, 0.0]], [[1, 0]]


@pytest.mark.parametrize(
    ("arguments", "settings", "error", "message"),
    [
        ((ml.Popularity(), X0, Y0), {}, TypeError, "must have partial_fit and predict"),
        ((Slow, X0, Y0), {}, TypeError, "Got the class Slow"),
        ((Slow(), np.array(X0)), {}, ValueError, "Y must be given, as X is an array"),
        ((Slow(), 5), {}, TypeError, "X must be an array, a path, .* Got int"),
        ((Slow(), "rows.txt", Y0), {}, ValueError, "Y must be None unless X is an arr"),
        ((Slow(), [X0]), {}, TypeError, r"must yield Datasets, .* Got list"),
        ((Slow(), []), {}, ValueError, "must have at least one row. Got none"),
        ((Slow(), X0, [[1, 2]]), {}, ValueError, "Y must hold only 0 and 1. Got 2"),
        ((Slow(), X0, Y0 * 2), {}, ValueError, "Y must have 1 rows. Got 2"),
        ((Fast(), [[np.nan, 0]], Y0), {}, ValueError, "X must hold finite"),
        ((Slow(), X0, Y0), {"complete": [[1]]}, ValueError, "complete must have 2 col"),
        ((Slow(), []), {"complete": Y0}, ValueError, "complete must be None for a str"),
        ((Slow(), X0, Y0), {"batch": 0}, ValueError, "batch == 0"),
        ((Slow(), X0, Y0), {"window": 0}, ValueError, "window == 0"),
        ((Slow(), X0, Y0), {"hide": 1.5}, ValueError, "hide == 1.5"),
        ((Slow(), X0, Y0), {"judge": "me"}, ValueError, "judge must be one of comp"),
        ((Slow(), X0, Y0), {"costs": []}, ValueError, "costs must name at least one"),
        ((Slow(), X0, Y0), {"costs": ["f1"] * 2}, ValueError, "Got 'f1' twice"),
        ((Slow(), X0, Y0), {"costs": ["f2"]}, ValueError, "cost must be one of hamm"),
        ((Slow(), X0, Y0), {"permutations": 0}, ValueError, "permutations == 0"),
        ((Slow(), []), {"permutations": 2}, ValueError, "permutations must be None"),
        ((Always(), X0, Y0), {}, ValueError, r"shape \(1, 2\). Got shape \(1, 5\)"),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_refused(arguments, settings, error, message):
    with pytest.raises(error, match=message):
        ml.progressive(*arguments, **settings)


def test_texts_are_refused():
    texts = ml.Dataset(None, Y0, texts=["a"])
    with pytest.raises(ValueError, match="Got a Dataset of texts"):
        ml.progressive(Slow(), texts)


def test_a_learner_that_forgets_is_not_excused():
    class Forgetful(Slow):
        def partial_fit(self, X, Y):
            return self

    with pytest.raises(NotFittedError):
        ml.progressive(Forgetful(), X0 * 2, Y0 * 2)


class Plain:
    """Hides the private method of a learner."""

    def __init__(self, learner):
        self.learner = learner

    def partial_fit(self, X, Y):
        """Learn by the public method."""
        self.learner.partial_fit(X, sp.csr_array(Y))

    def predict(self, X):
        """Predict by the public method."""
        return self.learner.predict(X)


@pytest.mark.parametrize("kind", ONLINE, ids=lambda kind: kind.__name__)
def test_our_learners_are_as_good_by_the_quick_way(kind):
    X, Y = problem(n=50)
    quick, public = kind(), kind()
    run = ml.progressive(quick, sp.csr_array(X), Y)
    expected = ml.progressive(Plain(public), sp.csr_array(X), Y)
    assert_array_equal(run.running, expected.running)
    state, other = quick.get_state(), public.get_state()
    assert state.keys() == other.keys()
    for name in state:
        assert_array_equal(state[name], other[name])


def test_a_learner_that_forgets_in_mid_stream_is_refused_in_words():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(20, 5)), rng.integers(0, 2, size=(20, 4))
    learner = ml.OnlineBinaryRelevance()

    def chunks():
        yield X, Y
        learner.fit(X[:, :2], Y[:, :2])
        yield X, Y

    with pytest.raises(ValueError, match="5 features"):
        ml.progressive(learner, chunks())


def test_a_tagger_is_told_what_is_taken_in_its_place():
    tagger = ml.Tagger(ml.OnlineLabelTree())
    with pytest.raises(TypeError, match=r"a learner of streams.*Got a Tagger\."):
        ml.progressive(tagger, ["red wine"], [["drink"]])
