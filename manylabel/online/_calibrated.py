"""Learners of streams that are calibrated by rows ranked before they are learnt."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from manylabel._typing import CSR, Floats, Ints
from manylabel.base import OnlineClassifier
from manylabel.model_selection.calibration import Curves
from manylabel.model_selection.probable import DEPTH, ProbableClassifier
from manylabel.online._window import N_ROWS, Window, count_ranked, is_ranked
from manylabel.sharing import reading

KNOWN = "_known_curves"


class CalibratedStream(ProbableClassifier, OnlineClassifier):
    """Tells what its scores mean from rows that it ranks before it learns them.

    With ``calibrate``, that is one row in eight, and the last 1,024 of these count. A
    subclass has ``_learn_rows`` in place of ``_learn``, keeps ``counts`` of the labels
    in its ``state_``, and calls ``_begin_calibration`` when a stream begins.
    """

    _written = ("state_", "window_")

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
        """Return how many true labels a recorded one stands for."""
        return np.ones(len(self.classes_))

    def _counts(self) -> Ints:
        """Return how many rows had each label so far."""
        counts: Ints = self.state_.counts[: len(self.classes_)]
        return counts

    def _check_state(self) -> None:
        # A stream may have been saved before it could be calibrated.
        self.__dict__.setdefault("window_", Window.new())
        super()._check_state()

    def _check_parameters(self) -> None:
        self._check_calibrate()

    def _learn_rows(self, X: CSR, Y: CSR) -> None:
        raise NotImplementedError
