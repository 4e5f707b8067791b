"""LabelPowerset and Popularity: what they promise beyond the common laws."""

import numpy as np
from numpy.testing import assert_array_equal

from manylabel import LabelPowerset, Popularity


def test_only_labelsets_of_training_are_predicted():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(100, 6)), rng.integers(0, 2, size=(100, 5))
    seen = {tuple(row) for row in Y[:60]}
    predicted = LabelPowerset().fit(X[:60], Y[:60]).predict(X)
    assert {tuple(row) for row in predicted} <= seen


def test_labelsets_are_distinct_and_most_frequent_first():
    Y = np.array([[0, 1], [1, 1], [1, 1], [0, 0], [1, 1], [0, 0]])
    model = LabelPowerset().fit(np.eye(6), Y)
    assert_array_equal(model.labelsets_.toarray(), [[1, 1], [0, 0], [0, 1]])


def test_separable_labelsets_are_learnt():
    centres = np.array([[3.0, 0, 0], [0, 3, 0], [0, 0, 3]])
    sets = np.array([[1, 1, 0], [0, 0, 0], [0, 1, 1]])
    which = np.random.default_rng(0).integers(0, 3, size=60)
    X = centres[which] + np.random.default_rng(1).normal(size=(60, 3)) / 10
    assert_array_equal(LabelPowerset().fit(X, sets[which]).predict(X), sets[which])


def test_popularity_ranks_by_frequency():
    Y = np.array([[1, 0, 1], [0, 0, 1], [0, 1, 1], [0, 1, 0]])
    scores = Popularity().fit(np.zeros((4, 2)), Y).decision_function(np.ones((1, 2)))
    assert_array_equal(scores, [[-0.25, 0.0, 0.25]])
