"""Work sheets and answers: chances of the draw, the round trip, refusals."""

import json

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from manylabel import (
    Answers,
    Dataset,
    Propensity,
    Tagger,
    audit,
    metrics,
)
from manylabel.auditing import read_propensities, write_propensities
from manylabel.exceptions import DataError


def answer(sheet, corpus, data, path):
    """Fill in a work sheet with all that is true."""
    names = data.labels.names
    with path.open("w") as file:
        for line in sheet.lines():
            record = json.loads(line)
            true = corpus.complete[[record["row"]]].indices
            record["complete"] = [names[label] for label in true]
            file.write(json.dumps(record) + "\n")


@pytest.fixture(scope="module")
def answers(found, corpus, data, tmp_path_factory):
    """Return answers to a work sheet of 150 rows, read from a file."""
    path = tmp_path_factory.mktemp("answers") / "answers.jsonl"
    answer(found.sample(150), corpus, data, path)
    return Answers.read(path, data)


@pytest.mark.parametrize("n_rows", [1, 20, 300, 600])
def test_a_sample_has_so_many_rows_each_once(found, n_rows):
    sheet = found.sample(n_rows)
    assert len(np.unique(sheet.rows)) == n_rows
    assert (np.diff(sheet.rows) > 0).all()
    assert (sheet.weights >= 1 - 1e-9).all()


def test_rows_are_drawn_as_often_as_their_weights_say(found):
    times, inverse = np.zeros(600), np.zeros(600)
    for seed in range(150):
        sheet = found.sample(60, random_state=seed)
        times[sheet.rows] += 1
        inverse[sheet.rows] = 1 / sheet.weights
    drawn = times > 0
    error = np.sqrt(inverse * (1 - inverse) / 150)
    away = (times / 150 - inverse)[drawn] / error[drawn]
    assert abs(away).mean() < 1.2  # of a normal deviate: 0.8
    assert abs(times.sum() / 150 - 60) < 1e-9


def test_weights_add_up_to_the_rows_on_average(found):
    sums = [found.sample(60, random_state=s).weights.sum() for s in range(100)]
    assert abs(np.mean(sums) - 600) < 10


def test_rows_of_rare_labels_are_drawn_more_often_than_by_chance():
    """One row in eight has rare labels, which its features tell."""
    rng = np.random.default_rng(0)
    is_rare = np.arange(1600) % 8 == 0
    Y = np.zeros((1600, 12))
    Y[np.arange(1600), np.where(is_rare, rng.integers(2, 12, 1600), 0)] = 1
    X = Y + 0.1 * rng.random(Y.shape)
    found = audit(X, Y * (rng.random(Y.shape) < 0.8))
    drawn = [is_rare[found.sample(60, random_state=s).rows].mean() for s in range(20)]
    assert np.mean(drawn) > 2 / 8


def test_recorded_labels_have_no_say_in_the_draw(found, data, corpus):
    """Whether the labels of one row are recorded does not change its own chance."""
    row = int(np.argmax(np.diff(corpus.Y.indptr)))
    Y = data.Y.copy()
    Y.data[Y.indptr[row] : Y.indptr[row + 1]] = 0
    Y.eliminate_zeros()
    other = audit(Dataset(data.X, Y))
    before, after = (it.suspicion.true[[row]].toarray()[0] for it in (found, other))
    labels = data.Y[[row]].indices
    # A single label may move, as the curve of its band does; learnt rows would all.
    assert abs(before - after)[labels].mean() < 0.05


def test_answers_teach_the_propensities(answers, corpus):
    found = answers.propensity()
    law = Propensity().fit(corpus.Y).values_
    assert abs(found.values_ - corpus.propensity).mean() < 0.08
    low, high = found.interval_
    assert ((low <= corpus.propensity) & (corpus.propensity <= high)).mean() > 0.85
    assert found.values_.shape == law.shape


def test_the_recorded_labels_themselves_are_judged(answers, corpus):
    found = answers.recorded()
    assert found["precision"].value == 1.0
    recall = corpus.Y.nnz / corpus.complete.nnz
    assert found["recall"].low < recall < found["recall"].high


def test_figures_by_complete_labels_hold_for_all_rows(found, corpus, data):
    scores = corpus.X @ (corpus.X.T @ corpus.complete)
    truth = metrics.PrecisionAtK(3).update(corpus.complete, scores).value
    values, inside = [], []
    for seed in range(40):
        sheet = found.sample(100, random_state=seed)
        rows = sheet.rows
        audited = Answers(data, rows, corpus.complete[rows], sheet.weights)
        figure = audited.judge(scores[rows], k=3)["P@3"]
        values.append(figure.value)
        inside.append(figure.low < truth < figure.high)
    assert abs(np.mean(values) - truth) < 0.015
    assert np.mean(inside) >= 0.875


def test_equal_weights_give_the_plain_mean(corpus, data):
    rows = np.arange(50)
    scores = corpus.X[rows] @ (corpus.X.T @ corpus.complete)
    found = Answers(data, rows, corpus.complete[rows]).judge(scores, k=2)
    plain = metrics.PrecisionAtK(2).update(corpus.complete[rows], scores).value
    assert found["P@2"].value == pytest.approx(plain)
    assert set(found) == {"P@2", "nDCG@2", "recall@2"}


def test_a_tagger_is_judged_by_its_own_columns(answers, corpus, data):
    order = np.random.default_rng(0).permutation(25)
    names = [data.label_names[i] for i in order]
    train = Dataset(data.X, data.Y[:, order], label_names=names)
    tagger = Tagger().fit(train)
    scores = np.zeros((len(answers.rows), 25))
    scores[:, order] = tagger.learner_.decision_function(data.X[answers.rows])
    by_tagger, by_scores = answers.judge(tagger), answers.judge(scores)
    assert by_tagger["P@5"].value == pytest.approx(by_scores["P@5"].value)


def test_wrong_labels_count_against_the_recorded_ones(data, corpus):
    row = int(np.argmax(np.diff(corpus.Y.indptr)))
    complete = corpus.Y[[row]].toarray()
    complete[0, corpus.Y[[row]].indices[0]] = 0
    found = Answers(data, [row], complete)
    n_recorded = corpus.Y[[row]].nnz
    share = (n_recorded - 1) / n_recorded
    assert found.recorded()["precision"].value == pytest.approx(share)
    assert found.propensity().values_.shape == (25,)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.floats(0.001, 1), min_size=1, max_size=5))
def test_propensities_survive_their_file(tmp_path, values):
    model = Propensity.given(values)
    model.interval_ = np.stack([model.values_, model.values_])
    model.overall_, model.law_ = np.array([0.5, 0.4, 0.6]), np.array([-1.0, 0.5, 8.0])
    names = [f"l{i}" for i in range(len(values))]
    path = tmp_path / "p.json"
    write_propensities(path, model, names)
    read = read_propensities(path)
    assert_allclose(read.values(names[::-1]), values[::-1], atol=1e-6)
    odds = np.exp(-1 + 0.5 * np.log(1.5))
    assert_allclose(read.values(["new"]), odds / (1 + odds))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "found no JSON"),
        ("[]", "found other JSON"),
        ('{"format": "manylabel-propensities-1"}', "found no 'labels' or no 'other'"),
        (
            '{"format": "manylabel-propensities-1", "other": 0.5, '
            '"labels": {"a": [1.5]}}',
            r"expected a propensity in \(0, 1\] of 'a', found \[1.5\]",
        ),
    ],
)
def test_other_files_are_no_propensities(tmp_path, content, message):
    (tmp_path / "p.json").write_text(content)
    with pytest.raises(DataError, match=message):
        read_propensities(tmp_path / "p.json")


@pytest.fixture
def small():
    """Return three rows with ids, of labels a and b."""
    return Dataset(
        np.eye(3), [[1, 0], [0, 1], [0, 0]], None, ["a", "b"], ["x", "y", "z"]
    )


def test_rows_are_found_by_their_ids(small, tmp_path):
    path = tmp_path / "answers.jsonl"
    path.write_text(
        '{"id": "z", "row": 0, "complete": ["b"]}\n'
        '\n{"id": "x", "complete": null}\n{"id": "y", "complete": [], "wrong": ["b"]}\n'
    )
    found = Answers.read(path, small)
    assert_array_equal(found.rows, [2, 1])
    assert_array_equal(found.complete.toarray(), [[0, 1], [0, 0]])


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            '{"id": "w", "complete": []}',
            "expected the id of a row of the data, found 'w'",
        ),
        (
            '{"row": 3, "complete": []}',
            "expected a row of the data, from 0 to 2, found 3",
        ),
        ('{"row": -1, "complete": []}', "from 0 to 2, found -1"),
        ('{"complete": []}', "from 0 to 2, found None"),
        (
            '{"row": 0, "complete": ["b"]}',
            "expected the recorded label 'a' of row 0 either in 'complete' or in "
            "'wrong', found it in neither",
        ),
        (
            '{"row": 0, "complete": ["a"], "wrong": ["a"]}',
            "either in 'complete' or in 'wrong', found it in both",
        ),
        ('{"row": 2, "complete": ["c"]}', "expected labels of the data, found 'c'"),
        ('{"row": 2, "complete": "a"}', "expected a list of names in 'complete'"),
        (
            '{"row": 2, "complete": [], "weight": 0}',
            "expected a weight above 0, found 0",
        ),
        ('{"row": 2, "complete": [], "weight": "x"}', "expected a number in 'weight'"),
        ("[1]", "expected a JSON object, found"),
        ("{", "expected a JSON object"),
        (
            '{"row": 2, "complete": []}\n{"row": 2, "complete": []}',
            "line 2: expected each row once, found row 2 again",
        ),
        ("", "expected answers in 'complete', found none"),
        ('{"row": 2, "complete": null}', "expected answers in 'complete', found none"),
    ],
)
def test_wrong_answers_are_refused_in_a_sentence(small, tmp_path, line, message):
    path = tmp_path / "answers.jsonl"
    path.write_text(line + "\n" if line else "")
    with pytest.raises(DataError, match=message):
        Answers.read(path, small)


def test_a_sheet_of_other_texts_is_refused(tmp_path):
    data = Dataset(None, [[1], [0]], None, ["a"], None, ["one", "two"])
    path = tmp_path / "answers.jsonl"
    path.write_text('{"row": 0, "text": "two", "complete": ["a"]}\n')
    with pytest.raises(DataError, match="expected the text of row 0 of the data"):
        Answers.read(path, data)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([3], "rows must be of the 3 rows of the data. Got 3"),
        ([1, 1], "rows must differ"),
        ([], "rows must be at least one. Got none"),
    ],
)
def test_wrong_rows_are_refused(small, rows, message):
    with pytest.raises(ValueError, match=message):
        Answers(small, rows, np.zeros((len(rows), 2)))


@pytest.mark.parametrize(
    ("n_rows", "message"),
    [(601, "n_rows must be at most the 600 rows of the data. Got 601"), (0, "n_rows")],
)
def test_a_sample_that_cannot_be_drawn_is_refused(found, n_rows, message):
    with pytest.raises(ValueError, match=message):
        found.sample(n_rows)
