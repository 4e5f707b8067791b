"""LibMultiLabel: LIBLINEAR for each label (``train_1vsrest``).

It starts as many threads as there are cores, whatever it is told; CPU seconds are those
of all of them. Its weights are dense, and so is what it predicts: the best labels are
picked by NumPy.
"""

from typing import Any

import libmultilabel.linear as linear
import numpy as np


class Entrant:
    """One-vs-rest with the options of LIBLINEAR that are given."""

    def __init__(self, job: Any) -> None:
        self.job = job
        self.X, self.Y = job.X.astype(np.float64), job.Y.astype(np.int64)

    def train(self) -> None:
        self.model = linear.train_1vsrest(
            self.Y, self.X, verbose=False, **self.job.parameters
        )

    def save(self) -> None:
        weights, thresholds = self.model.weights, self.model.thresholds
        self.job.keep(weights=np.asarray(weights), thresholds=thresholds)

    def rows(self, X: Any) -> Any:
        return X.astype(np.float64)

    def predict(self, X: Any) -> Any:
        scores = linear.predict_values(self.model, X)
        return self.job.best(scores, np.arange(scores.shape[1]))
