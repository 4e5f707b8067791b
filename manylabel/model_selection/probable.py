"""Learners whose scores are made probabilities by what rows held out say."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.utils.metaestimators import available_if

from manylabel import _validation, parallel
from manylabel._typing import CSR, Array, Floats, MatrixLike, RandomState
from manylabel.base import BatchClassifier, MultiLabelClassifier
from manylabel.lists import Lists
from manylabel.losses import Hamming
from manylabel.losses.resolve import as_counted_cost
from manylabel.model_selection.calibration import METHODS, Curves
from manylabel.model_selection.decisions import LeastCost
from manylabel.model_selection.holdout import (
    FEWEST,
    Split,
    hold_out,
    hold_out_in_turn,
    whole_shape,
)

FEW_ROWS = 5000  # of fewer, a fifth says too little: each is held out in turn
DEPTH = 50  # labels of a row whose scores are calibrated, and that it may be given


class ProbableClassifier(MultiLabelClassifier):
    """Has probabilities: calibrated ones, or its own.

    A subclass has the parameter ``calibrate``, one of ``METHODS`` or None, and
    ``_curves``, what its scores mean. One that has probabilities without it says
    so in ``_has_own_probabilities``, and returns them by ``_own_probabilities(X)``.
    """

    calibrate: Any

    @available_if(lambda self: self._gives_probabilities())  # type: ignore[untyped-decorator]
    def predict_proba(self, X: MatrixLike) -> Array:
        """Return the probability of every label.

        Parameters
        ----------
        X : array or sparse array of shape (n_rows, n_features)
            Features.

        Returns
        -------
        ndarray of shape (n_rows, n_labels)
            With ``calibrate``, that a label is recorded; if a ``propensity`` is given,
            that it is true. Dense: for many labels use ``predict_topk(X, k,
            proba=True)``.
        """
        return self._predict_proba(X)

    def predict_topk(self, X: MatrixLike, k: int = 5, *, proba: bool = False) -> CSR:
        """Return the ``k`` best labels of each row, with scores or probabilities.

        Parameters
        ----------
        X : array or sparse array of shape (n_rows, n_features)
            Features.
        k : int, default=5
            How many labels; all of them when there are fewer.
        proba : bool, default=False
            Return probabilities in place of scores. Which labels are the best is told
            by the scores.

        Returns
        -------
        csr_array of shape (n_rows, n_labels)
            The stored entries are the predictions, zero and negative scores too. No
            dense array of this shape is made on the way.
        """
        if proba:
            self._check_calibrated()
        found = super().predict_topk(X, k)
        return self.to_proba(found) if proba else found

    def to_proba(self, scores: CSR) -> CSR:
        """Return the probabilities of labels of such scores.

        Parameters
        ----------
        scores : csr_array of shape (n_rows, n_labels)
            As ``predict_topk`` returns them.

        Returns
        -------
        csr_array of shape (n_rows, n_labels)
            The same entries.
        """
        self._check_calibrated()
        chances = self._chances(scores.data, scores.indices)
        return Lists(scores.indptr, scores.indices, chances).csr(scores.shape[1])

    def _predict_proba(self, X: MatrixLike) -> Array:
        X = _validation.dense_rows(self._known_features(X), len(self.classes_))
        return np.concatenate(
            parallel.run(self._probabilities, self._chunks(X), self._n_jobs())
        )

    def _with_probabilities(self) -> str:
        return f'{type(self).__name__}(calibrate="auto")'

    def _gives_probabilities(self) -> bool:
        return self.calibrate is not None or self._has_own_probabilities()

    def _has_own_probabilities(self) -> bool:
        return False

    def _own_probabilities(self, X: CSR) -> Array:
        raise NotImplementedError

    def _probabilities(self, X: CSR) -> Array:
        if self.calibrate is None:
            return self._own_probabilities(X)
        scores = self._scores(X)
        labels = np.tile(self.classes_, len(scores))
        return self._chances(scores.ravel(), labels).reshape(scores.shape)

    def _chances(self, scores: Array, labels: Array) -> Floats:
        """Return how probable labels of such scores are."""
        return self._curves().apply(scores, labels)

    def _curves(self) -> Curves:
        """Return what scores mean."""
        raise NotImplementedError

    def _cheapest_sets(self, X: CSR, cost: Any) -> CSR:
        """Return the sets of labels of the least expected cost."""
        return decide(self.to_proba(self._topk(X, DEPTH)), self._curves(), cost)

    def _check_calibrated(self) -> None:
        if self.calibrate is None:
            raise ValueError(
                "proba=True needs a learner that was calibrated: fit "
                f"{self._with_probabilities()}."
            )

    def _check_calibrate(self) -> None:
        if self.calibrate is not None:
            _validation.choice(self.calibrate, "calibrate", METHODS)


class CalibratedClassifier(ProbableClassifier):
    """Tells what its scores mean from rows held out, in ``fit``.

    A subclass calls ``_calibrate`` when it has learnt all rows, or makes
    ``calibration_`` from what it held out itself.
    """

    propensity: Any = None
    random_state: RandomState = 0
    calibration_: Curves = Curves.none()

    def _calibrate(self, X: CSR, Y: CSR, weight: Floats | None = None) -> None:
        """Tell what scores mean from rows held out of those that were learnt."""
        if self.calibrate is None:
            return
        with parallel.stage("calibration"):
            held = rank_held_out(
                lambda: type(self)(**self.get_params(deep=False) | self._settled()),
                *(X, Y, self.random_state),
                threshold=getattr(self, "threshold_", 0.0),
                weight=weight,
            )
        counts = np.bincount(Y.indices[Y.data > 0], minlength=Y.shape[1])
        gain = self._label_gain(Y.shape[1])
        self.calibration_ = Curves.fit(*held, counts, gain, self.calibrate)

    def _curves(self) -> Curves:
        if not self.calibration_:
            raise ValueError(
                "calibrate must be as it was in fit, None. Got "
                f"{self.calibrate!r:.40}: fit {self._with_probabilities()}."
            )
        return self.calibration_

    def _training_share(self, n_rows: int) -> float:
        """Return the share of a fit's time that is not calibration, about."""
        if self.calibrate is None:
            return 1.0
        n_learnt = sum(len(train) for train, _ in split_rows(n_rows, 0))
        return n_rows / (n_rows + n_learnt)

    def _settled(self) -> dict[str, Any]:
        """Return parameters of a learner that ranks rows held out as this one does."""
        return {"calibrate": None}

    def _label_gain(self, n_labels: int) -> Floats:
        """Return how many true labels a recorded one stands for, 1 if none are lost."""
        given = 1.0 if self.propensity is None else self.propensity
        return 1 / _validation.propensities(given, n_labels)


class CalibratedBatchClassifier(CalibratedClassifier, BatchClassifier):
    """Learns all rows at once, then what its scores mean.

    Parameters
    ----------
    calibrate : {"auto", "sigmoid", "isotonic"} or None, default=None
        Make scores probabilities, for ``predict_proba``, by rows held out; see
        :class:`Calibrated`. It takes about one more fit, or four of fewer
        than 5,000 rows.

    Attributes
    ----------
    calibration_ : Curves
        What scores mean; empty without ``calibrate``. See :class:`Calibrated`.
    """

    def _learn_rows(self, *checked: Any) -> None:
        with parallel.stage("training", self._training_share(checked[0].shape[0])):
            super()._learn_rows(*checked)
        self._calibrate(*checked)

    def _check_parameters(self) -> None:
        self._check_calibrate()


class HeldOut(NamedTuple):
    """The best labels of rows held out, as many for each, and those that they have."""

    best: CSR
    true: CSR


def rank_held_out(
    fresh: Callable[[], Any],
    X: CSR,
    Y: CSR,
    random_state: RandomState,
    *,
    threshold: float = 0.0,
    weight: Floats | None = None,
) -> HeldOut:
    """Return the best labels of rows, told by learners that did not learn them.

    Parameters
    ----------
    fresh : callable
        Returns a learner, not fitted.
    X, Y : csr_array
        Rows and their labels; zeros that are stored tell a learner what is not there.
    random_state : int, Generator, RandomState or None
        Seeds the choice of rows.
    threshold : float, default=0.0
        What the scores to come are less; those of a learner that has another
        ``threshold_`` are moved.
    weight : ndarray of shape (n_rows,) or None, default=None
        How much each row counts.
    """
    best, splits = [], split_rows(X.shape[0], random_state)
    for split in splits:
        train = split.train
        with parallel.stage(f"{len(train)} rows", 1 / len(splits)):
            options = {} if weight is None else {"sample_weight": weight[train]}
            learner = fresh().fit(X[train], Y[train], **options)
            found = learner.predict_topk(split.as_new(X), DEPTH)
        found.data = found.data + (getattr(learner, "threshold_", 0.0) - threshold)
        best.append(found)
    true = Y[np.concatenate([split.held for split in splits])]
    true.eliminate_zeros()
    return HeldOut(sp.csr_array(sp.vstack(best, format="csr")), true)


def split_rows(n_rows: int, random_state: RandomState) -> list[Split]:
    """Return which rows are held out to calibrate by: all of few rows, in turn."""
    if n_rows >= FEWEST and whole_shape(n_rows)[0] < FEW_ROWS:
        return hold_out_in_turn(n_rows, random_state)
    return [hold_out(n_rows, random_state)]


def decide(proba: CSR, curves: Curves, cost: Any) -> CSR:
    """Return the sets of least expected cost, of labels of such probabilities.

    Hamming loss asks for labels one by one, so how many a row has says nothing more.
    """
    known = as_counted_cost(cost)
    ratio = [1.0] if isinstance(known, Hamming) else curves.size_ratio.tolist()
    decider = _decider(known, tuple(ratio))
    return decider.decide(proba, rest=curves.n_unlisted)


@lru_cache(maxsize=8)
def _decider(cost: Any, size_ratio: tuple[float, ...]) -> LeastCost:
    """Return what decides for a cost; what it charges is tabulated once."""
    return LeastCost(cost, n_candidates=DEPTH, size_ratio=size_ratio)
