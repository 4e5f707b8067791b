"""From a learner's scores to log odds, and back."""

from typing import Any, NamedTuple, Self

import numpy as np
from scipy.special import expit

from manylabel._typing import Array, Floats
from manylabel.baselines import WSABIE, OneVsRest
from manylabel.model_selection import Calibrated, Thresholds
from manylabel.online import OnlineLabelTree

SURE = 9.0  # log odds beyond which probabilities are not told apart
MARGIN = 3.0  # log odds of a margin of 1
BEYOND = 10.0  # log odds of a score of 1 outside the knots
FARTHEST = 1e5  # log odds, where scores may be infinite


class ScoreMap(NamedTuple):
    """A map of scores to log odds that ascends everywhere, lines between knots."""

    scores: Floats
    odds: Floats

    @classmethod
    def of(cls, learner: Any) -> Self:
        """Return the map of a fitted learner: by what its scores are.

        Scores are probabilities less a threshold, log odds, or margins; those of
        WSABIE have a threshold too, and are no probabilities.
        """
        if isinstance(learner, Thresholds | Calibrated):
            return cls.of(learner.estimator_)
        if hasattr(learner, "threshold_") and not isinstance(learner, WSABIE):
            odds = np.linspace(-SURE, SURE, int(8 * SURE) + 1)
            scores = expit(odds) - float(learner.threshold_)
            far = (FARTHEST - SURE) * np.array([-1.0, 1.0])
            ends = scores[[0, -1]] + far / BEYOND
            return cls(
                np.concatenate([ends[:1], scores, ends[1:]]),
                np.concatenate([[-FARTHEST], odds, [FARTHEST]]),
            )
        is_logistic = isinstance(learner, OneVsRest) and learner.loss == "log_loss"
        slope = 1.0 if is_logistic or isinstance(learner, OnlineLabelTree) else MARGIN
        odds = FARTHEST * np.array([-1.0, 1.0])
        return cls(odds / slope, odds)

    def to_odds(self, scores: Array) -> Floats:
        """Return the log odds of scores, which may be infinite."""
        return np.interp(scores, self.scores, self.odds)

    def to_scores(self, odds: Floats) -> Floats:
        """Return the scores of log odds."""
        return np.interp(odds, self.odds, self.scores)


def find_thresholds(learner: Any, scale: ScoreMap, n_labels: int) -> Floats:
    """Return the log odds above which a learner gives labels, new ones too."""
    if not isinstance(learner, Thresholds):
        return np.full(n_labels, scale.to_odds(np.zeros(1))[0])
    odds = scale.to_odds(learner.thresholds_)
    usual = np.full(n_labels - len(odds), np.median(odds))
    return np.concatenate([odds, usual])
