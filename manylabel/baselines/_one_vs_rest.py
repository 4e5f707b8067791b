"""One linear classifier per label."""

from numbers import Integral
from typing import Annotated, Any

import numpy as np
import scipy.sparse as sp
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_scalar

from manylabel import _validation, parallel
from manylabel._docstrings import described_like
from manylabel._kernels.csr import with_full_rows
from manylabel._kernels.linear import svm
from manylabel._kernels.ranking import UNSEEN
from manylabel._typing import CSR, Array, Floats, Ints, MatrixLike, RandomState, Singles
from manylabel._warning import warn
from manylabel.base import WeighingClassifier
from manylabel.baselines._division import LabelDivision
from manylabel.model_selection.probable import CalibratedBatchClassifier
from manylabel.persistence.records import Field, Finite, Matrix
from manylabel.solvers import linear
from manylabel.solvers.lanes import Fitted

LEAST_PROPENSITY = 1e-6  # a positive row then weighs as much as 2,000,000 others


@described_like(CalibratedBatchClassifier)
class OneVsRest(CalibratedBatchClassifier, WeighingClassifier):
    """Binary relevance: an L2-regularised linear classifier per label.

    An SVM of squared hinge loss or a logistic regression, solved by dual coordinate
    descent [1]_, 64 labels side by side, so that a row is read once for
    all of them. A label of an SVM that is rare among many rows is solved on the few
    that matter for it, which all rows are searched for. The outcome for a label does
    not depend on which others it is solved with, nor on ``n_jobs``.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the loss against ``|w|^2 / 2``.
    tol : float, default=0.1
        A label is done when its projected gradients differ by at most this: the rule
        and the default of LIBLINEAR.
    max_iter : int, default=1000
        Most passes over the rows.
    normalize : bool, default=True
        Scale every row to unit length, in ``fit`` and when predicting. Raw counts
        converge slowly and rank worse.
    fit_intercept : bool, default=True
        Add a constant feature, regularised as the others.
    loss : {"squared_hinge", "log_loss"}, default="squared_hinge"
        ``"log_loss"`` is logistic regression: without ``calibrate``,
        ``predict_proba`` is the logistic function of its scores.
    class_weight : "balanced" or None, default=None
        ``"balanced"`` lets the rows that have a label weigh as much in total as those
        that do not; None lets each row weigh the same.
    propensity : Propensity, array of shape (n_labels,), float or None, default=None
        How probable it is that a true label is recorded, in [1e-6, 1]. A row that has
        a label then weighs ``2 / p - 1`` for it, others 1 [3]_: try also a smaller
        ``C``. None, or 1, trusts the labels.
    min_weight : float, default=0.01
        Weights of at most this size are dropped, as in DiSMEC [2]_; 0 keeps all.
    n_jobs : int or None, default=None
        Threads; None is 1, -1 all cores.
    random_state : int, Generator, RandomState or None, default=0
        Seeds the order in which rows are visited.

    Attributes
    ----------
    classes_ : ndarray of shape (n_labels,)
        Column numbers of ``Y``.
    coef_ : csr_array of shape (n_features, n_labels)
        Weights, float32. Of a feature that more than a third of the labels use, zeros
        are stored too.
    intercept_ : ndarray of shape (n_labels,)
        Intercepts; of a label never seen, the smallest float32.
    n_iter_ : ndarray of shape (n_labels,)
        Passes that each label took, over all rows or over those that matter.

    Notes
    -----
    The weight of a row is a factor of its ``C``: all weights twice as large are ``C``
    twice as large. Starting every label from the solution of a label without positives
    was tried: it saves no pass, so all labels start from zero.

    With ``propensity``, the 0/1 loss on recorded labels has, but for a constant, the
    expectation of that on complete labels ([3]_, Lemma 1, for labels that are lost and
    never added). The loss that is minimised bounds it from above [4]_.

    References
    ----------
    .. [1] Hsieh, Chang, Lin, Keerthi & Sundararajan, "A dual coordinate descent method
       for large-scale linear SVM", ICML 2008, Algorithm 3.
    .. [2] Babbar & Schölkopf, "DiSMEC: distributed sparse machines for extreme
       multi-label classification", WSDM 2017.
    .. [3] Natarajan, Dhillon, Ravikumar & Tewari, "Learning with noisy labels",
       NIPS 2013.
    .. [4] Qaraei, Schultheis, Gupta & Babbar, "Convex surrogates for unbiased loss
       functions in extreme classification with missing labels", WWW 2021.

    Examples
    --------
    >>> X = [[1.0, 0.0], [1.0, 0.2], [0.0, 1.0], [0.1, 1.0]]
    >>> Y = [[1, 0], [1, 0], [0, 1], [0, 1]]
    >>> OneVsRest().fit(X, Y).predict([[0.9, 0.1]])
    array([[1, 0]])
    """

    coef_: Annotated[CSR, Matrix("float32", "n_features, n_labels")]
    intercept_: Annotated[Singles, Field("float32", "n_labels", Finite())]
    n_iter_: Annotated[Ints, Field("int64", "n_labels", Finite(0))]

    def __init__(
        self,
        *,
        C: float = 1.0,
        tol: float = 0.1,
        max_iter: int = 1000,
        normalize: bool = True,
        fit_intercept: bool = True,
        loss: str = "squared_hinge",
        class_weight: str | None = None,
        propensity: Any = None,
        min_weight: float = 0.01,
        calibrate: str | None = None,
        n_jobs: int | None = None,
        random_state: RandomState = 0,
    ) -> None:
        self.C = C
        self.tol = tol
        self.max_iter = max_iter
        self.normalize = normalize
        self.fit_intercept = fit_intercept
        self.loss = loss
        self.class_weight = class_weight
        self.propensity = propensity
        self.min_weight = min_weight
        self.calibrate = calibrate
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _has_own_probabilities(self) -> bool:
        return bool(self.loss == "log_loss")

    def _own_probabilities(self, X: CSR) -> Singles:
        probabilities: Singles = expit(self._scores(X))
        return probabilities

    def _learn(self, X: CSR, Y: CSR, weight: Floats) -> None:
        heavier = self._positive_weights(Y, weight)
        self._gather(self._fit_columns(self._unit(X), Y.tocsc(), weight, heavier))

    def _divide(self, X: MatrixLike, Y: MatrixLike, prepared: Any = None) -> Any:
        """Begin a fit whose labels are learnt apart."""
        self._check_parameters()
        if self.calibrate is not None:
            raise ValueError(
                "calibrate must be None for labels that are learnt apart. "
                f"Got {self.calibrate!r}."
            )
        rows, labels, weight = self._begin_weighted_fit(X, Y, None)
        heavier = self._positive_weights(labels, weight)
        return LabelDivision(self, self._unit(rows), labels, weight, heavier)

    def _unit(self, X: CSR) -> CSR:
        if not self.normalize:
            return X
        return sp.csr_array((linear.unit_values(X), X.indices, X.indptr), shape=X.shape)

    def _fit_columns(
        self, X: CSR, by_label: Any, weight: Floats, heavier: Floats
    ) -> list[Fitted]:
        seed = parallel.spawn_seeds(self.random_state, 1)[0]
        return linear.fit_columns(
            *(X, by_label, self._settings(), seed),
            n_jobs=self.n_jobs,
            row_weight=weight,
            positive_weight=heavier,
        )

    def _positive_weights(self, Y: CSR, weight: Floats) -> Floats:
        """Return for each label how much the rows that have it weigh beside others."""
        n_labels, heavier = Y.shape[1], np.ones(Y.shape[1])
        if self.propensity is not None:
            given = self.propensity, n_labels, LEAST_PROPENSITY
            heavier = 2 / _validation.propensities(*given) - 1
        return heavier * _balance(Y, weight) if self.class_weight else heavier

    def _scores(self, X: CSR) -> Array:
        values = linear.unit_values(X) if self.normalize else X.data
        out = np.empty((X.shape[0], len(self.classes_)), np.float32)
        W = self.coef_
        if _is_full(X) and _is_full(W):
            dense = values.reshape(X.shape), W.data.reshape(W.shape)
            svm.dense_scores(*dense, self.intercept_, out)
            return out
        svm.scores(
            *(X.indptr, X.indices, values),
            *(W.indptr, W.indices, W.data, self.intercept_, out),
        )
        return out

    def _settings(self) -> linear.Settings:
        names = linear.Settings._fields
        given = {name: v for name, v in vars(self).items() if name in names}
        return linear.Settings(**given)

    def _gather(self, fitted: list[Fitted]) -> None:
        n_labels = len(self.classes_)
        self.intercept_ = np.full(n_labels, UNSEEN, dtype=np.float32)
        self.n_iter_ = np.zeros(n_labels, np.int64)
        for block in fitted:
            self.intercept_[block.labels] = block.intercept
            self.n_iter_[block.labels] = block.n_iter
        unseen = np.flatnonzero(self.n_iter_ == 0)
        labels = np.concatenate([unseen, *(block.labels for block in fitted)])
        empty = sp.csc_array((self.n_features_in_, len(unseen)), dtype=np.float32)
        columns = [empty, *(block.weights for block in fitted)]
        weights = sp.hstack(columns, format="csc")[:, np.argsort(labels)].tocsr()
        # A row of all labels is added up many at a time; most words have such a row.
        parts = (weights.indptr, weights.indices, weights.data)
        starts, names, values = with_full_rows(*parts, n_labels)
        self.coef_ = sp.csr_array((values, names, starts), shape=weights.shape)
        n_late = np.count_nonzero(self.n_iter_ > 0)
        self.n_iter_ = np.abs(self.n_iter_)
        if n_late:
            warn(
                f"{n_late} of {n_labels} labels did not converge in max_iter="
                f"{self.max_iter} passes: raise max_iter, or scale the features.",
                ConvergenceWarning,
            )

    def _check_parameters(self) -> None:
        super()._check_parameters()
        linear.check_cost(self.C)
        _validation.number(self.tol, "tol", above=0)
        _validation.number(self.min_weight, "min_weight", least=0)
        _validation.choice(self.loss, "loss", linear.LOSSES)
        if self.class_weight is not None:
            _validation.choice(self.class_weight, "class_weight", ["balanced"])
        check_scalar(self.max_iter, "max_iter", Integral, min_val=1)


def _is_full(matrix: CSR) -> bool:
    """Return whether all values of a matrix are stored, zeros too."""
    return bool(matrix.nnz == matrix.shape[0] * matrix.shape[1])


def _balance(Y: CSR, weight: Floats) -> Floats:
    """Return what rows without a label weigh beside those with it; 1 if none are."""
    positive = Y.T @ weight
    negative = weight.sum() - positive
    has_both = (np.bincount(Y.indices, minlength=Y.shape[1]) % Y.shape[0]) > 0
    ratio = np.ones(Y.shape[1])
    np.divide(negative, positive, out=ratio, where=has_both)
    return np.clip(ratio, 1e-9, 1e9)  # rounding may leave less than nothing
