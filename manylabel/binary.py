"""What the classifiers of two classes have in common."""

from numbers import Real
from typing import Annotated, Any, NamedTuple, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_scalar
from sklearn.utils.validation import check_is_fitted

from manylabel import _validation
from manylabel._typing import CSR, Array, Floats, Ints, MatrixLike
from manylabel.base import Names, Width
from manylabel.persistence.records import Values
from manylabel.persistence.saved import Saved

FEWEST = 20  # rows of which some can be held out


class Sides(NamedTuple):
    """Checked rows, the side of each, -1 or +1, and how much it counts."""

    X: CSR
    side: Array
    mass: Floats


class BinaryClassifier(Saved, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier whose target is a vector of two classes.

    A subclass has ``_check_parameters``, ``_learn`` of checked rows, and ``_votes`` of
    checked rows, positive for the second class.
    """

    n_features_in_: Width
    feature_names_in_: Names
    classes_: Annotated[Array, Values("2")]

    def fit(self, X: MatrixLike, y: Any) -> Self:
        """Learn from rows of two classes.

        Parameters
        ----------
        X : array or sparse array of shape (n_rows, n_features)
            Features.
        y : array of shape (n_rows,)
            Classes, two of them.

        Returns
        -------
        BinaryClassifier
            Itself.
        """
        self._check_parameters()
        rows = _validation.features(self, X, reset=True)
        self.classes_, side = _validation.sides(y, rows.shape[0])
        self._learn(Sides(rows, side, np.ones(len(side))))
        return self

    def decision_function(self, X: MatrixLike) -> Floats:
        """Return a score for every row, positive for the second class.

        Parameters
        ----------
        X : array or sparse array of shape (n_rows, n_features)
            Features.

        Returns
        -------
        ndarray of shape (n_rows,)
            Scores.
        """
        check_is_fitted(self)
        return self._votes(_validation.features(self, X, reset=False))

    def predict(self, X: MatrixLike) -> Array:
        """Return the class of every row.

        Parameters
        ----------
        X : array or sparse array of shape (n_rows, n_features)
            Features.

        Returns
        -------
        ndarray of shape (n_rows,)
            Classes; the first where the score is 0.
        """
        is_second = self.decision_function(X) > 0
        return np.asarray(self.classes_[is_second.astype(int)])

    def _known_sizes(self) -> dict[str, int]:
        return {"n_features": self.n_features_in_}

    def _check_parameters(self) -> None:
        raise NotImplementedError

    def _learn(self, rows: Sides) -> None:
        raise NotImplementedError

    def _votes(self, X: CSR) -> Floats:
        raise NotImplementedError

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.sparse = True
        return tags


def draw_folds(side: Array, n_folds: int, seed: Any) -> Ints:
    """Return a fold for each row, with an equal share of both sides in each."""
    rng, fold = np.random.default_rng(seed), np.empty(len(side), np.int64)
    for one in (-1, 1):
        rows = np.flatnonzero(side == one)
        fold[rng.permutation(rows)] = np.arange(len(rows)) % n_folds
    return fold


def check_fraction(value: Any, name: str) -> None:
    """Refuse what is no share of rows to hold out."""
    bounds = {"min_val": 0, "max_val": 1, "include_boundaries": "left"}
    check_scalar(value, name, Real, **bounds)


def hold_out(side: Array, fraction: float, seed: Any) -> tuple[Array, Array]:
    """Return which rows to learn and which are held out, a share of both sides.

    Of fewer than 20 rows none can be spared: then all are both, so what is chosen is
    chosen on the rows that were learnt. The same where the share is none.
    """
    rng, is_held = np.random.default_rng(seed), np.zeros(len(side), bool)
    if len(side) >= FEWEST:
        for one in (-1, 1):
            rows = rng.permutation(np.flatnonzero(side == one))
            is_held[rows[: int(fraction * len(rows))]] = True
    if not is_held.any():
        return ~is_held, ~is_held
    return ~is_held, is_held
