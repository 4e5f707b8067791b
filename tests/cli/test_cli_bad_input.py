"""Bad input: status 2, one sentence with the place, no file left behind."""

import gzip
import shutil

import pytest

ARFF = "@relation '{}'\n@attribute a {{0,1}}\n@attribute b numeric\n@data\n{}\n"
BAD_FILES = {
    "empty": (b"", "expected data, found an empty file."),
    "binary": (b"\x00\x01\xfe" * 99, "found a binary file, or text"),
    "nan": (b"1 2 3\n0 0:nan\n", "line 2: expected a finite float32"),
    "infinity": (b"1 2 3\n0 0:inf\n", "line 2: expected a finite float32"),
    "negative index": (b"1 2 3\n0 -1:1\n", "line 2: expected feature:value"),
    "negative label": (b"1 2 3\n-1 0:1\n", "line 2: expected a label from 0 to 2"),
    "large index": (b"1 2 3\n0 2:1\n", "feature from 0 to 1, found '2:1'."),
    "large label": (b"1 2 3\n3 0:1\n", "expected a label from 0 to 2, found '3'."),
    "few rows": (b"3 2 3\n0 0:1\n", "expected 3 rows, found 1."),
    "many rows": (b"1 2 3\n0 0:1\n1 0:1\n", "expected 1 rows as the header says"),
    "truncated gzip": (gzip.compress(b"1 2 3\n0 0:1\n" * 99)[:-9], "whole gzip file"),
    "label 2": (ARFF.format("r: -C 1", "2,0.5").encode(), "expected 0 or 1 for 'a'"),
    "no XML": (ARFF.format("r", "1,0.5").encode(), "expected an XML file beside it"),
    "not JSON": (b'{"text": "a", "labels": ["x"]\n', "line 1: expected a JSON object"),
    "prose": (b"once upon a time\n", "a time'; --from says which it is."),
}
FOR_PROCESSES = ("nan", "truncated gzip")


@pytest.fixture(params=BAD_FILES)
def bad(request, tmp_path):
    """Return a bad file and a part of what is to be said of it."""
    content, reason = BAD_FILES[request.param]
    path = tmp_path / "bad"
    path.write_bytes(content)
    return path, reason


def refuses(outcome, reason):
    return (
        outcome.status == 2
        and outcome.out == ""
        and outcome.err.startswith("error: ")
        and outcome.err.count("\n") == 1
        and reason in outcome.err
        and "Traceback" not in outcome.err
    )


def test_describe_and_convert_refuse_a_bad_file(cli, bad, tmp_path):
    path, reason = bad
    for arguments in (("describe", path), ("convert", path, tmp_path / "out.txt")):
        outcome = cli(*arguments)
        assert refuses(outcome, reason), outcome
        assert str(path) in outcome.err
    assert [file.name for file in tmp_path.iterdir()] == ["bad"]


def test_fit_refuses_a_bad_file_and_makes_no_folder(cli, bad, tmp_path):
    path, reason = bad
    assert refuses(cli("fit", path, "--model", tmp_path / "model"), reason)
    assert [file.name for file in tmp_path.iterdir()] == ["bad"]


@pytest.mark.slow
@pytest.mark.parametrize("name", FOR_PROCESSES)
def test_processes_end_with_status_2(process, tmp_path, name):
    content, reason = BAD_FILES[name]
    (tmp_path / "bad").write_bytes(content)
    assert refuses(process("describe", tmp_path / "bad"), reason)


@pytest.mark.slow
def test_a_bad_line_late_in_a_stream_leaves_no_half_file(cli, model, tmp_path):
    rows = ["20000 40 12", *["0 0:1"] * 19_999, "0 0:x"]
    bad, out = tmp_path / "bad", tmp_path / "out.svm"
    bad.write_text("\n".join(rows))
    for arguments in (("predict", model, bad, "-o", out), ("convert", bad, out)):
        outcome = cli(*arguments)
        assert refuses(outcome, "bad, line 20001: expected a finite float32"), outcome
        assert [file.name for file in tmp_path.iterdir()] == ["bad"]


def test_the_way_out_of_reading_is_no_option_of_writing(cli, tmp_path):
    (tmp_path / "prose").write_text("once upon a time\n")
    outcome = cli("shard", tmp_path / "prose", "--out", tmp_path / "shards")
    assert refuses(outcome, "a time'; --from says which it is.")


def test_no_threads_are_refused_before_a_file_is_read(cli, tmp_path):
    outcome = cli("fit", tmp_path / "nosuch", "--model", tmp_path / "m", "--jobs", "0")
    assert refuses(outcome, "It must not be 0: -1 takes all cores.")


def test_a_missing_file_and_a_folder_are_refused(cli, tmp_path):
    outcome = cli("describe", tmp_path / "nosuch")
    assert refuses(outcome, "nosuch: no such file or directory.")
    assert refuses(
        cli("describe", tmp_path), "no model's folder: there is no manifest.json"
    )
    (tmp_path / "debtags").mkdir()
    (tmp_path / "debtags" / "manifest.json").touch()
    reason = "there is no manifest.json in it, but models are: debtags."
    assert refuses(cli("describe", tmp_path), reason)
    outcome = cli("convert", tmp_path, tmp_path / "out.txt")
    assert refuses(outcome, "expected a file, found a folder.")


def test_an_output_that_cannot_be_written_is_refused(cli, files, model, tmp_path):
    train, out = files / "train.txt", tmp_path / "nosuch" / "out.txt"
    for arguments in (
        ("convert", train, out),
        ("predict", model, train, "--output", out),
        ("describe", train, "--plot", out.with_suffix(".png")),
    ):
        assert refuses(cli(*arguments), "nosuch/out"), arguments
    assert refuses(cli("predict", model, train, "-o", tmp_path), "regular file")
    assert not list(tmp_path.iterdir())
    below_a_file = cli("fit", train, "--model", train / "model")
    assert refuses(below_a_file, "train.txt: expected a folder or nothing")


def test_folders_above_a_model_are_made_once_its_data_is_read(cli, files, tmp_path):
    model = tmp_path / "models" / "mine"
    assert refuses(cli("fit", tmp_path / "nosuch", "--model", model), "nosuch")
    assert not model.parent.exists()
    assert cli("fit", files / "train.txt", "--model", model).status == 0
    assert (model / "manifest.json").exists()


@pytest.mark.slow
def test_a_model_with_a_flipped_byte_is_refused(process, model, files, tmp_path):
    damaged = shutil.copytree(model, tmp_path / "model")
    (arrays,) = damaged.glob("*.safetensors")
    content = bytearray(arrays.read_bytes())
    content[-1] ^= 1
    arrays.write_bytes(content)
    outcome = process("predict", damaged, files / "test.txt")
    assert refuses(outcome, "the checksum is wrong, so the file is damaged.")


def test_what_is_no_model_is_refused(cli, files, tmp_path):
    from manylabel.persistence import save
    from manylabel.propensity import Propensity

    save(Propensity(), tmp_path / "law")
    test = files / "test.txt"
    assert refuses(cli("predict", tmp_path / "nosuch", test), "no such model folder")
    outcome = cli("predict", tmp_path / "law", test)
    assert refuses(outcome, "expected a tagger or a classifier, found a Propensity.")


def test_a_depth_of_0_is_refused(cli, model, files):
    test = files / "test.txt"
    assert refuses(cli("predict", model, test, "-k", 0), "'-k'")
    outcome = cli("evaluate", model, "--data", test, "-k", "0")
    assert refuses(outcome, "k must be a positive integer. Got 0.")
    outcome = cli("evaluate", model, "--data", test, "-k", "1,x")
    assert refuses(outcome, "-k must be integers such as 1,3,5. Got '1,x'.")


def test_a_file_with_other_columns_is_refused(cli, model, tmp_path):
    (tmp_path / "narrow").write_text("1 39 12\n0 0:1\n")
    outcome = cli("predict", model, tmp_path / "narrow")
    assert refuses(outcome, "expected 40 features, as the model was fitted on")
    (tmp_path / "few").write_text("1 40 11\n0 0:1\n")
    outcome = cli("evaluate", model, "--data", tmp_path / "few")
    assert refuses(outcome, "expected 12 labels, as the model was fitted on, found 11.")


def test_texts_are_refused_where_features_are_needed(cli, model, files):
    texts = files / "texts.jsonl"
    for arguments in (("predict", model, texts), ("evaluate", model, "--data", texts)):
        assert refuses(cli(*arguments), "expected rows of features")


def test_a_file_without_rows_is_refused_where_rows_are_needed(cli, model, tmp_path):
    path, out = tmp_path / "bad", tmp_path / "out"
    path.write_text("0 40 12\n")
    for arguments in (
        ("fit", path, "--model", out),
        ("evaluate", model, "--data", path),
        ("convert", path, out, "--to", "svmlight"),
    ):
        assert refuses(cli(*arguments), f"{path}: expected rows, found none.")
    assert not out.exists()


def test_skipped_lines_are_counted_on_standard_error(cli, tmp_path):
    path = tmp_path / "bad"
    path.write_text("3 2 3\n0 0:1\n0 0:x\n1 9:1\n")
    outcome = cli("describe", path, "--skip-bad-lines", "--json")
    assert outcome.status == 0
    assert '"rows": 1,' in outcome.out
    assert "skipped 2 bad lines" in outcome.err
    assert outcome.err.count("\n") == 1
    outcome = cli("convert", path, tmp_path / "good.txt", "--skip-bad-lines")
    assert outcome.status == 0
    assert outcome.err.count("skipped 2 bad lines") == 1
    assert (tmp_path / "good.txt").read_text() == "1 2 3\n0 0:1\n"


def test_the_remedy_for_a_wrong_encoding_is_an_option(cli, tmp_path):
    table = tmp_path / "a.csv"
    table.write_bytes("text,tags\nred wine,drink\n".encode("utf-16"))
    outcome = cli("describe", table, "--encoding", "utf-8")
    assert refuses(outcome, "not in utf-8; --encoding says which other it is")
