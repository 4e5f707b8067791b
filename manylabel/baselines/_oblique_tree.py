"""Trees of hyperplanes found by hill climbing: OC1 and CART-LC."""

from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils import check_scalar

from manylabel import _validation, parallel
from manylabel._kernels.binary import oblique, splits
from manylabel._typing import CSR, Array, Floats, Ints, RandomState
from manylabel.baselines._oblique_nodes import ObliqueNodes
from manylabel.binary import BinaryClassifier, Sides, check_fraction, hold_out

METHODS = ("oc1", "cart-lc")
SHIFTS = {"oc1": np.zeros(1), "cart-lc": np.array([-0.25, 0.0, 0.25])}
ELIMINATION = 0.2  # a feature goes if it counts less than this share of the first
MAX_SWEEPS = 100  # of a climb
LEAST_GOODNESS = 1e-12  # of a split, beside rounding


class ObliqueTree(BinaryClassifier):
    """A tree whose every decision is a hyperplane found by hill climbing.

    ``"cart-lc"`` [1]_ starts from the best axis-parallel split and improves one
    coefficient after another, along each feature and along it moved by a quarter of its
    deviation either way; then it drops features that count little. ``"oc1"`` [2]_ has
    no such moves, but climbs from random planes too, wanders over plateaus, and where
    it is stuck tries random directions. Both keep the axis-parallel split if it is at
    least as good. The goodness of a split is the twoing rule, which for two classes
    orders splits as Gini's impurity does.

    Parameters
    ----------
    method : {"oc1", "cart-lc"}, default="oc1"
        How a hyperplane is found.
    n_restarts : int, default=20
        Climbs at a node, the first from the axis-parallel split; of OC1.
    n_jumps : int, default=5
        Random directions that are tried where a climb ends; of OC1.
    rows_per_feature : float, default=2.0
        A node of OC1 with fewer rows for each of its features is split along an axis: a
        hyperplane could split so few rows at will.
    max_depth : int, default=10
        Decisions that a row passes, at most.
    min_samples_split : int, default=2
        Rows that a node must have to be split.
    validation_fraction : float, default=0.1
        Share of the rows of each class that are held out, for the tree to be pruned by;
        0 does not prune.
    tol : float, default=1e-3
        A climb of CART-LC ends with a pass over the features that gains no more.
    random_state : int, Generator, RandomState or None, default=0
        Draws the rows held out, and all that is random in OC1.

    Attributes
    ----------
    selected_features_ : ndarray of int
        Features that the tree looks at, ascending.
    depth_ : int
        Decisions on the longest way down.
    tree_ : ObliqueNodes
        The nodes, a record of arrays.

    Notes
    -----
    Directions are searched exactly: a row changes sides at one place, and these are
    sorted; along a feature that is mostly 0 only the other rows. CART-LC centres
    features by their median and scales them by their standard deviation in the node,
    not by quartiles, which are all 0 where a feature is rare. It drops features in one
    pass, those that count least first, where the book starts over after each.

    References
    ----------
    .. [1] Breiman, Friedman, Olshen & Stone, "Classification and regression trees",
       1984, section 5.2.2.
    .. [2] Murthy, Kasif & Salzberg, "A system for induction of oblique decision trees",
       JAIR 2, 1994, sections 2 and 3.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(500, 2))
    >>> y = X[:, 0] + X[:, 1] > 0
    >>> model = ObliqueTree().fit(X[:400], y[:400])
    >>> bool(model.score(X[400:], y[400:]) > 0.95), model.depth_
    (True, 1)
    """

    tree_: ObliqueNodes

    def __init__(
        self,
        *,
        method: str = "oc1",
        n_restarts: int = 20,
        n_jumps: int = 5,
        rows_per_feature: float = 2.0,
        max_depth: int = 10,
        min_samples_split: int = 2,
        validation_fraction: float = 0.1,
        tol: float = 1e-3,
        random_state: RandomState = 0,
    ) -> None:
        self.method = method
        self.n_restarts = n_restarts
        self.n_jumps = n_jumps
        self.rows_per_feature = rows_per_feature
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.validation_fraction = validation_fraction
        self.tol = tol
        self.random_state = random_state

    def _learn(self, rows: Sides) -> None:
        """Grow the tree, and prune it by the rows held out."""
        seeds = parallel.spawn_seeds(self.random_state, 2)
        fraction = float(self.validation_fraction)
        is_learnt, is_held = hold_out(rows.side, fraction, seeds[0])
        X, side = rows.X[is_learnt], rows.side[is_learnt]
        tree = _Grower(self, X, side, seeds[1]).grow()
        if fraction > 0:
            tree = tree.prune(rows.X[is_held], rows.side[is_held])
        self.tree_ = tree

    @property
    def selected_features_(self) -> Ints:
        """Features that the tree looks at, ascending."""
        return np.unique(self.tree_.features)

    @property
    def depth_(self) -> int:
        """Decisions on the longest way down."""
        return int(self.tree_.depth().max())

    def _votes(self, X: CSR) -> Floats:
        return np.asarray(self.tree_.value[self.tree_.leaves(X)])

    def _check_parameters(self) -> None:
        _validation.choice(self.method, "method", METHODS)
        for name in ("n_restarts", "max_depth"):
            check_scalar(getattr(self, name), name, Integral, min_val=1)
        check_scalar(self.n_jumps, "n_jumps", Integral, min_val=0)
        check_scalar(self.min_samples_split, "min_samples_split", Integral, min_val=2)
        _validation.number(self.rows_per_feature, "rows_per_feature", least=0)
        _validation.number(self.tol, "tol", least=0)
        check_fraction(self.validation_fraction, "validation_fraction")


class _Grower:
    """Grows one tree, top down and node by node."""

    def __init__(self, model: ObliqueTree, X: CSR, side: Array, seed: Any) -> None:
        self.model, self.X, self.side = model, X, side
        self.columns = splits.sort_columns(X)
        self.rng = np.random.default_rng(seed)
        self.state = np.array([seed], np.uint64)

    def grow(self) -> ObliqueNodes:
        """Return the tree, not yet pruned."""
        waiting = [(np.arange(len(self.side)), 0)]
        children, planes = [0], []
        for at, (rows, depth) in enumerate(waiting):  # grows while it is read
            coef, intercept = self._split(rows, depth)
            is_above = self.X[rows] @ coef + intercept > 0
            if is_above.all() or not is_above.any():
                planes.append((np.empty(0, np.int64), np.empty(0), 0.0))
                continue
            planes.append((np.flatnonzero(coef), coef[coef != 0], intercept))
            children[at] = len(waiting)
            for chosen in (is_above, ~is_above):
                waiting.append((rows[chosen], depth + 1))
                children.append(0)
        sizes = [len(plane[0]) for plane in planes]
        return ObliqueNodes(
            children=np.array(children),
            starts=np.concatenate([[0], np.cumsum(sizes)]),
            features=np.concatenate([plane[0] for plane in planes]),
            weights=np.concatenate([plane[1] for plane in planes])[:, None],
            intercept=np.array([[plane[2]] for plane in planes]),
            value=np.array([self.side[rows].mean() for rows, _ in waiting]),
            n_rows=np.array([len(rows) for rows, _ in waiting]),
        )

    def _split(self, rows: Ints, depth: int) -> tuple[Floats, float]:
        """Return the coefficients of a plane and its intercept; zeros for a leaf."""
        model, side = self.model, self.side[rows]
        coef = np.zeros(self.X.shape[1])
        is_small = len(rows) < model.min_samples_split or depth >= model.max_depth
        if is_small or side.min() == side.max():
            return coef, 0.0
        feature, threshold, goodness = self._split_along_an_axis(rows)
        if goodness <= LEAST_GOODNESS:
            return coef, 0.0
        coef[feature] = 1.0
        climber = _Climber(self, rows)
        share = np.mean(side > 0)
        climber.keep(coef, -threshold, goodness)
        if goodness < share * (1 - share) - LEAST_GOODNESS:
            climber.climb()
        return climber.coef, climber.intercept

    def _split_along_an_axis(self, rows: Ints) -> tuple[int, float, float]:
        """Return the feature and the threshold of the best split, and its goodness."""
        side, node = self.side.astype(np.float64), np.full(len(self.side), -1)
        node[rows] = 0
        total = np.array([[len(rows), side[rows].sum()]])
        features, best = np.arange(self.X.shape[1]), splits.make_best(1)
        is_used = np.zeros(len(features), bool)
        halves = np.empty((2, 1, 3))
        splits.search(
            self.columns, features, is_used, (node, side), total, halves, best
        )
        goodness = float(best.gain[0, 0]) / (4 * len(rows))
        return int(best.feature[0, 0]), float(best.threshold[0, 0]), goodness


class _Climber:
    """Looks for the best plane of one node, and keeps it."""

    def __init__(self, grower: _Grower, rows: Ints) -> None:
        self.model, self.rng, self.state = grower.model, grower.rng, grower.state
        self.X = grower.X[rows].astype(np.float64)
        X, side = grower.X[rows].tocsc(), grower.side[rows]
        center, scale = np.zeros(X.shape[1]), np.ones(X.shape[1])
        if self.model.method == "cart-lc":
            center, scale = _medians(X), _deviations(X)
        self.n_features = int(np.count_nonzero(np.diff(X.indptr)))
        parts = X.indptr, X.indices, X.data, side, center, scale
        self.rows = oblique.NodeRows(*parts)
        self.room = oblique.make_room(len(rows))
        self.coef, self.intercept, self.goodness = np.zeros(X.shape[1]), 0.0, 0.0

    def keep(self, coef: Floats, intercept: float, goodness: float) -> None:
        """Keep a plane if it is better than the one kept so far."""
        if goodness > self.goodness + LEAST_GOODNESS:
            self.coef, self.intercept = coef.copy(), float(intercept)
            self.goodness = goodness

    def climb(self) -> None:
        """Look for a plane that is better than the axis-parallel split."""
        if self.model.method == "cart-lc":
            self._climb_once()
        elif self.X.shape[0] >= self.model.rows_per_feature * self.n_features:
            self._climb_anew()

    def _climb_once(self) -> None:
        plane = self._plane(self.coef, self.intercept)
        goodness = self._ascend(plane)
        goodness = self._eliminate(plane, goodness)
        self.keep(plane.coef, plane.intercept[0], goodness)

    def _climb_anew(self) -> None:
        start = self.coef, self.intercept
        for _ in range(self.model.n_restarts):
            plane = self._plane(*start)
            goodness, n_tries = self._ascend(plane), 0
            while n_tries < self.model.n_jumps:
                better = self._jump(plane, goodness)
                n_tries = 0 if better > goodness else n_tries + 1
                goodness = better
            self.keep(plane.coef, plane.intercept[0], goodness)
            drawn = self.rng.uniform(-1, 1, len(self.coef) + 1)
            start = drawn[:-1], drawn[-1]

    def _plane(self, coef: Floats, intercept: float) -> oblique.Plane:
        value = np.asarray(self.X @ coef + intercept)
        return oblique.Plane(coef.copy(), np.array([float(intercept)]), value)

    def _ascend(self, plane: oblique.Plane) -> float:
        is_random = self.model.method == "oc1"
        return float(
            oblique.climb(
                *(self.rows, plane, SHIFTS[self.model.method]),
                stagnation=float(is_random),
                tolerance=0.0 if is_random else float(self.model.tol),
                max_sweeps=MAX_SWEEPS,
                state=self.state,
                room=self.room,
            )
        )

    def _jump(self, plane: oblique.Plane, goodness: float) -> float:
        """Go along a random direction if that is better, and climb from there."""
        drawn, found = self.rng.uniform(-1, 1, len(plane.coef) + 1), np.empty(2)
        slope = np.asarray(self.X @ drawn[:-1] + drawn[-1])
        oblique.search_line(plane.value, self.rows.side, slope, self.room, found)
        if found[0] <= goodness + LEAST_GOODNESS:
            return goodness
        plane.coef[:] += found[1] * drawn[:-1]
        plane.intercept[:] += found[1] * drawn[-1]
        plane.value[:] += found[1] * slope
        return self._ascend(plane)

    def _eliminate(self, plane: oblique.Plane, goodness: float) -> float:
        """Drop features that count little; return how good the plane then is."""
        features = np.flatnonzero(plane.coef)
        without = np.empty(len(features))
        oblique.rethreshold(self.rows, plane, features, self.room, without)
        most = ELIMINATION * (goodness - without.min())
        for feature in features[np.argsort(-without, kind="stable")][:-1]:
            left = np.empty(1)
            oblique.rethreshold(self.rows, plane, np.array([feature]), self.room, left)
            if goodness - left[0] >= most:
                break
            plane.coef[feature] = 0.0
            plane.value[:] = self.X @ plane.coef + plane.intercept[0]
        found, ones = np.empty(2), np.ones(len(plane.value))
        oblique.search_line(plane.value, self.rows.side, ones, self.room, found)
        plane.intercept[:] += found[1]
        return float(found[0])


def _medians(X: Any) -> Floats:
    """Return the medians of sparse columns; most are 0."""
    medians = np.zeros(X.shape[1])
    full = np.flatnonzero(2 * np.diff(X.indptr) >= X.shape[0])
    for start in range(0, len(full), 1024):
        part = full[start : start + 1024]
        medians[part] = np.median(X[:, part].toarray(), axis=0)
    return medians


def _deviations(X: Any) -> Floats:
    """Return the standard deviations of sparse columns, 1 for 0."""
    X = X.astype(np.float64)
    mean = np.asarray(X.mean(axis=0)).ravel()
    square = np.asarray(X.multiply(X).mean(axis=0)).ravel()
    deviation = np.sqrt(np.maximum(square - mean * mean, 0))
    return np.where(deviation > 1e-6 * np.sqrt(square), deviation, 1.0)
