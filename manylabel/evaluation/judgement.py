"""Judge predictions for many rows at once."""

from collections.abc import Iterable
from numbers import Integral
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_scalar

from manylabel import _validation
from manylabel._plural import counted
from manylabel._typing import MatrixLike, RandomState
from manylabel._warning import warn
from manylabel.evaluation.batch import COSTS, DEPTHS, Evaluation, is_binary_dtype
from manylabel.evaluation.bootstrap import RowwiseEvaluation
from manylabel.evaluation.report import Report
from manylabel.losses import CostLike


def evaluate(
    Y: MatrixLike,
    scores: MatrixLike,
    *,
    k: int | tuple[int, ...] = DEPTHS,
    propensity: Any = None,
    predictions: MatrixLike | None = None,
    proba: MatrixLike | None = None,
    costs: Iterable[CostLike] = COSTS,
    n_resamples: int = 0,
    random_state: RandomState = 0,
) -> Report:
    """Judge predictions by every metric that applies to them.

    Parameters
    ----------
    Y : array or sparse array of shape (n_rows, n_labels)
        True labels, 0/1.
    scores : array or sparse array of shape (n_rows, n_labels)
        Scores. If sparse, the stored entries are the predictions, whatever their sign,
        and a missing one is a miss. Equal scores are ranked by column, the lower first.
        Scores of integers or booleans are 0/1 predictions: they have set costs and no
        ranking.
    k : int or tuple of int, default=(1, 3, 5)
        Ranking depths.
    propensity : Propensity, array of shape (n_labels,), float or None, default=None
        Probability that a true label is recorded; adds PSP@k and PSnDCG@k,
        normalised by the best attainable.
    predictions : array or sparse array or None, default=None
        0/1 predictions, for the set metrics beside the ranking ones.
    proba : array or sparse array or None, default=None
        Probabilities of the labels, 0 where a sparse one has none: adds the calibration
        error ECE@k and, with propensities, PSECE@k: of recorded and of true labels.
    costs : tuple of costs, default=("hamming", "f1", "accuracy", "rank", "subset")
        What 0/1 predictions are charged; see :func:`manylabel.losses.as_cost`.
    n_resamples : int, default=0
        How often rows are drawn again for the intervals of the figures; 0 for none,
        1000 is usual.
    random_state : int, Generator, RandomState or None, default=0
        Seed of the draws.

    Returns
    -------
    Report
        Fractions by name: ``P@k``, ``nDCG@k``, ``recall@k``, ``F1@k``, ``coverage@k``,
        ``macro-P@k``, ``macro-R@k``, ``macro-F1@k``, with propensities ``PSP@k`` and
        ``PSnDCG@k``, with probabilities ``ECE@k`` and ``PSECE@k``, and for 0/1
        predictions the name of each cost, ``micro-F1`` and ``macro-F1``. Figures over
        labels and calibration errors have no intervals.

    Examples
    --------
    >>> Y = [[1, 0, 1], [0, 1, 0]]
    >>> scores = [[0.9, 0.8, 0.1], [0.2, 0.7, 0.6]]
    >>> report = evaluate(Y, scores, k=(1, 2), propensity=0.5)
    >>> report["P@2"], report["PSP@2"]
    (0.5, 0.6666666666666666)
    >>> evaluate(Y, [[1, 1, 0], [0, 1, 0]])["hamming"]
    0.3333333333333333
    """
    if hasattr(Y, "predict"):
        raise TypeError(
            f"Y must be the true labels. Got a model, {type(Y).__name__}: judge what "
            "it says, as evaluate(Y, model.predict_topk(X)), or tagger.evaluate(data)."
        )
    refuse_model(scores)
    check_scalar(n_resamples, "n_resamples", Integral, min_val=0)
    options = {"k": k, "propensity": propensity, "costs": tuple(costs)}
    kind = RowwiseEvaluation if n_resamples else Evaluation
    evaluation = kind(**options).update(Y, scores, predictions, proba)
    doubt_scores(scores, k, has_sets=predictions is not None)
    if not isinstance(evaluation, RowwiseEvaluation):
        return evaluation.report()
    return evaluation.report_with_intervals(n_resamples, random_state)


def refuse_model(scores: Any) -> None:
    """Refuse a model in place of what it says."""
    if hasattr(scores, "predict"):
        raise TypeError(
            f"scores must be what a model says. Got a model, {type(scores).__name__}: "
            "give model.predict_topk(X), or model.predict(X) for sets."
        )


def doubt_scores(scores: Any, k: int | tuple[int, ...], *, has_sets: bool) -> None:
    """Warn where scores that were checked and depths do not fit each other.

    ``has_sets``: predictions are given too, so that scores are what is ranked.
    """
    _doubt_depth(scores, k)
    if not is_binary_dtype(scores) or has_sets:
        _doubt_ranking(scores, k)
    elif _validation.depths(k) != DEPTHS:
        warn(
            "k does not count: scores of integers or booleans are 0/1 predictions, "
            "which have no ranking."
        )


def _doubt_ranking(scores: Any, k: int | tuple[int, ...]) -> None:
    """Warn if what is ranked are 0/1 predictions, which have no order."""
    first = min(_validation.depths(k))
    if sp.issparse(scores):
        rows = scores.tocsr()
        if np.diff(rows.indptr).max(initial=0) <= first:
            return  # none of them is left out, in whatever order
        values, n_ones = rows.data, None
    else:
        values = np.asarray(scores)
        n_ones = (values == 1).sum(axis=-1)
    is_one = values == 1
    if not is_one.any() or not (is_one | (values == 0)).all():
        return
    if n_ones is None or (n_ones != first).any():
        warn(
            "scores hold only 0 and 1, and are ranked, equal ones by column. If they "
            "are 0/1 predictions, give them as integers, and alone."
        )


def _doubt_depth(scores: Any, k: int | tuple[int, ...]) -> None:
    """Warn if rankings were cut before the depth at which they are judged."""
    if not sp.issparse(scores) or scores.dtype.kind != "f":
        return
    rows, depth = sp.csr_array(scores), max(_validation.depths(k))
    n_held = int(np.diff(rows.indptr).max(initial=0))
    if n_held < depth and n_held < len(np.unique(rows.indices)):  # else all are there
        warn(
            f"k is {depth}, and scores hold at most {counted(n_held, 'label')} of a "
            f"row: what ranks deeper counts as missed. predict_topk(X, k={depth}) "
            "ranks so many.",
        )
