"""What the linear baselines on a stream have in common."""

from collections.abc import Iterator
from typing import Annotated, NamedTuple

import numpy as np
import scipy.sparse as sp

from manylabel import _validation
from manylabel._kernels.cs_dpp import regression
from manylabel._kernels.ranking import UNSEEN
from manylabel._typing import CSR, Array, Floats
from manylabel.lists import where
from manylabel.online._calibrated import CalibratedStream
from manylabel.persistence.records import Field, Finite, Number, Sizes
from manylabel.sharing import reading

REGRESSORS = ("ridge", "gradient")
LEARNING_RATES = ("invscaling", "adagrad")
PAIRS_AT_ONCE = 1 << 20  # enough rows at a time that they come back to the same weights


def largest_step(clip_step: bool) -> float:
    """Return the share of a row's error that a step may take off, at most."""
    return 1.0 if clip_step else np.inf


class Regression(NamedTuple):
    """What a regression on a stream learns; its constant feature comes last."""

    coef: Annotated[Array, Field("float64", "n_features + 1, n_targets")]
    inverse: Annotated[Array, Field("float64", "n_inverse, n_inverse")]  # for ridge
    spread: Annotated[Array, Field("float64", "n_spread")]  # for adaptive rates
    counts: Annotated[Array, Field("int64", "n_labels", Finite(0))]  # rows by label
    n_seen: Annotated[int, Number(least=0, whole=True)]

    def check(self, sizes: Sizes) -> None:
        """Raise ValueError if what one regressor keeps is there in part."""
        for name, array in (("inverse", self.inverse), ("spread", self.spread)):
            if len(array) not in (0, len(self.coef)):
                raise ValueError(f"state_.{name} must have a row for each weight.")


class CodeRegression(CalibratedStream):
    """Linear regression, row by row, from the features to a code of the labels.

    A subclass has ``_start_code(n_labels)``, which draws the code, ``_n_targets``, its
    length, ``_encode(Y)`` and ``_decode(codes, n_relevant)``, which returns scores;
    ``n_relevant`` is the mean number of labels that was known when each code was
    predicted. A label that no row has had so far gets the smallest score there is: it
    ranks last and is not predicted.

    Parameters
    ----------
    n_components : float or int, default=0.1
        Length of the code: a fraction of the labels, rounded up, or a number.
    regressor : {"ridge", "gradient"}, default="ridge"
        ``"ridge"`` has the exact solution of ridge regression after every row, for
        O(d^2 + d M) a row with d features and M components; ``"gradient"`` descends
        along each row, for O(nnz M).
    l2_regularization : float, default=1.0
        Weight of the squared length of the solution (ridge).
    learning_rate : {"invscaling", "adagrad"}, default="invscaling"
        Rates of gradient descent: ``"invscaling"`` learns row t at ``eta0 / sqrt(t)``;
        ``"adagrad"`` gives each feature a rate of its own that falls as the feature is
        met, so rare features keep a high one and the scale of the rows does not matter.
    eta0 : float, default=1.0
        Multiplies the rates of gradient descent.
    clip_step : bool, default=True
        Clip a step of gradient descent where it would overshoot its row. False takes
        the plain steps of the paper, which can diverge on rows longer than 1.
    fit_intercept : bool, default=True
        Add a constant feature, regularised as the others.
    calibrate : {"auto", "sigmoid", "isotonic"} or None, default=None
        Make scores probabilities, for ``predict_proba``: one row in eight is ranked
        before it is learnt, and the last 1,024 of these say how often labels of some
        score are true; see :class:`Calibrated`. Sets and rankings stay as they are.
    random_state : int, Generator, RandomState or None, default=0
        Seeds the code.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features + 1, n_components)
        Weights, the intercepts last.
    state_ : Regression
        What was learnt, as a record: ``coef``; ``inverse``, that of
        ``l2_regularization`` I + the sum of x x', of shape (0, 0) for gradient descent;
        ``spread``, the sum of x_j^2 |x|^2 for each feature j, of shape (0,) unless
        adaptive; ``counts``, the rows that had each label; ``n_seen``.
    window_ : Window
        Best labels of the rows that were ranked last; empty without ``calibrate``.
    n_seen_ : int
        Rows learnt so far.
    """

    regressor: str
    l2_regularization: float
    learning_rate: str
    eta0: float
    clip_step: bool
    fit_intercept: bool
    state_: Regression

    @property
    @reading
    def coef_(self) -> Floats:
        """Weights, the intercepts last."""
        return self.state_.coef

    @property
    def n_seen_(self) -> int:
        """Rows learnt so far."""
        return int(self.state_.n_seen)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        _validation.choice(self.regressor, "regressor", REGRESSORS)
        _validation.choice(self.learning_rate, "learning_rate", LEARNING_RATES)
        for name in ("l2_regularization", "eta0"):
            _validation.number(getattr(self, name), name, above=0)

    def _start(self, n_features: int, n_labels: int) -> None:
        n_inverse, n_spread = 0, 0  # what the other regressor or schedule keeps
        if self.regressor == "ridge":
            _validation.ridge_size(n_features, 'use regressor="gradient"')
            n_inverse = n_features + 1
        elif self.learning_rate == "adagrad":
            n_spread = n_features + 1
        self._start_code(n_labels)
        try:
            self.state_ = Regression(
                coef=np.zeros((n_features + 1, self._n_targets())),
                inverse=np.eye(n_inverse) / self.l2_regularization,
                spread=np.zeros(n_spread),
                counts=np.zeros(n_labels, np.int64),
                n_seen=0,
            )
        except MemoryError:
            raise ValueError(
                f"{type(self).__name__} keeps n_features x {self._n_targets()} weights "
                f"of 8 bytes, for which there is not enough memory. Got {n_features} "
                f"features and {n_labels} labels: use CSDPP with n_components=100 and "
                'regressor="gradient", or OnlineLabelTree.'
            ) from None
        self._begin_calibration()

    def _learn_rows(self, X: CSR, Y: CSR) -> None:
        for rows in self._pieces(X):
            n_seen = self._count(Y[rows])
            self._regress(X[rows], Y[rows], n_seen)

    def _progress(self, X: CSR, Y: CSR) -> CSR:
        pieces = [
            self._progress_at_once(rows[piece], labels[piece])
            for rows, labels in self._turns(X, Y)
            for piece in self._pieces(rows)
        ]
        return sp.vstack(pieces, format="csr")

    def _progress_at_once(self, X: CSR, Y: CSR) -> CSR:
        """Learn rows one after another; return what each was predicted before."""
        counts, n_seen = self.state_.counts.copy(), self._count(Y)
        codes = self._regress(X, Y, n_seen)
        row = np.arange(X.shape[0])
        n_relevant = counts.sum() + Y.indptr[:-1]
        scores = self._decode(codes, n_relevant / np.maximum(1, n_seen + row))
        first = np.full(Y.shape[1], X.shape[0])  # the row that shows a label
        first[Y.indices[::-1]] = np.repeat(row, np.diff(Y.indptr))[::-1]
        first[counts > 0] = -1
        return where((scores > 0) & (row[:, np.newaxis] > first))

    def _count(self, Y: CSR) -> int:
        """Count rows and their labels; return how many rows there were before.

        Before they are learnt: an interrupt waits for a kernel's end, and no longer.
        """
        state = self.state_
        np.add(state.counts, np.bincount(Y.indices, minlength=Y.shape[1]), state.counts)
        self.state_ = state._replace(n_seen=state.n_seen + Y.shape[0])
        return state.n_seen

    def _regress(self, X: CSR, Y: CSR, n_seen: int) -> Floats:
        """Learn rows; return the code of each as it was predicted before."""
        codes = self._encode(Y)
        rows = (X.indptr, X.indices, X.data, codes, self._bias())
        # The stream began with or without an inverse, whatever regressor says now.
        state = self.state_
        if len(state.inverse):
            regression.learn_ridge(*rows, state.inverse, state.coef)
        else:
            rates = (float(self.eta0), largest_step(self.clip_step), n_seen)
            regression.learn_gradient(*rows, *rates, state.spread, state.coef)
        return codes

    def _pieces(self, X: CSR) -> Iterator[slice]:
        """Cut rows so that their scores, entries and gains are few."""
        n_entries = X.nnz // max(1, X.shape[0])
        widest = max(len(self.classes_), len(self.state_.inverse), n_entries)
        n_rows = max(1, PAIRS_AT_ONCE // widest)
        for start in range(0, X.shape[0], n_rows):
            yield slice(start, start + n_rows)

    def _scores(self, X: CSR) -> Array:
        state = self.state_
        codes = np.empty((X.shape[0], state.coef.shape[1]))
        regression.predict(X.indptr, X.indices, X.data, self._bias(), state.coef, codes)
        n_relevant = state.counts.sum() / max(1, state.n_seen)
        scores = self._decode(codes, np.full(X.shape[0], n_relevant))
        scores[:, state.counts == 0] = UNSEEN
        return scores

    def _check_state(self) -> None:
        super()._check_state()
        if self.coef_.shape[1] != self._n_targets():
            raise ValueError("state_.coef must have a column for each target.")

    def _bias(self) -> float:
        return float(bool(self.fit_intercept))

    def _start_code(self, n_labels: int) -> None:
        raise NotImplementedError

    def _n_targets(self) -> int:
        raise NotImplementedError

    def _encode(self, Y: CSR) -> Floats:
        raise NotImplementedError

    def _decode(self, codes: Floats, n_relevant: Floats) -> Floats:
        raise NotImplementedError
