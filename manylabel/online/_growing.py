"""Learners of streams whose rows may bring new features and labels."""

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from manylabel import _validation
from manylabel._typing import CSR, Floats, Ints, MatrixLike
from manylabel.base import OnlineClassifier
from manylabel.model_selection.calibration import Curves
from manylabel.model_selection.probable import DEPTH, ProbableClassifier
from manylabel.online._window import N_ROWS, Window, count_ranked, is_ranked
from manylabel.propensity import recorded_law
from manylabel.sharing import reading

LAW = (0.55, 1.5)  # of running propensities
KNOWN = "_known_curves"


class GrowingClassifier(ProbableClassifier, OnlineClassifier):
    """Rows may have more columns than those before, and fewer, where ``grow`` is true.

    A subclass has ``_grow(n_features, n_labels)``, which makes room for columns or
    refuses them, and ``_check_room``, which refuses them before anything is made.
    ``propensity`` is that of labels met and to come, or None. With ``calibrate``, one
    row in eight is ranked before it is learnt, and the last 1,024 of these say what
    scores mean: a subclass has ``_learn_rows`` in place of ``_learn``, and ``_counts``,
    and begins with an empty ``window_``.
    """

    _written = ("state_", "window_")

    grow: bool
    propensity: Any
    max_inverse_propensity: float
    state_: Any
    window_: Window

    _predict_proba = reading(ProbableClassifier._predict_proba)
    predict_topk = reading(ProbableClassifier.predict_topk)
    to_proba = reading(ProbableClassifier.to_proba)

    @property
    def n_seen_(self) -> int:
        """Rows learnt so far."""
        raise NotImplementedError

    @property
    @reading
    def calibration_(self) -> Curves:
        """What scores mean, by the rows of ``window_``."""
        return self._curves()

    def _begin_calibration(self) -> None:
        self.window_ = Window.new()
        self.__dict__[KNOWN] = []

    def _learn(self, X: CSR, Y: CSR) -> None:
        for rows, labels in self._turns(X, Y):
            self._learn_rows(rows, labels)

    def _turns(self, X: CSR, Y: CSR) -> Iterator[tuple[CSR, CSR]]:
        """Yield rows to learn next; before that, rank the first, if that is due."""
        if self.calibrate is None or not X.shape[0]:
            yield X, Y
            return
        due = is_ranked(self.n_seen_ + np.arange(X.shape[0]))
        cuts = sorted({0, *np.flatnonzero(due).tolist(), X.shape[0]})
        for start, end in pairwise(cuts):
            if due[start]:
                self._note(X[start : start + 1], Y[start : start + 1])
            yield X[start:end], Y[start:end]

    def _note(self, X: CSR, Y: CSR) -> None:
        """Rank one row."""
        if not len(self.window_.missed):
            self.window_ = Window.new(N_ROWS)
        number, best = count_ranked(self.n_seen_), self._topk(X, DEPTH)
        self.window_.note(number, best, Y.indices, self._gain())

    def _curves(self) -> Curves:
        """Return what scores mean, made once for what was learnt so far."""
        known = self.__dict__.setdefault(KNOWN, [])
        key = self.n_seen_, self.calibrate
        if not known or known[0] is not self.window_ or known[1] != key:
            curves = self.window_.fit(self._counts(), self._gain(), self.calibrate)
            known[:] = [self.window_, key, curves]
        found: Curves = known[2]
        return found

    def _gain(self) -> Floats:
        """Return how many true labels a recorded one stands for, at most so many."""
        n_labels = len(self.classes_)
        if not self._is_running():
            gain = self._boosts(n_labels)
        else:
            gain = 1 / recorded_law(self._counts(), self.n_seen_, *LAW)
        return np.minimum(gain, self.max_inverse_propensity)

    def _widths(
        self, x: Mapping[int, float], y: Mapping[int, float]
    ) -> tuple[int, int]:
        if not self.grow:
            return super()._widths(x, y)
        known = getattr(self, "n_features_in_", 1), len(getattr(self, "classes_", "1"))
        n_features = _validation.width(x, known[0], "x")
        n_labels = _validation.width(y, known[1], "y")
        if n_labels > known[1]:  # before anything is made for all of them
            self._check_room(n_features, n_labels)
        return n_features, n_labels

    def _continue(self, X: MatrixLike, Y: MatrixLike) -> tuple[CSR, CSR]:
        if not self.grow:
            return super()._continue(X, Y)
        rows = _validation.feature_matrix(X)
        labels = _validation.labels(Y, n_rows=rows.shape[0])
        n_features = max(rows.shape[1], self.n_features_in_)
        n_labels = max(labels.shape[1], len(self.classes_))
        self._grow(n_features, n_labels)
        return _validation.widened(rows, n_features), _validation.widened(
            labels, n_labels
        )

    def _known_features(self, X: MatrixLike) -> CSR:
        if not self.grow:
            return super()._known_features(X)
        if not hasattr(self, "classes_"):  # the check alone takes 20 us
            check_is_fitted(self)
        return _validation.widened(_validation.feature_matrix(X), self.n_features_in_)

    def _boosts(self, n_labels: int) -> Floats:
        """Return 1 / propensity of each label."""
        if self.propensity is None or self._is_running():
            return np.ones(n_labels)
        values = getattr(self.propensity, "values_", self.propensity)
        if self.grow and np.ndim(values):
            values = values[:n_labels]
        return 1 / _validation.propensities(values, n_labels)

    def _law(self) -> tuple[float, float]:
        """Return the law of running propensities, zeros for none."""
        return LAW if self._is_running() else (0.0, 0.0)

    def _is_running(self) -> bool:
        return isinstance(self.propensity, str) and self.propensity == "running"

    def _check_propensity(self) -> None:
        if isinstance(self.propensity, str) and not self._is_running():
            raise ValueError(
                'propensity must be a fitted Propensity, numbers in (0, 1], "running" '
                f"or None. Got {self.propensity!r}."
            )

    def _counts(self) -> Ints:
        """Return how many rows had each label so far."""
        counts: Ints = self.state_.counts[: len(self.classes_)]
        return counts

    def _learn_rows(self, X: CSR, Y: CSR) -> None:
        raise NotImplementedError

    def _grow(self, n_features: int, n_labels: int) -> None:
        raise NotImplementedError

    def _check_room(self, n_features: int, n_labels: int) -> None:
        raise NotImplementedError
