"""Which rows of a stream are ranked before they are learnt."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from manylabel.online._window import N_ROWS, count_ranked, is_ranked


@given(st.integers(0, 10_000))
def test_rows_that_are_ranked_are_counted(n_seen):
    assert count_ranked(n_seen) == is_ranked(np.arange(n_seen)).sum()


def test_of_a_stream_of_some_length_the_first_half_is_forgotten():
    for n_seen in (4 * N_ROWS, 5_000, 20_000):
        ranked = np.flatnonzero(is_ranked(np.arange(n_seen)))
        assert ranked[-N_ROWS:].min() > 0.4 * n_seen
