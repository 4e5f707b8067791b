"""Measures on incomplete labels whose expectation is the value on complete ones.

A true label l is recorded with probability p_l; a false one never is. Dividing what a
recorded label brings by p_l makes up for the labels that were not recorded (Jain,
Prabhu & Varma 2016, supplement, Theorems 4.1 to 4.4). Each estimator returns one value
per row, of which the mean is the estimate; a single value may leave [0, 1].
"""

from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from manylabel import _validation
from manylabel._docstrings import described_like
from manylabel._typing import Floats, Ints, MatrixLike
from manylabel.losses.compared import Compared
from manylabel.losses.ranked import Ranked, cumulative_gain, dcg, ideal_dcg


def unbiased_hamming(Y: MatrixLike, predictions: MatrixLike, propensity: Any) -> Floats:
    """Estimate the Hamming loss of each row on complete labels (Theorem 4.4).

    Parameters
    ----------
    Y : array or sparse array of shape (n_rows, n_labels)
        Recorded labels, 0/1.
    predictions : array or sparse array of shape (n_rows, n_labels)
        Predicted labels, 0/1; they must not depend on which labels were recorded.
    propensity : Propensity, array of shape (n_labels,) or float
        Probability that a true label is recorded.

    Returns
    -------
    ndarray of shape (n_rows,)
        Estimated share of all labels that are predicted wrongly.

    Notes
    -----
    The theorem estimates the number of wrong labels; like :class:`Hamming`, this is
    that number divided by ``n_labels``, and so is its bound: rho is
    ``max(1 / p) / n_labels`` in :func:`concentration_bound`.

    Examples
    --------
    >>> unbiased_hamming([[1, 0, 0, 0]], [[0, 1, 0, 0]], propensity=0.5)
    array([0.75])
    """
    rows = Compared.of(Y, predictions)
    weights = 1 / _validation.propensities(propensity, rows.n_labels)
    recorded = rows.truth @ weights
    hits = rows.truth.multiply(rows.predictions) @ weights
    errors = rows.n_predicted + recorded - 2 * hits
    return np.asarray(errors / max(rows.n_labels, 1), np.float64)


def unbiased_precision(
    Y: MatrixLike, scores: MatrixLike, k: int, propensity: Any
) -> Floats:
    """Estimate P@k of each row on complete labels (Theorem 4.1).

    Parameters
    ----------
    Y : array or sparse array of shape (n_rows, n_labels)
        Recorded labels, 0/1.
    scores : array or sparse array of shape (n_rows, n_labels)
        Scores; they must not depend on which labels were recorded.
    k : int
        Ranking depth.
    propensity : Propensity, array of shape (n_labels,) or float
        Probability that a true label is recorded.

    Returns
    -------
    ndarray of shape (n_rows,)
        Estimates; in :func:`concentration_bound` rho is ``max(1 / p) / k`` over the
        ranked labels, and at most k labels of a row count as relevant.

    Examples
    --------
    >>> unbiased_precision([[1, 0, 0]], [[0.9, 0.5, 0.1]], k=2, propensity=0.5)
    array([1.])
    """
    (k,) = _validation.depths((k,))
    return cumulative_gain(Ranked.of(Y, scores, k, propensity).gains, k) / k


@described_like(unbiased_precision)
def unbiased_dcg(
    Y: MatrixLike,
    scores: MatrixLike,
    k: int,
    propensity: Any,
    *,
    n_relevant: ArrayLike | None = None,
) -> Floats:
    """Estimate DCG@k, or nDCG@k, of each row on complete labels.

    Parameters
    ----------
    n_relevant : array of shape (n_rows,) or None, default=None
        Number of true labels of each row, unrecorded ones too. With it the result
        estimates nDCG@k (Theorem 4.2), without it DCG@k (Theorem 4.1). The number of
        recorded labels in its place would bring the bias back.

    Returns
    -------
    ndarray of shape (n_rows,)
        Estimates.

    Examples
    --------
    >>> unbiased_dcg([[0, 1, 0]], [[0.9, 0.5, 0.1]], k=3, propensity=0.5).round(3)
    array([1.262])
    """
    (k,) = _validation.depths((k,))
    ranked = Ranked.of(Y, scores, k, propensity)
    gained = dcg(ranked.gains, k)
    if n_relevant is None:
        return gained
    return gained / ideal_dcg(_counts(n_relevant, ranked.n_rows), k)


def unbiased_normalized(Y: MatrixLike, losses: ArrayLike, shares: ArrayLike) -> Floats:
    """Estimate a loss divided by an unknown g*(y*) on complete labels.

    Such a loss is the sum over the true labels of ``losses``, divided by a number g*
    that depends on all true labels of the row: how many there are, or their ideal DCG.
    Theorem 4.2 needs to know it. Where labels are recorded in proportion, with
    probability ``shares[l] / g*``, nothing need be known of it (Corollary 4.2.1).

    Parameters
    ----------
    Y : array or sparse array of shape (n_rows, n_labels)
        Recorded labels, 0/1.
    losses : array of shape (n_rows, n_labels)
        What each label loses, or gains, where it is true; it must not depend on which
        labels were recorded.
    shares : float or array of shape (n_labels,)
        g of each label, above 0: the probability with which it is recorded, times g* of
        the row.

    Returns
    -------
    ndarray of shape (n_rows,)
        Sum over the recorded labels of ``losses / shares``.

    Notes
    -----
    The condition asks for rows with many true labels to record each of them more
    seldom: somebody who ticks so many labels however many fit. An estimate by
    propensities that do not depend on the row is biased there, and this one where they
    do not; rows of which all labels are known tell which it is.

    Examples
    --------
    Half of the four true labels are missed. Annotators tick about two, so g is 2:

    >>> missed = [[1, 1, 0, 0, 0]]
    >>> unbiased_normalized([[1, 0, 1, 0, 0]], missed, shares=2.0)
    array([0.5])
    """
    truth = Compared.of(Y, Y).truth
    values = np.asarray(losses, np.float64)
    if values.shape != truth.shape or not np.isfinite(values).all():
        raise ValueError(
            f"losses must hold finite numbers of shape {truth.shape}. "
            f"Got shape {values.shape}."
        )
    weights = np.asarray(shares, np.float64)
    if weights.shape not in ((), truth.shape[1:]):
        raise ValueError(
            f"shares must be one number or {truth.shape[1]}. Got shape {weights.shape}."
        )
    if not np.isfinite(weights).all() or weights.min(initial=np.inf) <= 0:
        raise ValueError("shares must be finite numbers above 0.")
    return np.asarray(truth.multiply(values / weights).sum(axis=1), np.float64)


def concentration_bound(
    rho: float, n_relevant: ArrayLike, *, n_rows: int, delta: float = 0.05
) -> float:
    """Return how far an estimate may lie from the value on complete labels.

    With probability at least ``1 - delta`` over which labels are recorded, the mean
    over rows of an unbiased estimate is within this half-width of the mean on complete
    labels (Theorem 4.3).

    Parameters
    ----------
    rho : float
        The most that one recorded label can change the estimate of its row, in absolute
        value: ``max(1 / p) / k`` for P@k, ``max(1 / p)`` for DCG@k and
        ``max(1 / p) / n_labels`` for the Hamming loss.
    n_relevant : int or array of shape (n_rows,)
        The largest number of labels of a row that can be recorded and change the
        estimate: at most its number of true labels, and at most k for P@k and DCG@k.
    n_rows : int
        Number of rows, which are recorded independently of each other.
    delta : float, default=0.05
        Probability with which the bound may fail.

    Returns
    -------
    float
        ``rho * sqrt(mean(n_relevant ** 2) * log(2 / delta) / (2 * n_rows))``.

    Notes
    -----
    By McDiarmid's inequality, so nothing is assumed about how the labels of one row
    depend on each other. In the proof for the Hamming loss, equations (35)-(36) need
    absolute values: a recorded label lowers the estimate where it is predicted.

    Examples
    --------
    >>> round(concentration_bound(rho=2.0, n_relevant=1, n_rows=10_000), 4)
    0.0272
    """
    for name, value, most in (("rho", rho, np.inf), ("delta", delta, 1)):
        if not isinstance(value, Real) or not 0 < value < most:
            raise ValueError(f"{name} must lie between 0 and {most}. Got {value!r}.")
    (n_rows,) = _validation.depths((n_rows,), name="n_rows")
    squares = _counts(n_relevant, n_rows).astype(np.float64) ** 2
    return float(rho * np.sqrt(squares.mean() * np.log(2 / delta) / (2 * n_rows)))


def _counts(n_relevant: ArrayLike, n_rows: int) -> Ints:
    counts = np.asarray(n_relevant)
    if counts.shape not in ((), (n_rows,)):
        raise ValueError(
            f"n_relevant must be one number or {n_rows}, one per row. "
            f"Got shape {counts.shape}."
        )
    if counts.dtype.kind not in "iu" or counts.min(initial=0) < 0:
        raise ValueError("n_relevant must hold integers of at least 0.")
    return np.broadcast_to(counts.astype(np.int64), n_rows)
