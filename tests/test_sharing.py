"""Threads that teach and read one learner at the same time."""

import copy
import os
import pickle
import threading
import time

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone

import manylabel as ml
from manylabel.persistence import flatten
from manylabel.river import to_river

ONLINE = {
    "CSDPP": ml.CSDPP(cost="f1", n_components=2),
    "CSDPP gradient": ml.CSDPP(regressor="gradient", n_components=0.5, grow=True),
    "OnlineBinaryRelevance": ml.OnlineBinaryRelevance(regressor="gradient"),
    "OnlineRandomProjection": ml.OnlineRandomProjection(),
    "OnlineCompressedSensing": ml.OnlineCompressedSensing(),
    "OnlineLabelTree": ml.OnlineLabelTree(arity=3),
}
N_LEARNERS, N_READERS, N_FEATURES, N_LABELS = 2, 4, 6, 5
NUMBERS = 1 << 16  # more chunks than a teacher gets to
SECONDS = [0.3, pytest.param(10.0, marks=pytest.mark.slow)]


def chunk(number, learner):
    """Return rows that tell apart every chunk of every learner."""
    random = np.random.default_rng([number, learner])
    X = random.normal(size=(random.integers(1, 9), N_FEATURES))
    X[:, 0] = number / NUMBERS + learner
    return X.astype(np.float32), random.random((len(X), N_LABELS)) < 0.4


def run_all(targets):
    """Run functions side by side and return what they raised."""
    faults = []

    def guarded(target):
        try:
            target()
        except Exception as fault:
            faults.append(fault)

    threads = [threading.Thread(target=guarded, args=(each,)) for each in targets]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return faults


def teach_and_read(teach, read, seconds):
    """Let threads teach and read; return what they raised."""
    end = time.monotonic() + seconds

    def teacher(learner):
        number = 1
        while time.monotonic() < end:
            teach(number, learner)
            number += 1

    def reader():
        while time.monotonic() < end:
            read()

    teachers = [lambda n=n: teacher(n) for n in range(N_LEARNERS)]
    return run_all([*teachers, *[reader] * N_READERS])


def states_equal(one, two):
    one, two = flatten(one.get_state()), flatten(two.get_state())
    assert one.keys() == two.keys()
    for name, value in one.items():
        assert_array_equal(value, two[name], err_msg=name)


@pytest.mark.parametrize("seconds", SECONDS)
@pytest.mark.parametrize("name", ONLINE)
def test_threads_learn_in_some_serial_order(name, seconds, monkeypatch):
    learner, alone = clone(ONLINE[name]), clone(ONLINE[name])
    learner.fit(*chunk(0, 0))
    order, kind = [], type(learner)
    learn = kind._learn

    def noting(self, X, Y):
        first = X.toarray()[0, 0]
        order.append((round(float(first) % 1 * NUMBERS), int(first)))
        learn(self, X, Y)

    monkeypatch.setattr(kind, "_learn", noting)
    probe = chunk(99, 0)[0]

    def read():
        scores = learner.decision_function(probe)
        assert not np.isnan(scores).any()
        sets = learner.predict(probe)
        assert sets.shape == scores.shape
        assert learner.predict_topk(probe, 2).shape == scores.shape
        assert isinstance(learner.predict_one({0: 1.0}), set)

    faults = teach_and_read(
        lambda number, n: learner.partial_fit(*chunk(number, n)), read, seconds
    )
    assert not faults
    monkeypatch.undo()
    assert len(order) == len(set(order)) > N_LEARNERS
    alone.fit(*chunk(0, 0))
    for number, n in order:
        alone.partial_fit(*chunk(number, n))
    states_equal(learner, alone)


def test_growing_labels_are_read_whole():
    learner = ml.CSDPP(regressor="gradient", grow=True, n_components=2)
    learner.fit(*chunk(0, 0))

    def teach(number, n):
        learner.learn_one({number % 300: 1.0}, [(7 * number + n) % 200])

    def read():
        best = learner.predict_topk([[1.0, 0.0, 2.0]], 3)
        assert best.indices.max() < best.shape[1]

    assert not teach_and_read(teach, read, 0.5)
    assert len(learner.classes_) > N_LABELS


def test_a_tagger_is_taught_by_threads():
    tagger = ml.Tagger(
        ml.CSDPP(regressor="gradient", n_components=2, grow=True),
        vectorizer=ml.TextVectorizer(n_features=64),
    )
    tagger.partial_fit(["red wine"], [["drink"]])
    names = [f"tag {n}" for n in range(40)]

    def teach(number, n):
        tagger.partial_fit([f"word {number} {n}"], [[names[number % 40]]])

    def read():
        for name, score in tagger.tag("red word", k=3):
            assert name == "drink" or name in names
            assert np.isfinite(score)

    assert not teach_and_read(teach, read, 1.0)
    assert tagger.n_rows_ == tagger.label_counts_.sum() == tagger.learner_.n_seen_


def test_corrections_are_learnt_by_threads():
    tagger = ml.Tagger().fit(["red wine", "rye bread"] * 3, [["drink"], ["food"]] * 3)
    model, counts = ml.Corrected(tagger), [0] * N_LEARNERS

    def teach(number, n):
        model.correct([f"word {number} {n}"], [[f"tag {number % 40}"]])
        counts[n] += 1

    def read():
        for name, score in model.tag("red word", k=3):
            assert name in ("drink", "food") or name.startswith("tag")
            assert np.isfinite(score)

    assert not teach_and_read(teach, read, 1.0)
    assert model.n_corrections_ == sum(counts)


def test_a_model_of_river_is_taught_by_threads():
    pytest.importorskip("river")
    model = to_river(ml.CSDPP(regressor="gradient", grow=True))
    counts, tags = [0] * N_LEARNERS, set()

    def teach(number, n):
        tags.add(tag := f"tag {number % 20}")
        model.learn_one({f"word {number % 50}": 1.0}, {tag: True})
        counts[n] += 1

    assert not teach_and_read(teach, lambda: model.predict_one({"word 1": 1.0}), 0.5)
    assert model._learner.n_seen_ == sum(counts)
    assert model.predict_one({"word 1": 1.0}).keys() == tags


def test_first_chunks_of_two_threads_are_both_learnt():
    X, Y = chunk(1, 0)
    for _ in range(20):
        learner = ml.OnlineBinaryRelevance()
        assert not run_all([lambda it=learner: it.partial_fit(X, Y)] * 4)
        assert learner.n_seen_ == 4 * len(X)


def test_readers_do_not_wait_for_a_learner(monkeypatch):
    learner = ml.OnlineBinaryRelevance().fit(*chunk(0, 0))
    X, Y = chunk(1, 0)
    run_all([lambda: learner.predict(X)])  # from now on it is shared
    learns, may_end = threading.Event(), threading.Event()
    kind = type(learner)
    learn = kind._learn

    def waiting(self, X, Y):
        learns.set()
        may_end.wait(30)
        learn(self, X, Y)

    monkeypatch.setattr(kind, "_learn", waiting)
    thread = threading.Thread(target=learner.partial_fit, args=(X, Y))
    thread.start()
    assert learns.wait(30)
    before = learner.n_seen_
    scores = learner.decision_function(X)  # would wait for ever behind a lock
    assert learner.n_seen_ == before
    may_end.set()
    thread.join()
    assert learner.n_seen_ == before + len(X)
    assert (learner.decision_function(X) != scores).any()


def test_a_chunk_that_fails_is_not_published():
    learner = ml.CSDPP(grow=True, regressor="gradient").fit(*chunk(0, 0))
    run_all([lambda: learner.predict(chunk(1, 0)[0])])
    before = learner.get_state()
    with pytest.raises(ValueError, match="Y must"):
        learner.partial_fit(np.ones((1, 9)), [[2]])
    for name, value in learner.get_state().items():
        assert_array_equal(value, before[name])


def test_what_a_reader_holds_does_not_change():
    learner = ml.OnlineBinaryRelevance().fit(*chunk(0, 0))
    run_all([lambda: learner.predict(chunk(1, 0)[0])])
    held = learner.coef_
    before = held.copy()
    learner.partial_fit(*chunk(1, 0))
    assert_array_equal(held, before)
    assert (learner.coef_ != before).any()


def test_a_chunk_that_ends_half_way_is_not_published(monkeypatch):
    learner = ml.OnlineBinaryRelevance().fit(*chunk(0, 0))
    run_all([lambda: learner.predict(chunk(1, 0)[0])])
    kind, alone = type(learner), copy.deepcopy(learner)
    learn = kind._learn

    def failing(self, X, Y):
        learn(self, X, Y)
        raise KeyboardInterrupt

    monkeypatch.setattr(kind, "_learn", failing)
    with pytest.raises(KeyboardInterrupt):
        learner.partial_fit(*chunk(1, 0))
    states_equal(learner, alone)


def test_one_thread_learns_in_place():
    learner = ml.CSDPP().fit(*chunk(0, 0))
    arrays = learner.state_
    learner.predict(chunk(1, 0)[0])
    learner.partial_fit(*chunk(1, 0))
    assert learner.state_ is arrays


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, clone])
def test_copies_have_a_guard_of_their_own(copied):
    learner = ml.CSDPP().fit(*chunk(0, 0))
    other = copied(learner)
    assert "_guard" not in vars(other)


def test_a_shared_learner_can_be_pickled():
    learner = ml.CSDPP().fit(*chunk(0, 0))
    run_all([lambda: learner.predict(chunk(1, 0)[0])])
    states_equal(pickle.loads(pickle.dumps(learner)), learner)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_fork_does_not_inherit_a_held_lock():
    learner = ml.OnlineBinaryRelevance().fit(*chunk(0, 0))
    run_all([lambda: learner.predict(chunk(1, 0)[0])])
    held, may_end = threading.Event(), threading.Event()

    def hold():
        with learner._learning():
            held.set()
            may_end.wait(30)

    thread = threading.Thread(target=hold)
    thread.start()
    assert held.wait(30)
    child = os.fork()
    if not child:
        learner.partial_fit(*chunk(1, 0))
        os._exit(0 if learner.n_seen_ > len(chunk(0, 0)[0]) else 1)
    deadline = time.monotonic() + 30
    done, status = 0, 1
    while not done and time.monotonic() < deadline:
        done, status = os.waitpid(child, os.WNOHANG)
        time.sleep(0.01)
    if not done:
        os.kill(child, 9)
    may_end.set()
    thread.join()
    assert done
    assert status == 0
