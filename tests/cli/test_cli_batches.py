"""Predictions by batches: Parquet and JSON lines, files and folders of them."""

import json
import re

import pytest

import manylabel as ml

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")
TEXTS = ["red wine", "white wine", "brown bread", "rye bread and wine"]
TAGS = [["drink"], ["drink"], ["food"], ["drink", "food"]]


@pytest.fixture(scope="module")
def corpus():
    return ml.make_corpus(n_rows=60, n_features=30, n_labels=6, random_state=0)


@pytest.fixture(scope="module")
def folder(corpus, tmp_path_factory):
    """Return a folder with two models, and rows in several files."""
    folder = tmp_path_factory.mktemp("batches")
    ml.OneVsRest().fit(corpus.X, corpus.Y).save(folder / "features")
    ml.Tagger().fit(TEXTS, TAGS).save(folder / "texts")
    ml.write(ml.Dataset(corpus.X, corpus.Y), folder / "rows.txt")
    rows = [
        {
            "id": f"r{row}",
            "indices": each.indices.tolist(),
            "values": each.data.tolist(),
        }
        for row, each in enumerate(corpus.X[[row]] for row in range(60))
    ]
    (folder / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)))
    table = pa.Table.from_pylist(rows)
    parquet.write_table(table, folder / "rows.parquet")
    (folder / "shards").mkdir()
    for start in range(0, 60, 20):
        part = table.slice(start, 20)
        parquet.write_table(part, folder / f"shards/{start:02}.parquet")
    records = [{"id": str(row), "text": text} for row, text in enumerate(TEXTS)]
    (folder / "texts.jsonl").write_text("\n".join(map(json.dumps, records)))
    return folder


@pytest.mark.parametrize("format", ["tsv", "jsonl"])
@pytest.mark.parametrize("rows", ["rows.parquet", "rows.jsonl", "shards"])
def test_tables_of_features_give_what_other_files_give(cli, folder, rows, format):
    plain, table = (
        cli("predict", folder / "features", folder / name, "--format", format)
        for name in ("rows.txt", rows)
    )
    assert (table.status, table.err) == (0, "")
    assert re.sub('"id": "r[0-9]+", ', "", table.out) == plain.out
    assert ('"id": "r0"' in table.out) == (format == "jsonl")  # plain rows have none


def test_the_suffix_tells_the_format(cli, folder, tmp_path):
    for suffix in (".parquet", ".jsonl", ".txt"):
        done = cli(
            *("predict", folder / "texts", folder / "texts.jsonl"),
            *("-k", 1, "-o", tmp_path / f"out{suffix}"),
        )
        assert done.status == 0, done.err
    table = parquet.read_table(tmp_path / "out.parquet")
    lines = (tmp_path / "out.jsonl").read_text().splitlines()
    assert table.column_names == ["id", "labels", "scores"]
    assert table["id"].to_pylist() == ["0", "1", "2", "3"]
    assert table["labels"].to_pylist() == [json.loads(line)["labels"] for line in lines]
    assert (tmp_path / "out.txt").read_text().startswith("row\tlabel\tscore\n0\t")


def test_files_and_folders_are_written_alike(cli, folder, tmp_path):
    outs = [tmp_path / f"{rows}.parquet" for rows in ("rows", "shards")]
    for rows, out in zip(("rows.parquet", "shards"), outs, strict=True):
        assert cli("predict", folder / "features", folder / rows, "-o", out).status == 0
    assert parquet.read_table(outs[0]).equals(parquet.read_table(outs[1]))


def test_what_cannot_be_predicted_is_one_sentence(cli, folder, tmp_path):
    def refused(*arguments):
        done = cli("predict", *arguments)
        assert done.status == 2
        assert done.err.count("\n") == 1
        return done.err

    damaged = tmp_path / "damaged.parquet"
    damaged.write_bytes((folder / "rows.parquet").read_bytes()[:-30])
    empty = tmp_path / "empty"
    empty.mkdir()
    wrong = tmp_path / "wrong.jsonl"
    wrong.write_text('{"indices": [99], "values": [1.0]}')
    out = tmp_path / "out.parquet"
    features = folder / "features"
    assert "expected a whole Parquet file" in refused(features, damaged, "-o", out)
    assert "rows from 0 on cannot be read: expected indices" in refused(features, wrong)
    assert "expected a folder with files, found none" in refused(features, empty)
    assert "expected Parquet or JSON lines, for --format parquet" in refused(
        features, folder / "rows.txt", "-o", out
    )
    assert "--output must name a file for --format parquet" in refused(
        features, folder / "rows.parquet", "--format", "parquet"
    )
    assert "--format must be tsv, jsonl or parquet for tables" in refused(
        features, folder / "rows.parquet", "--format", "xc"
    )
    assert not out.exists()
