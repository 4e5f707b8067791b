"""The probability that a true label is recorded."""

from typing import Annotated, Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from manylabel import _validation
from manylabel._typing import CSR, Floats, MatrixLike
from manylabel.persistence.records import Field, Values, Within
from manylabel.propensity._law import (
    LEAST,
    as_line,
    check_possible,
    find_least,
    find_preset,
    recorded_law,
)
from manylabel.propensity._mixture import find_levels
from manylabel.propensity._shrinkage import estimate_share, fit_prior


class Propensity(BaseEstimator):  # type: ignore[misc]
    """The probability that a true label is recorded, one value per label.

    A label recorded in N_l of N rows has ``1 / p = 1 + C (N_l + b) ** -a`` with
    ``C = (log(N) - 1) (b + 1) ** a``: rare labels are forgotten most [1]_.

    Parameters
    ----------
    a : float, default=0.55
        How fast a label's propensity grows with its frequency.
    b : float, default=1.5
        Offset of the frequency.
    values : array of shape (n_labels,), float or None, default=None
        Propensities that are known; ``a`` and ``b`` then have no effect.

    Attributes
    ----------
    values_ : ndarray of shape (n_labels,)
        Propensities in (0, 1].
    interval_ : ndarray of shape (2, n_labels)
        After ``from_audit``: the lower and upper ends of their intervals of 95 %.
    overall_ : ndarray of shape (3,)
        After ``from_audit``: the share of all true labels that is recorded, and the
        ends of its interval of 95 %.
    law_ : ndarray of shape (3,)
        After ``from_audit``: level and slope of the log odds by ``log(N_l + b)``, and
        how many occurrences this law counts for.

    Notes
    -----
    C is negative for N = 1 and 2. It is then taken as 0, so that all propensities are
    1: nothing can be said about what is missing from so few rows.

    ``sklearn.base.clone`` keeps parameters and forgets what was fitted.
    ``Propensity.given(fitted.values_)`` survives it: its ``fit`` only checks the number
    of labels.

    References
    ----------
    .. [1] Jain, Prabhu & Varma, "Extreme Multi-label Loss Functions for Recommendation,
       Tagging, Ranking & Other Missing Label Applications", KDD 2016.

    Examples
    --------
    >>> Y = [[1, 0]] * 9 + [[0, 1]]
    >>> Propensity(a=0.55, b=1.5).fit(Y).values_.round(2)
    array([0.63, 0.43])
    >>> Propensity.preset("Amazon-670K")
    Propensity(a=0.6, b=2.6)
    >>> Propensity.given([0.9, 0.3]).values_
    array([0.9, 0.3])
    """

    values_: Annotated[Floats, Field("float64", "n_labels", Within(LEAST, 1))]
    interval_: Annotated[Floats, Values("2, n_labels", "f", optional=True)]
    overall_: Annotated[Floats, Values("3", "f", optional=True)]
    law_: Annotated[Floats, Values("3", "f", optional=True)]

    def __init__(
        self, *, a: float = 0.55, b: float = 1.5, values: ArrayLike | None = None
    ) -> None:
        self.a = a
        self.b = b
        self.values = values

    @classmethod
    def preset(cls, name: str) -> Self:
        """Return the unfitted model that is used for a known data set.

        Parameters
        ----------
        name : str
            Name in the Extreme Classification Repository; case, spaces and hyphens do
            not matter. An unknown name is refused, because a misspelt one would change
            the figures silently; ``Propensity()`` is what other data sets use.

        Returns
        -------
        Propensity
            With the ``a`` and ``b`` of that data set.

        Examples
        --------
        >>> Propensity.preset("wikipedia 500k")
        Propensity(a=0.5, b=0.4)
        """
        a, b = find_preset(name)
        return cls(a=a, b=b)

    @classmethod
    def given(cls, values: ArrayLike) -> Self:
        """Return a fitted model with known propensities.

        Parameters
        ----------
        values : array of shape (n_labels,)
            Propensities in (0, 1].

        Returns
        -------
        Propensity
            Its ``values_`` are a copy of ``values``.

        Examples
        --------
        >>> Propensity.given([0.5, 1.5])
        Traceback (most recent call last):
        ...
        ValueError: propensity must lie in (0, 1]. Got 1.5 for label 1.
        """
        checked = _validation.propensities(values, np.size(values))
        model = cls(values=checked)
        model.values_ = checked.copy()
        return model

    @classmethod
    def from_audit(
        cls,
        recorded: MatrixLike,
        complete: MatrixLike,
        *,
        Y: MatrixLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Return a fitted model, estimated from rows whose complete labels are known.

        A label that was often true in these rows has the share of them that was
        recorded, a rare one nearly what labels of its frequency have: a line of log
        odds by log frequency, as the law is, fitted to all labels together.

        Parameters
        ----------
        recorded : array or sparse array of shape (n_rows, n_labels)
            Labels of the audited rows as they were recorded, 0/1. The rows must have
            been drawn without a look at their labels: whoever audits rows *because* a
            label is recorded finds that it always is.
        complete : array or sparse array of shape (n_rows, n_labels)
            All true labels of the same rows, 0/1.
        Y : array or sparse array of shape (n_all, n_labels) or None, default=None
            The recorded labels of all rows, which tell how frequent a label is; None is
            ``recorded``.
        sample_weight : array of shape (n_rows,) or None, default=None
            How many rows each audited one stands for, in ``overall_``.

        Returns
        -------
        Propensity
            With ``interval_``, ``overall_`` and ``law_``.

        Notes
        -----
        With r of t true occurrences recorded, ``values_`` is ``(r + s m) / (t + s)``:
        the mean m by frequency and its strength s have the largest posterior of the
        beta-binomial model, about the law of Jain et al. See the page on audits.

        Examples
        --------
        >>> complete = [[1, 1]] * 40
        >>> recorded = [[1, 1]] * 10 + [[1, 0]] * 30
        >>> audited = Propensity.from_audit(recorded, complete)
        >>> audited.values_.round(2)
        array([0.99, 0.27])
        >>> audited.interval_.round(2)
        array([[0.93, 0.15],
               [1.  , 0.42]])
        >>> audited.overall_.round(2)
        array([0.62, 0.56, 0.69])
        """
        known = _validation.labels(complete, name="complete")
        seen = _validation.labels(
            recorded, n_rows=known.shape[0], n_labels=known.shape[1], name="recorded"
        )
        _check_subset(seen, known)
        if known.nnz == 0:
            raise ValueError("complete must hold at least one label. Got none.")
        weights = _validation.row_weights(sample_weight, known.shape[0])
        every = seen if Y is None else _validation.labels(Y, n_labels=known.shape[1])
        counts, n_all = _frequencies(every), every.shape[0]
        law, places = cls(), np.log(counts + cls().b)
        occurrences = _frequencies(seen), _frequencies(known)
        prior = fit_prior(*occurrences, places, as_line(n_all, law.a, law.b))
        values, interval = prior.posterior(*occurrences, places)
        least = find_least(counts, n_all)
        model = cls.given(np.clip(values, least, 1))
        model.interval_ = np.clip(interval, least, 1)
        found, there = np.diff(seen.indptr), np.diff(known.indptr)
        model.overall_ = estimate_share(found, there, weights)
        model.law_ = np.array([*prior.line, prior.strength])
        return model

    @classmethod
    def mixture(cls, Y: MatrixLike, scores: MatrixLike) -> Self:
        """Return a fitted model, estimated from scores where nothing was audited.

        Labels that are about as frequent share one value: the share of recorded labels
        at which the highest scores level off.

        Parameters
        ----------
        Y : array or sparse array of shape (n_rows, n_labels)
            Recorded labels, 0/1.
        scores : array or sparse array of shape (n_rows, n_labels)
            How a learner that has *not* seen a row scores its labels; of a sparse array
            the stored entries, as ``predict_topk`` returns them.

        Returns
        -------
        Propensity
            With a value for each band of labels.

        Warnings
        --------
        It assumes that whether a true label is recorded does not depend on the item
        (Elkan & Noto 2008), that the probability of a true label is logistic in the
        score, and so that the highest scores are surely true. If the learner is never
        sure, or if hard items are forgotten more often, the values are too small or
        too large, and nothing in the data tells. A band whose highest scores are not
        even by its own curve surely true has a warning. An audit assumes none of this.

        Examples
        --------
        >>> rng = np.random.default_rng(0)
        >>> scores = rng.normal(size=(4000, 1))
        >>> is_true = rng.random(scores.shape) < 1 / (1 + np.exp(-8 * scores))
        >>> Y = is_true & (rng.random(scores.shape) < 0.4)
        >>> Propensity.mixture(Y, scores).values_.round(2)
        array([0.39])
        """
        recorded = _validation.labels(Y)
        given = _validation.scores(scores, n_rows=recorded.shape[0])
        if given.shape[1] != recorded.shape[1]:
            raise ValueError(
                f"scores must have {recorded.shape[1]} columns. Got {given.shape[1]}."
            )
        counts = _frequencies(recorded)
        values = find_levels(recorded, given, counts)
        return cls.given(np.clip(values, find_least(counts, recorded.shape[0]), 1))

    def fit(self, Y: MatrixLike) -> Self:
        """Set ``values_`` from the label frequencies of ``Y``, or from ``values``.

        Parameters
        ----------
        Y : array or sparse array of shape (n_rows, n_labels)
            Recorded labels, 0/1. ``values`` under which so many labels could not have
            been recorded, were they true in all rows, are refused.

        Returns
        -------
        Propensity
            Itself.
        """
        self._check_parameters()
        Y = _validation.labels(Y)
        if self.values is not None:
            self.values_ = _validation.propensities(self.values, Y.shape[1])
            check_possible(self.values_, _frequencies(Y), Y.shape[0])
            return self
        self.values_ = recorded_law(_frequencies(Y), Y.shape[0], self.a, self.b)
        return self

    def _check_parameters(self) -> None:
        _validation.number(self.a, "a", least=0)
        _validation.number(self.b, "b", above=0)


def _frequencies(Y: CSR) -> Any:
    return np.bincount(Y.indices, minlength=Y.shape[1])


def _check_subset(observed: CSR, complete: CSR) -> None:
    extra = observed - observed.multiply(complete)
    extra.eliminate_zeros()
    if extra.nnz:
        row, label = (int(places[0]) for places in extra.nonzero())
        raise ValueError(
            f"recorded must hold only labels of complete. "
            f"Got label {label} in row {row}, which complete lacks."
        )
