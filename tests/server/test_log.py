"""Both logs: one order without gaps, keys, digests, remembered predictions."""

import json
import subprocess
import sys
import threading
import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from manylabel.server import events
from manylabel.server.errors import BadItem, Busy, KeyReused, LogError
from manylabel.server.events import Appended, Draft, Remembered
from manylabel.server.log import open_log
from manylabel.server.memory import Memory
from manylabel.server.writer import GroupWriter

drafts = st.builds(
    Draft,
    model=st.sampled_from(["a", "b"]),
    kind=st.sampled_from(["feedback", "activate"]),
    body=st.fixed_dictionaries({"n": st.integers(0, 2)}),
    key=st.sampled_from([None, "x", "y"]),
)


def draft(n: int, key: str | None = None) -> Draft:
    return Draft("m", "feedback", {"n": n}, key)


class NaiveLog:
    """A list."""

    def __init__(self):
        self.rows = []

    def append(self, drafts):
        """Return the places of drafts, None if a key is used twice."""
        rows, places = list(self.rows), []
        for each in drafts:
            same = [
                n
                for n, row in enumerate(rows, start=1)
                if each.key and (row[:2], row.key) == (each[:2], each.key)
            ]
            if not same:
                rows.append(each)
                places.append(Appended(len(rows), True))
            elif rows[same[0] - 1].body == each.body:
                places.append(Appended(same[0], False))
            else:
                return None  # nothing is written
        self.rows = rows
        return places


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.lists(drafts, max_size=4), max_size=6))
def test_a_log_is_a_list_that_knows_keys(tmp_path, batches):
    for old in tmp_path.glob("log.db*"):
        old.unlink()
    log, naive = open_log(f"sqlite:///{tmp_path}/log.db"), NaiveLog()
    for batch in batches:
        expected = naive.append(batch)
        if expected is None:
            with pytest.raises(KeyReused, match="was used for another request"):
                log.append(batch)
        else:
            assert log.append(batch) == expected
    found = log.read(0, 1000)
    assert [Draft(e.model, e.kind, e.body, e.key) for e in found] == naive.rows
    assert [e.sequence for e in found] == list(range(1, len(naive.rows) + 1))
    assert log.last() == len(naive.rows)
    log.close()


def test_a_batch_is_written_whole_or_not_at_all(log):
    log.append([draft(1, "x")])
    with pytest.raises(KeyReused):
        log.append([draft(2), draft(3, "x")])
    assert log.last() == 1
    assert log.append([draft(4)]) == [Appended(2, True)]


def test_what_was_appended_is_read_by_others(log, url):
    other = open_log(url)
    log.append([draft(1), draft(2)])
    log.append([Draft("other", "version", {"n": 3})])
    assert [e.body["n"] for e in other.read(0, 10)] == [1, 2, 3]
    assert [e.body["n"] for e in other.read(1, 1)] == [2]
    assert [e.body["n"] for e in other.read(0, 10, "m")] == [1, 2]
    assert [e.body["n"] for e in other.read(0, 10, controls=True)] == [3]
    other.close()


def test_the_latest_feedback_of_a_model_is_read_backwards(log):
    log.append([draft(n) for n in range(4)])
    log.append([Draft("other", "feedback", {"n": 4}), Draft("m", "retract", {})])
    assert [e.body["n"] for e in log.latest("m", 100, 3)] == [3, 2, 1]
    assert [e.body["n"] for e in log.latest("m", 2, 3)] == [0]


def test_each_event_is_sealed_by_those_before_it(log):
    log.append([draft(n) for n in range(5)])
    digest = events.FIRST_DIGEST
    for event in log.read(0, 10):
        digest = events.seal(digest, event)
        assert digest == event.digest


def test_what_the_service_added_does_not_make_another_request(log):
    first = Draft("m", "feedback", {"n": 1, "predicted": {"best": ["a"]}}, "x")
    again = Draft("m", "feedback", {"n": 1, "predicted": {"best": ["b"]}}, "x")
    assert log.append([first, again]) == [Appended(1, True), Appended(1, False)]


def test_a_key_is_found(log):
    log.append([draft(1, "x")])
    assert log.find("m", "feedback", "x").sequence == 1
    assert log.find("m", "version", "x") is None
    assert log.find("other", "feedback", "x") is None


def test_texts_of_any_letters_are_kept(log):
    body = {"text": 'é \x00 "\\ \ud800 \U0001f600', "number": 0.1 + 0.2}
    log.append([Draft("m", "feedback", body)])
    assert log.read(0, 1)[0].body == body


@pytest.mark.parametrize("key", ["", "x" * 256, "a\nb", "é"])
def test_a_key_is_printable_and_short(log, key):
    with pytest.raises(BadItem, match="key must be 1 to 255 printable ASCII"):
        log.append([draft(1, key)])


def test_a_body_is_plain_json(log):
    with pytest.raises(BadItem, match="An event must be plain JSON"):
        log.append([Draft("m", "feedback", {"n": float("nan")})])
    with pytest.raises(BadItem, match="kind must be one of feedback"):
        log.append([Draft("m", "gossip", {})])
    assert log.last() == 0


def test_who_waits_hears_of_another_writer(log, url):
    other = open_log(url)
    assert not log.wait(0, timeout=0.05)
    threading.Timer(0.2, lambda: other.append([draft(1)])).start()
    start = time.monotonic()
    assert log.wait(0, timeout=10)
    assert time.monotonic() - start < 5
    assert log.wait(0, timeout=0)
    time.sleep(0.1)
    other.close()


def test_writers_of_several_connections_leave_no_gap(log, url):
    others = [open_log(url) for _ in range(3)]

    def write(each):
        for n in range(20):
            each.append([draft(n), draft(n)])

    threads = [threading.Thread(target=write, args=(each,)) for each in others]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [e.sequence for e in log.read(0, 1000)] == list(range(1, 121))
    for each in others:
        each.close()


def test_predictions_are_recalled_settled_and_forgotten(log):
    found = [
        Remembered(f"id{n}", "m", "v", {"text": str(n)}, [("a", 0.1 * n)], float(n))
        for n in range(4)
    ]
    log.remember(found)
    assert log.recall("id2") == found[2]
    assert log.recall("id9") is None
    log.settle(["id3"])
    assert [each.id for each in log.unsettled("m", 2)] == ["id2", "id1"]
    assert log.unsettled("other", 2) == []
    assert log.forget(before=1.5, keep=9) == 2
    assert log.recall("id1") is None
    assert log.recall("id3").is_settled
    assert log.forget(before=0.0, keep=1) == 1
    assert [log.recall(f"id{n}") is None for n in (2, 3)] == [True, False]


def test_feedback_on_an_item_settles_all_predictions_of_it(log):
    memory = Memory(log)
    texts = ["a", "b", "a", "c"]
    found = [
        Remembered(f"id{n}", "m", "v", {"text": text, "id": str(n)}, [], 1e10 + n)
        for n, text in enumerate(texts)
    ]
    log.remember(found)
    log.remember([found[0]._replace(id="id9", model="other")])
    memory.settle("m", {"text": "a"})
    memory.settle("m", {"text": "a", "id": "x"})
    memory.stop()
    assert [each.id for each in memory.unsettled("m", 10)] == ["id3", "id1"]
    assert [each.id for each in log.unsettled("m", 10)] == ["id3", "id1"]
    assert [each.id for each in memory.unsettled("other", 10)] == ["id9"]
    log.remember([found[0]._replace(id="id4", at=2e10)])  # asked once more
    assert [each.id for each in memory.unsettled("m", 1)] == ["id3"]


def test_settled_items_are_forgotten_by_age_and_number(log):
    for at, name in enumerate("abcd"):
        log.settle_items([("m", name)], float(at))
    log.forget(before=0.5, keep=9)
    assert log.settled_items("m", "abcd") == set("bcd")
    log.forget(before=0.0, keep=2)
    assert log.settled_items("m", "abcd") == set("cd")


def test_predictions_are_bounded_by_number_and_the_oldest_go(log):
    memory = Memory(log, most=20)
    for n in range(100):
        memory.remember([Remembered(f"id{n}", "m", "v", {}, [], time.time() + n)])
        if n % 10 == 0:
            time.sleep(0.05)
    memory.stop()
    kept = [each.id for each in log.unsettled("m", 100)]
    assert 20 <= len(kept) <= 30
    assert kept == [f"id{n}" for n in range(99, 99 - len(kept), -1)]


def test_the_journal_does_not_stay_long(sqlite_log, tmp_path):
    text = {"text": "a" * 10_000}
    found = [Remembered(f"id{n}", "m", "v", text, [], float(n)) for n in range(1000)]
    sqlite_log.remember(found)
    journal = tmp_path / "log.db-predictions-wal"
    assert journal.stat().st_size > 1_000_000
    sqlite_log.forget(before=0.0, keep=10)
    assert journal.stat().st_size == 0


WRITE_AND_DIE = """
import os, subprocess, sys, threading
from manylabel.server.events import Draft
from manylabel.server.sqlite_log import SqliteLog

log = SqliteLog(sys.argv[1])
log.append([Draft("m", "feedback", {"accepted": ["a"]})])
other = threading.Thread(target=log.last)  # a connection of its own
other.start()
other.join()
look = "import sys; from manylabel.server.sqlite_log import SqliteLog as L; "
look += "log = L(sys.argv[1]); log.last(); log.close()"
subprocess.run([sys.executable, "-c", look, sys.argv[1]], check=True)
log.append([Draft("m", "feedback", {"accepted": ["b"]})])
os._exit(0)  # as if it were killed
"""


def test_who_looks_at_the_log_of_others_takes_nothing_from_it(tmp_path):
    path = tmp_path / "log.db"
    subprocess.run([sys.executable, "-c", WRITE_AND_DIE, path], check=True)
    log = open_log(f"sqlite:///{path}")
    assert [event.body["accepted"] for event in log.read(0, 10)] == [["a"], ["b"]]
    log.close()


def test_the_group_writer_answers_each_draft(log):
    writer = GroupWriter(log)
    futures = [writer.submit(draft(n % 7, f"key{n % 7}")) for n in range(50)]
    bad = writer.submit(draft(99, "key3"))
    good = [writer.submit(draft(n)) for n in range(5)]
    writer.stop()
    places = [future.result() for future in futures]
    assert sum(place.is_new for place in places) == 7
    assert {places[n].sequence for n in (3, 10, 17)} == {places[3].sequence}
    with pytest.raises(KeyReused):
        bad.result()
    assert all(future.result().is_new for future in good)
    assert log.last() == 12
    with pytest.raises(LogError, match="has stopped"):
        writer.submit(draft(1))


class SlowLog:
    """Notes how many drafts each commit has, once a gate is open."""

    def __init__(self, gate):
        self.gate, self.batches = gate, []

    def append(self, drafts):
        """Wait for the gate."""
        self.gate.wait()
        self.batches.append(len(drafts))
        return [Appended(n, True) for n, _ in enumerate(drafts, start=1)]


def test_the_group_writer_commits_together_what_waits_and_refuses_too_much():
    gate = threading.Event()
    log = SlowLog(gate)
    writer = GroupWriter(log, most_waiting=10)
    first = writer.submit(draft(0))
    while not first.running():
        time.sleep(0.001)
    futures = [writer.submit(draft(n)) for n in range(10)]
    with pytest.raises(Busy, match="10 events wait"):
        writer.submit(draft(11))
    gate.set()
    assert [future.result().sequence for future in futures] == list(range(1, 11))
    writer.stop()
    assert log.batches == [1, 10]


def test_an_address_must_be_of_a_known_kind():
    with pytest.raises(
        ValueError, match="log must begin with sqlite:/// or postgresql"
    ):
        open_log("file:///tmp/log")


def test_the_address_of_a_log_opens_it_again(tmp_path):
    log = open_log(f"sqlite:///{tmp_path}/my%20log.db")
    log.append([draft(1)])
    again = open_log(log.url)
    assert again.last() == 1
    assert json.loads(json.dumps(again.read(0, 1)[0].body)) == {"n": 1}
    log.close()
    again.close()
