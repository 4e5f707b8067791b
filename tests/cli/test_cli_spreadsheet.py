"""A spreadsheet's own columns, from fit to predictions that go back to it."""

import json

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
    header, *lines = out.read_text(encoding="utf-8-sig").splitlines()
    assert header == "row;id;text;labels;scores"  # separated as the file is
    assert lines[0] == '0;;"Roter Wein'  # a cell of two lines
    labels, scores = lines[1].split(";")[-2:]
    assert len(labels.split("|")) == len(scores.split("|")) == 2
    assert cli("fit", out, "--model", tmp_path / "again").status == 0


def test_identifiers_go_along_by_the_column_that_fit_was_told(cli, book, tmp_path):
    table, model = tmp_path / "book.csv", tmp_path / "model"
    rows = (f"S {n};{';'.join(row)}" for n, row in enumerate(ROWS * 4))
    table.write_text("\n".join(["Signatur;Titel;Inhalt;Schlagworte", *rows, ";;;"]))
    columns = "--text-column", "Titel", "--labels-column", "Schlagworte"
    arguments = "--model", model, *columns, "--id-column", "Signatur"
    assert cli("fit", table, *arguments).status == 0
    done = cli("predict", model, table, "--format", "csv")
    assert [line.split(";")[1] for line in done.out.splitlines()[1:3]] == ["S 0", "S 1"]
    done = cli("predict", model, table, "--format", "jsonl")
    assert json.loads(done.out.splitlines()[-1])["id"] == "S 19"
    done = cli("predict", model, book, "--format", "jsonl")  # which has no Signatur
    assert (done.status, "id" in json.loads(done.out.splitlines()[0])) == (0, False)


def test_what_a_file_lacks_of_the_columns_of_a_model_is_said(cli, model, tmp_path):
    (tmp_path / "new.csv").write_text("Titel;Inhalt\nWein;rot\n")
    done = cli("evaluate", model, tmp_path / "new.csv")
    assert (done.status, "one field 'Schlagworte'" in done.err) == (2, True), done.err
    (tmp_path / "new.csv").write_text("Titel;Schlagworte\nWein;rot\n")
    done = cli("predict", model, tmp_path / "new.csv")
    assert (done.status, "one field 'Inhalt'" in done.err) == (2, True), done.err


def test_a_model_keeps_what_separates_labels(cli, tmp_path):
    table, model = tmp_path / "a.csv", tmp_path / "model"
    table.write_text("text,tags\n" + 'red wine,"Smith, A; Doe, J"\nbread,"Ek, B"\n' * 3)
    assert cli("fit", table, "--model", model, "--label-separator", ";").status == 0
    done = cli("evaluate", model, table, "--no-intervals")
    assert (done.status, done.err) == (0, "")


def test_a_table_of_new_titles_becomes_lines_for_a_service(cli, tmp_path):
    table, out = tmp_path / "new.csv", tmp_path / "new.jsonl"
    table.write_text("Signatur;Titel\nS 1;Roter Wein\n")
    columns = "--id-column", "Signatur", "--text-column", "Titel"
    assert cli("convert", table, out, "--no-labels", *columns).status == 0
    found = json.loads(out.read_text())
    assert (found["id"], found["text"]) == ("S 1", "Roter Wein")


def test_json_has_letters_as_they_are(cli, book, model, tmp_path):
    columns = "--text-column", "Titel", "--labels-column", "Schlagworte"
    files = [tmp_path / f"{name}.jsonl" for name in ("convert", "predict", "sample")]
    written = [
        cli("convert", book, files[0], *columns),
        cli("predict", model, book, "-o", files[1]),
        cli("audit", book, *columns, "--sample", "9", "-o", files[2]),
    ]
    assert [done.status for done in written] == [0, 0, 0], written
    for file in files:
        assert "Getränk" in file.read_text(encoding="utf-8")
    done = cli("audit", book, *columns, "--json")
    assert "Getränk" in done.out


def test_an_audit_goes_to_a_spreadsheet_as_predictions_do(cli, book, tmp_path):
    columns = "--text-column", "Titel", "--labels-column", "Schlagworte"
    out = tmp_path / "look.csv"
    assert cli("audit", book, *columns, "-o", out).status == 0
    assert out.read_bytes().startswith("\ufeffrow;id;kind;label;".encode())
    done = cli("audit", book, *columns, "--sample", "9", "-o", out)
    assert "'complete' (with | between them, - for none)" in done.out.replace("\n", " ")
    lines = out.read_text(encoding="utf-8-sig").splitlines()
    assert lines[0].startswith("row;id;text;labels;suggestions;weight;complete;wrong")
    filled = [line.split(";") for line in lines[1:]]
    labels = lines[0].split(";").index("labels")
    for cells in filled:
        cells[-2] = cells[labels] or "-"
    text = "\r\n".join(map(";".join, [lines[0].split(";"), *filled]))
    out.write_bytes(text.encode("cp1252"))
    done = cli("audit", book, *columns, "--learn", out, "--json")
    assert (done.status, json.loads(done.out)["rows"]) == (0, 9), done.err


def test_a_workbook_is_not_written(cli, book, model, tmp_path):
    done = cli("predict", model, book, "-o", tmp_path / "out.xlsx")
    assert (done.status, "must end with .csv for a spread" in done.err) == (2, True)
    assert not (tmp_path / "out.xlsx").exists()


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


def test_an_odd_cell_in_a_label_of_the_model_is_an_error(cli, tmp_path):
    table, odd, model = (tmp_path / name for name in ("a.csv", "b.csv", "model"))
    table.write_text("text;a;b\n" + "red wine;1;0\nrye bread;0;1\n" * 10)
    odd.write_text("text;a;b\nred wine;1;0\nrye;0;?\n")
    assert cli("fit", table, "--model", model, "--labels-columns", "a,b").status == 0
    done = cli("evaluate", model, odd)
    assert (done.status, "line 3: expected 0 or 1" in done.err) == (2, True), done.err
