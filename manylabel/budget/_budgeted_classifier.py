"""A linear classifier that looks at a few features: BAC, the same as FGM."""

from typing import Annotated, Any

import numpy as np
import scipy.sparse as sp

from manylabel._kernels.coding_tree import budget as planes
from manylabel._kernels.linear.separator import Columns
from manylabel._typing import CSR, Array, Floats, Ints
from manylabel.binary import Sides
from manylabel.budget._binary import LOSSES, WeightedClassifier
from manylabel.persistence.records import Field, Finite, Matrix, Number


class BudgetedClassifier(WeightedClassifier):
    """A linear classifier of two classes that looks at a few features (BAC).

    In turn, the ``budget`` features that the loss pulls at most become a plane, and the
    weights of all planes are learnt again, until the best further plane is known to
    gain next to nothing.

    Parameters
    ----------
    budget : int, default=10
        Features of a plane, at most; all of them when there are fewer.
    max_planes : int, default=10
        Planes, at most; so ``budget * max_planes`` features are selected, at most.
    C : float, default=1.0
        Cost of the loss. For the hinge, in which each row counts ``C``, it is 1 over
        the number of rows that may lie on the wrong side of the margin: below 1, and at
        least 1 over twice the rows of the smaller class.
    loss : {"squared_hinge", "logistic", "hinge"}, default="squared_hinge"
        Loss of a margin.
    fit_intercept : bool, default=True
        Whether there is an intercept. It is not penalised.
    class_weight : dict, "balanced" or None, default=None
        How much a class counts; "balanced" lets both weigh the same.
    tol : float, default=1e-3
        Duality gap, relative to the objective, at which to stop. The optimum of the
        hinge may be 0, so there it is relative to the gap of no planes, if that is
        larger.
    max_iter : int, default=1000
        Gradient steps after each plane, at most; of the hinge, for each of the
        smoothings that lead to ``tol``.

    Attributes
    ----------
    coef_ : csr_array of shape (1, n_features)
        Weights.
    intercept_ : ndarray of shape (1,)
        Intercept.
    selected_features_ : ndarray of int
        Features of a weight other than 0, ascending.
    n_planes_ : int
        Planes that were made.
    objective_ : float
        Half the squared sum of the lengths of the planes' weights, plus ``C`` times the
        loss.
    duality_gap_ : float
        The objective is at most so much above the optimum over all planes there are.

    Notes
    -----
    This is the budget-aware classifier of Liu & Tsang (2017, Algorithm 1), which is the
    feature generating machine of Tan, Tsang & Wang (2014): the name FGM stands for the
    same class. The hinge of the paper's equation 4 has a solution other than 0 only in
    the range of ``C`` named above, so the squared hinge is the default, as in FGM. The
    sum of ``(1/2) (sum of lengths)^2`` over the best planes is half the squared
    ``budget``-support norm of the weights.

    A feature that is 0 in all rows is never selected. A budget of 0, and one class
    alone, are refused.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(100, 500))
    >>> y = X[:, 7] - X[:, 30] > 0
    >>> model = BudgetedClassifier(budget=2, max_planes=1).fit(X, y)
    >>> model.selected_features_
    array([ 7, 30])
    """

    coef_: Annotated[CSR, Matrix("float64", "1, n_features")]
    intercept_: Annotated[Floats, Field("float64", "1", Finite())]
    n_planes_: Annotated[int, Number(least=0, whole=True)]
    objective_: Annotated[float, Number()]
    duality_gap_: Annotated[float, Number()]

    def __init__(
        self,
        *,
        budget: int = 10,
        max_planes: int = 10,
        C: float = 1.0,
        loss: str = "squared_hinge",
        fit_intercept: bool = True,
        class_weight: Any = None,
        tol: float = 1e-3,
        max_iter: int = 1000,
    ) -> None:
        self.budget = budget
        self.max_planes = max_planes
        self.C = C
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter

    def _learn(self, rows: Sides) -> None:
        cost = self.C * rows.mass
        if self.loss == "hinge":
            self._check_hinge(rows, cost)
        n_features = rows.X.shape[1]
        settings = planes.PlaneSettings(
            LOSSES[self.loss],
            bool(self.fit_intercept),
            min(self.budget, n_features),
            self.max_planes,
            float(self.tol),
            self.max_iter,
        )
        n_rows, X = len(cost), rows.X.tocsc()
        starts = X.indptr.astype(np.int64)  # as those of a node, for the same code
        columns = Columns(n_rows, n_features, starts, X.indices, X.data)
        sizes = (settings.budget, settings.max_planes)
        solver = planes.make_solver(n_rows, n_features, 1, *sizes)
        result = planes.solve(columns, rows.side, cost[None], settings, solver)
        self._keep(result, solver, n_features)

    @property
    def selected_features_(self) -> Ints:
        """Features of a weight other than 0, ascending."""
        return np.asarray(self.coef_.indices.astype(np.int64))

    def _keep(self, result: Any, solver: Any, n_features: int) -> None:
        features = solver.planes.features[: result.n_features]
        weights = solver.total[0, : result.n_features]
        order = np.argsort(features)
        order = order[weights[order] != 0]
        parts = (weights[order], features[order], [0, len(order)])
        self.coef_ = sp.csr_array(parts, shape=(1, n_features))
        self.intercept_ = solver.free[0, :1].copy()
        self.n_planes_ = result.n_planes
        self.objective_, self.duality_gap_ = result.objective, result.gap

    def _check_parameters(self) -> None:
        self._check_solver(LOSSES)

    def _check_hinge(self, rows: Sides, cost: Array) -> None:
        """Refuse costs for which the hinge has no solution, or only 0."""
        least = min(cost[rows.side == s].sum() for s in (-1, 1)) * 2
        if not self.fit_intercept:
            least = cost.sum()
        if least < 1 or cost.max() >= 1:
            low, high = self.C / least, self.C / cost.max()
            raise ValueError(
                f"C must be at least {low:.3g} and below {high:.3g} for the hinge on "
                f"these rows. Got {self.C}."
            )

    def _votes(self, X: CSR) -> Floats:
        return np.asarray((X @ self.coef_.T).toarray()[:, 0] + self.intercept_[0])
