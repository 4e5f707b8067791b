"""One batch function: columns of any kind, one model a process, and refusals."""

import pickle
from concurrent.futures import ThreadPoolExecutor
from time import sleep

import numpy as np
import pytest
import scipy.sparse as sp

import manylabel as ml
from manylabel.distributed import predict_batches
from manylabel.exceptions import ArchiveError, OtherVersions

pa = pytest.importorskip("pyarrow")
TEXTS = ["red wine", "white wine", "brown bread", "rye bread and wine"]
TAGS = [["drink"], ["drink"], ["food"], ["drink", "food"]]


@pytest.fixture(scope="module")
def corpus():
    return ml.make_corpus(n_rows=80, n_features=30, n_labels=6, random_state=0)


@pytest.fixture(scope="module")
def features(corpus, tmp_path_factory):
    """Return the folder of a model of features that have names."""
    names = tuple(f"f{column}" for column in range(30))
    data = ml.Dataset(corpus.X, corpus.Y, names)
    model = tmp_path_factory.mktemp("features") / "model"
    ml.Tagger(ml.OneVsRest()).fit(data).save(model)
    return model


@pytest.fixture(scope="module")
def texts(tmp_path_factory):
    """Return the folder of a model of texts."""
    model = tmp_path_factory.mktemp("texts") / "model"
    ml.Tagger().fit(TEXTS, TAGS).save(model)
    return model


def answers(batch, model, **options):
    """Return the rows that the batch function makes of a batch."""
    (found,) = predict_batches(model, **options)([batch])
    return found.to_pylist()


def expected(items, model, k=5):
    """Return names and scores as the tagger itself tells them."""
    rows = ml.Tagger.load(model).tag_many(items, k)
    return [[(name, np.float32(score)) for name, score in row] for row in rows]


def pairs(rows):
    return [list(zip(row["labels"], row["scores"], strict=True)) for row in rows]


def sparse_batch(X):
    X = X.tocsr()
    rows = [X[[row]] for row in range(X.shape[0])]
    return pa.RecordBatch.from_pydict(
        {
            "indices": [row.indices.tolist() for row in rows],
            "values": pa.array(
                [row.data.tolist() for row in rows], pa.list_(pa.float32())
            ),
        }
    )


def test_threads_of_a_process_map_a_model_once(texts, tmp_path, monkeypatch):
    load, loaded = ml.Tagger.load, []

    def slowly(*given, **options):
        loaded.append(given)
        sleep(0.2)
        return load(*given, **options)

    load(texts).save(tmp_path / "model")
    function = predict_batches(tmp_path / "model")
    monkeypatch.setattr(ml.Tagger, "load", slowly)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: function.tagger, range(4)))
    assert len(loaded) == len(set(map(id, found))) == 1


def test_texts_get_what_the_tagger_says(texts):
    batch = pa.RecordBatch.from_pydict({"id": [3, 1, 2, 0], "text": TEXTS, "x": TEXTS})
    rows = answers(batch, texts, k=2)
    assert [row["id"] for row in rows] == [3, 1, 2, 0]
    assert "x" not in rows[0]
    assert pairs(rows) == expected(TEXTS, texts, 2)


def test_columns_of_the_text_are_joined(texts):
    batch = pa.RecordBatch.from_pydict({"a": ["red"], "b": ["wine"]})
    (row,) = answers(batch, texts, columns=["a", "b"], k=1, keep=["b"])
    assert row["b"] == "wine"
    assert pairs([row]) == expected(["red\nwine"], texts, 1)


def test_features_come_in_lists_vectors_or_columns(features, corpus):
    dense = corpus.X.toarray()
    fixed = pa.FixedSizeListArray.from_arrays(pa.array(dense.ravel()), 30)
    kinds = {
        "lists": (sparse_batch(corpus.X), None),
        "vectors": (pa.RecordBatch.from_pydict({"v": dense.tolist()}), "v"),
        "fixed": (pa.RecordBatch.from_arrays([fixed], ["v"]), "v"),
        "columns": (
            pa.RecordBatch.from_pydict({f"f{c}": dense[:, c] for c in range(30)}),
            None,
        ),
    }
    for batch, columns in kinds.values():
        found = pairs(answers(batch, features, columns=columns, k=3))
        assert found == expected(corpus.X, features, 3)


def test_rows_without_features_are_rows(features):
    empty = pa.RecordBatch.from_pydict({"indices": [[], []], "values": [[], []]})
    assert str(empty.schema.field("indices").type) == "list<item: null>"
    found = pairs(answers(empty, features, k=3))
    assert found == expected(sp.csr_array((2, 30)), features, 3)


def test_slices_of_batches_are_their_rows(features, corpus):
    batch = sparse_batch(corpus.X)
    whole = answers(batch, features)
    assert answers(batch.slice(7, 20), features) == whole[7:27]
    assert answers(batch.slice(0, 0), features) == []
    table = pa.Table.from_batches([batch.slice(0, 30), batch.slice(30)])
    assert predict_batches(features).predict(table).to_pylist() == whole


def test_sets_and_chosen_labels_are_asked_for(texts):
    batch = pa.RecordBatch.from_pydict({"text": TEXTS})
    tagger = ml.Tagger.load(texts)
    sets = [sorted(row["labels"]) for row in answers(batch, texts, k=None)]
    assert sets == [sorted(row) for row in tagger.predict(TEXTS)]
    only = answers(batch, texts, allow=["food"])
    assert [row["labels"] for row in only] == [["food"]] * 4


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"text": ["a", None]}, "no empty cell in 'text', found one in row 1"),
        ({"text": [1, 2]}, "expected texts in 'text', found int64"),
        ({"words": ["a"]}, "expected the text in a field 'text'"),
    ],
)
def test_wrong_texts_are_refused(texts, columns, message):
    with pytest.raises(ValueError, match=message):
        answers(pa.RecordBatch.from_pydict(columns), texts)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"indices": [[30]], "values": [[1.0]]}, "indices from 0 to 29, found 30 to"),
        ({"indices": [[-1]], "values": [[1.0]]}, "indices from 0 to 29, found -1 to"),
        ({"indices": [[1]], "values": [[1.0, 2.0]]}, "as many indices as values"),
        ({"indices": [[1.5]], "values": [[1.0]]}, "whole numbers for indices"),
        ({"indices": [[1]], "values": [[None]]}, "numbers in 'values', found an empty"),
        ({"indices": [[1]], "values": [[float("nan")]]}, "NaN"),
        ({"f0": [1.0]}, "rows of features, in columns 'indices' and 'values'"),
    ],
)
def test_wrong_features_are_refused(features, columns, message):
    with pytest.raises(ValueError, match=message):
        answers(pa.RecordBatch.from_pydict(columns), features)


def test_columns_that_are_not_there_are_refused(texts):
    batch = pa.RecordBatch.from_pydict({"text": TEXTS, "labels": TAGS})
    with pytest.raises(ValueError, match="expected a column 'price', found text"):
        answers(batch, texts, keep=["price"])
    with pytest.raises(ValueError, match="keep must leave out 'labels'"):
        answers(batch, texts, keep=["labels"])


def test_a_function_is_sent_as_a_path(texts):
    assert len(pickle.dumps(predict_batches(texts))) < 1000


def test_a_process_maps_the_model_once(texts):
    one, other = predict_batches(texts, k=1), predict_batches(texts, k=2)
    assert one.tagger is pickle.loads(pickle.dumps(other)).tagger


def test_a_worker_of_another_version_is_told(texts):
    sent = pickle.dumps(predict_batches(texts))
    old = sent.replace(ml.__version__.encode(), b"9" * len(ml.__version__))
    with pytest.raises(OtherVersions, match="manylabel must be the same for driver"):
        pickle.loads(old).predict(pa.RecordBatch.from_pydict({"text": TEXTS}))


def test_another_model_than_the_driver_saw_is_told(texts, tmp_path):
    ml.Tagger.load(texts).save(tmp_path / "model")
    predictor = predict_batches(tmp_path / "model")
    ml.Tagger().fit(TEXTS[::-1], TAGS).save(tmp_path / "model")
    with pytest.raises(ArchiveError, match="the model that the driver has, found anot"):
        predictor.predict(pa.RecordBatch.from_pydict({"text": TEXTS}))


def test_a_model_that_is_not_there_is_told(tmp_path):
    with pytest.raises(ArchiveError, match="there is no such model folder"):
        predict_batches(tmp_path / "model")
