"""CSV and TSV on the command line, through real processes."""

import json

import pytest

CSV = 'subject,body,tags\r\n"One, two","a ""quoted""\r\nline",x|y\r\nThree,b,x\r\n'


@pytest.fixture
def book(tmp_path):
    """Return a CSV file of a spreadsheet, with a mark of byte order."""
    path = tmp_path / "book.csv"
    path.write_bytes(b"\xef\xbb\xbf" + CSV.encode())
    return path


READING = ("--text-column", "subject", "--text-column", "body", "--label-separator=|")


@pytest.mark.slow
def test_a_spreadsheet_is_described_and_converted(process, book, tmp_path):
    described = process("describe", book, *READING, "--json")
    assert (described.status, described.err) == (0, "")
    assert json.loads(described.out)["rows"] == 2
    assert json.loads(described.out)["labels"] == 2
    lines = process("convert", book, "-", "--to", "jsonl", *READING).out.splitlines()
    assert [json.loads(line) for line in lines] == [
        {"text": 'One, two\na "quoted"\nline', "labels": ["x", "y"]},
        {"text": "Three\nb", "labels": ["x"]},
    ]
    for name in ("out.csv", "out.tsv.gz"):
        out = tmp_path / name
        assert process("convert", book, out, *READING).status == 0
        again = process("convert", out, "-", "--to", "jsonl")
        assert (again.status, again.out.splitlines()) == (0, lines)


def test_chunks_have_one_header(cli, tmp_path, monkeypatch):
    monkeypatch.setattr("manylabel.cli.inputs.N_ROWS", 2)
    path, out = tmp_path / "rows.tsv", tmp_path / "out.csv"
    path.write_text("text\tlabels\n" + "a\tx\n" * 5)
    assert cli("convert", path, out).status == 0
    assert out.read_text() == "text,labels\n" + "a,x\n" * 5


@pytest.mark.slow
def test_a_table_comes_from_standard_input(process):
    content = b"title;body;tags\nA;b;x,y\n"
    outcome = process("describe", "-", "--json", input=content)
    assert (outcome.status, outcome.err) == (
        0,
        "note: standard-input: labels in 'tags' are separated by ',' "
        "(--label-separator if not).\n",
    )
    assert json.loads(outcome.out)["rows"] == 1
    outcome = process("describe", "-", "--from", "libmultilabel", input=b"1\tx y\tA b")
    assert outcome.status == 0


@pytest.mark.parametrize(
    ("content", "arguments", "reason"),
    [
        ("a,b\n1,2\n", (), "line 1: expected a header with the text in a field"),
        (
            "text,b\n1,2\n",
            ("--labels-column", "c"),
            "expected a header with one field 'c', found",
        ),
        ("text,labels\n1\n", (), "line 2: expected 2 fields, found 1."),
        ('text,labels\n"1,x\n', (), "line 2: expected a closing quote, found the end"),
    ],
)
def test_a_bad_table_is_one_sentence(cli, tmp_path, content, arguments, reason):
    path = tmp_path / "bad.csv"
    path.write_text(content)
    outcome = cli("convert", path, tmp_path / "out.tsv", *arguments)
    assert (outcome.status, outcome.out) == (2, "")
    assert outcome.err.startswith(f"error: {path}, line")
    assert outcome.err.count("\n") == 1
    assert reason in outcome.err
    assert [file.name for file in tmp_path.iterdir()] == ["bad.csv"]


def test_bad_lines_are_skipped_and_counted(cli, tmp_path):
    path = tmp_path / "bad.csv"
    path.write_bytes("text,labels\né,x\nb\n".encode() + b"caf\xe9,x\nc,y\n")
    outcome = cli("convert", path, "-", "--to", "csv", "--skip-bad-lines")
    assert (outcome.status, outcome.out) == (0, "text,labels\né,x\nc,y\n")
    assert "skipped 2 bad lines" in outcome.err
    assert outcome.err.count("\n") == 1


@pytest.mark.slow
def test_a_reader_that_had_enough_is_no_error(started, tmp_path):
    path = tmp_path / "long.csv"
    path.write_text("text,labels\n" + "some words,x\n" * 50_000)
    running = started("convert", path, "-", "--to", "tsv")
    assert running.stdout.readline() == b"text\tlabels\n"
    running.stdout.close()
    assert b"error" not in running.stderr.read()
    assert running.wait() == 1
    running.stderr.close()


def test_odd_tables_are_read_and_what_was_taken_is_said(cli, tmp_path):
    path, out = tmp_path / "odd.csv", tmp_path / "out.csv"
    path.write_bytes("text;tags\nCafé crème;a, b|c\nThé;c\n".encode("cp1252"))
    done = cli("convert", path, out)
    assert done.status == 0
    doubt, letters = done.err.splitlines()
    assert "separated by '|', though many have ',' in them: --label-separ" in doubt
    assert letters.endswith("odd.csv: letters are cp1252 (--encoding if not).")
    assert out.read_text() == 'text,labels\nCafé crème,"[""a, b"", ""c""]"\nThé,c\n'
    path.write_text("text;a;b\nx;1;0\ny;1;1\n")
    done = cli("convert", path, out, "--label-separator", ";")
    assert (done.status, out.read_text()) == (0, "text,labels\nx,a\ny,a;b\n")
    assert "labels are the columns 'a', 'b' (--labels-columns if not)." in done.err
    done = cli("convert", path, out, "--labels-columns", "a")
    assert (done.err, out.read_text()) == ("", "text,labels\nx,a\ny,a\n")
    outs = (tmp_path / "1.csv", tmp_path / "2.jsonl")
    done = cli("split", path, *outs, "--label-separator=;", "--test-size=0.5")
    assert done.status == 0, done.err


@pytest.mark.parametrize("comma", [False, True])
def test_labels_of_several_columns_are_joined(cli, tmp_path, comma):
    path, out = tmp_path / "in.csv", tmp_path / "out.csv"
    path.write_text('"Title, main",one,two\nA,x; y,\nB,,z\n')
    columns = ["one,two"] if comma else ["one", "two"]
    asked = [f"--labels-column={column}" for column in columns]
    done = cli("convert", path, out, "--text-column", "Title, main", *asked)
    assert done.status == 0
    assert "labels in 'one', 'two' are separated by ';'" in done.err
    assert out.read_text() == 'text,labels\nA,"x,y"\nB,z\n'
