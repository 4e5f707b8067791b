"""``manylabel split``: two files that are one, and refusals."""

import json

import pytest

from manylabel import read


@pytest.fixture
def items(tmp_path):
    """Return a file of 40 texts: each of four labels on ten of them."""
    path = tmp_path / "items.jsonl"
    rows = [
        {"id": str(i), "text": f"text {i}", "labels": [f"l{i % 4}"]} for i in range(40)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_every_row_is_in_one_of_the_files(cli, items, tmp_path):
    train, test = tmp_path / "train.jsonl.gz", tmp_path / "test.csv"
    done = cli("split", items, train, test, "--test-size", "0.2", "--json")
    assert done.status == 0
    figures = json.loads(done.out)
    assert (figures["train"], figures["test"]) == (32, 8)
    assert figures["labels_on_both_sides"] == 4
    parts = [read(path) for path in (train, test)]
    assert sorted(t for part in parts for t in part.texts) == sorted(read(items).texts)
    assert parts[1].Y.sum(axis=0).tolist() == [2, 2, 2, 2]


def test_it_says_how_well_labels_are_spread(cli, items, tmp_path):
    done = cli("split", items, tmp_path / "a.csv", tmp_path / "b.csv")
    assert "Both have 4 of 4 labels of several rows" in done.out
    assert "0.0 points off their share of 20 %" in done.out
    assert "rare labels" not in done.out
    few = tmp_path / "few.jsonl"
    few.write_text("".join(items.read_text().splitlines(keepends=True)[:12]))
    done = cli("split", few, tmp_path / "a.csv", tmp_path / "b.csv")
    assert "Of 4 rare labels, of two to nine rows, both have " in done.out


def test_what_cannot_be_written_is_refused_before_anything_is(cli, items, tmp_path):
    done = cli("split", items, tmp_path / "a.csv", tmp_path / "b.parquet")
    assert done.status == 2
    assert "TRAIN and TEST must end with one of" in done.err
    same = cli("split", items, tmp_path / "a.csv", tmp_path / "a.csv")
    assert (same.status, "must be two files" in same.err) == (2, True)
    none = cli(
        "split", items, tmp_path / "a.csv", tmp_path / "b.csv", "--test-size", "0"
    )
    assert (none.status, "--test-size" in none.err) == (2, True)
    assert not (tmp_path / "a.csv").exists()


def test_help_says_that_tables_are_written_in_one_way(cli, tmp_path):
    assert "commas and the columns id, text and labels" in " ".join(
        cli("convert", "--help").out.split()
    )
    path, out = tmp_path / "x.csv", tmp_path / "y.csv"
    path.write_text("Nr;Titel;Sachen\n1;größe;a\n", encoding="cp1252")
    columns = ("--text-column", "Titel", "--labels-column", "Sachen")
    assert cli("convert", path, out, *columns, "--id-column", "Nr").status == 0
    assert out.read_text("utf-8") == "id,text,labels\n1,größe,a\n"
