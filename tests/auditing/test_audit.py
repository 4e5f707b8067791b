"""Audits: planted omissions and planted errors are found, tables and files agree."""

import csv
import json

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose

from manylabel import Dataset, OneVsRest, Propensity, audit, make_corpus
from manylabel.auditing import RowFinding, suspect


def precision(matrix, is_hit, n):
    """Return the share of hits among the n largest entries."""
    stored = matrix.tocoo()
    order = np.argsort(-stored.data, kind="stable")[:n]
    return is_hit[stored.row[order], stored.col[order]].mean()


def test_planted_omissions_are_found(found, is_missing):
    assert precision(found.suspicion.missing, is_missing, 100) > 0.9
    assert precision(found.suspicion.missing, is_missing, 500) > 0.7
    share_by_chance = is_missing.mean()
    assert share_by_chance < 0.1


def test_as_many_are_expected_as_were_planted(found, is_missing):
    expected = found.suspicion.missing.sum()
    assert 0.75 < expected / is_missing.sum() < 1.25


def test_probabilities_are_shares(found, is_missing):
    """Of labels that are missing with a probability of about q, a share of q is."""
    stored = found.suspicion.missing.tocoo()
    order = np.argsort(stored.data)
    for part in np.array_split(order, 10):
        share = is_missing[stored.row[part], stored.col[part]].mean()
        assert abs(stored.data[part].mean() - share) < 0.15


def test_planted_errors_are_found():
    corpus = make_corpus(n_rows=1500, n_labels=30, propensity=0.9, random_state=0)
    rng = np.random.default_rng(0)
    counts = corpus.Y.sum(axis=0)
    rows = rng.permutation(1500)[:40]
    columns = rng.choice(30, 40, p=counts / counts.sum())
    wrong = sp.csr_array((np.ones(40), (rows, columns)), corpus.Y.shape).toarray() > 0
    wrong &= corpus.complete.toarray() == 0
    found = audit(corpus.X, corpus.Y.toarray() + wrong, propensity=0.9)
    by_chance = wrong.sum() / found.data.Y.nnz
    assert precision(found.suspicion.wrong, wrong, 30) > 10 * by_chance


def test_recorded_labels_are_not_missing_and_others_not_wrong(found):
    Y = found.data.Y
    assert found.suspicion.missing.multiply(Y).nnz == 0
    assert (found.suspicion.wrong.indices == Y.indices).all()
    assert (found.suspicion.wrong.indptr == Y.indptr).all()


def test_rows_and_labels_come_worst_first(found):
    gains = [each.gain for each in found.rows()]
    assert gains == sorted(gains, reverse=True)
    assert found.rows(3) == found.rows()[:3]
    first = found.rows(1)[0]
    listed = sum(chance for _, chance in (*first.missing, *first.wrong))
    assert first.gain >= listed - 1e-9
    amiss = [each.missing + each.wrong for each in found.labels()]
    assert amiss == sorted(amiss, reverse=True)
    assert sum(each.recorded for each in found.labels()) == found.data.Y.nnz
    assert_allclose(
        sum(each.missing for each in found.labels()), found.suspicion.missing.sum()
    )


def test_a_row_is_judged_by_a_learner_that_has_not_seen_it():
    """A row whose label nobody else has cannot be told by its own."""
    X, Y = np.eye(40), np.zeros((40, 2))
    Y[:20, 0] = 1
    found = audit(X, Y, learner=OneVsRest(), propensity=0.5)
    spread = np.ptp(found.suspicion.true.toarray()[:, 0])
    assert spread < 0.5


def test_the_same_seed_finds_the_same(data, found):
    again = audit(data, propensity=Propensity().fit(data.Y))
    assert (again.suspicion.missing != found.suspicion.missing).nnz == 0


def test_labels_may_be_permuted(corpus, found):
    order = np.random.default_rng(1).permutation(25)
    Y = corpus.Y[:, order]
    again = audit(corpus.X, Y, propensity=Propensity().fit(Y))
    assert_allclose(
        again.suspicion.missing.toarray(),
        found.suspicion.missing.toarray()[:, order],
        atol=1e-6,
    )


def test_propensities_that_are_known_are_taken(corpus):
    found = audit(corpus.X, corpus.Y, propensity=Propensity.given(corpus.propensity))
    assert_allclose(found.propensity, corpus.propensity)


def test_where_nothing_is_known_half_is_recorded_unless_that_cannot_be():
    rng = np.random.default_rng(0)
    Y = rng.random((400, 3)) < [0.1, 0.4, 0.95]
    low, middle, high = audit(rng.random((400, 4)), Y).propensity
    assert low == middle == 0.5
    assert 0.8 < high < 0.95


@pytest.mark.parametrize("suffix", ["jsonl", "csv", "html", "jsonl.gz"])
def test_files_hold_the_rows(found, tmp_path, suffix):
    path = tmp_path / f"look.{suffix}"
    found.write(path, 5)
    rows = found.rows(5)
    if suffix == "jsonl":
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        assert [line["row"] for line in lines] == [each.row for each in rows]
        assert lines[0]["id"] == rows[0].id
        assert lines[0]["missing"][0][0] == rows[0].missing[0][0]
    elif suffix == "csv":
        with path.open(newline="", encoding="utf-8-sig") as file:
            lines = list(csv.DictReader(file))
        assert len(lines) == sum(len(each.missing) + len(each.wrong) for each in rows)
        assert lines[0]["text"] == rows[0].text


def test_a_page_escapes_what_comes_from_outside_and_loads_nothing(found, tmp_path):
    found.write(tmp_path / "look.html")
    page = (tmp_path / "look.html").read_text()
    assert "is an estimate by the propensity p of\nthe label" in page
    assert "--propensity</code> gives another" in page
    assert "<script>" not in page
    assert "<b>label" not in page
    assert "&lt;b&gt;label 0&lt;/b&gt;" in page
    assert "http://" not in page
    assert "https://" not in page
    assert "default-src 'none'" in page
    assert "prefers-color-scheme: dark" in page
    assert 'name="viewport"' in page


def test_what_is_written_appears_whole_or_not_at_all(found, tmp_path):
    with pytest.raises(
        ValueError, match=r"path must end with one of \.jsonl, \.csv, \.htm"
    ):
        found.write(tmp_path / "look.txt")
    assert list(tmp_path.iterdir()) == []


def test_texts_can_be_audited():
    texts = ["red wine", "white wine", "rye bread", "brown bread"] * 10
    tags = [[1, 0], [1, 0], [0, 1], [0, 1]] * 10
    tags[5] = [0, 0]
    first = audit(np.array(texts), tags, label_names=["drink", "food"]).rows(1)[0]
    assert isinstance(first, RowFinding)
    assert (first.row, first.missing[0][0], first.text) == (5, "drink", "white wine")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((np.eye(10), np.eye(10)), "items must have at least 20 rows"),
        ((np.eye(30), np.zeros((30, 2))), "Y must hold at least one label. Got none"),
        ((np.eye(30),), "Y must have the labels of items that are no Dataset"),
        (
            (Dataset(np.eye(30), np.eye(30)), np.eye(30)),
            "Y and label_names must be those of the data set",
        ),
    ],
)
def test_wrong_input_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        audit(*arguments)


def test_propensities_that_contradict_the_data_are_refused():
    with pytest.raises(ValueError, match="label 0 is recorded in 40 of 40 rows, which"):
        audit(np.eye(40), np.ones((40, 1)), propensity=0.1)


def test_a_label_is_not_given_what_others_of_its_band_lack():
    """Two labels share a curve; the first has high scores where it is not recorded."""
    n_rows, n_recorded, p = 400, 97, np.array([0.5, 0.5])
    scores, Y = np.full((n_rows, 2), 0.1, np.float32), np.zeros((n_rows, 2))
    Y[:n_recorded] = 1
    scores[:330, 0] = scores[:n_recorded, 1] = 0.9
    scores += 0.01 * np.random.default_rng(0).random(scores.shape, np.float32)
    found = suspect(sp.csr_array(scores), sp.csr_array(Y, dtype=np.float32), p)
    assert (found.bands == 0).all()
    missing, _ = found.missing.sum(axis=0)
    assert_allclose(missing, n_recorded * (1 / p[0] - 1), rtol=1e-6)


def test_what_seems_sure_is_seldom_false_though_propensities_are_a_guess():
    corpus = make_corpus(n_rows=400, n_labels=100, random_state=1)
    suspicion = audit(corpus.X, corpus.Y).suspicion
    is_hidden = (corpus.complete - corpus.Y).toarray() > 0
    stored = suspicion.missing.tocoo()
    is_sure = stored.data > 0.95
    assert is_hidden[stored.row[is_sure], stored.col[is_sure]].mean() > 0.8
    assert precision(suspicion.missing, is_hidden, 200) > 0.6


@pytest.mark.parametrize("p", [0.5, 0.8])
def test_no_label_has_more_missing_than_its_propensity_allows(p):
    corpus = make_corpus(n_rows=400, n_labels=60, propensity=p, random_state=0)
    found = audit(corpus.X, corpus.Y, propensity=p)
    recorded = np.array([each.recorded for each in found.labels()])
    missing = np.array([each.missing for each in found.labels()])
    chance = 2 * np.sqrt(recorded * (1 - p)) / p
    assert (missing <= recorded * (1 / p - 1) + chance + 1e-9).all()


def test_few_texts_that_are_told_apart_do_not_seem_to_lack_all_labels():
    texts = [f"{kind} book {n}" for n in range(8) for kind in ("cats", "dogs", "birds")]
    found = audit(np.array(texts), np.tile(np.eye(3, dtype=int), (8, 1)))
    assert sum(each.missing for each in found.labels()) < len(texts)
    assert max(chance for row in found.rows() for _, chance in row.missing) < 0.9
