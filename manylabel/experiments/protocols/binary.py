"""Two classes and many features (Liu & Tsang 2017, section 8.1)."""

from typing import Any

import numpy as np
from sklearn.model_selection import GridSearchCV, train_test_split

from manylabel.experiments.catalogue import Source
from manylabel.experiments.protocols.outcome import Outcome, timed
from manylabel.experiments.trial import Trial

N_FOLDS = 5


def binary(trial: Trial, data: Source) -> Outcome:
    """Train on random rows, or on those published for it, and count errors on others.

    Choices are made by cross-validation of the training rows. ``error`` is percent;
    ``features`` counts those that the model looks at.
    """
    parts = data.binary(trial.seed)
    if len(parts) == 2:  # noqa: PLR2004 - rows and classes, not split
        X, y = parts
        parts = train_test_split(
            *(X, y), test_size=data.test_rows, random_state=trial.seed, stratify=y
        )
    X, test_X, y, test_y = parts
    model, training = timed(lambda: _learner(trial).fit(X, y))
    error = 100 * (1 - model.score(test_X, test_y))
    best = getattr(model, "best_estimator_", model)
    depth = getattr(best, "depth_", 1)
    return Outcome(
        {
            "error": error,
            "depth": depth,
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
