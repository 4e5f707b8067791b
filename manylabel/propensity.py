"""The probability that a true label is recorded."""

from collections.abc import Iterable
from numbers import Real
from typing import Annotated, Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils import check_scalar

from manylabel import _validation
from manylabel._typing import CSR, Floats, MatrixLike
from manylabel.persistence.records import Field, Within

# Data sets of the Extreme Classification Repository and the (a, b) used for each.
PRESETS = {
    "Bibtex": (0.55, 1.5),
    "Delicious": (0.55, 1.5),
    "Mediamill": (0.55, 1.5),
    "EURLex-4K": (0.55, 1.5),
    "Wiki10-31K": (0.55, 1.5),
    "AmazonCat-13K": (0.55, 1.5),
    "Delicious-200K": (0.55, 1.5),
    "WikiLSHTC-325K": (0.5, 0.4),
    "Wikipedia-500K": (0.5, 0.4),
    "Amazon-670K": (0.6, 2.6),
    "Amazon-3M": (0.6, 2.6),
}


LEAST = float(np.finfo(np.float64).tiny)  # above 0


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
        known = {_plain(key): pair for key, pair in PRESETS.items()}
        if _plain(name) not in known:
            raise ValueError(
                f"name must be one of {', '.join(PRESETS)}; for other data use "
                f"Propensity(). Got {name!r}."
            )
        a, b = known[_plain(name)]
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
    def estimated(
        cls, Y_observed: MatrixLike, Y_complete: MatrixLike, *, smoothing: float = 5.0
    ) -> Self:
        """Return a fitted model, estimated from rows whose complete labels are known.

        Parameters
        ----------
        Y_observed : array or sparse array of shape (n_rows, n_labels)
            Labels as they are usually recorded, 0/1.
        Y_complete : array or sparse array of shape (n_rows, n_labels)
            All true labels of the same rows, 0/1.
        smoothing : float, default=5.0
            Number of imagined occurrences of each label, recorded at the rate of all
            labels together: the share of a rare label's estimate that others decide.

        Returns
        -------
        Propensity
            With ``(recorded + smoothing * rate) / (true + smoothing)`` for each label.

        Examples
        --------
        >>> complete = [[1, 1]] * 10
        >>> observed = [[1, 1]] * 2 + [[1, 0]] * 8
        >>> Propensity.estimated(observed, complete).values_
        array([0.86666667, 0.33333333])
        """
        check_scalar(
            smoothing, "smoothing", Real, min_val=0, include_boundaries="neither"
        )
        complete = _validation.labels(Y_complete, name="Y_complete")
        n_rows, n_labels = complete.shape
        observed = _validation.labels(
            Y_observed, n_rows=n_rows, n_labels=n_labels, name="Y_observed"
        )
        _check_subset(observed, complete)
        if observed.nnz == 0:
            raise ValueError("Y_observed must hold at least one label. Got none.")
        rate = observed.nnz / complete.nnz
        recorded, true = _frequencies(observed), _frequencies(complete)
        return cls.given((recorded + smoothing * rate) / (true + smoothing))

    def fit(self, Y: MatrixLike) -> Self:
        """Set ``values_`` from the label frequencies of ``Y``, or from ``values``.

        Parameters
        ----------
        Y : array or sparse array of shape (n_rows, n_labels)
            Recorded labels, 0/1.

        Returns
        -------
        Propensity
            Itself.
        """
        self._check_parameters()
        Y = _validation.labels(Y)
        if self.values is not None:
            self.values_ = _validation.propensities(self.values, Y.shape[1])
            return self
        self.values_ = recorded_law(_frequencies(Y), Y.shape[0], self.a, self.b)
        return self

    def _check_parameters(self) -> None:
        _validation.number(self.a, "a", least=0)
        _validation.number(self.b, "b", above=0)


def recorded_law(n_recorded: ArrayLike, n_rows: int, a: float, b: float) -> Floats:
    """Return the propensities of labels that were recorded so often in so many rows.

    Examples
    --------
    >>> recorded_law([9, 1], 10, 0.55, 1.5).round(2)
    array([0.63, 0.43])
    """
    c = max(np.log(max(n_rows, 1)) - 1, 0.0) * (b + 1) ** a
    return np.asarray(1 / (1 + c * (np.asarray(n_recorded) + b) ** -a))


def _frequencies(Y: CSR) -> Any:
    return np.bincount(Y.indices, minlength=Y.shape[1])


def _check_subset(observed: CSR, complete: CSR) -> None:
    extra = observed - observed.multiply(complete)
    extra.eliminate_zeros()
    if extra.nnz:
        row, label = (int(places[0]) for places in extra.nonzero())
        raise ValueError(
            f"Y_observed must hold only labels of Y_complete. "
            f"Got label {label} in row {row}, which Y_complete lacks."
        )


def _plain(name: str) -> str:
    letters: Iterable[str] = (c for c in str(name).casefold() if c.isalnum())
    return "".join(letters)
