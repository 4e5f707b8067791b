"""Following a log: the same bits wherever it began and however it was cut."""

import logging
import shutil

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import manylabel as ml
from manylabel.server.events import Draft
from manylabel.server.follower import CorrectedFollower, OnlineFollower, load_follower
from manylabel.server.following import Following
from manylabel.server.items import Feedback
from manylabel.server.log import open_log
from manylabel.server.settings import Settings
from manylabel.server.snapshots import Snapshots
from manylabel.server.store import Store

LABELS = ["is-red", "is-rye", "is-hot", "has-a", "new-1", "new-2"]
anything = settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=10
)
feedbacks = st.lists(
    st.builds(
        lambda text, accepted, rejected, complete: {
            "item": {"text": " ".join(text)},
            "accepted": sorted(accepted),
            "rejected": sorted(set(rejected) - set(accepted)),
            "complete": complete,
            "who": "me",
        },
        st.lists(st.sampled_from(["red", "rye", "hot", "a", "b", "new"]), max_size=4),
        st.sets(st.sampled_from(LABELS), max_size=3),
        st.sets(st.sampled_from(LABELS), max_size=2),
        st.booleans(),
    ),
    min_size=1,
    max_size=12,
)


def bits(model):
    """Return what a model has learnt, to be compared bit by bit."""
    found = getattr(model, "corrected", model.tagger)
    return {
        name: np.asarray(value).tobytes() if isinstance(value, np.ndarray) else value
        for name, value in found.get_state().items()
    }


def as_feedbacks(bodies):
    keys = ("item", "accepted", "rejected", "complete")
    return [
        Feedback(n, *(body[key] for key in keys)) for n, body in enumerate(bodies, 1)
    ]


@pytest.fixture(params=["online", "batch"])
def tagger(request):
    return request.getfixturevalue(f"{request.param}_tagger")


@pytest.fixture
def world(tmp_path, tagger):
    """Return a log, a store with one active version, and a folder of models."""
    return new_world(tmp_path, tagger)


def new_world(folder, tagger):
    shutil.rmtree(folder / "models", ignore_errors=True)
    for old in folder.glob("log.db*"):
        old.unlink()
    (folder / "models").mkdir()
    tagger.save(folder / "models" / "m")
    store, log = Store(folder / "models"), open_log(f"sqlite:///{folder}/log.db")
    version = store.adopt("m")
    about = {"version": version, "contains": 0, "who": "me"}
    active = Draft("m", "activate", {"version": version, "who": "me"})
    log.append([Draft("m", "version", about), active])
    return log, store, version


def say(log, *bodies):
    return [p.sequence for p in log.append([Draft("m", "feedback", b) for b in bodies])]


def body(text="rye a", accepted=("is-rye",), rejected=(), complete=False):
    given = {"item": {"text": text}, "accepted": list(accepted)}
    return given | {"rejected": list(rejected), "complete": complete, "who": "me"}


def follow(log, store):
    following = Following("m", log, store)
    following.start()
    return following


def state(following):
    return bits(following.published.model)


@anything
@given(bodies=feedbacks, cuts=st.lists(st.integers(0, 12), max_size=4))
@pytest.mark.parametrize("kind", ["online", "batch"])
def test_however_feedback_is_cut_the_bits_are_the_same(kind, request, bodies, cuts):
    tagger = request.getfixturevalue(f"{kind}_tagger")
    make = OnlineFollower if kind == "online" else CorrectedFollower
    whole, parts, given = make(tagger), make(tagger), as_feedbacks(bodies)
    before = bits(whole.freeze())
    whole.learn(given)
    for start, stop in zip([0, *sorted(cuts)], [*sorted(cuts), 99], strict=True):
        parts.learn(given[start:stop])
        parts.freeze()
    assert bits(parts.freeze()) == bits(whole.freeze())
    assert bits(make(tagger).freeze()) == before, "the tagger itself was changed"


@pytest.mark.parametrize("kind", ["online", "batch"])
def test_new_labels_have_their_columns_in_the_order_in_which_they_come(kind, request):
    tagger = request.getfixturevalue(f"{kind}_tagger")
    make = OnlineFollower if kind == "online" else CorrectedFollower
    names = ["new-z", "new-b", "is-hot", "new-a"]
    given = as_feedbacks([body("hot a", [name], complete=True) for name in names])
    whole, parts = make(tagger), make(tagger)
    whole.learn(given)
    for each in given:
        parts.learn([each])
    assert bits(parts.freeze()) == bits(whole.freeze())
    assert whole.freeze().label_names[-3:].tolist() == ["new-z", "new-b", "new-a"]


@anything
@given(bodies=feedbacks, data=st.data())
@pytest.mark.parametrize("kind", ["online", "batch"])
def test_a_replica_is_a_fresh_replay_after_any_events(
    kind, request, tmp_path, bodies, data
):
    tagger = request.getfixturevalue(f"{kind}_tagger")
    log, store, _ = new_world(tmp_path, tagger)
    following = follow(log, store)
    for given_body in bodies:
        (last,) = say(log, given_body)
        control = data.draw(st.sampled_from([None, None, "rollback", "retract"]))
        if control:
            least = 2 if control == "rollback" else 3
            number = data.draw(st.integers(least, last))
            log.append([Draft("m", control, {"sequence": number, "who": "me"})])
        if data.draw(st.booleans()):
            following.step(log.last())
        if data.draw(st.integers(0, 5)) == 0:
            now = following.published
            store.take_snapshot(
                "m", now.version, now.applied, now.model.save, following.facts()
            )
    following.step(log.last())
    fresh = follow(log, store)
    assert state(following) == state(fresh)
    assert following.facts() == fresh.facts()
    shutil.rmtree(store.kept / "m" / "snapshots", ignore_errors=True)
    assert state(follow(log, store)) == state(fresh)
    log.close()


def test_what_is_published_does_not_change_when_more_is_learnt(world):
    log, store, _ = world
    following = follow(log, store)
    first = following.published
    before = bits(first.model)
    say(log, *[body("new words", ["is-hot", "brand-new"])] * 5)
    following.step(log.last())
    assert bits(first.model) == before
    assert state(following) != before
    assert (first.applied, following.published.applied) == (2, 7)


def test_a_correction_shows_in_the_next_prediction(world):
    log, store, _ = world
    following = follow(log, store)
    given = body("zebra crossing", ["brand-new"], ["is-red", "has-a"], complete=True)
    say(log, *[given] * 3)
    following.step(log.last())
    verdict = following.published.model.judge({"text": "zebra crossing"})
    assert verdict.best[0] == "brand-new"


def test_a_rollback_and_a_retraction_give_back_the_old_bits(world):
    log, store, _ = world
    following = follow(log, store)
    say(log, body("rye a"))
    following.step(log.last())
    before, then = state(following), log.last()
    (number,) = say(log, body("hot b", ["is-hot"]))
    following.step(log.last())
    assert state(following) != before
    log.append([Draft("m", "retract", {"sequence": number, "who": "me"})])
    following.step(log.last())
    assert state(following) == before
    say(log, body("hot c", ["is-hot"]))
    log.append([Draft("m", "rollback", {"sequence": then, "who": "me"})])
    following.step(log.last())
    assert state(following) == before


def test_a_version_is_activated_with_the_feedback_that_it_does_not_contain(
    world, batch_tagger, tmp_path
):
    log, store, _ = world
    say(log, body("rye a"))
    ml.Tagger(ml.Popularity()).fit(["x", "y"], [["p"], ["q"]]).save(tmp_path / "other")
    other = store.add("m", tmp_path / "other")
    about = {"version": other, "contains": log.last(), "who": "me"}
    log.append([Draft("m", "version", about)])
    say(log, body("hot b", ["is-hot"]))
    log.append([Draft("m", "activate", {"version": other, "who": "me"})])
    following = follow(log, store)
    assert following.published.version == other
    model = CorrectedFollower(ml.Tagger.load(tmp_path / "other"))
    model.learn([Feedback(6, {"text": "hot b"}, ["is-hot"], [], False)])
    assert state(following) == bits(model.freeze())


def test_a_damaged_snapshot_is_skipped_with_a_warning(world, caplog):
    log, store, _ = world
    say(log, *[body()] * 3)
    following = follow(log, store)
    now = following.published
    store.take_snapshot(
        "m", now.version, now.applied, now.model.save, following.facts()
    )
    (snapshot,) = store.snapshots("m")
    (arrays,) = snapshot.path.glob("*.safetensors")
    arrays.write_bytes(arrays.read_bytes()[:-3] + b"xyz")
    with caplog.at_level(logging.WARNING):
        again = follow(log, store)
    assert state(again) == state(following)
    assert "a snapshot is skipped" in caplog.text


def test_a_snapshot_without_its_figures_is_used_all_the_same(world, caplog):
    log, store, _ = world
    say(log, *[body()] * 3)
    following = follow(log, store)
    now = following.published
    store.take_snapshot(
        "m", now.version, now.applied, now.model.save, following.facts()
    )
    (snapshot,) = store.snapshots("m")
    snapshot.path.with_suffix(".json").write_text("{")
    again = follow(log, store)
    assert again.facts() == following.facts()
    assert state(again) == state(following)


def test_a_snapshot_of_what_was_rolled_back_is_not_used(world):
    log, store, _ = world
    say(log, body())
    following = follow(log, store)
    before, then = state(following), log.last()
    say(log, body("hot b", ["is-hot"]))
    following.step(log.last())
    now = following.published
    store.take_snapshot(
        "m", now.version, now.applied, now.model.save, following.facts()
    )
    log.append([Draft("m", "rollback", {"sequence": then, "who": "me"})])
    assert state(follow(log, store)) == before


def test_when_a_version_vanished_readers_keep_what_they_have(world, tmp_path):
    log, store, version = world
    following = follow(log, store)
    before = following.published
    log.append([Draft("m", "activate", {"version": "0" * 12, "who": "me"})])
    following.step(log.last())
    assert following.published == before
    assert "its folder is not there" in following.trouble
    log.append([Draft("m", "activate", {"version": version, "who": "me"})])
    following.step(log.last())
    assert following.trouble == ""
    assert following.published.applied == log.last()


def test_items_that_the_model_cannot_read_are_left_out(world, caplog):
    log, store, _ = world
    following = follow(log, store)
    before = state(following)
    say(log, body() | {"item": {"features": {"0": 1.0}}})
    following.step(log.last())
    assert state(following) == before
    assert "the model cannot read" in caplog.text


def test_snapshots_are_taken_and_pruned(world):
    log, store, _ = world
    following = follow(log, store)
    tuned = Settings(snapshot_every=4, keep_snapshots=2)
    snapshots = Snapshots(following, store, tuned)
    for _ in range(5):
        say(log, *[body()] * 4)
        following.step(log.last())
        snapshots.consider()
        snapshots.stop()
    assert [each.sequence for each in store.snapshots("m")] == [22, 18]
    assert state(load_following_from(log, store)) == state(following)


def load_following_from(log, store):
    assert store.snapshots("m")
    return follow(log, store)


def test_old_snapshots_go_but_the_newest_stays_whatever_the_clock_says(world):
    log, store, _ = world
    following = follow(log, store)
    for _ in range(3):
        say(log, body())
        following.step(log.last())
        now = following.published
        store.take_snapshot("m", now.version, now.applied, now.model.save, {})
    store.prune("m", keep=3, max_age=1e9)
    assert len(store.snapshots("m")) == 3
    store.prune("m", keep=3, max_age=-1e9)  # as if the clock had gone far ahead
    assert [each.sequence for each in store.snapshots("m")] == [5]


def test_a_snapshot_that_cannot_be_written_is_no_harm(world, caplog, monkeypatch):
    log, store, _ = world
    following = follow(log, store)
    say(log, body())
    following.step(log.last())

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Store, "take_snapshot", fail)
    snapshots = Snapshots(following, store, Settings(snapshot_every=1))
    snapshots.consider()
    snapshots.stop()
    assert "No space left on device" in caplog.text
    assert following.trouble == ""


def test_what_a_killed_process_left_is_swept_and_never_loaded(world):
    log, store, _ = world
    following = follow(log, store)
    left = store.kept / "m" / "snapshots" / ".draft-left"
    left.mkdir(parents=True)
    assert state(follow(log, store)) == state(following)
    say(log, body())
    following.step(log.last())
    now = following.published
    store.take_snapshot("m", now.version, now.applied, now.model.save, {})
    assert not left.exists()


def test_a_saved_snapshot_follows_on(world):
    log, store, _ = world
    say(log, body())
    following = follow(log, store)
    folder = store.models / "copy"
    following.published.model.save(folder)
    assert bits(load_follower(folder).freeze()) == state(following)
