"""Streams without an end: rounding adds up to nothing."""

import numpy as np
import pytest

from manylabel import CSDPP


@pytest.mark.slow
@pytest.mark.parametrize(
    "parameters",
    [
        {"regressor": "ridge"},
        {"regressor": "gradient"},
        {"regressor": "gradient", "basis": "correct", "learning_rate": "adagrad"},
        {"regressor": "gradient", "reference": "mean", "selection": "sampled"},
    ],
)
def test_a_million_rows_leave_the_basis_orthonormal(parameters):
    rng = np.random.default_rng(0)
    X, weights = rng.normal(size=(20_000, 6)), rng.normal(size=(6, 8))
    learner = CSDPP(n_components=3, cost="f1", **parameters)
    for turn in range(50):  # what is to be learnt moves, too
        moved = weights + 0.1 * turn * np.roll(weights, 1, axis=0)
        learner.partial_fit(X, (X @ moved > 1).astype(int))
    assert learner.n_seen_ == 1_000_000
    basis = learner.basis_
    assert np.abs(basis @ basis.T - np.eye(len(basis))).max() < 1e-6
    assert np.isfinite(learner.coef_).all()
    assert np.isfinite(learner.decision_function(X)).all()
