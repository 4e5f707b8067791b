"""``manylabel log``: out, in, and checked."""

import json
import sqlite3

import pytest

from manylabel.server.events import Draft
from manylabel.server.log import open_log


@pytest.fixture
def file(tmp_path):
    log = open_log(f"sqlite:///{tmp_path}/log.db")
    log.append([Draft("m", "feedback", {"accepted": ["é"]}, f"k{n}") for n in range(3)])
    log.append([Draft("other", "feedback", {"accepted": []})])
    log.close()
    return tmp_path / "log.db"


def test_a_log_is_exported_imported_and_verified(cli, file, tmp_path):
    lines, copy = tmp_path / "events.jsonl", tmp_path / "copy.db"
    assert cli("log", "export", file, lines).out == f"{lines}: 4 events.\n"
    assert cli("log", "import", copy, lines).out == "Imported 4 events.\n"
    assert cli("log", "import", copy, lines).out == "Imported 0 events.\n"
    outcome = cli("log", "verify", f"sqlite:///{copy}")
    assert outcome.out == "4 events, each as it was written.\n"
    assert json.loads(cli("log", "verify", copy, "--json").out) == {"events": 4}


def test_events_go_to_standard_output_those_of_one_model_too(cli, file):
    rows = list(map(json.loads, cli("log", "export", file).out.splitlines()))
    assert [row["sequence"] for row in rows] == [1, 2, 3, 4]
    only = cli("log", "export", file, "--model", "other").out
    assert json.loads(only)["sequence"] == 4


def test_events_come_from_standard_input(cli, file, tmp_path, standard_input):
    standard_input(cli("log", "export", file).out.encode())
    assert "4 events" in cli("log", "import", tmp_path / "copy.db").out


def test_a_damaged_log_is_told_in_one_sentence(cli, file, tmp_path):
    with sqlite3.connect(file) as connection:
        connection.execute("UPDATE events SET at = '' WHERE sequence = 2")
    connection.close()
    outcome = cli("log", "verify", file)
    assert outcome.status == 2
    assert outcome.err == (
        "error: The log is damaged: event 2 is not as it was written, or one before it "
        "is not.\n"
    )


def test_a_log_that_is_not_there_is_not_made(cli, tmp_path):
    outcome = cli("log", "verify", tmp_path / "none.db")
    assert outcome.status == 2
    assert "LOG must be a log that is there" in outcome.err
    assert list(tmp_path.iterdir()) == []
    assert "must begin with sqlite" in cli("log", "verify", "mysql://x").err
