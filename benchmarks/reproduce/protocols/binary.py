"""Two classes and many features (Liu & Tsang 2017, section 8.1)."""

from typing import Any

import numpy as np
from sklearn.model_selection import GridSearchCV

from benchmarks.reproduce.protocols.outcome import Outcome, timed
from benchmarks.reproduce.trial import Trial
from benchmarks.source import Source

N_FOLDS = 5


def binary(trial: Trial, data: Source) -> Outcome:
    """Train on random rows, or on those published for it, and count errors on others.

    Choices are made by cross-validation of the training rows. ``error`` is percent;
    ``features`` counts those that the model looks at, ``depth`` its decisions in a row.
    """
    X, test_X, y, test_y = data.classes(trial.seed)
    model, training = timed(lambda: _learner(trial).fit(X, y))
    best = getattr(model, "best_estimator_", model)
    return Outcome(
        {
            "error": 100 * (1 - model.score(test_X, test_y)),
            "depth": getattr(best, "depth_", 1),
            "features": _n_features(best),
            "train_seconds": training,
        }
    )


def _learner(trial: Trial) -> Any:
    if not trial.choices:
        return trial.make()
    grid = [{name: [value] for name, value in each.items()} for each in trial.choices]
    return GridSearchCV(trial.make(), grid, cv=N_FOLDS)


def _n_features(model: Any) -> int:
    """Return how many features a model looks at."""
    selected = getattr(model, "selected_features_", None)
    return len(np.flatnonzero(model.coef_) if selected is None else selected)
