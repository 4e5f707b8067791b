"""What another program says of a document counts once, in its last form."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from manylabel.server.errors import Busy, KeyReused
from manylabel.server.events import Event
from manylabel.server.items import FeedbackIn
from manylabel.server.protocols.revisions import revise, withdraw


def say(*labels):
    """Return feedback that accepts some labels."""
    return FeedbackIn(item={"text": "wine"}, accepted=list(labels), complete=True)


def standing(log, name):
    """Return what is said of a document and not taken back, by reading all events."""
    events = log.read(0, 100_000)
    gone = {e.body["sequence"] for e in events if e.kind == "retract"}
    return [
        e.body["accepted"]
        for e in events
        if e.kind == "feedback" and e.sequence not in gone
        if (e.key or "").rpartition("/")[0] == name
    ]


@given(words=st.lists(st.sampled_from(["a", "b", "c", None]), max_size=12))
def test_the_last_word_stands(served, words):
    name = f"hypothesis {served.log.last()}"
    for word in words:
        if word is None:
            withdraw(served.replica, name, "me")
        else:
            revise(served.replica, name, say(word), "me")
    expected = [] if not words or words[-1] is None else [[words[-1]]]
    assert standing(served.log, name) == expected


def test_a_document_that_has_become_blank_says_nothing(served):
    revise(served.replica, "blank 1", say("a"), "me")
    revise(served.replica, "blank 1", say("b")._replace(item={"text": " "}), "me")
    assert standing(served.log, "blank 1") == []


def test_of_those_who_speak_at_once_one_stands(served):
    words = [f"label {n}" for n in range(4)] * 3
    with ThreadPoolExecutor(6) as pool:
        list(
            pool.map(lambda it: revise(served.replica, "race 1", say(it), "me"), words)
        )
    (stands,) = standing(served.log, "race 1")
    assert stands[0] in words


def test_a_document_that_others_keep_changing_is_refused():
    class Contested:
        def find(self, key, kind="feedback"):
            return None

        def feedback(self, given, key, who):
            raise KeyReused("menu", "feedback", key)

    with pytest.raises(Busy, match="is being changed by others"):
        revise(Contested(), "race 2", say("a"), "me")


def test_a_thousand_revisions_are_found_by_few_looks():
    class Long:
        looks = 0

        def find(self, key, kind="feedback"):
            self.looks += 1
            number = int(key.rpartition("/")[2])
            body = {"item": {"text": "wine"}, "rejected": [], "complete": True}
            body["accepted"] = [f"label {number}"]
            is_there = number <= 1000 and kind == "feedback"
            event = Event(number, "m", kind, key, "", body, "")
            return event if is_there else None

    log = Long()
    revise(log, "long", say("label 1000"), "me")
    assert log.looks < 25
