"""Files as new users bring them: read right, or refused with the way out."""

import gzip
import json

import pytest

from manylabel.cli.main import run

TABLE = (
    "text,tags\nred wine,drink\nwhite wine,drink\nbrown bread,food\nrye bread,food\n"
)


@pytest.fixture(scope="module")
def tagger(tmp_path_factory):
    """Return the folder of a model of wine and bread."""
    folder = tmp_path_factory.mktemp("odd")
    (folder / "train.csv").write_text(TABLE)
    with pytest.raises(SystemExit) as end:
        run(["fit", str(folder / "train.csv"), "--model", str(folder / "model")])
    assert end.value.code == 0
    return folder / "model"


@pytest.fixture
def best(cli, tagger):
    """Return what gives the best label of each row of a file."""

    def predict(*arguments):
        done = cli("predict", tagger, *arguments, "-k", "1")
        assert done.status == 0, done.err
        return [line.split("\t")[1] for line in done.out.splitlines()[1:]]

    return predict


def test_columns_that_are_named_make_a_table(cli, best, tagger, standard_input):
    content = "größe;wörter\n1;red wine\n2;rye bread\n".encode()
    standard_input(content)
    assert best("--text-column", "wörter") == ["drink", "food"]
    standard_input(content)
    done = cli("predict", tagger, "--text-column", "worter")
    assert "with one field 'worter' (did you mean 'wörter'?), found ['gr" in done.err


def test_labels_on_lines_of_a_cell_are_told_or_asked_for(cli, tmp_path):
    path, same = tmp_path / "lines.csv", tmp_path / "same.csv"
    for each in (path, same):
        each.write_text('text,tags\nwine,"drink\ndinner"\nrye,"food\ndinner"\n')
    done = cli("describe", same, "--label-separator", "|")
    assert "'drink\\ndinner' looks like several: --label-separator '\\n' m" in done.err
    for said in ((), ("--label-separator", r"\n")):
        done = cli("describe", path, "--json", *said)
        assert '"labels": 3,' in done.out
        assert (r"separated by '\n' (--label-separator" in done.err) == (not said)
    path.write_text("text,tags\nwine,drink\tdinner\n")
    assert (
        '"labels": 2,' in cli("describe", path, "--label-separator=\\t", "--json").out
    )


@pytest.mark.parametrize("verb", ["fit", "describe", "predict", "evaluate"])
def test_rows_without_a_text_are_counted(cli, tagger, tmp_path, verb):
    path = tmp_path / "blank.csv"
    path.write_text(f"{TABLE},food\n  ,drink\n")
    arguments = {
        "fit": (path, "--model", tmp_path / "model"),
        "describe": (path,),
        "predict": (tagger, path),
        "evaluate": (tagger, "--data", path),
    }
    done = cli(verb, *arguments[verb])
    assert (done.status, done.err.count("2 of 6 rows have no text.")) == (0, 1)


@pytest.mark.parametrize("magic", [b"PK\x03\x04", b"\xd0\xcf\x11\xe0"])
def test_a_workbook_is_refused_with_the_way_out(cli, tagger, tmp_path, magic):
    book = tmp_path / "book.xlsx"
    book.write_bytes(magic + b"\x14\0\0\xee\0")
    for arguments in (
        ("fit", book, "--model", tmp_path / "model"),
        ("predict", tagger, book),
        ("predict", tagger, book, "--from", "csv"),
    ):
        done = cli(*arguments)
        assert (done.status, done.err.count("\n")) == (2, 1)
        assert "found a workbook or a zip archive: save the table as CSV" in done.err


@pytest.mark.parametrize(
    "content",
    [
        b"id,text\n1,red wine\n2,rye bread\n",
        b"\xef\xbb\xbfTitle;Body\nA;red wine\nB;rye bread\n",
        "text\tnr\nred wine\t1\nrye bread\t2\n".encode("utf-16"),
        b'[\n{"text": "red wine"},\n{"text": "rye bread"}\n]\n',
        gzip.compress(b"id,text\n1,red wine\n2,rye bread\n", mtime=0),
    ],
    ids=["comma", "mark", "utf-16", "array", "gzip"],
)
def test_a_table_on_standard_input_is_told(best, standard_input, tmp_path, content):
    standard_input(content)
    assert best("-") == ["drink", "food"]
    (tmp_path / "file").write_bytes(content)
    assert best(tmp_path / "file") == ["drink", "food"]


def test_columns_of_the_model_tell_a_table_on_standard_input(
    cli, standard_input, tmp_path
):
    path, model = tmp_path / "train.csv", tmp_path / "model"
    path.write_text(TABLE.replace("text", "body text"))
    assert cli("fit", path, "--model", model, "--text-column=body text").status == 0
    for name in ("body text", "text"):
        standard_input(f"id,{name}\n1,red wine\n".encode())
        done = cli("predict", model, "--format", "jsonl")
        assert done.out.count("\n") == 1
        assert '"labels": ["drink", "food"]' in done.out


def test_lines_that_only_look_like_a_header_can_be_texts(cli, best, standard_input):
    standard_input(b"text\nred wine\n")
    assert len(best("-", "--from", "lines")) == 2
    standard_input(b"text,wine\nred wine\n")
    assert len(best("-", "--from", "lines")) == 2


def test_a_table_of_a_header_alone_is_told(cli, tmp_path):
    path = tmp_path / "head.csv"
    path.write_text("text,tags\n")
    done = cli("describe", path, "--json")
    assert (done.status, json.loads(done.out)["rows"]) == (0, 0)
    assert done.err.startswith(f"note: {path}: there are no rows, ")


def test_of_rows_one_has_no_text(cli, tagger, tmp_path):
    (tmp_path / "blank.csv").write_text("text,tags\nred wine,drink\n ,drink\n")
    assert (
        ": 1 of 2 rows has no text."
        in cli("predict", tagger, tmp_path / "blank.csv").err
    )


def test_a_stream_of_texts_is_refused_without_options_that_it_lacks(cli, tmp_path):
    (tmp_path / "x.csv").write_text("Titel,Sachen\nred wine,drink\n")
    said = cli("stream", tmp_path / "x.csv").err
    assert (
        "expected rows of features, found texts; 'manylabel fit' learns texts" in said
    )


@pytest.mark.parametrize(
    ("arguments", "near"),
    [
        (["explain", "--text", "red wine", "--tag", "Drnik"], "Did you mean 'drink'?"),
        (["predict", "train.csv", "--allow", "allow.txt"], "Did you mean 'drink'?"),
        (["evaluate", "train.csv", "--labels-column", "Tag"], "(did you mean 'tags'?)"),
        (["fit", "--learner", "label-tre"], "Did you mean 'label-tree'?"),
        (["fit", "--quality", "bst"], "Did you mean 'best'?"),
        (["fit", "--learner", "fastxml", "--set", "n_estimator=2"], "Did you mean 'n_"),
    ],
)
def test_the_nearest_name_is_suggested(
    cli, tagger, monkeypatch, tmp_path, arguments, near
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.csv").write_text(TABLE)
    (tmp_path / "allow.txt").write_text("Drnik\n")
    verb, *others = arguments
    place = ["train.csv", "--model", "m"] if verb == "fit" else [tagger]
    done = cli(verb, *place, *others)
    assert (done.status, near in done.err) == (2, True), done.err


@pytest.mark.parametrize("header", [b"text", b"\xef\xbb\xbfText\r"])
def test_the_header_of_a_single_column_is_no_text(
    cli, tagger, tmp_path, standard_input, header
):
    path = tmp_path / "new.txt"
    path.write_bytes(header + b"\nred wine\n")
    for given in (path, "-"):
        standard_input(path.read_bytes())
        done = cli("predict", tagger, given, "-k", "1", "--format", "csv")
        assert len(done.out.splitlines()) == 2, done.out
    standard_input(b"text\n")  # a word, as it may be typed
    assert len(cli("predict", tagger, "-k", "1").out.splitlines()) == 2
