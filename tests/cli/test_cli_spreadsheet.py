"""A spreadsheet's own columns, from fit to predictions that go back to it."""

import pytest

from manylabel import Tagger

ROWS = [
    ("Roter Wein", "ein Glas Wein", "Getränk | Feier"),
    ("Helles Brot", "Brot und Butter", "Speise"),
    ("Wein und Brot", "Brot zum Wein", "Getränk | Speise"),
    ("Weißer Wein", "kühler Wein", "Getränk"),
    ("Butter", "Butter auf Brot", ""),
]


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    """Write what a spreadsheet does, with a first line for Excel."""
    path = tmp_path_factory.mktemp("book") / "book.csv"
    lines = ["sep=;", "Titel;Inhalt;Schlagworte", *map(";".join, ROWS * 4)]
    path.write_bytes("\r\n".join(lines).encode("cp1252"))
    return path


@pytest.fixture(scope="module")
def model(book, process):
    """Fit a model by columns that have names of their own."""
    columns = "--text-column", "Titel,Inhalt", "--labels-column", "Schlagworte"
    done = process("fit", book, "--model", book.parent / "model", *columns)
    assert done.status == 0, done.err
    assert "4 of 20 rows have no label, and count as rows to which none" in done.err
    return book.parent / "model"


def test_a_model_reads_other_files_by_its_columns(cli, book, model):
    done = cli("evaluate", model, book, "--no-intervals")
    assert (done.status, "20 rows" in done.out) == (0, True), done.err
    assert "4 of 20 rows have no label" in done.err
    done = cli("explain", model, book, "--row", "1", "--tag", "Speise")
    assert "brot" in done.out
    done = cli("predict", model, book, "-k", "1")
    assert len(done.out.splitlines()) == 21


def test_columns_that_are_named_win(cli, book, model):
    both = cli("predict", model, book, "-k", "1").out
    one = cli("predict", model, book, "-k", "1", "--text-column", "Inhalt")
    assert (one.status, one.out != both) == (0, True), one.err


def test_a_file_of_usual_columns_is_read_all_the_same(cli, model, tmp_path):
    usual = tmp_path / "usual.csv"
    usual.write_text("text,labels\nRoter Wein,Feier\n")
    assert cli("evaluate", model, usual, "--no-intervals").status == 0
    assert cli("predict", model, usual).status == 0


def test_predictions_go_back_to_a_spreadsheet_and_to_fit(cli, book, model, tmp_path):
    out = tmp_path / "out.csv"
    done = cli("predict", model, book, "-k", "2", "-o", out)
    assert done.status == 0, done.err
    header, *lines = out.read_text().splitlines()
    assert header == "row,id,text,labels,scores"
    assert lines[0] == '0,,"Roter Wein'  # a cell of two lines
    labels, scores = lines[1].split(",")[-2:]
    assert len(labels.split("|")) == len(scores.split("|")) == 2
    assert cli("fit", out, "--model", tmp_path / "again").status == 0


def test_a_piped_table_is_read_by_the_column_asked_for(
    cli, book, model, standard_input
):
    table = book.read_bytes().decode("cp1252").encode().partition(b"\r\n")[2]
    standard_input(table)
    done = cli("predict", model, "-k", "1", "--text-column", "Titel")
    assert (done.status, len(done.out.splitlines())) == (0, 21), done.err


def test_a_column_of_another_case_is_suggested(cli, book):
    columns = "--text-column", "titel", "--labels-column", "Schlagworte"
    done = cli("fit", book, "--model", book.parent / "no", *columns)
    assert done.status == 2
    assert "expected a header with one field 'titel' (did you mean 'Titel'?)" in (
        done.err
    )


def test_csv_has_texts_so_tables_of_features_are_refused(cli, tmp_path):
    rows = tmp_path / "rows.jsonl"
    rows.write_text('{"indices": [0], "values": [1.0], "labels": ["a"]}\n' * 9)
    train = tmp_path / "train.txt"
    train.write_text("2 1 1\n0 0:1\n0 0:2\n")
    assert cli("fit", train, "--model", tmp_path / "model").status == 0
    done = cli("predict", tmp_path / "model", rows, "--format", "csv")
    assert "--format must be tsv, jsonl or parquet for tables. Got 'csv'" in done.err


@pytest.mark.parametrize("columns", [7, {"text_columns": 7}, {"max_line_bytes": "1"}])
def test_columns_that_a_stranger_made_up_are_left_alone(
    cli, book, model, tmp_path, columns
):
    tagger = Tagger.load(model)
    tagger.annotate(columns=columns).save(tmp_path / "odd")
    usual = tmp_path / "usual.csv"
    usual.write_text("text,labels\nRoter Wein,Feier\n")
    assert cli("predict", tmp_path / "odd", usual).status == 0
