"""What a learner of a stream loses against the best fixed code and regressor."""

from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from manylabel import _validation
from manylabel._typing import Array, Floats, MatrixLike
from manylabel.losses import as_cost
from manylabel.losses.named import Hamming
from manylabel.online import CSDPP

ROUNDING = 1e-6  # of features in single precision


class Regret(NamedTuple):
    """Errors row by row, ours and those of who knew the whole stream.

    Attributes
    ----------
    loss : ndarray of shape (n_rows,)
        Error of the learner just before it learns each row.
    best : ndarray of shape (n_rows,)
        Error of the best fixed pair, PLST and least squares on all rows.
    difference : ndarray of shape (n_rows,)
        Spectral norm of the expected projection less that of PLST (equation 10).
    bound : float
        What Theorem 3 says of the sum of ``loss - best``; infinite unless the learner
        has ``basis="correct"`` and ridge regression, and rows are no longer than 1.
    """

    loss: Floats
    best: Floats
    difference: Floats
    bound: float

    @property
    def average(self) -> Floats:
        """Average regret after each row (equation 8), against the best of all rows."""
        n_rows = np.arange(1, len(self.loss) + 1)
        return np.asarray(np.cumsum(self.loss - self.best) / n_rows)


def regret(learner: CSDPP, X: MatrixLike, Y: MatrixLike) -> Regret:
    """Run DPP on a stream, beside the best fixed code and regressor.

    With y the labels as +1 and -1 divided by sqrt(K), the error of a row is
    ``|W'x - Py|^2 + |(I - P'P) y|^2``, at least its Hamming loss. The learner's is
    taken just before it learns the row; the other's P are the principal directions of
    all labels, its W is H P' with H the least squares solution of all rows, without a
    penalty (Chu, Huang & Lin 2019, equations 8 to 10 and Theorem 3).

    Parameters
    ----------
    learner : CSDPP
        For Hamming loss, with the origin as reference and without ``propensity`` or
        ``grow``. A clone of it learns.
    X : array or sparse array of shape (n_rows, n_features)
        Features, in the order of the stream. Made dense.
    Y : array or sparse array of shape (n_rows, n_labels)
        Labels, 0/1. Made dense.

    Returns
    -------
    Regret
        Errors of both, how far the projections differ, and the bound.

    Notes
    -----
    A row takes O(K^3 + dK), so this is for thousands of rows and some hundred labels.
    With ``selection="sampled"`` and ``basis="correct"`` the error is its expectation
    over the draw, as in equation 8; other bases depend on what was drawn before, and
    the error is that of the draw. The theorem takes a penalty of 1; another, lambda,
    multiplies the squared length of H and divides T / d.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 3))
    >>> Y = (X @ rng.normal(size=(3, 5)) > 0).astype(int)
    >>> X /= 2 * np.linalg.norm(X, axis=1, keepdims=True)
    >>> found = regret(CSDPP(n_components=2, basis="correct"), X, Y)
    >>> bool(found.average[-1] < found.average[50] / 2)
    True
    """
    _check(learner)
    features = _validation.feature_matrix(X)
    labels = _validation.labels(Y, n_rows=features.shape[0])
    codes = (2.0 * labels.toarray() - 1) / np.sqrt(labels.shape[1])
    rows = np.hstack([features.toarray(), np.ones((len(codes), 1))])
    rows[:, -1] = float(bool(learner.fit_intercept))
    best, H, projection = _plst(rows, codes, learner)
    ours, loss, difference, epsilon = clone(learner), [], [], 0.0
    scores, expected = np.zeros(codes.shape[1]), np.zeros_like(projection)
    for i, (x, y) in enumerate(zip(rows, codes, strict=True)):
        if i:
            scores, expected = _predicted(ours, x)
        error = scores - y
        epsilon = max(epsilon, float(error @ error))
        kept = error @ expected @ error if _is_corrected(learner) else None
        loss.append(error @ error if kept is None else kept + y @ y - y @ expected @ y)
        difference.append(np.linalg.norm(expected - projection, 2))
        ours.partial_fit(features[[i]], labels[[i]])
    sizes = (float(np.sum(difference)), epsilon, float(np.sum(H**2)))
    bound = _bound(learner, rows, ours, *sizes)
    return Regret(np.array(loss), best, np.array(difference), bound)


def _plst(rows: Array, codes: Array, learner: CSDPP) -> tuple[Floats, Floats, Floats]:
    """Return errors of the best fixed pair, its H, and its projection."""
    n_components = _validation.code_size(learner.n_components, codes.shape[1])
    P = np.linalg.eigh(codes.T @ codes)[1][:, -n_components:].T
    H = np.linalg.lstsq(rows, codes, rcond=None)[0]
    errors = rows @ H @ P.T @ P - codes
    return np.asarray((errors**2).sum(axis=1)), H, P.T @ P


def _predicted(learner: CSDPP, x: Array) -> tuple[Floats, Floats]:
    """Return H'x, or P'W'x where there is no H, and the expectation of P'P."""
    state, Q = learner.state_, learner.basis_
    picked = state.picked[: state.counters[1]]
    P = Q[picked]
    if not _is_corrected(learner):
        return (x @ learner.coef_)[: len(P)] @ P, P.T @ P
    if learner.selection == "sampled" and len(Q) > len(P):
        return x @ learner.coef_, (Q.T * state.pca.sigma[: len(Q)]) @ Q
    return x @ learner.coef_, P.T @ P


def _bound(
    learner: CSDPP,
    rows: Array,
    ours: CSDPP,
    differences: float,
    epsilon: float,
    square: float,
) -> float:
    """Return the bound of Theorem 3, infinite where it does not apply."""
    is_short = np.linalg.norm(rows, axis=1).max() <= 1 + ROUNDING
    if not (_is_corrected(learner) and learner.regressor == "ridge" and is_short):
        return np.inf
    M, T, penalty = len(ours.state_.picked), len(rows), learner.l2_regularization
    d = rows.shape[1] - (not learner.fit_intercept)  # else the last column is 0
    growth = 2 * epsilon * M * d * np.log1p(T / (penalty * d))
    return float((1 + epsilon) * differences + penalty * M / 2 * square + growth)


def _is_corrected(learner: CSDPP) -> bool:
    return learner.basis == "correct"


def _check(learner: Any) -> None:
    if not isinstance(learner, CSDPP):
        raise TypeError(f"learner must be a CSDPP. Got {type(learner).__name__}.")
    if not isinstance(as_cost(learner.cost), Hamming):
        raise ValueError(
            f'Theorem 3 is about cost="hamming". Got {as_cost(learner.cost).name!r}.'
        )
    if learner.propensity is not None or learner.grow or learner.reference != "zero":
        raise ValueError(
            'learner must have reference="zero", and neither propensity nor grow.'
        )
