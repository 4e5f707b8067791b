"""``manylabel shard``, and ``fit --on`` and ``predict --on`` a cluster."""

import json

import pytest

import manylabel as ml
from manylabel.distributed import read_shards


@pytest.fixture
def file(tmp_path):
    corpus = ml.make_corpus(n_rows=120, n_features=20, n_labels=9, random_state=0)
    ml.write(ml.Dataset(corpus.X, corpus.Y), tmp_path / "rows.txt")
    return tmp_path / "rows.txt"


def test_shards_hold_the_rows_of_the_file(cli, file, tmp_path):
    outcome = cli("shard", file, "--out", tmp_path / "shards", "--rows", 50)
    assert outcome.status == 0
    assert "120 rows in 3 shards of xc" in outcome.out
    read = read_shards(tmp_path / "shards")
    assert (read.X != ml.read(file).X).nnz == (read.Y != ml.read(file).Y).nnz == 0


def test_shards_are_counted_for_other_programs(cli, file, tmp_path):
    outcome = cli("shard", file, "--out", tmp_path / "shards", "--json")
    expected = {"shards": 1, "rows": 120, "labels": 9, "format": "xc"}
    assert json.loads(outcome.out) == expected


def test_features_are_no_json_lines(cli, file, tmp_path):
    outcome = cli("shard", file, "--out", tmp_path / "shards", "--to", "jsonl")
    assert outcome.status == 2
    assert "expected texts, which jsonl needs, found none" in outcome.err


def test_a_sharded_folder_is_fitted_as_its_file(cli, file, tmp_path):
    cli("shard", file, "--out", tmp_path / "shards", "--rows", 50)
    for name, source in (("one", file), ("other", tmp_path / "shards")):
        outcome = cli("fit", source, "--model", tmp_path / name, "--quality", "fast")
        assert outcome.status == 0, outcome.err
    one, other = (ml.Tagger.load(tmp_path / name) for name in ("one", "other"))
    assert one.get_state().keys() == other.get_state().keys()
    assert (one.learner_.coef_ != other.learner_.coef_).nnz == 0


def test_a_learner_without_parts_is_refused_at_once(cli, file, tmp_path):
    where = ("--model", tmp_path / "model", "--on", "dask://nowhere:1")
    outcome = cli("fit", file, *where, "--learner", "popularity")
    assert outcome.status == 2
    assert outcome.err.startswith("error: --on: estimator must be a FastXML")


def test_an_unknown_engine_is_refused(cli, file, tmp_path):
    outcome = cli("fit", file, "--model", tmp_path / "model", "--on", "flink://here")
    assert outcome.status == 2
    assert "client must be dask://host:port" in outcome.err


@pytest.mark.slow
def test_a_cluster_fits_the_model_of_this_machine(cli, dask_client, file, tmp_path):
    address = dask_client.scheduler.address.replace("tcp://", "dask://")
    for name, on in (("one", []), ("other", ["--on", address])):
        outcome = cli("fit", file, "--model", tmp_path / name, *on)
        assert outcome.status == 0, outcome.err
    folders = (sorted(tmp_path.glob(f"{name}/*")) for name in ("one", "other"))
    one, other = ([path.read_bytes() for path in folder] for folder in folders)
    assert one == other
    assert not (tmp_path / "other.parts").exists()


@pytest.fixture
def tables(tmp_path):
    """Return a model of texts and a folder of Parquet files, in two columns."""
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    texts = ["red wine", "white wine", "brown bread", "rye bread and wine"]
    tags = [["drink"], ["drink"], ["food"], ["drink", "food"]]
    ml.Tagger().fit(texts, tags).save(tmp_path / "tags")
    (tmp_path / "rows").mkdir()
    for number, text in enumerate(texts):
        table = pa.table({"id": [number], "name": [text], "more": ["of old"]})
        parquet.write_table(table, tmp_path / f"rows/{number}.parquet")
    return tmp_path / "tags", tmp_path / "rows"


@pytest.mark.slow
def test_a_cluster_predicts_what_this_machine_predicts(
    cli, dask_client, tables, tmp_path
):
    read_table = pytest.importorskip("pyarrow.parquet").read_table
    address = dask_client.scheduler.address.replace("tcp://", "dask://")
    here, there = tmp_path / "here.parquet", tmp_path / "there"
    for out, on in ((here, []), (there, ["--on", address])):
        columns = ("--text-column", "name,more", "-k", 2)
        outcome = cli("predict", *tables, *columns, "-o", out, *on)
        assert (outcome.status, outcome.out) == (0, ""), outcome.err
    one, other = (read_table(place) for place in (here, there))
    assert one.equals(other)
    outcome = cli("predict", *tables, "-o", there, "--on", address)
    assert outcome.status == 2
    assert "its answers are of" in outcome.err


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ((), "--output must name a folder with --on. Got '-'."),
        (("-o", "out", "--format", "tsv"), "--format must be parquet with --on. Got"),
        (("-o", "out", "--url", "http://x"), "--on must come without --url."),
    ],
)
def test_what_no_cluster_answers_is_refused(cli, tables, options, sentence):
    outcome = cli("predict", *tables, "--on", "ray", *options)
    assert outcome.status == 2
    assert outcome.err.startswith(f"error: {sentence}")
    assert outcome.err.count("\n") == 1


def test_standard_input_goes_to_no_cluster(cli, tables):
    outcome = cli("predict", tables[0], "-", "--on", "ray", "-o", "out")
    assert outcome.status == 2
    assert "FILE must be a path that all machines see. Got '-'." in outcome.err
