"""What the tests of forests share."""

import pytest
from numpy.testing import assert_array_equal

from manylabel import make_corpus


@pytest.fixture(scope="package")
def problem():
    corpus = make_corpus(n_rows=200, n_features=60, n_labels=15, random_state=0)
    return corpus.X, corpus.Y


@pytest.fixture(scope="package")
def assert_same_state():
    def compare(one, other):
        mine, theirs = one.get_state(), other.get_state()
        assert mine.keys() == theirs.keys()
        for name, value in mine.items():
            assert_array_equal(value, theirs[name], err_msg=name)

    return compare
