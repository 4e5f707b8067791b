"""Jobs are run once, failures are told, and what had its time is not tried again."""

import json
from dataclasses import dataclass

import pytest

from benchmarks.ledger import Ledger
from benchmarks.runner import Failure, run


@dataclass(frozen=True)
class Step:
    """A job that does what its name says."""

    key: str
    group: str = "all"

    @property
    def about(self):
        """What its line says of it."""
        return {"step": self.key}


@pytest.fixture
def ledger(tmp_path):
    return lambda: Ledger(tmp_path / "runs.jsonl")


@pytest.fixture
def done():
    """Return the keys of jobs in the order in which they were run."""
    return []


@pytest.fixture
def perform(done):
    def call(step, limit=1):
        done.append(step.key)
        if step.key.startswith("fail"):
            raise Failure("no luck")
        if step.key.startswith("slow"):
            raise Failure("too slow", limit=limit)
        return {"values": {"length": len(step.key)}}

    return call


def steps(*keys):
    return [Step(key, group=key) for key in keys]


def test_a_finished_run_is_never_repeated(ledger, perform, done):
    run(steps("a", "b", "a"), perform, ledger())
    run(steps("b", "c"), perform, ledger())
    assert done == ["a", "b", "c"]


def test_an_interruption_loses_nothing_that_is_finished(ledger, perform, done):
    def interrupt(number, total, record):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(steps("a", "b"), perform, ledger(), watch=interrupt)
    run(steps("a", "b"), perform, ledger())
    assert done == ["a", "b"]


def test_a_line_says_what_ran_and_what_made_it(ledger, perform):
    run(steps("a"), perform, ledger())
    (record,) = map(json.loads, ledger().path.read_text().splitlines())
    assert (record["key"], record["step"], record["values"]) == (
        "a",
        "a",
        {"length": 1},
    )
    assert {"finished", "version", "commit", "machine"} <= record.keys()


def test_what_a_job_keeps_wins_over_what_made_it(ledger):
    run(steps("a"), lambda step: {"values": {}, "version": "theirs"}, ledger())
    assert ledger().records["a"]["version"] == "theirs"


def test_a_failure_is_told_and_tried_again(ledger, perform, done):
    for _ in range(2):
        (failed,) = run(steps("fail", "a"), perform, ledger())
        assert (failed["key"], failed["failure"]) == ("fail", "no luck")
    assert done == ["fail", "a", "fail"]
    assert list(ledger().records) == ["a"]


def test_the_rest_of_a_group_is_left_out_after_a_failure(ledger, perform, done):
    jobs = [Step("a"), Step("fail 1"), Step("b"), Step("fail 2"), Step("c", "others")]
    told = []
    (failed,) = run(jobs, perform, ledger(), watch=lambda *news: told.append(news[:2]))
    assert failed["key"] == "fail 1"
    assert done == ["a", "fail 1", "c"]
    assert told == [(1, 5), (2, 5), (5, 5)]


def test_who_had_its_time_is_tried_again_with_more(ledger, perform, done):
    jobs = [Step("slow"), Step("a")]
    for limit, tried in ((1, 1), (1, 1), (2, 2), (1, 2)):
        (failed,) = run(jobs, lambda j, n=limit: perform(j, n), ledger(), limit=limit)
        assert (failed["key"], failed["failure"]) == ("slow", "too slow")
        assert done == ["slow"] * tried


def test_what_comes_before_a_known_failure_is_run(ledger, perform, done):
    run([Step("slow")], perform, ledger(), limit=1)
    run([Step("a"), Step("slow"), Step("b")], perform, ledger(), limit=1)
    assert done == ["slow", "a"]


def test_watchers_are_told_how_far_it_is(ledger, perform):
    seen = []
    run(steps("a"), perform, ledger())
    jobs = steps("a", "b", "c")
    run(jobs, perform, ledger(), watch=lambda *news: seen.append(news))
    assert [(n, total, record["key"]) for n, total, record in seen] == [
        (1, 2, "b"),
        (2, 2, "c"),
    ]
