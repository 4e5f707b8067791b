"""Nothing that comes from outside steers a terminal, or is lost on a poor one."""

import json
import os
import re

import pytest

# Clears the screen, rings, sets a title; turns words around; breaks lines; is half.
LABELS = [
    *("\x1b[2Jred", "\x07bell", "\x9d0;title\x9c", "\u202eevil", "\u2066iso\u200f"),
    *("line\nbreak\u2028\x85s", "\ud800half", "[bold]b[/bold]", ":smile:", "rosé"),
    "本",
]
SHOWN = [
    *("\\x1b[2Jred", "\\x07bell", "\\x9d0;title\\x9c", "\\u202eevil"),
    *("\\u2066iso\\u200f", "line\\nbreak\\u2028\\x85s", "\\ud800half"),
    *("[bold]b[/bold]", ":smile:", "rosé", "本"),
]
NAME = "da\x1b[31mta\u202e[red]:smile:$\\frac{$"  # of files
SEEN = "da\\x1b[31mta\\u202e[red]:smile:$\\frac{$"
STEERING = re.compile(
    "[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows has no such names")


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Return a folder that has a file of texts under hostile labels and name."""
    folder = tmp_path_factory.mktemp("hostile")
    rows = [
        json.dumps({"text": f"word{at} \u202dmore", "labels": [label, LABELS[at - 1]]})
        for at, label in enumerate(LABELS)
    ]
    (folder / f"{NAME}.jsonl").write_text("\n".join(rows * 3))
    return folder


@pytest.fixture(scope="module")
def data(place):
    """Return that file."""
    return place / f"{NAME}.jsonl"


@pytest.fixture
def tagger(cli, data):
    """Return a model of it, under a hostile name."""
    return fitted(cli, data, "one-vs-rest")


@pytest.fixture
def tree(cli, data):
    """Return a tree of it."""
    return fitted(cli, data, "annotation-tree")


def fitted(cli, data, learner):
    """Fit a learner to the file once; return the folder."""
    model = data.with_name(f"{NAME}-{learner}")
    if not model.exists():
        outcome = cli("fit", data, "--model", model, "--learner", learner)
        assert outcome.status == 0, outcome.err
    return model


def shown(outcome, status=0):
    """Return all that was printed, which steers nothing."""
    assert outcome.status == status, outcome.err
    printed = outcome.out + outcome.err
    assert not STEERING.findall(printed)
    return printed


def test_fit_shows_names(cli, place, data):
    printed = shown(
        cli("fit", data, "--model", place / f"other{NAME}", "--tune", "P@1")
    )
    assert f"Fitted on {place}/{SEEN}.jsonl" in printed
    assert f"{place}/other{SEEN}" in printed


def test_describe_shows_names(cli, data, tagger):
    assert f"{SEEN}.jsonl\n" in shown(cli("describe", data))
    card = shown(cli("describe", tagger))
    assert f"{SHOWN[1]} 6, {SHOWN[0]} 6, {SHOWN[8]} 6\n" in card
    assert f"{SEEN}.jsonl\n" in card


def test_predict_shows_names_on_lines_that_can_be_read_back(cli, data, tagger):
    head, *lines = shown(cli("predict", tagger, data, "-k", 11)).splitlines()
    names = {line.split("\t")[1] for line in lines}
    assert head == "row\tlabel\tscore"
    assert names == set(SHOWN)
    read = (name.encode("latin-1", "backslashreplace") for name in names)
    assert {name.decode("unicode_escape") for name in read} == set(LABELS)


def test_json_loses_nothing(cli, data, tagger):
    lines = shown(cli("predict", tagger, data, "-k", 11, "--format", "jsonl"))
    assert set(json.loads(lines.splitlines()[0])["labels"]) == set(LABELS)
    card = json.loads(shown(cli("describe", tagger, "--json")))
    assert list(card["most_frequent"]) == [LABELS[at] for at in (1, 0, 8)]
    assert card["model"] == str(tagger)


def test_evaluate_shows_names(cli, data, tagger, tree):
    printed = shown(cli("evaluate", tagger, tree, "--data", data, "--labels", "-"))
    lines = [line.split("\t") for line in printed.splitlines() if "\t" in line]
    assert {line[1] for line in lines} == {*SHOWN, "label"}
    assert f"{SEEN}-one-vs-rest" in printed
    assert f"{SEEN}-annotation-tree - {SEEN}-one-vs-rest" in printed


def test_explain_shows_names(cli, tagger, tree):
    text = shown(cli("explain", tagger, "--text", "word1 \u202dword2", "-k", 11))
    assert all(f"{name}  " in text for name in SHOWN)
    assert "[bold]b[/bold]?" in shown(cli("explain", tree, "--depth", 99))


def test_stream_shows_names(cli, files, tmp_path):
    data = tmp_path / f"{NAME}.txt"
    data.write_bytes((files / "test.txt").read_bytes())
    plot = tmp_path / f"{NAME}.svg"
    printed = shown(cli("stream", data, "--plot", plot))
    assert f"{SEEN}.txt, each predicted before it was learnt\n" in printed
    assert f"{SEEN}.svg.\n" in printed


def test_convert_shows_names_but_writes_what_it_reads(cli, data, files, tmp_path):
    source = tmp_path / f"{NAME}.arff"
    source.write_bytes((files / "test.arff").read_bytes())
    assert "note: xc holds no names" in shown(cli("convert", source, "-", "--to", "xc"))
    assert f"{SEEN}.jsonl: expected" in shown(cli("convert", data, "x.svm"), 2)


def test_thresholds_show_names(cli, data, tagger):
    shown(cli("thresholds", tagger, "--data", data, "--for", "f1"))
    assert NAME not in shown(
        cli("thresholds", tagger, "--data", data, "--for", NAME), 2
    )


@pytest.mark.parametrize("verb", ["describe", "predict", "evaluate", "stream", "fit"])
def test_errors_show_names(cli, tmp_path, verb):
    missing = tmp_path / NAME
    others = {
        "predict": [missing],
        "evaluate": ["--data", missing],
        "fit": ["--model", missing],
    }
    error = shown(cli(verb, missing, *others.get(verb, [])), 2)
    assert error.startswith(f"error: {tmp_path}/{SEEN}: ")
    assert len(error.splitlines()) == 1


def test_usage_errors_show_names(cli):
    assert "No such command" in shown(cli(NAME), 2)
    assert "No such option" in shown(cli("fit", f"--{NAME}"), 2)


def test_a_name_that_is_no_text_is_shown(cli, files, tmp_path):
    odd = os.fsdecode(os.fsencode(tmp_path) + b"/\xff.txt")
    with open(odd, "wb") as file:
        file.write((files / "test.txt").read_bytes())
    assert "/\\udcff.txt\n" in shown(cli("describe", odd))
    assert "/\\udcfe: no such" in shown(cli("describe", f"{tmp_path}/\udcfe"), 2)


def test_pages_show_names(cli, tree, tmp_path):
    page, picture = tmp_path / "tree.html", tmp_path / "tree.svg"
    drawing = ("--html", page, "--plot", picture)
    shown(cli("explain", tree, *drawing))
    for words in (page.read_text(), picture.read_text()):
        assert not STEERING.findall(words)
    assert "<bdi>\\u202eevil" in page.read_text()
    assert f"<h1>{SEEN}-annotation-tree</h1>" in page.read_text()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("encoding", "letters"), [("ascii", "ros\\xe9 \\u672c"), ("utf-8", "rosé 本")]
)
def test_letters_that_an_encoding_lacks_are_spelt(
    process, data, tagger, encoding, letters
):
    changes = {"PYTHONIOENCODING": encoding, "LC_ALL": "C"}
    for arguments in (
        ("predict", tagger, data, "-k", 11),
        ("explain", tagger, "--text", "word1", "-k", 11),
        ("evaluate", tagger, "--data", data, "--labels", "-"),
    ):
        outcome = process(*arguments, changes=changes)
        assert (outcome.status, outcome.err) == (0, "")
        assert all(name in outcome.out for name in letters.split())
    error = process("predict", tagger, "rosé本", changes=changes).err
    assert "rosé本" in error.encode().decode("unicode_escape") or "rosé本" in error


@pytest.mark.slow
def test_files_on_standard_output_are_utf_8(process, data):
    changes = {"PYTHONIOENCODING": "ascii"}
    lines = process("convert", data, "-", "--to", "csv", changes=changes)
    assert lines.status == 2  # a label has half a letter
    data.with_name("half.jsonl").write_text('{"text": "本", "labels": ["rosé"]}\n')
    half = data.with_name("half.jsonl")
    outcome = process("convert", half, "-", "--to", "csv", changes=changes)
    assert (outcome.status, outcome.out) == (0, "text,labels\n本,rosé\n")


@pytest.mark.slow
def test_a_terminal_gets_no_sequence_but_our_own(
    process, data, tagger, tmp_path, screen_text
):
    screen, terminal = os.openpty()
    changes = {"TERM": "xterm", "NO_COLOR": "1"}
    for arguments in (
        ("describe", tagger),
        ("evaluate", tagger, "--data", data),
        ("fit", data, "--model", tmp_path / NAME),
    ):
        pipes = {"stdout": terminal, "stderr": terminal}
        assert process(*arguments, changes=changes, **pipes).status == 0
    os.close(terminal)
    printed = screen_text(screen)
    ours = re.compile(r"\x1b\[(\?25[lh]|[0-9]?[AKm])|\r")  # of bars that come and go
    assert not STEERING.findall(ours.sub("", printed))
    assert SHOWN[0] in printed
    assert "Reading /" in printed  # a bar with the name of the file
