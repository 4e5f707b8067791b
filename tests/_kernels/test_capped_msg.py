"""Capped MSG: its step, its projection, and that the basis stays orthonormal."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from manylabel._kernels._jit import kernel
from manylabel._kernels.cs_dpp import capped_msg
from manylabel.online._memory import PCA

SEEDS = st.integers(0, 2**32 - 1)


def project_by_bisection(values, total):
    low, high = -values.max() - 1, 2 - values.min()
    for _ in range(100):
        middle = (low + high) / 2
        too_small = np.clip(values + middle, 0, 1).sum() < total
        low, high = (middle, high) if too_small else (low, middle)
    return np.clip(values + high, 0, 1)


@kernel
def update(*arguments):
    return capped_msg.update(*arguments)


class Learner:
    """The kernel with its state."""

    def __init__(self, n_components, n_labels):
        n_block = capped_msg.block_rows(n_components)
        self.pca = PCA(
            sizes=np.zeros(2, np.int64),
            block=np.zeros((n_block, n_labels)),
            mix=np.zeros((n_components + 2, n_block)),
            sigma=np.zeros(n_components + 2),
        )
        self.scratch = capped_msg.make_scratch(self.pca.mix, n_labels)

    def step(self, vector, rate, noise=()):
        """Take one step."""
        noisy = np.flatnonzero(noise)
        variances = np.asarray(noise, float)[noisy]
        given = (vector, len(noisy), noisy, variances, rate, capped_msg.ANY)
        update(*given, self.pca, self.scratch)

    @property
    def basis(self):
        """Return Q."""
        return self.pca.mix[: self.pca.sizes[0]] @ self.pca.block

    @property
    def matrix(self):
        """Return U = Q' diag(sigma) Q."""
        return self.basis.T @ (self.pca.sigma[: self.pca.sizes[0], None] * self.basis)


@given(SEEDS, st.integers(1, 8), st.sampled_from([0.1, 1.0, 5.0]), st.booleans())
def test_projection_agrees_with_bisection(seed, n, scale, ties):
    rng = np.random.default_rng(seed)
    values = np.sort(rng.normal(size=n) * scale)[::-1].copy()
    values = np.round(values) if ties else values
    total = int(rng.integers(0, n + 1))
    out = np.full(n, np.nan)
    capped_msg.project_sum(values, n, total, out)
    assert_allclose(out, project_by_bisection(values, total), atol=1e-9)


@given(SEEDS, st.integers(1, 4), st.integers(5, 8))
def test_step_is_the_capped_and_projected_gradient_step(seed, n_components, n_labels):
    """Compare with the eigendecomposition of the whole matrix (Arora et al. 2013)."""
    rng = np.random.default_rng(seed)
    learner = Learner(n_components, n_labels)
    for t in range(1, 12):
        vector = rng.normal(size=n_labels) / np.sqrt(n_labels)
        moved = learner.matrix + 0.5 / t * np.outer(vector, vector)
        values, vectors = np.linalg.eigh(moved)
        kept = min(t, n_components + 1)
        sigma = project_by_bisection(values[::-1][:kept], min(n_components, kept))
        rows = vectors.T[::-1][:kept]
        learner.step(vector, 0.5 / t)
        assert_allclose(learner.matrix, rows.T @ (sigma[:, None] * rows), atol=1e-7)


@given(SEEDS, st.integers(1, 4), st.integers(5, 8))
def test_step_leaves_out_the_noise_within_the_basis(seed, n_components, n_labels):
    """Noise outside of the old basis and the input would only lower a zero."""
    rng = np.random.default_rng(seed)
    learner = Learner(n_components, n_labels)
    for t in range(1, 12):
        vector = rng.normal(size=n_labels) / np.sqrt(n_labels)
        noise = 0.3 * rng.random(n_labels) * (rng.random(n_labels) < 0.5)
        span, _ = np.linalg.qr(np.vstack([learner.basis, vector]).T)
        step = np.outer(vector, vector) - np.diag(noise)
        moved = span.T @ (learner.matrix + 0.5 / t * step) @ span
        values, vectors = np.linalg.eigh(moved)
        kept = min(t, n_components + 1)
        sigma = project_by_bisection(values[::-1][:kept], min(n_components, kept))
        rows = vectors.T[::-1][:kept] @ span.T
        learner.step(vector, 0.5 / t, noise)
        assert_allclose(learner.matrix, rows.T @ (sigma[:, None] * rows), atol=1e-7)


@kernel
def take_many_steps(vectors, n_steps, share, none, pca, scratch):
    for t in range(1, n_steps + 1):
        vector, rate = vectors[t % len(vectors)], 2 / np.sqrt(t) * share
        given = (vector, 0, none, scratch.values, rate, capped_msg.ANY)
        capped_msg.update(*given, pca, scratch)


@pytest.mark.slow
def test_basis_stays_orthonormal_over_a_million_steps():
    rng = np.random.default_rng(0)
    learner, none = Learner(3, 10), np.empty(0, np.int64)
    vectors = np.sign(rng.normal(size=(9973, 10))) / np.sqrt(10)
    take_many_steps(vectors, 1_000_000, 0.3, none, learner.pca, learner.scratch)
    assert_allclose(learner.basis @ learner.basis.T, np.eye(4), atol=1e-12)


def test_rotation_tells_where_the_rows_went():
    rng = np.random.default_rng(0)
    learner = Learner(2, 6)
    for _ in range(5):
        old, vector = learner.basis, rng.normal(size=6)
        learner.step(vector, 0.3)
        overlap, scratch = learner.basis @ old.T, learner.scratch
        n_new, n_old = overlap.shape
        assert_allclose(scratch.vectors[:n_new, :n_old], overlap, atol=1e-12)
        assert_allclose(scratch.in_basis[:n_old], old @ vector, atol=1e-12)


def test_a_repeated_vector_adds_no_direction():
    learner = Learner(3, 5)
    for _ in range(4):
        learner.step(np.ones(5) / np.sqrt(5), 0.5)
    assert learner.pca.sizes[0] == 1
