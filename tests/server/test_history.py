"""The history of a model, beside one that goes through all events anew."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from manylabel.server.events import Event
from manylabel.server.history import History
from manylabel.server.settings import Settings
from manylabel.server.versions import choose_old

VERSIONS = ("", "a", "b", "c")


def event(n, kind, **body):
    return Event(n, "m", kind, None, "", body, "")


def naive_state(events, upto):
    """Return the version and the feedback that it has learnt after ``upto`` events."""
    version, learnt, contains = "", [], {"": 0}
    for e in events[:upto]:
        if e.kind == "feedback":
            learnt = [*learnt, e.sequence]
        elif e.kind == "version":
            contains.setdefault(e.body["version"], e.body["contains"])
        elif e.kind == "activate":
            version = e.body["version"]
        elif e.kind == "rollback":
            then = naive_state(events, e.body["sequence"])
            version, learnt = then[0], then[3]
    gone = {e.body["sequence"] for e in events[:upto] if e.kind == "retract"}
    start = contains.get(version, 0)
    return version, start, [n for n in learnt if n > start and n not in gone], learnt


@st.composite
def logs(draw):
    """Draw events of one model; what they refer to came before."""
    events = []
    for n in range(1, draw(st.integers(1, 25)) + 1):
        kinds = ["feedback"] * 4 + ["version", "activate", "rollback", "retract"]
        kind, known = draw(st.sampled_from(kinds)), {""}
        known |= {e.body["version"] for e in events if e.kind == "version"}
        before = draw(st.integers(0, n - 1))
        body = {
            "feedback": {},
            "version": {"version": draw(st.sampled_from(VERSIONS)), "contains": before},
            "activate": {"version": draw(st.sampled_from(sorted(known)))},
            "rollback": {"sequence": before},
            "retract": {"sequence": before},
        }
        events.append(event(n, kind, **body[kind]))
    return events


@given(logs())
def test_the_history_is_what_going_through_all_events_says(events):
    history = History(events)
    version, start, learnt, _ = naive_state(events, len(events))
    numbers = [e.sequence for e in events if e.kind == "feedback"]
    assert history.version == version
    assert history.lineage.contains == start
    assert [n for n in numbers if history.has(n)] == learnt


@given(logs())
def test_feedback_can_be_left_out(events):
    whole, controls = History(events), [e for e in events if e.kind != "feedback"]
    assert History(controls).lineage == whole.lineage
    assert History(controls).retracted == whole.retracted


@given(logs())
def test_what_is_not_announced_as_a_change_only_adds_feedback(events):
    history, before = History(), ("", 0, [])
    for n, each in enumerate(events, start=1):
        is_changed = history.add(each)
        now = naive_state(events, n)[:3]
        if not is_changed:
            added = [each.sequence] if each.kind == "feedback" else []
            assert now[:2] == before[:2]
            assert now[2] in (before[2], before[2] + added)
        before = now


@given(logs(), st.integers(0, 25))
def test_a_snapshot_that_continues_is_a_beginning_of_what_was_learnt(events, n):
    n = min(n, len(events))
    history, then = History(events), naive_state(events, n)
    now = naive_state(events, len(events))
    if history.continues(then[0], n):
        assert now[:2] == then[:2]
        assert [number for number in now[2] if number <= n] == then[2]


@given(logs())
def test_the_newest_snapshot_continues(events):
    history = History(events)
    assert history.continues(history.version, len(events))
    assert not history.continues("other", len(events))


def test_a_rollback_brings_back_the_version_and_can_be_undone():
    events = [
        event(1, "version", version="a", contains=0),
        event(2, "activate", version="a"),
        event(3, "feedback"),
        event(4, "version", version="b", contains=3),
        event(5, "activate", version="b"),
        event(6, "feedback"),
    ]
    history = History(events)
    history.add(event(7, "rollback", sequence=3))
    assert (history.version, history.has(3), history.has(6)) == ("a", True, False)
    history.add(event(8, "rollback", sequence=6))
    assert (history.version, history.has(3), history.has(6)) == ("b", False, True)


def test_what_was_retracted_stays_out_whatever_is_rolled_back():
    events = [
        event(1, "activate", version="a"),
        event(2, "feedback"),
        event(3, "retract", sequence=2),
        event(4, "rollback", sequence=2),
    ]
    assert not History(events).has(2)


def test_feedback_is_learnt_contained_or_left_out():
    history = History(
        [
            event(1, "version", version="a", contains=3),
            event(2, "feedback"),
            event(3, "feedback"),
            event(4, "feedback"),
            event(5, "activate", version="a"),
            event(6, "retract", sequence=3),
            event(7, "feedback"),
            event(8, "rollback", sequence=6),
        ]
    )
    states = [history.state(number) for number in (2, 3, 4, 7, 9)]
    assert states == ["contained", "left out", "learnt", "left out", "learnt"]


def test_shadows_are_switched_on_and_off():
    history = History([event(3, "shadow", version="a", is_on=True)])
    assert history.shadows == {"a": 3}
    assert not history.add(event(4, "shadow", version="a", is_on=False))
    assert history.shadows == {}


def test_old_versions_are_dropped_but_not_those_that_are_needed():
    days = {"a": 500, "b": 400, "c": 3, "d": 2, "e": 1, "f": 0}
    now = datetime.now(UTC)
    events = [
        event(n, "version", version=name, contains=0)._replace(
            at=(now - timedelta(days=age)).isoformat()
        )
        for n, (name, age) in enumerate(days.items(), 1)
    ]
    events += [
        event(7, "activate", version="b"),
        event(8, "shadow", version="c", is_on=True),
    ]
    settings = Settings(keep_versions=2, version_age=365 * 86_400.0)
    assert choose_old(History(events), ["d"], settings) == ["a"]
    assert choose_old(History(events), [], settings) == ["d", "a"]
    many = settings._replace(keep_versions=10)
    assert choose_old(History(events), [], many) == ["a"]
