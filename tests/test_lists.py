"""Lists of labels, against the matrices that they stand for."""

import numpy as np
from numpy.testing import assert_array_equal

from manylabel.lists import Lists, where, with_rows

LISTS = Lists(np.r_[0, 1, 3], np.r_[1, 0, 3], np.float32([0.5, -2, 2]))
SEEN, OTHERS = np.array([True, True, False, True]), np.float32([-5, -9])
FULL = [[-5, 0.5, -9, -5], [-2, -5, -9, 2]]


def test_lists_hold_what_a_matrix_does():
    assert_array_equal(LISTS.csr(4).toarray(), [[0, 0.5, 0, 0], [-2, 0, 0, 2]])


def test_labels_not_listed_are_as_they_were_seen_or_not():
    assert_array_equal(LISTS.dense(SEEN, OTHERS), FULL)


def test_the_best_are_those_of_all_labels():
    for k in (1, 2, 3, 4, 9):
        found = LISTS.best(k, SEEN, OTHERS)
        for row, scores in enumerate(np.array(FULL)):
            order = np.argsort(-scores, kind="stable")[:k]
            assert_array_equal(found[[row]].indices, np.sort(order))
            assert_array_equal(found[[row]].data, scores[np.sort(order)])


def test_some_labels_are_kept_by_their_number():
    assert_array_equal(LISTS.above(0).csr(4).toarray(), [[0, 0.5, 0, 0], [0, 0, 0, 2]])
    assert LISTS.above(9).csr(4).nnz == 0


def test_rows_are_replaced_in_their_places():
    found = with_rows(LISTS.csr(4), np.array([0]), LISTS.csr(4)[[1]])
    assert_array_equal(found.toarray(), LISTS.csr(4)[[1, 1]].toarray())


def test_given_labels_are_ones_in_their_columns():
    rng = np.random.default_rng(0)
    for shape in ((5, 7), (1, 7), (5, 1), (0, 7), (1, 1)):
        is_given = rng.random(shape) < 0.4
        found = where(is_given)
        assert found.shape == shape
        assert found.has_canonical_format
        assert_array_equal(found.toarray(), is_given)
