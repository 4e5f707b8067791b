"""Work sheets for a spreadsheet: what they teach is what JSON lines teach."""

import csv
import json

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from manylabel import Answers, Dataset, audit
from manylabel.exceptions import DataError

NAMES = ["Natur", "Wein, roter", "a|b", '"q"', "[x]", "Öl; Fett", "-", " s"]


@pytest.fixture(scope="module")
def awkward(corpus):
    """Return rows with texts and names that a table has to quote."""
    names = [*NAMES, *(f"n{i}" for i in range(17))]
    texts = [f'row {i}; "a", b\nsecond\tlïne' for i in range(600)]
    return Dataset(corpus.X, corpus.Y, None, names, None, texts)


def fill(path, to, answers, encoding="utf-8-sig"):
    """Fill in a sheet as a spreadsheet does: ``answers`` by row."""
    with path.open(newline="", encoding="utf-8-sig") as file:
        dialect = csv.Sniffer().sniff(file.readline(), ",;")
        file.seek(0)
        lines = [*csv.DictReader(file, delimiter=dialect.delimiter)]
    with to.open("w", newline="", encoding=encoding) as file:
        table = csv.DictWriter(file, lines[0], delimiter=dialect.delimiter)
        table.writeheader()
        for line in lines:
            table.writerow(line | answers(line))
    return lines


@pytest.mark.parametrize("delimiter", [",", ";"])
def test_a_table_teaches_what_json_lines_teach(awkward, corpus, tmp_path, delimiter):
    sheet = audit(awkward).sample(80)
    files = [tmp_path / name for name in ("sheet.jsonl", "sheet.csv")]
    for file in files:
        sheet.write(file, delimiter=delimiter)
    names, wrong = awkward.labels.names, {}

    def complete(row):
        """Return all true labels, but the first recorded one of each fifth row."""
        found = [names[label] for label in corpus.complete[[row]].indices]
        recorded = awkward.labels.decode(awkward.Y[[row]])[0]
        wrong[row] = recorded[:1] if row % 5 == 0 else []
        return [name for name in found if name not in wrong[row]]

    def cell(labels):
        """Return what a person would type."""
        plain = all(name not in ("a|b", "[x]", "-", " s") for name in labels)
        return "|".join(labels) if plain else json.dumps(labels, ensure_ascii=False)

    with (tmp_path / "answers.jsonl").open("w") as answers:
        for at, line in enumerate(files[0].read_text().splitlines()):
            record = json.loads(line)
            if at % 4:  # the others are not answered
                record["complete"] = complete(record["row"])
                record["wrong"] = wrong[record["row"]]
            answers.write(json.dumps(record) + "\n")

    def filled(line):
        row = int(line["row"])
        at = int(np.flatnonzero(sheet.rows == row)[0])
        found = complete(row) if at % 4 else []
        none = "-" if at % 4 else ""
        told = cell(wrong[row]) if at % 4 and wrong[row] else ""
        return {"complete": cell(found) if found else none, "wrong": told}

    fill(files[1], tmp_path / "answers.csv", filled)
    by_json, by_table = (
        Answers.read(tmp_path / f"answers.{kind}", awkward) for kind in ("jsonl", "csv")
    )
    assert len(by_json.rows) == 60
    assert_array_equal(by_table.rows, by_json.rows)
    assert_array_equal(by_table.weights, by_json.weights)
    assert_array_equal(by_table.complete.toarray(), by_json.complete.toarray())
    assert by_table.recorded() == by_json.recorded()
    values = (each.propensity().values_ for each in (by_table, by_json))
    assert_array_equal(*values)


def test_a_spreadsheet_opens_the_table(awkward, tmp_path):
    sheet = audit(awkward).sample(30)
    sheet.write(tmp_path / "sheet.csv", delimiter=";")
    raw = (tmp_path / "sheet.csv").read_bytes()
    assert raw.startswith("\ufeffrow;id;text;labels;suggestions;weight;".encode())
    lines = fill(tmp_path / "sheet.csv", tmp_path / "same.csv", lambda line: {})
    assert [int(line["row"]) for line in lines] == sheet.rows.tolist()
    assert {line["text"] for line in lines} <= set(awkward.texts)
    assert all("," in line["weight"] for line in lines)  # as numbers are written there
    with pytest.raises(DataError, match="expected answers in 'complete', found none"):
        Answers.read(tmp_path / "same.csv", awkward)


def test_a_table_that_was_saved_in_cp1252_is_read(tmp_path):
    data = Dataset(np.eye(3), [[1], [0], [0]], None, ["Öl"], ["ä", "b", "c"])
    path = tmp_path / "answers.csv"
    path.write_bytes("id;complete;wrong\r\nä;Öl;\r\nb;-;\r\n;;\r\n".encode("cp1252"))
    found = Answers.read(path, data)
    assert_array_equal(found.complete.toarray(), [[1], [0]])


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("x,a,,1", r"answers\.csv, line 2: expected the recorded label 'b' of row 0"),
        ("x,b,b,1", "of row 0 either in 'complete' or in 'wrong', found it in both"),
        ("x,,b,1", "line 2: expected all true labels in 'complete', found only those"),
        ("z,c,,1", "line 2: expected labels of the data, found 'c' in row 2"),
        ("z,a,,1\nw,a,,1", "line 3: expected the id of a row of the data, found 'w'"),
        ("z,a,,1\nz,a,,1", "line 3: expected each row once, found row 2 again"),
        ("z,a", "line 2: expected 4 fields, found 2"),
        ('z,"a', "line 2: expected a closing quote, found the end of the file"),
        (",a,,1", "line 2: expected a row of the data, from 0 to 2, found None"),
        ("z,a,,2000000", "line 2: expected a weight of at most 12, found 2e"),
        ("z,a,,0", "expected a weight above 0, found 0"),
        ("z,a,,x", "expected a number in 'weight', found 'x'"),
        ("z,,,1", "expected answers in 'complete', found none"),
        ("z,[1.5],,1", r"expected names in a list of labels, found '\[1.5\]'"),
    ],
)
def test_damaged_tables_are_refused_in_a_sentence(tmp_path, lines, message):
    Y = [[0, 1], [1, 0], [0, 0]]
    data = Dataset(np.eye(3), Y, None, ["a", "b"], ["x", "y", "z"])
    path = tmp_path / "answers.csv"
    path.write_text(f"id,complete,wrong,weight\n{lines}\n")
    with pytest.raises(DataError, match=message):
        Answers.read(path, data)


@pytest.mark.parametrize("content", ["", "\n\n", "id,complete\n", "id,text\nx,\n"])
def test_tables_without_answers_are_refused(tmp_path, content):
    path = tmp_path / "answers.csv"
    path.write_text(content)
    data = Dataset(np.eye(1), [[1]], None, ["a"], ["x"])
    with pytest.raises(DataError, match="expected answers in 'complete', found none"):
        Answers.read(path, data)
