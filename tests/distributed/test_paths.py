"""Predictions by path and range: the answers of the command line, file by file."""

import json

import numpy as np
import pytest

import manylabel as ml
from manylabel.cli.main import run
from manylabel.data import LabelSpace
from manylabel.distributed import (
    paths,
    predict,
    predict_batches,
    predict_paths,
    write_shards,
)
from manylabel.distributed.files import predict_files, write_answers
from manylabel.distributed.lock import locked
from manylabel.exceptions import ArchiveError, DataError

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")
WORDS = ["wine", "bread", "cheese", "red", "old", "white", "rye", "apple"]
PAIRS = [(a, b) for a in WORDS for b in WORDS]
TEXTS = [f"{a} and {b}" for a, b in PAIRS]
TAGS = [sorted({a, b}) for a, b in PAIRS]
SPACE = LabelSpace.from_labels(TAGS)
LABELLED = ml.Dataset(None, SPACE.encode(TAGS), label_names=SPACE.names, texts=TEXTS)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "model"
    ml.Tagger(ml.OneVsRest()).fit(TEXTS, TAGS).save(path)
    return path


@pytest.fixture
def rows(tmp_path):
    """Return a folder of Parquet files, one of which has several row groups."""
    (tmp_path / "rows").mkdir()
    ids = list(range(len(TEXTS)))
    for name, part, size in (("b", slice(30), 7), ("c", slice(30, None), 100)):
        table = pa.table({"id": ids[part], "text": TEXTS[part], "price": ids[part]})
        parquet.write_table(table, tmp_path / f"rows/{name}.parquet", size)
    return tmp_path / "rows"


@pytest.fixture
def out(tmp_path):
    return tmp_path / "out"


def by_command_line(model, path, place):
    with pytest.raises(SystemExit) as end:
        run(["predict", str(model), str(path), "-k", "2", "-o", str(place)])
    assert end.value.code == 0
    return parquet.read_table(place)


def times(places):
    return [place.stat().st_mtime_ns for place in places]


@pytest.mark.parametrize("given", ["", "b.parquet", "c.parquet"])
@pytest.mark.parametrize("n_rows", [1, 10, 100_000])
def test_answers_are_those_of_the_command_line(model, rows, out, given, n_rows):
    expected = by_command_line(model, rows / given, rows.with_name("local.parquet"))
    places = predict_paths(rows / given, model, out=out, n_rows=n_rows, k=2)
    assert pa.concat_tables(map(parquet.read_table, places)).equals(expected)
    assert parquet.read_table(out).equals(expected)


def test_a_large_file_is_divided_between_its_row_groups(model, rows, out):
    places = predict_paths(rows / "b.parquet", model, out=out, n_rows=10)
    assert [parquet.read_table(place).num_rows for place in places] == [14, 7, 9]


def test_json_lines_are_answered_too_and_empty_files_have_none(model, rows, out):
    records = [{"id": n, "text": text} for n, text in enumerate(TEXTS)]
    (rows / "a.jsonl").write_text("\n".join(map(json.dumps, records)))
    (rows / "empty.jsonl").write_text("\n")
    expected = by_command_line(model, rows, rows.with_name("local.parquet"))
    assert len(predict_paths(rows, model, out=out, k=2)) == 3
    assert parquet.read_table(out).equals(expected)


def test_json_arrays_are_answered_as_by_the_command_line(model, out, tmp_path):
    (tmp_path / "rows").mkdir()
    records = [{"id": n, "text": text} for n, text in enumerate(TEXTS)]
    (tmp_path / "rows/a.json").write_text(json.dumps(records, indent=1))
    expected = by_command_line(model, tmp_path / "rows", tmp_path / "local.parquet")
    (place,) = predict_paths(tmp_path / "rows", model, out=out, k=2)
    assert parquet.read_table(place).equals(expected)


@pytest.mark.parametrize(
    ("ids", "sentence"),
    [
        (
            [1, None, "a"],
            ", line 3: expected values of one kind in 'id', found 1 and 'a'",
        ),
        (
            [2**70],
            ", line 1: expected values of one kind in 'id', found others: Python",
        ),
        ([*range(10_000), "a"], ": rows from 10000 .*int64 in 'id', .*found string"),
    ],
)
def test_ids_of_other_kinds_are_told(model, out, tmp_path, ids, sentence):
    records = [{"id": id, "text": "rye"} for id in ids]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, records)))
    with pytest.raises(DataError, match=f"a.jsonl{sentence}") as refusal:
        predict_paths(tmp_path / "a.jsonl", model, out=out)
    assert "\n" not in str(refusal.value)


def test_files_of_other_kinds_do_not_go_into_one(model, tmp_path):
    (tmp_path / "rows").mkdir()
    for number, id in enumerate((1, "a")):
        row = json.dumps({"id": id, "text": "rye"})
        (tmp_path / f"rows/{number}.jsonl").write_text(row)
    answers = predict_files(predict_batches(model), tmp_path / "rows")
    with pytest.raises(
        DataError, match=r"one\.parquet: .*int64 in 'id', .*found string"
    ):
        write_answers(answers, tmp_path / "one.parquet")
    assert not (tmp_path / "one.parquet").exists()


@pytest.mark.parametrize(
    ("row", "found"),
    [({"id": "a"}, r"'id' \(string\)"), ({"id": 1.5}, "'id' .double."), ({}, "no col")],
)
def test_answers_of_other_columns_are_refused_by_file(model, out, tmp_path, row, found):
    (tmp_path / "rows").mkdir()
    for name, each in {"a": {"id": 1}, "b": row}.items():
        line = json.dumps({**each, "text": "rye"})
        (tmp_path / f"rows/{name}.jsonl").write_text(line)
    message = r"b\.jsonl: expected 'id' \(int64\) to keep, as in a\.jsonl, found "
    with pytest.raises(DataError, match=message + found):
        predict_paths(tmp_path / "rows", model, out=out)
    places = predict_paths(tmp_path / "rows", model, out=out.with_name("o"), keep=[])
    assert parquet.read_table(out.with_name("o")).num_rows == len(places) == 2


def test_the_kind_of_a_column_is_that_of_all_rows_of_a_batch(model, out, tmp_path):
    rows = [{"price": price, "text": "rye"} for price in (1, 2.5)]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (place,) = predict_paths(tmp_path / "a.jsonl", model, out=out, keep=["price"])
    assert parquet.read_table(place)["price"].to_pylist() == [1.0, 2.5]


def test_no_rows_of_parquet_have_the_columns_of_an_answer(model, rows, out):
    nothing = parquet.read_table(rows / "b.parquet").slice(0, 0)
    parquet.write_table(nothing, rows.with_name("nothing.parquet"))
    (place,) = predict_paths(rows.with_name("nothing.parquet"), model, out=out)
    found = parquet.read_schema(place)
    assert found.equals(
        parquet.read_schema(predict_paths(rows, model, out=out.with_name("o"))[0])
    )
    assert parquet.read_table(place).num_rows == 0


def test_options_are_those_of_batches(model, rows, out):
    asked = {"keep": ["price"], "deny": ["wine"], "k": 1}
    (place,) = predict_paths(rows / "c.parquet", model, out=out, **asked)
    found = parquet.read_table(place)
    assert found.column_names == ["price", "labels", "scores"]
    assert ["wine"] not in found["labels"].to_pylist()


def test_numbers_may_be_numpys(model, rows, out):
    numbers = {"k": np.int64(2), "n_rows": np.int32(10)}
    places = predict_paths(rows, model, out=out, **numbers)
    assert predict_paths(rows, model, out=out, k=2, n_rows=10) == places


def test_the_folder_of_a_model_is_no_place_for_answers(model, rows):
    before = {path.name for path in model.iterdir()}
    with pytest.raises(ArchiveError, match="this is the folder of a model: name anoth"):
        predict_paths(rows, model, out=model)
    assert {path.name for path in model.iterdir()} == before


def test_a_run_that_broke_goes_on(model, rows, out, monkeypatch):
    predict_piece = paths.predict_piece

    def stopping(place, task, number):
        if number == 2:
            raise RuntimeError("the power is gone")
        return predict_piece(place, task, number)

    monkeypatch.setattr(paths, "predict_piece", stopping)
    with pytest.raises(RuntimeError, match="the power is gone"):
        predict_paths(rows, model, out=out, n_rows=10)
    monkeypatch.undo()
    done = sorted(out.glob("*.parquet"))
    before = times(done)
    (out / ".000002.parquet.1234").write_bytes(b"half of an ans")
    places = predict_paths(rows, model, out=out, n_rows=10)
    assert (len(done), len(places)) == (2, 4)
    assert times(done) == before
    assert {path.name for path in out.glob(".*")} == set()
    assert sum(parquet.read_table(place).num_rows for place in places) == len(TEXTS)


def test_a_damaged_answer_is_made_again(model, rows, out):
    places = predict_paths(rows, model, out=out)
    expected, before = parquet.read_table(out), times(places)
    places[0].write_bytes(places[0].read_bytes()[:-9])
    predict_paths(rows, model, out=out)
    assert parquet.read_table(out).equals(expected)
    assert times(places)[1:] == before[1:]


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"k": 3}, r"its answers are of k=5, not 3: name another folder\."),
        ({"keep": ["price"]}, r"of keep=None, not \['price'\]: name"),
        ({"columns": "text"}, r"of columns=None, not \['text'\]: name"),
        ({"allow": ["wine"]}, "of other labels to allow: name"),
        ({"deny": ["wine"]}, "of other labels to deny: name"),
        ({"n_rows": 9}, "of n_rows=100000, not 9: name"),
    ],
)
def test_another_question_is_not_answered_in_the_folder(
    model, rows, out, asked, message
):
    predict_paths(rows, model, out=out)
    with pytest.raises(ArchiveError, match=message):
        predict_paths(rows, model, out=out, **asked)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"proba": True}, "^proba"),
        ({"k": 0}, "^k must be|^k == 0"),
        ({"deny": ["plum"]}, "^deny must"),
        ({"columns": "words"}, r"b\.parquet: expected a column 'words'"),
        ({"columns": "price"}, r"b\.parquet: .*expected texts in 'price'"),
        ({"keep": ["name"]}, r"b\.parquet: expected a column 'name'"),
        ({"client": "abacus"}, "^client must be"),
    ],
)
def test_what_has_no_answer_is_not_written_down(model, rows, out, asked, message):
    with pytest.raises(ValueError, match=message) as refusal:
        predict_paths(rows, model, out=out, **asked)
    assert "\n" not in str(refusal.value)
    predict_paths(rows, model, out=out)


def test_what_cannot_be_asked_of_the_model_is_no_fault_of_rows(model, rows):
    function = predict_batches(model, deny=["plum"])
    with pytest.raises(ValueError, match=r"^deny must"):
        next(predict_files(function, rows))


def test_another_model_does_not_go_on(model, rows, out, tmp_path):
    predict_paths(rows, model, out=out)
    ml.Tagger.load(model).save(tmp_path / "same")
    predict_paths(rows, tmp_path / "same", out=out)
    ml.Tagger(ml.OneVsRest(C=2.0)).fit(TEXTS, TAGS).save(tmp_path / "other")
    with pytest.raises(ArchiveError, match="its answers are of another model: name"):
        predict_paths(rows, tmp_path / "other", out=out)


def test_other_files_are_not_answered_in_the_folder(model, rows, out):
    predict_paths(rows, model, out=out)
    parquet.write_table(pa.table({"id": [0], "text": ["rye"]}), rows / "b.parquet")
    for given in (rows, rows / "c.parquet"):
        with pytest.raises(ArchiveError, match="its answers are of other files, or fi"):
            predict_paths(given, model, out=out)


@pytest.mark.parametrize("name", ["rows", "rows/b.parquet"])
def test_the_same_files_may_be_given_in_other_ways(
    model, rows, out, name, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    places = predict_paths(tmp_path / name, model, out=out)
    before = times(places)
    (tmp_path / "link").symlink_to(rows.parent)
    for given in (name, f"rows/../{name}", tmp_path / "link" / name):
        assert predict_paths(given, model, out="out") == places
    assert times(places) == before


def test_two_drivers_do_not_answer_in_one_folder(model, rows, out):
    with locked(out):
        with pytest.raises(ArchiveError, match="another process is writing to this fo"):
            predict_paths(rows, model, out=out)


def test_a_folder_of_other_files_is_left_alone(model, rows):
    with pytest.raises(ArchiveError, match=r"for answers alone, found [bc]\."):
        predict_paths(rows, model, out=rows)


def test_a_damaged_plan_is_told(model, rows, out):
    predict_paths(rows, model, out=out)
    plan = out / "_answers.json"
    plan.write_text(plan.read_text().replace("b.parquet", "d.parquet"))
    with pytest.raises(ArchiveError, match="so the plan is damaged"):
        predict_paths(rows, model, out=out)


def test_a_missing_or_damaged_file_is_named(model, rows, out):
    with pytest.raises(FileNotFoundError, match=r"d\.parquet"):
        predict_paths([rows / "b.parquet", rows / "d.parquet"], model, out=out)
    (rows / "b.parquet").write_bytes((rows / "b.parquet").read_bytes()[:-9])
    with pytest.raises(DataError, match=r"b\.parquet: expected a whole Parquet file"):
        predict_paths(rows, model, out=out)


@pytest.fixture
def task(model, rows, out, monkeypatch):
    """Return what a worker is sent, of a plan of which nothing is answered."""
    sent = []
    monkeypatch.setattr(paths, "predict_piece", lambda *task: sent.append(task))
    predict_paths(rows, model, out=out)
    monkeypatch.undo()
    return sent[0]


def test_a_task_is_small_and_knows_no_rows(task):
    assert len(json.dumps(task)) < 500


def test_a_worker_names_a_file_that_changed_or_went(task, rows):
    parquet.write_table(pa.table({"id": [0], "text": ["rye"]}), rows / "b.parquet")
    with pytest.raises(DataError, match=r"b\.parquet: expected .* as the driver saw"):
        paths.predict_piece(*task)
    (rows / "b.parquet").unlink()
    with pytest.raises(FileNotFoundError, match=r"b\.parquet"):
        paths.predict_piece(*task)


def test_a_worker_says_what_it_does_not_see(task, out, tmp_path):
    with pytest.raises(ArchiveError, match="must be one that all machines see"):
        paths.predict_piece(str(tmp_path / "elsewhere"), *task[1:])
    with pytest.raises(ArchiveError, match="part 0 is of another plan"):
        paths.predict_piece(str(out), task[1] | {"plan": "0"}, 0)


def test_other_versions_are_refused(task):
    old = task[1]["versions"] | {"numpy": "0.0.1"}
    with pytest.raises(RuntimeError, match=r"numpy must be .* Got 0\.0\.1 and, on"):
        paths.predict_piece(task[0], task[1] | {"versions": old}, 0)


def test_what_cannot_be_predicted_is_refused(model, rows, out, tmp_path):
    with pytest.raises(ValueError, match=r"paths must name at least one file\. Got no"):
        predict_paths([], model, out=out)
    with pytest.raises(ValueError, match="n_rows == 0, must be >= 1"):
        predict_paths(rows, model, out=out, n_rows=0)
    with pytest.raises(ArchiveError, match="there is no such model folder"):
        predict_paths(rows, tmp_path / "nothing", out=out)
    (tmp_path / "empty.jsonl").write_text("")
    with pytest.raises(DataError, match=r"empty\.jsonl: expected rows, found none"):
        predict_paths(tmp_path / "empty.jsonl", model, out=out)
    (tmp_path / "rows.csv").write_text("text,labels\nrye,food\n")
    with pytest.raises(
        DataError, match=r"rows\.csv: expected Parquet, JSON lines or a"
    ):
        predict_paths(tmp_path / "rows.csv", model, out=out)
    with pytest.raises(ValueError, match="client must be dask://host:port"):
        predict_paths(rows, model, out=out, client="abacus")
    with pytest.raises(TypeError, match=r"Got a \w+Path\. Files go to predict_paths"):
        predict(rows, model)


@pytest.mark.parametrize("kind", ["delayed", "bag", "array", "series"])
def test_other_things_of_dask_are_no_frames(model, kind):
    pytest.importorskip("pandas")
    dask = pytest.importorskip("dask")
    frames = pytest.importorskip("dask.dataframe")
    bags, arrays = pytest.importorskip("dask.bag"), pytest.importorskip("dask.array")
    table = pa.table({"text": TEXTS}).to_pandas()
    make = {
        "delayed": lambda: dask.delayed(table),
        "bag": lambda: bags.from_sequence(TEXTS),
        "array": lambda: arrays.ones((4, 4)),
        "series": lambda: frames.from_pandas(table, npartitions=1).text,
    }
    with pytest.raises(TypeError, match=r"^frame must be a DataFrame of dask or Spark"):
        predict(make[kind](), model)


@pytest.fixture(params=["jsonl", "parquet"])
def shards(request, tmp_path):
    """Return the files of a sharded folder of texts."""
    pieces = [LABELLED[:30], LABELLED[30:40], LABELLED[40:]]
    write_shards(pieces, tmp_path / "shards", format=request.param)
    return sorted((tmp_path / "shards").glob(f"*.{request.param}"))


def test_an_emptied_shard_is_told_before_anything_is_asked(model, shards, out):
    shards[1].write_bytes(b"")
    message = "the shard is damaged|a whole Parquet file"
    with pytest.raises(DataError, match=rf"{shards[1].name}: .*({message})"):
        predict_paths(shards[0].parent, model, out=out)
    assert not (out / "_answers.json").exists()


def test_a_missing_shard_is_told_before_anything_is_asked(model, shards, out):
    shards[1].unlink()
    with pytest.raises(DataError, match=rf"{shards[1].name}: this shard is missing"):
        predict_paths(shards[0].parent, model, out=out)
    assert not (out / "_answers.json").exists()


def test_a_shard_that_was_written_empty_has_no_answers(model, out, tmp_path):
    write_shards([LABELLED, LABELLED[:0]], tmp_path / "shards", format="jsonl")
    predict_paths(tmp_path / "shards", model, out=out)
    assert parquet.read_table(out).num_rows == len(TEXTS)


def test_an_emptied_parquet_file_is_no_file_of_no_rows(model, rows, out):
    (rows / "b.parquet").write_bytes(b"")
    with pytest.raises(DataError, match=r"b\.parquet: expected a whole Parquet file"):
        predict_paths(rows, model, out=out)
