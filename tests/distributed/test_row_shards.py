"""Each tree from some rows: an approximation that is asked for."""

import hashlib
import json

import numpy as np
import pytest

import manylabel as ml
from manylabel.distributed import (
    fit,
    fit_part,
    plan,
    read_manifest,
    read_shards,
    write_shards,
)
from manylabel.distributed.shards import iter_shards
from manylabel.exceptions import DataError


def sharded(data, place, format):
    write_shards([data[n : n + 100] for n in (0, 100, 200)], place, format=format)
    return place


@pytest.fixture
def folder(data, tmp_path):
    return sharded(data, tmp_path / "rows", "xc")


def test_shards_of_features_may_be_parquet(data, folder, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    named = ml.Dataset(
        data.X,
        data.Y,
        label_names=[f"label {n}" for n in range(data.n_labels)],
        ids=[f"row {n}" for n in range(len(data))],
    )
    for given, kind in ((data, int), (named, str)):
        place = sharded(given, tmp_path / kind.__name__, "parquet")
        row = parquet.read_table(place / "00001.parquet").to_pylist()[0]
        assert row["indices"] == data.X[[100]].indices.tolist()
        assert row["values"] == data.X[[100]].data.tolist()
        assert all(type(label) is kind for label in row["labels"])
        part = read_shards(place, [1])
        assert (part.label_names, part.ids) == (
            given.label_names,
            given.ids and given.ids[100:200],
        )
        assert (part.X != data.X[100:200]).nnz == 0
        assert (part.Y != data.Y[100:200]).nnz == 0


@pytest.mark.parametrize("format", ["xc", "parquet"])
def test_names_of_columns_are_kept(data, format, tmp_path):
    if format == "parquet":
        pytest.importorskip("pyarrow")
    labels = [f"label {n}" for n in range(data.n_labels)]
    features = [f"feature {n}" for n in range(data.n_features)]
    named = ml.Dataset(data.X, data.Y, features, labels)
    write_shards([named[:200], named[200:]], tmp_path / "rows", format=format)
    found = read_shards(tmp_path / "rows")
    assert (found.label_names, found.feature_names) == (tuple(labels), tuple(features))
    model = fit(ml.Tagger(ml.OneVsRest()), tmp_path / "rows", out=tmp_path / "out")
    assert model.label_names_.tolist() == labels
    assert list(model.feature_names_) == features
    for names in (labels[::-1], [*labels, "new"]):
        moved = next(iter_shards(tmp_path / "rows", label_names=names))
        assert moved.label_names == tuple(names)
        assert moved[:20].labels.decode(moved[:20].Y) == [
            sorted(row, key=names.index) for row in named.labels.decode(named.Y[:20])
        ]


@pytest.mark.parametrize("format", ["xc", "parquet"])
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"X": np.eye(3, 9)}, "the same n_features. Got 8 and 9 in chunks 0 and 1"),
        ({"Y": np.eye(3, 5)}, "the same n_labels. Got 4 and 5 in chunks 0 and 1"),
        ({"label_names": "dcba"}, "the same label_names. Got others in chunks 0 and 1"),
        ({"feature_names": "stuvwxyz"}, "the same feature_names. Got others in"),
    ],
)
def test_chunks_of_other_columns_are_refused(change, message, format, tmp_path):
    given = {"X": np.eye(3, 8), "Y": np.eye(3, 4), "label_names": "abcd"}
    if "Y" in change:
        given.pop("label_names")
    chunks = [
        ml.Dataset(**{k: list(v) if isinstance(v, str) else v for k, v in each.items()})
        for each in (given, given | change)
    ]
    with pytest.raises(ValueError, match=message):
        write_shards(chunks, tmp_path / "rows", format=format)
    assert not (tmp_path / "rows/shards.json").exists()


def test_manifests_of_before_have_no_names_of_features(folder, data):
    facts = json.loads((folder / "shards.json").read_text())
    facts.pop("feature_names")
    (folder / "shards.json").write_text(json.dumps(facts))
    assert read_shards(folder).feature_names is None
    facts.pop("n_labels")
    (folder / "shards.json").write_text(json.dumps(facts))
    with pytest.raises(DataError, match="this is not the manifest of shards"):
        read_manifest(folder)


def test_trees_of_parquet_shards_are_those_of_text(data, folder, tmp_path):
    pytest.importorskip("pyarrow")
    other, learner = (
        sharded(data, tmp_path / "p", "parquet"),
        ml.FastXML(n_estimators=6),
    )
    one, two = (
        fit(learner, rows, out=tmp_path / f"{n}", n_parts=3, rows="shards")
        for n, rows in enumerate((folder, other))
    )
    np.testing.assert_equal(one.forest_._asdict(), two.forest_._asdict())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"indices": [99]}, "expected indices from 0 to 39, found 99 to 99"),
        ({"values": [1.0, 2.0]}, "expected as many indices as values"),
        ({"labels": [999]}, "indices must be < 150"),
    ],
)
def test_parquet_rows_that_do_not_fit_their_manifest_are_refused(
    data, tmp_path, change, message
):
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    place = sharded(data, tmp_path / "rows", "parquet")
    row = {"indices": [1], "values": [1.0], "labels": [0]} | change
    file = place / "00000.parquet"
    parquet.write_table(pa.Table.from_pylist([row]), file)
    manifest = json.loads((place / "shards.json").read_text())
    manifest["shards"][0]["sha256"] = hashlib.sha256(file.read_bytes()).hexdigest()
    (place / "shards.json").write_text(json.dumps(manifest))
    with pytest.raises(DataError, match=rf"00000\.parquet: .*{message}"):
        read_shards(place)


def test_a_tree_is_grown_from_its_shards(folder, data, tmp_path):
    learner = ml.FastXML(n_estimators=6)
    model = fit(learner, folder, out=tmp_path / "out", n_parts=3, rows="shards")
    assert model.forest_.n_trees == 6
    roots = model.forest_.node_rows[model.forest_.roots[:-1]]
    assert roots.tolist() == [100] * 6
    assert model.predict_topk(data.X, 3).nnz == 3 * len(data)


def test_the_first_trees_are_those_of_the_first_rows(folder, data, tmp_path):
    learner = ml.FastXML(n_estimators=6)
    model = fit(learner, folder, out=tmp_path / "out", n_parts=3, rows="shards")
    first = data[:100]
    alone = ml.FastXML(n_estimators=2).fit(first.X, first.Y)
    for one, other in zip(model.trimmed(2).forest_, alone.forest_, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("propensity", [None, 0.7])
@pytest.mark.parametrize("n_parts", [1, 3])
def test_propensities_are_those_of_all_shards(
    folder, data, tmp_path, propensity, n_parts
):
    learner = ml.PfastXML(n_estimators=6, propensity=propensity)
    asked = {"out": tmp_path / "out", "n_parts": n_parts, "rows": "shards"}
    model = fit(learner, folder, **asked)
    assert (model.forest_.n_trees, model.propensity) == (6, propensity)
    whole = ml.PfastXML(n_estimators=1, propensity=propensity).fit(data.X, data.Y)
    np.testing.assert_array_equal(model.inverse_propensity_, whole.inverse_propensity_)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"n_estimators": 0}, "n_estimators == 0, must be >= 1"),
        ({"leaf_size": 0}, "leaf_size == 0, must be >= 1"),
        ({"calibrate": "auto"}, "calibrate must be None"),
        ({"propensity": [0.5]}, "propensity must have 150 values"),
    ],
)
def test_wrong_parameters_are_refused_before_a_plan_is_written(
    folder, tmp_path, wrong, message
):
    with pytest.raises(ValueError, match=message):
        plan(ml.PfastXML(**wrong), folder, 3, tmp_path / "out", rows="shards")
    assert not (tmp_path / "out/plan.json").exists()


@pytest.mark.parametrize("n_shards", [1, 2, 7])
@pytest.mark.parametrize("n_parts", [1, 3, 5, 40])
def test_every_shard_is_read_by_a_part(data, n_shards, n_parts, tmp_path):
    chunks = [data[n::n_shards] for n in range(n_shards)]
    write_shards(chunks, tmp_path / "rows")
    asked = ml.FastXML(n_estimators=20), tmp_path / "rows", n_parts, tmp_path / "out"
    read = [part.shards for part in plan(*asked, rows="shards")]
    assert {number for numbers in read for number in numbers} == set(range(n_shards))
    sizes = {len(numbers) for numbers in read}
    assert max(sizes) - min(sizes) <= 1


@pytest.mark.parametrize("n_parts", [1, 2, 5, 40])
def test_shards_may_be_small_or_empty(data, n_parts, tmp_path):
    write_shards([data[:0], data[:1], data[1:50], data[:0]], tmp_path / "rows")
    asked = {"out": tmp_path / "out", "n_parts": n_parts, "rows": "shards"}
    model = fit(ml.FastXML(n_estimators=7), tmp_path / "rows", **asked)
    assert model.forest_.n_trees == 7


def test_shards_without_rows_are_refused(data, tmp_path):
    write_shards([data[:0]], tmp_path / "rows")
    with pytest.raises(ValueError, match=r"needs shards of rows\. .*rows has none\."):
        plan(ml.FastXML(), tmp_path / "rows", 3, tmp_path / "out", rows="shards")


def test_a_missing_shard_is_told(folder, tmp_path):
    parts = plan(ml.FastXML(), folder, 3, tmp_path / "out", rows="shards")
    (folder / "00001.txt").unlink()
    fit_part(tmp_path / "out", parts[0])
    with pytest.raises(DataError, match=r"00001\.txt: this shard is missing"):
        fit_part(tmp_path / "out", parts[1])


def test_a_damaged_shard_is_told(folder, tmp_path):
    parts = plan(ml.FastXML(), folder, 3, tmp_path / "out", rows="shards")
    with (folder / "00001.txt").open("a") as file:
        file.write("0 1:2\n")
    with pytest.raises(DataError, match=r"00001\.txt: the checksum is wrong"):
        fit_part(tmp_path / "out", parts[1])


@pytest.mark.parametrize(
    "learner", [ml.PfastreXML(), ml.FastXML(cost="f1"), ml.OneVsRest()]
)
def test_learners_that_need_all_rows_are_refused(learner, folder, tmp_path):
    with pytest.raises(ValueError, match="must be asked of a FastXML"):
        plan(learner, folder, 3, tmp_path / "out", rows="shards")


def test_what_is_not_in_shards_is_refused(data, tmp_path):
    ml.write(data, tmp_path / "rows.txt")
    for given, found in ((data, "a Dataset"), (tmp_path / "rows.txt", "'.*rows.txt'")):
        message = rf'rows="shards" needs a sharded folder, .* Got {found}\.'
        with pytest.raises(ValueError, match=message):
            plan(ml.FastXML(), given, 3, tmp_path / "out", rows="shards")


def test_shards_of_texts_are_refused_before_a_worker_reads_them(texts, tmp_path):
    write_shards([texts[:100], texts[100:]], tmp_path / "rows", format="jsonl")
    with pytest.raises(ValueError, match=r"of features\. .*rows has shards of texts\."):
        plan(ml.FastXML(), tmp_path / "rows", 3, tmp_path / "out", rows="shards")


def test_shards_are_not_written_over(folder, data):
    with pytest.raises(DataError, match="this folder holds shards already"):
        write_shards([data], folder)


def test_a_folder_of_other_files_is_no_place_for_shards(tmp_path):
    corpus = ml.make_corpus(n_rows=30, n_features=9, n_labels=4)
    data = ml.Dataset(corpus.X, corpus.Y)
    (tmp_path / "00000.txt").write_text("of a run that broke")
    assert len(read_shards(write_shards([data], tmp_path).folder)) == 30
    model = ml.OneVsRest().fit(corpus.X, corpus.Y)
    model.save(tmp_path / "model")
    with pytest.raises(DataError, match="this folder holds other files"):
        write_shards([data], tmp_path / "model")
    assert not list((tmp_path / "model").glob("0*"))


def test_another_folder_holds_no_shards(tmp_path):
    with pytest.raises(DataError, match=r"expected a sharded folder, found no shards"):
        read_manifest(tmp_path)
