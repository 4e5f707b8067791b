"""Finished runs are kept, whatever happens to the machine."""

import pytest

from benchmarks.ledger import Ledger
from manylabel.exceptions import DataError


def test_what_was_written_is_read_again(tmp_path):
    path = tmp_path / "new" / "runs.jsonl"
    ledger = Ledger(path)
    ledger.append({"key": "a", "values": {"f1": 0.5}})
    ledger.append({"key": "b", "values": {}})
    assert Ledger(path).records == ledger.records
    assert list(ledger.records) == ["a", "b"]


def test_half_a_line_at_the_end_is_forgotten(tmp_path):
    path = tmp_path / "runs.jsonl"
    Ledger(path).append({"key": "a"})
    with path.open("a") as file:
        file.write('{"key": "b", "val')
    ledger = Ledger(path)
    assert list(ledger.records) == ["a"]
    ledger.append({"key": "c"})
    assert list(Ledger(path).records) == ["a", "c"]


def test_two_programs_may_keep_one_file(tmp_path):
    path = tmp_path / "runs.jsonl"
    one, other = Ledger(path), Ledger(path)
    for key in "abc":
        one.append({"key": key})
        other.append({"key": key.upper()})
    assert sorted(Ledger(path).records) == list("ABCabc")


def test_a_line_that_is_no_run_is_refused_by_number(tmp_path):
    path = tmp_path / "runs.jsonl"
    path.write_text('{"key": "a"}\n[]\n')
    with pytest.raises(DataError, match=r"runs.jsonl, line 2: expected the record"):
        Ledger(path)


def test_runs_that_are_kept_are_finished(tmp_path):
    ledger = Ledger(tmp_path / "runs.jsonl")
    for key in "abc":
        ledger.append({"key": key})
    kept = tmp_path / "kept" / "runs.jsonl.gz"
    ledger.keep(kept, ["b", "a", "d"])
    assert list(Ledger(tmp_path / "other.jsonl", kept).records) == ["b", "a"]
    before = kept.read_bytes()
    ledger.keep(kept, ["b", "a"])
    assert kept.read_bytes() == before
