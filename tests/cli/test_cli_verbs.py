"""describe, convert and warmup do what they say."""

import json
import os

import pytest

from manylabel.baselines import OneVsRest
from manylabel.cli import inputs
from manylabel.data import read, write


def test_describe_prints_the_same_figures_for_every_format(cli, files):
    found = []
    for suffix in ("txt", "svm", "arff"):
        figures = json.loads(
            cli("describe", files / f"train.{suffix}", "--json", "--label-names",
                files / "names.txt").out
            if suffix != "arff"
            else cli("describe", files / "train.arff", "--json").out
        )  # fmt: skip
        figures.pop("file")
        found.append(figures)
    assert found[0] == found[1] == found[2]
    assert found[0]["rows"] == 300
    assert "label 0" in found[0]["most_frequent_labels"]


def test_describe_knows_the_length_of_texts(cli, files):
    figures = json.loads(cli("describe", files / "texts.jsonl", "--json").out)
    assert figures["characters_per_text"]["max"] == len("one two")
    assert figures["labelsets"] == 2
    assert "features" not in figures


def test_describe_reads_a_folder_of_shards(cli, files, tmp_path):
    for name in ("texts.jsonl", "train.txt"):
        out = tmp_path / name
        assert cli("shard", files / name, "--out", out, "--rows", 150).status == 0
        whole, shards = (
            cli("describe", it, "--json").out for it in (files / name, out)
        )
        assert json.loads(shards) == json.loads(whole) | {"file": str(out)}


def test_describe_reads_standard_input(cli, standard_input, files):
    standard_input((files / "train.txt").read_bytes())
    assert json.loads(cli("describe", "-", "--json").out)["rows"] == 300
    standard_input(b"1 2 3\n0 0:x\n")
    outcome = cli("describe", "-")
    assert outcome.status == 2
    assert "standard-input, line 2: expected" in outcome.err


def test_describe_reads_every_row_of_a_pipe(cli, files):
    reader, writer = os.pipe()
    os.write(writer, (files / "test.svm").read_bytes())
    os.close(writer)
    assert json.loads(cli("describe", f"/dev/fd/{reader}", "--json").out)["rows"] == 100
    os.close(reader)


def test_describe_tells_the_columns_of_a_file_without_rows(cli, tmp_path):
    (tmp_path / "none").write_text("0 2 3\n")
    figures = json.loads(cli("describe", tmp_path / "none", "--json").out)
    assert (figures["rows"], figures["features"], figures["labels"]) == (0, 2, 3)
    for content in ("# nothing\n", "{}\n"):
        (tmp_path / "none").write_text(content)
        outcome = cli("describe", tmp_path / "none", "--skip-bad-lines", "--json")
        assert json.loads(outcome.out)["rows"] == 0


@pytest.mark.slow
def test_describe_draws(cli, files, tmp_path):
    for suffix, start in ((".png", b"\x89PNG"), (".svg", b"<?xml"), (".pdf", b"%PDF")):
        path = tmp_path / f"labels{suffix}"
        outcome = cli("describe", files / "train.txt", "--plot", path)
        assert outcome.status == 0
        assert outcome.err == f"note: wrote {path}.\n"
        assert path.read_bytes().startswith(start)
    outcome = cli("describe", files / "train.txt", "--plot", tmp_path / "x.gif")
    assert outcome.status == 2
    assert "must end with one of .png, .pdf, .svg" in outcome.err


@pytest.mark.parametrize("n_rows", [7, 10_000])
@pytest.mark.parametrize("suffix", ["txt", "svm", "arff"])
def test_convert_writes_what_write_does_in_chunks_of_any_size(
    cli, files, tmp_path, monkeypatch, suffix, n_rows
):
    monkeypatch.setattr(inputs, "N_ROWS", n_rows)
    out, expected = tmp_path / f"out.{suffix}", tmp_path / f"expected.{suffix}"
    assert cli("convert", files / "train.arff", out).status == 0
    write(read(files / "train.arff"), expected)
    assert out.read_bytes() == expected.read_bytes()


def test_convert_tells_that_names_are_lost(cli, files, tmp_path):
    outcome = cli("convert", files / "train.arff", tmp_path / "out.txt")
    assert outcome.err == (
        "note: xc holds no names: labels are numbered in their order.\n"
    )


def test_convert_writes_texts_to_standard_output(cli, files):
    outcome = cli("convert", files / "texts.jsonl", "-", "--to", "jsonl")
    assert outcome.out == (files / "texts.jsonl").read_text()


@pytest.mark.parametrize(
    ("source", "out", "reason"),
    [
        ("train.txt", "out.jsonl", "expected texts, which jsonl needs, found none."),
        ("texts.jsonl", "out.txt", "expected features, which xc needs, found none."),
        ("train.txt", "out.foo", "OUT must end with one of .txt"),
    ],
)
def test_convert_refuses_what_the_format_cannot_hold(
    cli, files, tmp_path, source, out, reason
):
    outcome = cli("convert", files / source, tmp_path / out)
    assert outcome.status == 2
    assert reason in outcome.err
    assert not list(tmp_path.iterdir())


def test_formats_can_be_forced(cli, files, tmp_path):
    out = tmp_path / "out"
    forced = cli(
        "convert", files / "train.svm", out, "--from", "svmlight", "--to", "xc"
    )
    assert forced.status == 0
    assert out.read_text().startswith("300 ")
    outcome = cli("describe", files / "train.txt", "--from", "foo")
    assert (outcome.status, "--from must be one of" in outcome.err) == (2, True)


@pytest.mark.slow
def test_warmup_learns_rare_labels_too(cli, monkeypatch):
    shares, fit = [], OneVsRest.fit

    def watched(self, X, Y, *weights, **named):
        shares.append(Y.mean())
        return fit(self, X, Y, *weights, **named)

    monkeypatch.setattr(OneVsRest, "fit", watched)
    assert cli("warmup").status == 0
    assert shares.count(1e-4) == 1


@pytest.mark.slow
def test_warmup_tells_how_long_it_took(cli):
    outcome = cli("warmup", "--json")
    assert (outcome.status, outcome.err) == (0, "")
    assert json.loads(outcome.out)["seconds"] > 0


@pytest.mark.slow
def test_warmup_says_at_once_what_it_does(started):
    running = started("warmup")
    first = running.stderr.readline()
    running.kill()
    running.communicate()
    assert first.startswith(b"note: compiling all kernels, which takes minutes")
