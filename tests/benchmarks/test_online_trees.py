"""The benchmark of online label trees judges what it says it judges."""

import gzip
import json

import numpy as np
import pytest
import scipy.sparse as sp

import manylabel as ml
from benchmarks import online_trees


def test_new_labels_are_looked_for_at_their_6th_to_10th_occurrence():
    # Label 0 is known from the first file; label 1 comes 12 times in the second.
    Y = sp.csr_array(np.array([[1, 0]] * 3 + [[0, 1]] * 12))
    best = np.full((15, online_trees.K), -1)
    best[3 + 5 : 3 + 8, 2] = 1  # found at the 6th, 7th and 8th
    best[3 + 11, 0] = 1  # too late to count
    found = online_trees.found_among(best, Y, cut=3)
    assert found[-1] == 60.0
    assert found[2] == pytest.approx(100 / 12)


def test_ranked_columns_are_judged_as_evaluate_does():
    Y = sp.csr_array(np.eye(6)[:4])
    best = np.array(
        [[0, 1, 2, 3, 4], [0, 1, 2, 3, 4], [5, -1, -1, -1, -1], [3, 2, 1, 0, 4]]
    )
    flat = ml.Propensity.given(np.ones(6))
    first, five, scored, _ = online_trees.judged(best, Y, flat)
    assert (first, scored) == (50.0, 50.0)
    assert abs(five - 100 * 3 / 20) < 1e-9


def test_a_stream_of_texts_is_ranked_before_it_is_learnt(tmp_path, monkeypatch):
    rows = [
        {"text": f"red wine {n % 2}", "labels": ["drink", f"n{n % 2}"]}
        for n in range(12)
    ]
    for part in ("train", "test"):
        with gzip.open(tmp_path / f"{part}.jsonl.gz", "wt", encoding="utf-8") as file:
            file.writelines(json.dumps(row) + "\n" for row in rows)
    X, Y, cut = online_trees.read_texts(tmp_path)
    assert (X.shape[0], Y.shape, cut) == (24, (24, 3), 12)
    learner = online_trees.Ours(ml.OnlineLabelTree(), 3)
    monkeypatch.setattr(online_trees, "K", 2)
    best, *_ = online_trees.follow(learner, X, Y)
    assert (best[0] == -1).all()
    assert set(best[-1].tolist()) == set(Y.indices[-2:].tolist())
