"""Missing labels in CSDPP: the penalty."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from manylabel import CSDPP


@given(st.integers(0, 2**32 - 1), st.sampled_from([0.2, [0.25, 0.75]]))
def test_a_penalty_grows_with_the_noise_of_the_targets(seed, propensity):
    rng = np.random.default_rng(seed)
    X = np.float64(rng.normal(size=(9, 3)).astype(np.float32))
    Y = rng.integers(0, 2, (9, 2))
    learner = CSDPP(
        n_components=1, l2_regularization=0.7, propensity=propensity, basis="correct"
    )
    rows = np.hstack([X, np.ones((len(X), 1))])
    A = 0.7 / np.mean(propensity) * np.eye(rows.shape[1]) + rows.T @ rows
    inverse = learner.fit(X, Y).state_.inverse
    assert_allclose(inverse @ A, np.eye(len(A)), atol=1e-7)
    target = 2 * Y / np.broadcast_to(propensity, Y.shape) - 1  # of Hamming loss
    ridge = np.linalg.solve(A, rows.T @ target / np.sqrt(Y.shape[1]))
    assert_allclose(learner.coef_, ridge, atol=1e-7)
