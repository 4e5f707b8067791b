"""Which rows are held out."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from manylabel.model_selection.holdout import (
    FEWEST,
    MOST,
    hold_out,
    hold_out_in_turn,
)


@given(st.integers(FEWEST, 60_000), st.integers(0, 2**32 - 1), st.integers(2, 12))
def test_a_share_of_the_rows_is_held_out_and_no_row_is_in_both(n_rows, seed, one_in):
    train, held = hold_out(n_rows, seed, one_in=one_in)
    assert len(held) == min(n_rows // one_in, MOST)
    assert_array_equal(np.sort(np.concatenate([train, held])), np.arange(n_rows))
    assert (np.diff(train) > 0).all()
    assert (np.diff(held) > 0).all()


@given(st.integers(5, 999), st.integers(0, 2**32 - 1), st.integers(2, 5))
def test_in_turn_each_row_is_held_out_once(n_rows, seed, n_folds):
    splits = hold_out_in_turn(n_rows, seed, n_folds=n_folds)
    held = np.concatenate([split.held for split in splits])
    assert_array_equal(np.sort(held), np.arange(n_rows))
    for train, some in splits:
        assert_array_equal(np.sort(np.concatenate([train, some])), np.arange(n_rows))


@pytest.mark.parametrize("n_rows", [0, 1, FEWEST - 1])
def test_few_rows_are_all_learnt(n_rows):
    for part in hold_out(n_rows, 0):
        assert_array_equal(part, np.arange(n_rows))


def test_the_seed_decides_and_a_generator_goes_on():
    assert_array_equal(hold_out(99, 3).held, hold_out(99, 3).held)
    assert (hold_out(99, 3).held != hold_out(99, 4).held).any()
    rng = np.random.default_rng(3)
    first, second = hold_out(99, rng).held, hold_out(99, rng).held
    assert (first != second).any()
    assert_array_equal(first, hold_out(99, np.random.default_rng(3)).held)
