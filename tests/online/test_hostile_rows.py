"""Single rows that nobody should send: one sentence, and the learner is as it was."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal

import manylabel as ml
from manylabel import CSDPP

ONLINE = (
    *(CSDPP, ml.OnlineBinaryRelevance),
    *(ml.OnlineRandomProjection, ml.OnlineCompressedSensing),
)
nan, inf = float("nan"), float("inf")
VALUES = [
    ({0: 10**400}, {0}, "x must have finite float32 numbers. Got 1000"),
    ({0: -(10**400)}, {0}, "x must have finite float32 numbers. Got -1000"),
    ({0: 10**5000}, {0}, "Got an integer too long to be printed for 0"),
    ({0: Fraction(10**400)}, {0}, "x must have finite float32 numbers"),
    ({0: 1e300}, {0}, r"x must have finite float32 numbers. Got 1e\+300 for 0"),
    ({0: nan}, {0}, "x must have finite float32 numbers. Got nan for 0"),
    ({0: -inf}, {0}, "x must have finite float32 numbers. Got -inf for 0"),
    ({0: "1"}, {0}, "x must have finite float32 numbers. Got '1' for 0"),
    ({0: None}, {0}, "x must have finite float32 numbers. Got None for 0"),
    ({0: 1j}, {0}, "x must have finite float32 numbers. Got 1j for 0"),
    ({-1: 1.0}, {0}, "x must have columns from 0 to 3. Got -1"),
    ({True: 1.0}, {0}, "x must have columns from 0 to 3. Got True"),
    ({1.0: 1.0}, {0}, "x must have columns from 0 to 3. Got 1.0"),
    ({nan: 1.0}, {0}, "x must have columns from 0 to 3. Got nan"),
    ({"a": 1.0, 1: 2.0}, {0}, "x must have columns from 0 to 3. Got 'a'"),
    ({(1, 2): 1.0}, {0}, r"x must have columns from 0 to 3. Got \(1, 2\)"),
    ([1.0, 2.0], {0}, "x must be a mapping of columns to numbers. Got list"),
    (None, {0}, "x must be a mapping|not iterable"),
    ({0: 1.0}, {-1}, "y must have columns from 0 to 2. Got -1"),
    ({0: 1.0}, {True}, "y must have columns from 0 to 2. Got True"),
    ({0: 1.0}, "ab", "y must have columns from 0 to 2. Got 'a'"),
    ({0: 1.0}, None, "not iterable"),
    ({0: 1.0}, [[0]], "unhashable"),
]
WIDE = [
    ({2**31: 1.0}, {0}, "x must have columns of at most 2147483647. Got 2147483648"),
    ({2**62: 1.0}, {0}, "x must have columns of at most 2147483647"),
    ({10**5000: 1.0}, {0}, "x must have columns of at most 2147483647"),
    ({2**31 - 1: 1.0}, {0}, "New columns must not take more than|at most 20000 feat"),
    ({2**29: 1.0}, {0}, "New columns must not take more than|at most 20000 features"),
    ({0: 1.0}, {2**40}, "y must have columns of at most 2147483647"),
    ({0: 1.0}, {2**31 - 1}, "New columns must not take more than .* at once"),
    ({0: 1.0}, {2**22}, "New columns must not take more than .* 4194305 labels"),
]


def check_refusal(learner, x, y, reason):
    """Refuse a row twice, with nothing learnt on the way."""
    before = learner.get_state() if hasattr(learner, "state_") else None
    for _ in range(2):
        with pytest.raises((TypeError, ValueError), match=reason) as caught:
            learner.learn_one(x, y)
        assert len(str(caught.value)) < 200
    if before is None:
        assert not hasattr(learner, "state_")
        return
    for name, value in learner.get_state().items():
        assert_array_equal(value, before[name], err_msg=name)
    assert learner.learn_one({0: 1.0}, {0}).n_seen_ == 5


@pytest.mark.parametrize("kind", ONLINE)
@pytest.mark.parametrize(("x", "y", "reason"), VALUES)
def test_a_bad_row_is_refused(kind, x, y, reason):
    learner = kind().fit(np.eye(4), np.eye(4)[:, :3])
    check_refusal(learner, x, y, reason)


@pytest.mark.parametrize("regressor", ["ridge", "gradient"])
@pytest.mark.parametrize(("x", "y", "reason"), VALUES + WIDE)
def test_a_bad_row_makes_nothing_grow(regressor, x, y, reason):
    learner = CSDPP(grow=True, regressor=regressor)
    check_refusal(learner.fit(np.eye(4), np.eye(4)[:, :3]), x, y, reason)


@pytest.mark.parametrize("regressor", ["ridge", "gradient"])
@pytest.mark.parametrize(("x", "y", "reason"), WIDE)
def test_a_bad_row_begins_nothing(regressor, x, y, reason):
    check_refusal(CSDPP(grow=True, regressor=regressor), x, y, reason)


def test_a_wide_matrix_makes_nothing_grow():
    learner = CSDPP(grow=True, regressor="gradient").fit(np.eye(4), np.eye(4))
    wide = sp.csr_array(([1.0], [2**40], [0, 1]), shape=(1, 2**40 + 1))
    with pytest.raises(ValueError, match="New columns must not take more than"):
        learner.partial_fit(wide, np.ones((1, 1)))
    assert learner.n_features_in_ == 4


def test_a_bad_row_is_refused_in_prediction():
    learner = CSDPP(grow=True).fit(np.eye(4), np.eye(4))
    for x in ({0: 10**400}, {-1: 1.0}, {0: nan}, [1.0], {2**40: 1.0}):
        with pytest.raises((TypeError, ValueError), match="x must "):
            learner.predict_one(x)
    assert learner.predict_one({2**30: 1.0}) == learner.predict_one({})


def test_an_empty_row_is_learnt():
    learner = CSDPP(grow=True).learn_one({}, [])
    assert learner.learn_one({}, {1}).n_seen_ == 2
