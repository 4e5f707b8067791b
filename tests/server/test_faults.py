"""What goes wrong with a log: nothing that was acknowledged is lost."""

import json
import resource
import shutil
import sqlite3
import subprocess
import sys
import time
from datetime import UTC, datetime

import pytest

from manylabel.server import errors, events
from manylabel.server.events import Draft
from manylabel.server.log import open_log
from manylabel.server.sqlite_log import SqliteLog
from manylabel.server.transfer import export_lines, import_lines, verify
from manylabel.server.writer import GroupWriter


def draft(n, key=None):
    return Draft("m", "feedback", {"n": n, "text": "x" * 500}, key)


FULL = """
import resource, sys
from manylabel.server.errors import LogError
from manylabel.server.events import Draft
from manylabel.server.log import open_log
log = open_log(sys.argv[1])
limit = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, limit[1]))
acknowledged, why = [], ""
for n in range(1000):
    try:
        place, = log.append([Draft("m", "feedback", {"n": n, "text": "x" * 500})])
    except LogError as error:
        why = str(error)
        break
    acknowledged.append(place.sequence)
assert why.startswith("The log") and "cannot be used" in why, why
assert len(log.read(0, 1000)) == len(acknowledged)  # reads go on
resource.setrlimit(resource.RLIMIT_FSIZE, limit)
acknowledged.append(log.append([Draft("m", "feedback", {"n": n})])[0].sequence)
print(len(acknowledged))
"""


@pytest.mark.skipif(not hasattr(resource, "RLIMIT_FSIZE"), reason="needs file limits")
def test_a_full_disk_loses_nothing_and_is_survived(tmp_path):
    url = f"sqlite:///{tmp_path}/log.db"
    command = [sys.executable, "-c", FULL, url]
    run = subprocess.run(command, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    log = open_log(url)
    assert verify(log) == int(run.stdout) > 10
    log.close()


def test_a_locked_log_is_waited_for_then_said_and_read_all_the_while(tmp_path):
    log = SqliteLog(tmp_path / "log.db", timeout=0.2)
    log.append([draft(1)])
    other = sqlite3.connect(tmp_path / "log.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(errors.LogError, match="database is locked"):
        log.append([draft(2)])
    assert [event.body["n"] for event in log.read(0, 10)] == [1]
    other.execute("ROLLBACK")
    assert log.append([draft(3)])[0].sequence == 2
    other.close()
    log.close()


def test_a_writer_goes_on_after_the_log_failed(tmp_path):
    log = SqliteLog(tmp_path / "log.db", timeout=0.05)
    writer = GroupWriter(log)
    other = sqlite3.connect(tmp_path / "log.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(errors.LogError, match="locked"):
        writer.submit(draft(1)).result(10)
    other.execute("ROLLBACK")
    other.close()
    assert writer.submit(draft(2)).result(10).sequence == 1
    writer.stop()
    log.close()


def test_a_clock_that_goes_backwards_changes_no_order(sqlite_log, monkeypatch):
    class Clock(datetime):
        hours = iter((12, 3, 7))

        @classmethod
        def now(cls, zone):
            return datetime(2026, 1, 1, next(cls.hours), tzinfo=zone or UTC)

    monkeypatch.setattr(events, "datetime", Clock)
    sqlite_log.append([draft(1), draft(2), draft(3)])
    found = sqlite_log.read(0, 10)
    assert [event.body["n"] for event in found] == [1, 2, 3]
    assert [event.at[11:13] for event in found] == ["12", "03", "07"]
    assert verify(sqlite_log) == 3


def test_a_damaged_file_says_so(tmp_path):
    path = tmp_path / "log.db"
    path.write_bytes(b"this is no database" * 1000)
    with pytest.raises(errors.LogError, match="is not a database"):
        open_log(f"sqlite:///{path}")


def test_a_log_of_a_newer_version_is_refused(tmp_path):
    connection = sqlite3.connect(tmp_path / "log.db")
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(errors.LogError, match="written by a newer version"):
        open_log(f"sqlite:///{tmp_path}/log.db")


def test_a_folder_that_is_not_there_is_said(tmp_path):
    with pytest.raises(errors.LogError, match="unable to open database file"):
        open_log(f"sqlite:///{tmp_path}/none/log.db")


def test_the_copy_of_a_stopped_server_is_a_backup(tmp_path):
    log = open_log(f"sqlite:///{tmp_path}/log.db")
    log.append([draft(n) for n in range(10)])
    log.close()
    (tmp_path / "copy").mkdir()
    for file in tmp_path.glob("log.db*"):
        shutil.copy(file, tmp_path / "copy")
    copy = open_log(f"sqlite:///{tmp_path}/copy/log.db")
    assert verify(copy) == 10
    copy.close()


def test_a_backup_of_a_running_server_is_whole(tmp_path, sqlite_log):
    writer = GroupWriter(sqlite_log)
    futures = [writer.submit(draft(n)) for n in range(300)]
    futures[0].result(10)
    source = sqlite3.connect(tmp_path / "log.db")
    target = sqlite3.connect(tmp_path / "copy.db")
    source.backup(target)
    source.close()
    target.close()
    writer.stop()
    copy = open_log(f"sqlite:///{tmp_path}/copy.db")
    assert 1 <= verify(copy) <= 300
    copy.close()


def test_the_file_alone_is_not_a_backup_while_the_server_runs(tmp_path, sqlite_log):
    sqlite_log.append([draft(1)])
    assert (tmp_path / "log.db-wal").stat().st_size > 0


def test_an_export_is_imported_into_either_log(log, tmp_path):
    source = open_log(f"sqlite:///{tmp_path}/source.db")
    source.append([draft(n, f"key{n}") for n in range(5)])
    source.append([Draft("other", "activate", {"version": "é"})])
    lines = list(export_lines(source))
    assert import_lines(log, lines[:3]) == 3
    assert import_lines(log, lines) == 3, "what is there is skipped"
    assert log.read(0, 100) == source.read(0, 100)
    assert verify(log) == 6
    assert log.append([draft(2, "key2")])[0] == (3, False), "keys are kept"
    source.close()


def test_a_line_that_was_changed_lost_or_added_is_found(log, tmp_path):
    source = open_log(f"sqlite:///{tmp_path}/source.db")
    source.append([draft(n) for n in range(5)])
    lines = list(export_lines(source))
    changed = json.dumps(json.loads(lines[2]) | {"body": {"n": 99}})
    with pytest.raises(errors.LogDamaged, match="event 3 is not as it was written"):
        import_lines(log, [*lines[:2], changed, *lines[3:]])
    with pytest.raises(errors.LogDamaged, match="event 3 is missing: 4 comes after it"):
        import_lines(log, [*lines[:2], *lines[3:]])
    for line in ("gossip", "[]", '{"sequence": 1}', lines[0].replace('"m"', "7")):
        with pytest.raises(errors.LogDamaged, match="Line 1 is not an event of a log"):
            import_lines(log, [line])
    assert log.last() == 0
    log.append([draft(7)])
    with pytest.raises(errors.LogError, match="has another event 1 already"):
        import_lines(log, lines)
    source.close()


def test_an_event_that_was_changed_in_the_file_is_found(tmp_path, sqlite_log):
    sqlite_log.append([draft(n) for n in range(5)])
    with sqlite3.connect(tmp_path / "log.db") as connection:
        connection.execute("UPDATE events SET body = '{}' WHERE sequence = 4")
    connection.close()
    with pytest.raises(errors.LogDamaged, match="event 4 is not as it was written"):
        verify(sqlite_log)


@pytest.mark.slow
def test_a_restart_of_postgresql_is_survived(empty_postgres):
    log = open_log(empty_postgres.url)
    log.append([draft(1)])
    assert log.wait(0, 5)
    empty_postgres.stop()
    quick = GroupWriter(log)
    waiting = quick.submit(draft(2, "key"))
    time.sleep(0.5)
    assert not waiting.done()
    empty_postgres.start()
    assert waiting.result(30).sequence == 2
    assert log.wait(1, 10)
    assert [event.body["n"] for event in log.read(0, 10)] == [1, 2]
    assert verify(log) == 2
    quick.stop()
    log.close()


@pytest.mark.slow
def test_without_postgresql_a_sentence_says_so(empty_postgres):
    log = open_log(empty_postgres.url)
    log.timeout = 0.5
    empty_postgres.stop()
    try:
        with pytest.raises(errors.LogError, match="PostgreSQL cannot be used: connec"):
            log.append([draft(1)])
        with pytest.raises(errors.LogError, match="PostgreSQL cannot be used"):
            log.wait(0, 5)
    finally:
        empty_postgres.start()
    assert log.append([draft(2)])[0].sequence == 1
    log.close()
