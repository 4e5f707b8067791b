"""Rankings in which all labels count alike, decided by probabilities."""

from typing import Annotated, Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from manylabel import _validation
from manylabel._kernels import macro_at_k
from manylabel._typing import CSR, Array, Floats, MatrixLike, RandomState
from manylabel.lists import Lists
from manylabel.metrics.metric import ratio
from manylabel.model_selection.calibrated import Calibrated
from manylabel.model_selection.probable import DEPTH
from manylabel.persistence.records import Field, Finite

KINDS = {
    "precision": macro_at_k.PRECISION,
    "recall": macro_at_k.RECALL,
    "f1": macro_at_k.F1,
    "coverage": macro_at_k.COVERAGE,
}
MAX_SWEEPS, CLOSE = 100, 1e-6  # of the measure, as a share
OTHERS = -2.0  # the score of labels that are no candidates, below all gains


class Given(NamedTuple):
    """Labels given to the rows of a batch, and what is expected of each label."""

    is_given: Array  # (n_candidates,)
    hits: Floats  # (n_labels,)
    given: Floats
    missed: Floats  # logarithm of the chance that no row given has the label


def give_labels(proba: CSR, k: int, metric: str, true: Floats) -> Given:
    """Return the ``k`` labels of each row for which a mean over labels is largest.

    Parameters
    ----------
    proba : csr_array of shape (n_rows, n_labels)
        Probabilities of the candidates of each row.
    k : int
        Labels to give each row.
    metric : {"precision", "recall", "f1", "coverage"}
        What is measured for each label.
    true : ndarray of shape (n_labels,)
        How many rows are expected to have each label.
    """
    n_labels = proba.shape[1]
    room: Floats = np.zeros((3, n_labels))
    found = Given(np.zeros(proba.nnz, np.bool_), *room)
    chances = proba.data.astype(np.float64)
    gains = np.empty(int(np.diff(proba.indptr).max(initial=0)))
    value = 0.0
    for _ in range(MAX_SWEEPS):
        grown = macro_at_k.ascend(
            *(np.int64(KINDS[metric]), np.int64(k), proba.indptr, proba.indices),
            *(chances, true, found.hits, found.given, found.missed),
            *(found.is_given, gains),
        )
        value += grown
        if grown <= CLOSE * max(value, CLOSE):
            break
    return found


class MacroAtK(Calibrated):
    """A learner that ranks so that all labels count alike, for a measure at k.

    Precision at k is won by frequent labels. Here the k labels of a row are those that
    add most to macro-F1@k, to macro precision or recall, or to coverage@k: expected
    counts of each label are told from probabilities [1]_.

    Parameters
    ----------
    estimator : estimator
        What ranks the labels; it is cloned.
    metric : {"f1", "precision", "recall", "coverage"}, default="f1"
        What is measured for each label; the mean over labels is made large.
    k : int, default=5
        Labels of a row.
    method : {"auto", "sigmoid", "isotonic"}, default="auto"
        How scores become probabilities; see :class:`Calibrated`.
    propensity : Propensity, array of shape (n_labels,), float or None, default=None
        How probable it is that a true label is recorded; see :class:`Calibrated`.
    random_state : int, Generator, RandomState or None, default=0
        Seeds the choice of rows that are held out: one in five, at most 5,000.

    Attributes
    ----------
    classes_ : ndarray of shape (n_labels,)
        Column numbers of ``Y``.
    share_ : ndarray of shape (n_labels,)
        Share of the rows that have each label, by the training rows.
    slope_, offset_ : ndarray of shape (n_labels,)
        A label of probability p scores ``slope * p + offset``: what giving it adds to
        the measure, beside what the rows held out were given.

    Notes
    -----
    ``predict_topk`` and ``predict`` score each row by itself, by a rule that is affine
    in p for each label: the gradient of the measure, as the steps of Frank and Wolfe's
    method take it, where the rows held out are given their labels. ``assign`` decides
    for all rows of a batch together, by block coordinate ascent.

    References
    ----------
    .. [1] Schultheis, Wydmuch, Kotlowski, Babbar & Dembczynski, "Generalized test
       utilities for long-tail performance in extreme multi-label classification",
       NeurIPS 2023.

    Examples
    --------
    >>> from manylabel import OneVsRest, make_corpus
    >>> corpus = make_corpus(n_rows=400, n_labels=40, random_state=0)
    >>> model = MacroAtK(OneVsRest(), k=3).fit(corpus.X, corpus.Y)
    >>> int(model.assign(corpus.X).sum(axis=1).min())
    3
    """

    _is_by_rank = False  # labels of any rank are given
    share_: Annotated[Floats, Field("float64", "n_labels", Finite(0))]
    slope_: Annotated[Floats, Field("float64", "n_labels", Finite())]
    offset_: Annotated[Floats, Field("float64", "n_labels", Finite())]

    def __init__(
        self,
        estimator: Any,
        *,
        metric: str = "f1",
        k: int = 5,
        method: str = "auto",
        propensity: Any = None,
        random_state: RandomState = 0,
    ) -> None:
        super().__init__(
            estimator, method=method, propensity=propensity, random_state=random_state
        )
        self.metric = metric
        self.k = k

    def assign(self, X: MatrixLike) -> CSR:
        """Return ``k`` labels for each row, decided for all rows together.

        Parameters
        ----------
        X : array or sparse array of shape (n_rows, n_features)
            Features.

        Returns
        -------
        csr_array of shape (n_rows, n_labels)
            Labels, 0/1. A row alone may be given others than in a batch.
        """
        proba = self._candidates(self._known_features(X))
        found = give_labels(
            proba, int(self.k), self.metric, proba.shape[0] * self.share_
        )
        kept = sp.csr_array((found.is_given, proba.indices, proba.indptr), proba.shape)
        kept.eliminate_zeros()
        return kept.astype(np.int64)

    def _tell(self, proba: CSR, Y: CSR, gain: Floats) -> None:
        n_held = proba.shape[0]
        self.share_ = gain * np.bincount(Y.indices, minlength=Y.shape[1]) / Y.shape[0]
        true = n_held * self.share_
        found = give_labels(proba, int(self.k), self.metric, true)
        slope, offset = _rule(found, self.metric, true)
        self.slope_ = np.where(true > 0, slope, 0.0)
        self.offset_ = np.where(true > 0, offset, OTHERS)

    def _candidates(self, X: CSR) -> CSR:
        return self.calibration_.apply_to(super()._topk(X, DEPTH))

    def _ranked(self, X: CSR) -> CSR:
        """Return candidates with what each adds to the measure."""
        found = self._candidates(X)
        gains = self.slope_[found.indices] * found.data + self.offset_[found.indices]
        found.data = gains.astype(np.float32)
        return found

    def _scores(self, X: CSR) -> Array:
        found = self._ranked(X)
        scores: Array = np.full(found.shape, OTHERS, np.float32)
        rows = np.repeat(np.arange(found.shape[0]), np.diff(found.indptr))
        scores[rows, found.indices] = found.data
        return scores

    def _chances(self, scores: Array, labels: Array) -> Floats:
        """Return the probabilities by which candidates have such scores; others 0."""
        slope = np.where(scores > OTHERS, self.slope_[labels], 0.0)
        chances = ratio(scores - self.offset_[labels], slope)
        return np.clip(np.where(slope > 0, chances, 0.0), 0, 1)

    def _topk(self, X: CSR, k: int) -> CSR:
        found, n_labels = self._ranked(X), len(self.classes_)
        lists = Lists(found.indptr, found.indices, found.data)
        return lists.best(
            k, np.ones(n_labels, np.bool_), np.full(2, OTHERS, np.float32)
        )

    def _labels(self, X: CSR) -> CSR:
        found = self._topk(X, int(self.k))
        found.data = (found.data > OTHERS).astype(np.int64)
        found.eliminate_zeros()
        return found

    def _check_parameters(self) -> None:
        super()._check_parameters()
        _validation.choice(self.metric, "metric", KINDS)
        _validation.depths(self.k)


def _rule(found: Given, metric: str, true: Floats) -> tuple[Floats, Floats]:
    """Return slope and offset of what giving a label to one more row adds.

    For each measure it is affine in the probability of the label.
    """
    if metric == "coverage":
        return np.exp(found.missed) + macro_at_k.SPARE, np.zeros_like(true)
    if metric == "recall":
        return ratio(1.0, true), np.zeros_like(true)
    there = found.given + (true if metric == "f1" else 0.0)
    weight = 2.0 if metric == "f1" else 1.0
    slope = weight / (there + 1)
    return slope, found.hits * (slope - ratio(weight, there))
