"""What the budgeted classifiers of two classes have in common."""

from collections.abc import Iterable
from numbers import Integral
from typing import Any, Self

import numpy as np
from sklearn.utils import check_scalar
from sklearn.utils.class_weight import compute_class_weight

from manylabel import _validation
from manylabel._kernels.coding_tree import margins
from manylabel._typing import Array, Floats, MatrixLike
from manylabel.binary import BinaryClassifier, Sides

LOSSES = {
    "squared_hinge": margins.SQUARED_HINGE,
    "logistic": margins.LOGISTIC,
    "hinge": margins.HINGE,
}


class WeightedClassifier(BinaryClassifier):
    """A classifier of two classes whose rows and classes can be weighed."""

    class_weight: Any

    def fit(self, X: MatrixLike, y: Any, sample_weight: Any = None) -> Self:
        """Learn from rows of two classes.

        Parameters
        ----------
        X : array or sparse array of shape (n_rows, n_features)
            Features.
        y : array of shape (n_rows,)
            Classes, two of them.
        sample_weight : array of shape (n_rows,) or None, default=None
            How much each row counts: its loss, and in a tree errors and leaves too.

        Returns
        -------
        BinaryClassifier
            Itself.
        """
        self._check_parameters()
        self._learn(self._begin_fit(X, y, sample_weight))
        return self

    def _begin_fit(self, X: MatrixLike, y: Any, sample_weight: Any) -> Sides:
        """Check the rows and weigh them; those of weight 0 are left out."""
        rows = _validation.features(self, X, reset=True)
        mass = _validation.row_weights(sample_weight, rows.shape[0])
        kept = mass > 0
        target = y if y is None or kept.all() else np.asarray(y)[kept]
        self.classes_, side = _validation.sides(target, int(kept.sum()))
        if not kept.all():
            rows, mass = rows[kept], mass[kept]
        return Sides(rows, side, mass * self._class_weights(side, mass))

    def _class_weights(self, side: Array, mass: Floats) -> Floats:
        """Return how much the class of each row counts."""
        if self.class_weight == "balanced":
            shares = [mass[side == s].sum() for s in (-1, 1)]
            weights = [mass.sum() / (2 * share) for share in shares]
        else:
            weights = compute_class_weight(
                self.class_weight, classes=self.classes_, y=self.classes_
            )
        return np.asarray(np.where(side > 0, weights[1], weights[0]))

    def _check_solver(self, losses: Iterable[str], **tried: Iterable[Any]) -> None:
        """Refuse parameters that the solver cannot take; some have several values."""
        for name in ("budget", "max_planes", "max_iter"):
            for value in tried.get(name, [vars(self).get(name)]):
                check_scalar(value, name, Integral, min_val=1)
        for name in ("C", "tol"):
            for value in tried.get(name, [vars(self).get(name)]):
                _validation.number(value, name, above=0)
        _validation.choice(vars(self)["loss"], "loss", losses)
        if isinstance(self.class_weight, str):
            _validation.choice(self.class_weight, "class_weight", ["balanced"])
