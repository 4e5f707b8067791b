"""Judge predictions for many rows, all at once or chunk by chunk."""

import copy
import json
from collections.abc import Iterable
from typing import Any, Self

import numpy as np

from manylabel import _validation
from manylabel._typing import Array, MatrixLike
from manylabel.evaluation.report import Report
from manylabel.losses import NAMED, CostLike
from manylabel.losses.compared import Compared
from manylabel.losses.ranked import Ranked
from manylabel.metrics import (
    CalibrationErrorAtK,
    MacroF1,
    MeanCost,
    Metric,
    MicroF1,
)
from manylabel.metrics.calibration import Probable
from manylabel.metrics.resolve import PLAIN, SCORED

DEPTHS = (1, 3, 5)
COSTS: tuple[CostLike, ...] = tuple(NAMED)


class Evaluation:
    """All figures about some predictions, accumulated over chunks of rows.

    Each chunk is ranked once, however many figures are asked for. Sums have no
    rounding: shards that are judged apart and added with ``+``, in any order, give the
    bits of one pass.

    Parameters
    ----------
    k : int or tuple of int, default=(1, 3, 5)
        Ranking depths.
    propensity : Propensity, array of shape (n_labels,), float or None, default=None
        Probability that a true label is recorded; adds PSP@k and PSnDCG@k.
    costs : tuple of costs, default=("hamming", "f1", "accuracy", "rank", "subset")
        What 0/1 predictions are charged; see :func:`manylabel.losses.as_cost`.

    Examples
    --------
    >>> first = Evaluation(k=1).update([[1, 0]], [[0.9, 0.1]])
    >>> second = Evaluation(k=1).update([[1, 0]], [[0.1, 0.9]])
    >>> (first + second).report()["P@1"]
    0.5
    >>> first.restored(second.to_json()).n_rows  # from another machine
    1
    """

    def __init__(
        self,
        *,
        k: int | tuple[int, ...] = (1, 3, 5),
        propensity: Any = None,
        costs: Iterable[CostLike] = COSTS,
    ) -> None:
        depths = tuple(dict.fromkeys(_validation.depths(k)))
        self.depth = max(depths)
        self.propensity = propensity
        ranking: list[Metric] = [kind(at) for kind in PLAIN for at in depths]
        if propensity is not None:
            ranking += [kind(at, propensity) for kind in SCORED for at in depths]
        sets: list[Metric] = [*map(MeanCost, costs), MicroF1(), MacroF1()]
        refuse_repeated([metric.key for metric in sets])
        laws = [None] if propensity is None else [None, propensity]
        probable: list[Metric] = [
            CalibrationErrorAtK(at, law) for law in laws for at in depths
        ]
        self._kinds = {"scores": ranking, "proba": probable, "predictions": sets}
        self._given: tuple[bool, bool, bool] | None = None

    def update(
        self,
        Y: MatrixLike,
        scores: MatrixLike | None = None,
        predictions: MatrixLike | None = None,
        proba: MatrixLike | None = None,
    ) -> Self:
        """Take a chunk of rows; return itself.

        Parameters
        ----------
        Y : array or sparse array of shape (n_rows, n_labels)
            True labels, 0/1.
        scores : array or sparse array of shape (n_rows, n_labels) or None, default=None
            Scores, for the ranking metrics. Of integers or booleans: 0/1 predictions.
        predictions : array or sparse array or None, default=None
            0/1 predictions of the same shape, for the set metrics.
        proba : array or sparse array or None, default=None
            Probabilities of the same shape, for the calibration error.

        Returns
        -------
        Evaluation
            Itself.
        """
        _validation.refuse_lists(scores, "scores")
        if scores is not None and predictions is None and is_binary_dtype(scores):
            scores, predictions = None, scores
        # All terms are made before any metric changes: bad input leaves no trace.
        views: list[tuple[list[Metric], Any]] = []
        if scores is not None:
            ranked = Ranked.of(Y, scores, self.depth, self.propensity)
            views.append((self._kinds["scores"], ranked))
            if proba is not None:
                probable = Probable.of_ranked(ranked, proba)
                views.append((self._kinds["proba"], probable))
        if predictions is not None:
            views.append((self._kinds["predictions"], Compared.of(Y, predictions)))
        taken = [
            (metric, metric.terms(view), view)
            for metrics, view in views
            for metric in metrics
        ]
        self._agree_on_kinds(
            scores is not None, predictions is not None, proba is not None
        )
        for metric, terms, view in taken:
            self._take(metric, terms, view)
        return self

    def merge(self, other: "Evaluation") -> Self:
        """Take the rows that another evaluation of the same kind has seen."""
        if other._given is None:
            return self
        # All is added before anything changes: what is refused leaves no trace.
        both, found = copy.copy(self), {m.key: m for m in other._metrics()}
        both._agree_on_kinds(*other._given)
        both._refuse_other(found)
        self._kinds = {
            kind: [m + found[m.key] if m.key in found else m for m in metrics]
            for kind, metrics in self._kinds.items()
        }
        self._given = both._given
        return self

    def __add__(self, other: Self) -> Self:
        shared = {id(self.propensity): self.propensity}
        return copy.deepcopy(self, shared).merge(other)

    def to_json(self) -> str:
        """Return what was accumulated, exactly, as JSON."""
        figures = {metric.key: metric.to_json() for metric in self._metrics()}
        return json.dumps({"given": self._given, "figures": figures})

    def restored(self, written: str) -> Self:
        """Return an evaluation as this one that has seen the rows of another.

        Parameters
        ----------
        written : str
            What :meth:`to_json` of an evaluation with the same parameters returned.

        Returns
        -------
        Evaluation
            A new one; other figures than this one has raise ValueError.
        """
        other, found = copy.copy(self), json.loads(written)
        figures, given = found["figures"], found["given"]
        other._given = None if given is None else tuple(given)
        other._refuse_other(figures)
        other._kinds = {
            kind: [
                m.restored(figures[m.key]) if m.key in figures else m for m in metrics
            ]
            for kind, metrics in self._kinds.items()
        }
        return other

    @property
    def n_rows(self) -> int:
        """Number of rows so far."""
        return max((metric.n_rows for metric in self._metrics()), default=0)

    def report(self) -> Report:
        """Return the figures over all rows so far."""
        return Report.of(self._metrics())

    def _take(self, metric: Metric, terms: Array, view: Any) -> None:
        metric.take(terms, view)

    def _metrics(self) -> list[Metric]:
        has_scores, has_sets, has_proba = self._given or (False, False, False)
        given = {"scores": has_scores, "proba": has_proba, "predictions": has_sets}
        return [m for kind, ms in self._kinds.items() if given[kind] for m in ms]

    def _refuse_other(self, keys: Iterable[str]) -> None:
        """Refuse figures of another evaluation that this one lacks, or has alone."""
        own = {metric.key for metric in self._metrics()}
        if names := ", ".join(sorted(own ^ set(keys))):
            raise ValueError(
                f"Shards must be judged by the same figures. Got {names} in one only."
            )

    def _agree_on_kinds(
        self, has_scores: bool, has_predictions: bool, has_proba: bool
    ) -> None:
        given = has_scores, has_predictions, has_proba
        if not has_scores and has_proba:
            raise ValueError("scores must be given where proba is. Got none.")
        if not any(given):
            raise ValueError("scores or predictions must be given. Got neither.")
        if self._given not in (None, given):
            raise ValueError(
                "Every chunk must bring scores, predictions or both as the first did."
            )
        self._given = given


def is_binary_dtype(scores: Any) -> bool:
    """Return whether scores are of integers or booleans: 0/1 predictions."""
    dtype = scores.dtype if hasattr(scores, "dtype") else np.asarray(scores).dtype
    return dtype.kind in "biu"


def refuse_repeated(names: list[str]) -> None:
    """Refuse costs of which two have the same name."""
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"costs must have different names. Got {name!r} twice.")
