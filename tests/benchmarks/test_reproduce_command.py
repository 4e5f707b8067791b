"""``python -m benchmarks reproduce`` prints, writes and refuses what it should."""

import gzip
import json
import re
from functools import partial

import pytest

from benchmarks import page
from benchmarks.reproduce import command
from benchmarks.reproduce.reproduction import Reproduction

SMALL = ("cs-dpp", "table-9", "--quick", "--jobs", 1)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["dpp"], "PAPER must be one of budgeted-trees, cs-dpp, .*Got 'dpp'"),
        (["cs-dpp", "table-4"], "TABLE must be one of table-5, .*Got 'table-4'"),
        (["--data", "nowhere"], "--data must be a folder. Got 'nowhere'"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(cli, tmp_path, arguments, sentence):
    given = arguments if "--data" in arguments else [*arguments, "--data", tmp_path]
    outcome = cli("reproduce", *given, "--out", tmp_path / "out")
    assert outcome.status == 2
    assert len(outcome.err.splitlines()) == 1
    assert re.search(sentence, outcome.err)
    assert not (tmp_path / "out").exists()


def test_a_folder_must_be_named(cli, monkeypatch):
    monkeypatch.delenv("MANYLABEL_DATA", raising=False)
    outcome = cli("reproduce", "cs-dpp")
    assert outcome.status == 2
    assert "--data" in outcome.err


def test_results_go_to_a_folder(cli, tmp_path):
    (tmp_path / "file").write_text("mine")
    outcome = cli("reproduce", "--data", tmp_path, "--out", tmp_path / "file")
    assert outcome.status == 2
    assert "--out must be a folder" in outcome.err
    assert (tmp_path / "file").read_text() == "mine"


@pytest.mark.slow
def test_a_page_is_published_in_the_docs(cli, tmp_path, monkeypatch):
    kept = tmp_path / "kept.jsonl.gz"
    line = (
        b'{"key": "old", "data": "enron", "values": {}}\n'  # of a set that is not here
    )
    kept.write_bytes(gzip.compress(line))
    monkeypatch.setattr(page, "PUBLISHED", tmp_path / "docs")
    monkeypatch.setattr(command, "Reproduction", partial(Reproduction, kept=kept))
    arguments = ("reproduce", "cs-dpp", "table-8", "--publish", "--data", tmp_path)
    assert cli(*arguments, "--out", tmp_path / "out").status == 0
    assert (tmp_path / "docs" / "papers.md").exists()
    assert not (tmp_path / "out").exists()
    assert gzip.decompress(kept.read_bytes()) == line


@pytest.mark.slow
def test_missing_sets_are_named_with_their_publishers(cli, tmp_path, monkeypatch):
    monkeypatch.setenv("MANYLABEL_DATA", str(tmp_path))
    outcome = cli("reproduce", "cs-dpp", "table-8", "--out", tmp_path / "out")
    assert outcome.status == 0
    assert "enron is skipped: no enron-train.arff" in outcome.err
    assert "(Mulan, mulan.sourceforge.net" in outcome.err
    page = (tmp_path / "out" / "papers.md").read_text()
    assert "No run is finished." in page


@pytest.mark.slow
def test_a_table_is_printed_and_the_page_written(cli, data_folder, tmp_path):
    arguments = ("reproduce", *SMALL, "--data", data_folder, "--out", tmp_path)
    first = cli(*arguments)
    assert first.status == 0
    head, _, *rows = first.out.splitlines()
    assert head.startswith("| data | learner | metric | ours | published |")
    assert any(row.startswith("| emotions | DPP-10 | hamming |") for row in rows)
    runs = (tmp_path / "runs.jsonl").read_text()
    again = cli(*arguments)
    assert again.out == first.out
    assert (tmp_path / "runs.jsonl").read_text() == runs
    cells = json.loads(cli(*arguments, "--json").out)[0]["cells"]
    verdicts = {cell["verdict"] for cell in cells}
    assert "matched" in verdicts
    assert "not comparable" not in verdicts
    assert "Table 9: DPP and binary relevance" in (tmp_path / "papers.md").read_text()
