"""What ``--help`` shows: whole sentences, plain names, at any width."""

import re

import pytest
import typer

from manylabel.cli.main import app

VERBS = typer.main.get_command(app).commands
HERE = ("--models", ".")
PATHS = [
    [],
    *([name] for name in VERBS),
    *([name, sub] for name in ("log", "token") for sub in VERBS[name].commands),
]


@pytest.mark.parametrize("columns", ["60", "80", "120"])
@pytest.mark.parametrize("path", PATHS, ids=" ".join)
def test_help_is_whole_and_plain(cli, monkeypatch, path, columns):
    monkeypatch.setenv("COLUMNS", columns)
    done = cli(*path, "--help")
    assert (done.status, done.err) == (0, "")
    assert not re.search(r"<\w|\{|\[\]|``|x>=|[a-z]\.\.\.$", done.out, re.M)
    assert max(map(len, done.out.splitlines())) <= int(columns)


@pytest.mark.parametrize(
    "path", [p for p in PATHS if p and p not in (["log"], ["token"])]
)
def test_an_example_stands_on_one_line(cli, monkeypatch, path):
    monkeypatch.setenv("COLUMNS", "80")
    (example,) = re.findall(r"Example: (.*)", cli(*path, "--help").out)
    words = VERBS[path[0]]
    for name in path[1:]:
        words = words.commands[name]
    assert f"Example: {example}" in words.help


def test_a_slip_of_the_finger_is_answered(cli):
    done = cli("fitt")
    assert done.status == 2
    assert "No such command 'fitt'. Did you mean 'fit'? See 'manylabel -" in done.err


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--labels-column", "x", "--labels-columns", "y"), "--labels-column must be"),
        (("--label-separator", ""), "--label-separator must be at least one"),
        (("--encoding", "x"), "--encoding must be one that Python knows"),
        (("--from", "x"), "--from must be one of xc"),
        (("--text-column", "body"), "one field 'body', found"),
        (("--labels-column", "labels_column"), "one field 'labels_column', found"),
        (("--analyzer", "x"), "--analyzer must be"),
        (("--jobs", "0"), "'--jobs': It must not be 0"),
    ],
)
def test_a_refusal_names_what_was_typed(cli, tmp_path, arguments, sentence):
    path = tmp_path / "words_in_it.csv"
    path.write_text("text,tags\nred wine,a\nrye bread,b\n")
    done = cli("fit", path, "--model", tmp_path / "model", *arguments)
    assert (done.status, done.out) == (2, "")
    assert sentence in done.err


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("describe", "train.txt", "--plot", "x.gif"), "--plot must end with one of"),
        (("audit", "train.txt", "--output", "x.pdf"), "--output must end with one of"),
        (("shard", "train.txt", "--out", "s", "--to", "x"), "--to must be one of"),
        (("token", "add", "a", "--scope", "x", *HERE), "--scope must be one of read"),
        (("token", "remove", "ann", *HERE), "NAME must be that of a token"),
        (("log", "import", "x://y"), "LOG must be"),
        (("fit", "none.txt", "--model", "m", "--on", "x://y"), "--on must be dask://"),
    ],
)
def test_a_refusal_of_any_verb_names_what_was_typed(
    cli, files, monkeypatch, arguments, sentence
):
    monkeypatch.chdir(files)
    done = cli(*arguments)
    assert (done.status, done.out) == (2, "")
    assert sentence in done.err


def test_missing_columns_are_asked_for_by_options(cli, tmp_path):
    path = tmp_path / "text_columns.csv"
    for content, option in (
        ("a,b\n1,2\n", "--text-column,"),
        ("text,b\n1,2\n", "--labels-column or --labels-columns,"),
    ):
        path.write_text(content)
        done = cli("fit", path, "--model", tmp_path / "model")
        assert (done.status, done.out) == (2, "")
        assert option in done.err
        assert "text_columns.csv, line 1" in done.err


def test_a_folder_that_is_no_model_is_called_so(cli, tmp_path):
    done = cli("predict", tmp_path)
    assert (done.status, done.out) == (2, "")
    assert f"{tmp_path}: this is no model's folder: there is no manifest" in done.err
    (tmp_path / "file").write_text("x")
    done = cli("predict", tmp_path / "file")
    assert "expected a model's folder, found a file." in done.err


def test_tables_that_nobody_sees_have_no_padding(cli, files):
    out = cli("describe", files / "train.txt").out
    assert out == "\n".join(line.rstrip() for line in out.splitlines()) + "\n"
    assert "value" not in out


@pytest.mark.parametrize("group", ["log", "token"])
def test_a_group_without_a_verb_shows_its_help(cli, group):
    done = cli(group)
    assert (done.status, done.err) == (2, "")
    assert done.out == cli(group, "--help").out
