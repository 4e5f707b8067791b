"""What a metric is: one figure, accumulated over chunks of rows."""

import copy
from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np

from manylabel._typing import Array, MatrixLike
from manylabel.metrics.sums import Counts, ExactSums, Sums


class Metric(ABC):
    """One figure, accumulated over chunks.

    ``update`` takes a chunk of rows, ``merge`` another metric of the same kind, and
    ``value`` is the figure over all rows so far, NaN if there were none. Sums have no
    rounding: however rows are cut into chunks and shards, and in whatever order these
    come, the value has the same bits.

    A subclass says what a chunk adds (``_terms``) and what the sums mean (``_figure``).

    Examples
    --------
    >>> from manylabel import metrics
    >>> precision = metrics.PrecisionAtK(1).update([[1, 0]], [[0.9, 0.1]])
    >>> other = metrics.PrecisionAtK(1).update([[1, 0]], [[0.2, 0.8]])
    >>> (precision + other).value
    0.5
    """

    is_loss = False
    _n_sums = 1

    def __init__(self) -> None:
        self.n_rows = 0
        self.n_labels: int | None = None
        self._sums: Sums = self._new_sums()

    @property
    @abstractmethod
    def key(self) -> str:
        """The name in a report, for instance ``P@5``."""

    @property
    @abstractmethod
    def meaning(self) -> str:
        """One sentence for people who do not know the name."""

    @property
    def value(self) -> float:
        """The figure over all rows so far."""
        return float(self._figure(self._sums.values)) if self.n_rows else float("nan")

    def resampled(self, sums: Array) -> Array:
        """Return the figures that other rows, as many, would have had.

        Parameters
        ----------
        sums : ndarray of shape (n_resamples, n_sums)
            What :meth:`terms` of those rows add up to.

        Returns
        -------
        ndarray of shape (n_resamples,)
            One figure for each line.
        """
        return self._figure(sums.T)

    @abstractmethod
    def update(self, Y: MatrixLike, scores: MatrixLike) -> Self:
        """Take a chunk of true labels and what was predicted; return itself."""

    def add(self, view: Any) -> Self:
        """Take a chunk that was ranked or compared for several metrics at once."""
        return self.take(self.terms(view), view)

    def take(self, terms: Array, view: Any) -> Self:
        """Take what :meth:`terms` made of a chunk; nothing can go wrong any more."""
        self.n_labels = view.n_labels
        self._sums.take(terms)
        self.n_rows += view.n_rows
        return self

    def terms(self, view: Any) -> Array:
        """Return what a chunk would add, or raise; nothing changes."""
        self._agree_on_labels(view.n_labels)
        terms = self._terms(view)
        if not np.isfinite(terms).all():
            raise ValueError(f"{self.key} must be finite for each row. Got infinity.")
        return terms

    def merge(self, other: Self) -> Self:
        """Take the rows that a metric of the same kind has seen; return itself."""
        if type(other) is not type(self) or not self._is_like(other):
            name = getattr(other, "key", type(other).__name__)
            raise ValueError(
                f"{self.key} can be merged only with its own kind. Got {name}."
            )
        if other.n_rows:
            self._agree_on_labels(other.n_labels)
            self._sums = self._sums + other._sums
            self.n_labels = other.n_labels
            self.n_rows += other.n_rows
        return self

    def __add__(self, other: Self) -> Self:
        both = copy.copy(self)
        both._sums = self._new_sums() + self._sums  # not the same object
        return both.merge(other)

    def to_json(self) -> dict[str, Any]:
        """Return what was accumulated, exactly, as what JSON can hold."""
        known = {"n_rows": self.n_rows, "n_labels": self.n_labels}
        return {**known, "sums": self._sums.to_json()}

    def restored(self, written: dict[str, Any]) -> Self:
        """Return a metric as this one that has seen the rows of another.

        Parameters
        ----------
        written : dict
            What :meth:`to_json` of a metric of the same kind returned.

        Returns
        -------
        Metric
            A new one; what is no such thing raises ValueError.
        """
        other = copy.copy(self)
        try:
            other.n_rows = int(written["n_rows"])
            other.n_labels = written["n_labels"]
            other._sums = self._new_sums().from_json(written["sums"])
        except (TypeError, LookupError, ValueError) as error:
            raise ValueError(
                f"{self.key} must be as to_json wrote it: {error}."
            ) from None
        return other

    def _new_sums(self) -> Sums:
        """Return sums over no rows."""
        return ExactSums(self._n_sums)

    def _is_like(self, other: Self) -> bool:
        """Return whether both measure the same thing."""
        return self.key == other.key

    @abstractmethod
    def _terms(self, view: Any) -> Array:
        """Return what each row adds to the sums, shape (n_rows, n_sums)."""

    def _figure(self, sums: Array) -> Array:
        """Return the mean over rows of the first term."""
        return np.asarray(sums[0] / self.n_rows)

    def _agree_on_labels(self, n_labels: int | None) -> None:
        if self.n_labels not in (None, n_labels):
            raise ValueError(
                f"Y must have {self.n_labels} columns, as in the first chunk. "
                f"Got {n_labels}."
            )


class LabelMetric(Metric):
    """A metric that counts for each label: ``_terms`` has shape (n_sums, n_labels).

    Or for each of other things: what a row adds is not kept.
    """

    def _new_sums(self) -> Sums:
        return Counts()


def ratio(numerator: Any, denominator: Any) -> Array:
    """Return the quotients, or 0 where nothing was there to be found."""
    found, there = np.asarray(numerator, float), np.asarray(denominator, float)
    quotients: Array = np.zeros(there.shape)
    np.divide(found, there, out=quotients, where=there != 0)
    return quotients
