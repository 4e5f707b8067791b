"""The steps of LDKL follow the gradient, by finite differences."""

import numpy as np
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from manylabel._kernels.binary import local_kernel

SIGMA, STEEPNESS, ALPHA, SIZE = 0.7, 1.3, 0.1, 1e-3


def score(x, columns):
    """Return the score of a row that is shared out between children, of 3 nodes."""
    theta, w, v = np.split(np.append(x, 1) @ columns, [1, 4])
    turn = np.tanh(STEEPNESS * theta[0])
    share = np.array([1, (1 + turn) / 2, (1 - turn) / 2])
    return share @ (np.tanh(SIGMA * v) * w)


@given(st.integers(0, 2**32 - 1))
def test_a_step_follows_the_gradient(seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=4) * (rng.random(4) < 0.7)
    columns, side = rng.normal(0, 0.5, (5, 7)), rng.choice([-1, 1])
    loss = max(0.0, 1 - side * score(x, columns))
    gradient = np.zeros_like(columns)
    for place in np.ndindex(columns.shape):
        moved = [columns.copy(), columns.copy()]
        moved[0][place] += 1e-6
        moved[1][place] -= 1e-6
        gradient[place] = -side * (score(x, moved[0]) - score(x, moved[1])) / 2e-6
    gradient *= loss > 0
    X = sp.csr_array(x[None])
    parameters = local_kernel.Parameters(columns.copy(), np.ones(1))
    local_kernel.learn(
        *((X.indptr, X.indices, X.data), np.array([side], np.int8)),
        *(np.array([0]), parameters, (SIGMA, STEEPNESS, ALPHA, SIZE), 0),
        local_kernel.make_room(7),
    )
    expected = (1 - SIZE * ALPHA) * columns - SIZE * gradient
    found = parameters.columns * parameters.scale[0]
    assert_allclose(found, expected, atol=1e-10)
