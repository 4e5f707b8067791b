"""Figures over shards: the bits of one pass, whatever the cut and the order."""

import json
from functools import partial

import pytest

import manylabel as ml
from manylabel.data import LabelSpace
from manylabel.distributed import evaluate, fit, read_shards, write_shards
from manylabel.distributed.evaluation import Shard
from manylabel.distributed.versions import versions
from manylabel.exceptions import ArchiveError, DataError

WORDS = ["wine", "bread", "cheese", "red", "old"]


@pytest.fixture(scope="module")
def texts():
    pairs = [(a, b) for a in WORDS for b in WORDS]
    return [(f"{a} {b}", sorted({a, b})) for a, b in pairs]


@pytest.fixture(scope="module")
def model(texts, tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "model"
    learnt = [(text, tags) for text, tags in texts if "old" not in tags]
    ml.Tagger(ml.OneVsRest()).fit(*zip(*learnt, strict=True)).save(path)
    return path


@pytest.fixture
def shards(texts, tmp_path):
    """Return the files of four shards, of which some have a label never learnt."""
    files = []
    for start in range(4):
        rows = [{"text": text, "labels": tags} for text, tags in texts[start::4]]
        files.append(tmp_path / f"{start}.jsonl")
        files[-1].write_text("\n".join(map(json.dumps, rows)))
    return files


def test_shards_in_any_order_are_judged_as_all_rows_at_once(model, texts, shards):
    whole = ml.Tagger.load(model).evaluate(*zip(*texts, strict=True), k=(1, 3))
    for files in (shards, shards[::-1], shards[2:] + shards[:2]):
        assert evaluate(model, files, k=(1, 3)) == whole


@pytest.mark.parametrize("format", ["jsonl", "parquet"])
def test_a_sharded_folder_is_judged_as_all_rows_at_once(model, texts, format, tmp_path):
    if format == "parquet":
        pytest.importorskip("pyarrow")
    rows, tags = zip(*texts, strict=True)
    space = LabelSpace.from_labels(tags)
    data = ml.Dataset(None, space.encode(tags), label_names=space.names, texts=rows)
    write_shards([data[:10], data[10:]], tmp_path / "rows", format=format)
    whole = ml.Tagger.load(model).evaluate(rows, tags)
    assert evaluate(model, tmp_path / "rows") == whole


@pytest.mark.parametrize("format", ["jsonl", "parquet"])
@pytest.mark.parametrize("first", [0, 10])
def test_shards_without_rows_are_passed_over(model, texts, format, first, tmp_path):
    if format == "parquet":
        pytest.importorskip("pyarrow")
    rows, tags = zip(*texts, strict=True)
    space = LabelSpace.from_labels(tags)
    data = ml.Dataset(None, space.encode(tags), label_names=space.names, texts=rows)
    folder = tmp_path / "rows"
    write_shards([data[:first], data[first:], data[:0]], folder, format=format)
    assert evaluate(model, folder) == ml.Tagger.load(model).evaluate(rows, tags)
    whole = ml.Tagger(ml.OneVsRest()).fit(data)
    fitted = fit(ml.Tagger(ml.OneVsRest()), folder, out=tmp_path / "out")
    assert (fitted.learner_.coef_ != whole.learner_.coef_).nnz == 0
    (folder / f"00002.{format}").write_text("{}")
    with pytest.raises(DataError, match=rf"00002\.{format}: the checksum is wrong"):
        evaluate(model, folder)


@pytest.mark.parametrize("format", ["jsonl", "parquet", "xc"])
def test_a_sharded_folder_may_have_no_rows(model, texts, format, tmp_path):
    if format == "parquet":
        pytest.importorskip("pyarrow")
    X = [[1.0]] if format == "xc" else None
    given = None if format == "xc" else ["a"]
    data = ml.Dataset(X, [[1, 0]], label_names=["x", "y"], texts=given)
    write_shards([data[:0], data[:0]], tmp_path / "rows", format=format)
    found = read_shards(tmp_path / "rows")
    assert (len(found), found.label_names, found.n_features) == (
        0,
        ("x", "y"),
        1 if X else None,
    )
    if X is None:
        with pytest.raises(DataError, match="rows: expected rows, found none"):
            evaluate(model, tmp_path / "rows")


def test_a_folder_of_files_is_judged_too(model, shards, tmp_path):
    (tmp_path / "folder").mkdir()
    for path in shards:
        path.rename(tmp_path / "folder" / path.name)
    expected = evaluate(model, sorted((tmp_path / "folder").iterdir()))
    assert evaluate(model, tmp_path / "folder") == expected


def test_features_in_a_sharded_folder_are_judged_too(tmp_path):
    pytest.importorskip("pyarrow")
    corpus = ml.make_corpus(n_rows=90, n_features=30, n_labels=6, random_state=0)
    data, model = ml.Dataset(corpus.X, corpus.Y), tmp_path / "model"
    ml.OneVsRest().fit(corpus.X, corpus.Y).save(model)
    for format in ("xc", "parquet"):
        write_shards([data[:40], data[40:]], tmp_path / format, format=format)
        report = evaluate(model, tmp_path / format)
        assert report == ml.Tagger.load(model).evaluate(data)


def test_columns_without_names_are_the_models(tmp_path):
    corpus = ml.make_corpus(n_rows=90, n_features=30, n_labels=6, random_state=0)
    ml.OneVsRest().fit(corpus.X, corpus.Y).save(tmp_path / "model")
    data = ml.Dataset(corpus.X, corpus.Y)
    for name, rows in {"a.txt": slice(40), "b.svm": slice(40, None)}.items():
        ml.write(data[rows], tmp_path / name)
    files = [tmp_path / "a.txt", tmp_path / "b.svm"]
    whole = ml.Tagger.load(tmp_path / "model").evaluate(data)
    assert evaluate(tmp_path / "model", files[:1]) != whole
    with pytest.raises(ValueError, match="zero_based must be left out for xc files"):
        evaluate(tmp_path / "model", files, zero_based=True)
    ml.write(data[40:], tmp_path / "b.txt")
    assert evaluate(tmp_path / "model", [files[0], tmp_path / "b.txt"]) == whole


def test_a_missing_or_damaged_shard_is_told(model, shards, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"5\.jsonl"):
        evaluate(model, [*shards, tmp_path / "5.jsonl"])
    shards[2].write_text('{"text": "wine", "labels": ["wine"]}\n{"text"')
    with pytest.raises(DataError, match=r"2\.jsonl, line 2: expected a JSON object"):
        evaluate(model, shards)


def test_a_worker_of_other_versions_does_not_judge(model, shards, monkeypatch):
    old = versions() | {"numba": "0.0.1"}
    sent = partial(Shard, versions=old)  # by a driver of another day
    monkeypatch.setattr("manylabel.distributed.evaluation.Shard", sent)
    with pytest.raises(RuntimeError, match=r"^numba must be .* Got 0\.0\.1 and, on"):
        evaluate(model, shards)


def test_what_cannot_be_judged_is_refused(model, shards, tmp_path):
    with pytest.raises(ValueError, match=r"paths must name at least one file\. Got no"):
        evaluate(model, [])
    with pytest.raises(ArchiveError, match="there is no such model folder"):
        evaluate(tmp_path / "nothing", shards)
    with pytest.raises(ValueError, match="client must be dask://host:port"):
        evaluate(model, shards, client="abacus")
