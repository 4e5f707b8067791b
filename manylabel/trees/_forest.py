"""What the forests have in common."""

from collections.abc import Iterator
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils import check_scalar
from sklearn.utils.validation import check_is_fitted

from manylabel import _validation, parallel
from manylabel._kernels.forest import router
from manylabel._kernels.forest.quantization import STEPS
from manylabel._typing import (
    CSR,
    Array,
    Bools,
    Floats,
    MatrixLike,
    RandomState,
    Singles,
)
from manylabel.base import ExplainedClassifier, cut
from manylabel.explanation import Explanation, Ranked
from manylabel.lists import Lists, by_column
from manylabel.losses.resolve import as_counted_cost
from manylabel.model_selection import thresholds
from manylabel.trees import _pilot
from manylabel.trees._explanation import explain
from manylabel.trees._grower import Plan, grow_tree
from manylabel.trees._nodes import LISTS, PER_NODE, Forest

LIKELY = 0.5  # labels of a larger mean are predicted, unless a cost is named
MOST_BIAS = 1e30  # single precision
ROWS_AT_ONCE = 2048  # that route together; more gain little
MOST_GAIN = 1e30  # of a label; singles hold it, and its inverse
MOST_PAIRS = 1 << 28  # of a row and a label that predict_proba returns: 1 GB


class ForestClassifier(ExplainedClassifier):
    """A forest of linear separators.

    A subclass says how labels and rows count: ``_worth(Y)`` is how many true labels a
    recorded one stands for, ``_gain(Y)`` the gain of each label in a split,
    ``_score_gain(gain)`` in a score, and ``_weight(Y, gain)`` the weight of each row in
    the objective of a split.
    """

    AUTHORS: ClassVar[dict[str, Any]] = {"C": 1.0}  # settings of their program

    n_estimators: int
    leaf_size: int
    labels_per_leaf: int
    C: float | str
    intercept_scaling: float
    cost: Any
    warm_start: bool
    n_jobs: int | None
    random_state: RandomState

    roots_: Array
    children_: Array
    intercept_: Singles
    node_rows_: Array
    weight_starts_: Array
    weight_features_: Array
    weight_bits_: Array
    leaf_starts_: Array
    leaf_labels_: Array
    leaf_steps_: Array
    gain_: Floats
    worth_: Floats
    seen_: Bools
    threshold_: float

    def fit(self, X: MatrixLike, Y: MatrixLike, sample_weight: Any = None) -> Self:
        """Grow the trees.

        Parameters
        ----------
        X : array or sparse array of shape (n_rows, n_features)
            Features.
        Y : array or sparse array of shape (n_rows, n_labels)
            Labels, 0/1.
        sample_weight : array of shape (n_rows,) or None, default=None
            How much each row counts, in splits, separators and leaves; ``leaf_size``
            counts rows. A row of weight 0 is as if it were not there.

        Returns
        -------
        ForestClassifier
            Itself.
        """
        self._check_parameters()
        with self._undo_on_error():
            known, widths = self._known()
            rows, labels = self._begin_fit(X, Y)
            n_known = sum(len(forest.roots) - 1 for forest in known)
            self._check_known(n_known, widths)
            mass = _validation.row_weights(sample_weight, rows.shape[0])
            mass = mass / mass.max()  # sums cannot overflow
            rows, labels, mass = rows[mass > 0], labels[mass > 0], mass[mass > 0]
            rows.eliminate_zeros()  # a copy; how X is stored must not matter
            self.seen_ = np.bincount(labels.indices, minlength=labels.shape[1]) > 0
            for forest in known:  # may have been grown on other rows
                self.seen_[forest.leaf_labels] = True
            self.worth_ = self._worth(labels)
            plan = self._plan(rows, labels, mass / mass.mean())
            self.gain_ = self._score_gain(plan.gain)
            seeds = parallel.spawn_seeds(self.random_state, self.n_estimators)
            self._take(Forest.joined([*known, *self._grown(plan, seeds[n_known:])]))
            self._summarise(plan)
            self._settle(plan, seeds)
        return self

    def predict_proba(self, X: MatrixLike) -> Singles:
        """Return how probable each label is, by the leaves alone.

        Parameters
        ----------
        X : array or sparse array of shape (n_rows, n_features)
            Features.

        Returns
        -------
        ndarray of shape (n_rows, n_labels)
            The mean over the trees of the label's frequency, divided by its
            propensity if the forest has one; at most 1. Dense: for many labels use
            ``predict_topk``.
        """
        X = self._known_features(X)
        n_rows, n_labels = X.shape[0], len(self.classes_)
        if n_rows * n_labels > MOST_PAIRS:
            raise ValueError(
                f"X must have at most {MOST_PAIRS // n_labels} rows for {n_labels} "
                f"labels; use predict_topk or fewer rows. Got {n_rows} rows."
            )
        tasks = ((chunk, self.worth_, 0.0) for (chunk,) in self._chunks(X))
        means = parallel.run(self._means, tasks, self.n_jobs)
        return np.clip(np.concatenate(means), 0, 1)

    @property
    def coef_(self) -> CSR:
        """Weights of the separators, shape (n_nodes, n_features); made when asked."""
        return self._forest().weights(self.n_features_in_)

    @property
    def leaves_(self) -> CSR:
        """Share of the training rows of a leaf that have a label; made when asked."""
        return self._forest().leaves(len(self.classes_))

    @property
    def feature_importances_(self) -> Floats:
        """Size of the weights of each feature, times the rows routed by them.

        Summed over all nodes, and scaled to a sum of 1; all 0 if nothing was split.
        """
        forest = self._forest()
        weights = np.abs(forest.weights(self.n_features_in_).data)
        routed = np.repeat(forest.node_rows, np.diff(forest.weight_starts))
        total = np.bincount(
            forest.weight_features, weights * routed, self.n_features_in_
        )
        return np.asarray(total / max(total.sum(), np.finfo(float).tiny))

    def merged(self, other: Self) -> Self:
        """Return a new forest of the trees of two, grown apart on the same data.

        Parameters
        ----------
        other : ForestClassifier
            A fitted forest of the same class, features and labels, of another
            ``random_state``: trees of the same seed are the same.

        Returns
        -------
        ForestClassifier
            Has this forest's parameters but for ``n_estimators``.
        """
        if not isinstance(other, ForestClassifier):
            raise TypeError(f"other must be a forest. Got a {type(other).__name__}.")
        mine, theirs = self._forest(), other._forest()
        if type(other) is not type(self) or self._widths() != other._widths():
            raise ValueError(
                f"other must be a {type(self).__name__} of {self.n_features_in_} "
                f"features and {len(self.classes_)} labels. Got a "
                f"{type(other).__name__} of {other.n_features_in_} and "
                f"{len(other.classes_)}."
            )
        for name in ("gain_", "worth_"):
            if not np.array_equal(getattr(self, name), getattr(other, name)):
                raise ValueError(f"other must weigh labels the same: {name} differs.")
        model = self._with(Forest.joined([mine, theirs]))
        model.seen_ = self.seen_ | other.seen_
        return model

    def trimmed(self, n_estimators: int) -> Self:
        """Return a new forest of the first trees of this one.

        Parameters
        ----------
        n_estimators : int
            How many trees to keep.

        Returns
        -------
        ForestClassifier
            Has this forest's parameters but for ``n_estimators``.
        """
        forest = self._forest()
        most = len(forest.roots) - 1
        check_scalar(n_estimators, "n_estimators", Integral, min_val=1, max_val=most)
        return self._with(forest.head(int(n_estimators)))

    def _explained(self, row: CSR, labels: Ranked) -> Explanation:
        return explain(self._forest(), row, self._reached(row)[0], labels)

    def _gain(self, Y: CSR) -> Floats:
        raise NotImplementedError

    def _weight(self, Y: CSR, gain: Floats) -> Floats:
        raise NotImplementedError

    def _worth(self, Y: CSR) -> Floats:
        return np.ones(Y.shape[1])

    def _score_gain(self, gain: Floats) -> Floats:
        return gain

    def _plan(self, X: CSR, Y: CSR, mass: Floats) -> Plan:
        gain = self._gain(Y)
        return Plan(
            X=X,
            Y=Y,
            gain=gain,
            weight=self._weight(Y, gain) * mass,
            mass=mass,
            cost=usual_cost(X) if isinstance(self.C, str) else self.C,
            bias=self.intercept_scaling,
            leaf_size=self.leaf_size,
            labels_per_leaf=self.labels_per_leaf,
        )

    def _forest(self) -> Forest:
        check_is_fitted(self)
        return Forest(*(getattr(self, f"{name}_") for name in Forest._fields))

    def _take(self, forest: Forest) -> None:
        for name, value in forest._asdict().items():
            setattr(self, f"{name}_", value)

    def _with(self, forest: Forest) -> Self:
        """Return an estimator like this one that has another forest."""
        # A clone would forget what a Propensity was fitted to.
        n_estimators = len(forest.roots) - 1
        parameters = self.get_params(deep=False) | {"n_estimators": n_estimators}
        model = type(self)(**parameters)
        learnt = {name: v for name, v in vars(self).items() if name.endswith("_")}
        model.__dict__.update(learnt)
        model._take(forest)
        return model

    def _known(self) -> tuple[list[Forest], tuple[int, int] | None]:
        """Return the trees that ``fit`` keeps, if any, and the widths of their data."""
        if self.warm_start and hasattr(self, "roots_"):
            return [self._forest()], self._widths()
        return [], None

    def _check_known(self, n_known: int, widths: tuple[int, int] | None) -> None:
        """Refuse fewer trees than are known, and data that these did not see."""
        found = self._widths()
        if widths is not None and found != widths:
            raise ValueError(
                f"X and Y must have {widths[0]} and {widths[1]} columns, as the trees "
                f"that warm_start keeps. Got {found[0]} and {found[1]}."
            )
        if self.n_estimators < n_known:
            raise ValueError(
                f"n_estimators must be at least {n_known}, the trees that "
                f"warm_start keeps. Got {self.n_estimators}."
            )

    def _reached(self, X: CSR) -> Array:
        """Return the leaf of each row in each tree."""
        out = np.empty((X.shape[0], len(self.roots_) - 1), np.int32)
        router.descend(
            *(X.indptr, X.indices, X.data, X.shape[1]),
            *(self.roots_, self.children_, self.intercept_),
            *(self.weight_starts_, self.weight_features_, self.weight_bits_, out),
        )
        return out

    def _leaf_lists(
        self, gain: Floats, threshold: float
    ) -> tuple[Array, Array, Array, Floats, Bools, float, float]:
        """Return what the leaves hold, and how it is scored."""
        unit = 1 / (STEPS * (len(self.roots_) - 1))
        lists = (self.leaf_starts_, self.leaf_labels_, self.leaf_steps_)
        return (*lists, gain, self.seen_, unit, -threshold)

    def _grown(self, plan: Plan, seeds: Array) -> list[Forest]:
        return parallel.run(grow_tree, [(plan, seed) for seed in seeds], self.n_jobs)

    def _summarise(self, plan: Plan) -> None:
        """Learn what is to be learnt from the rows beside the trees."""

    def _settle(self, plan: Plan, seeds: Array) -> None:
        """Choose, when all else is learnt, how means become scores."""
        self.threshold_ = LIKELY
        pilot = self._pilot(plan, seeds) if self.cost is not None else None
        if pilot is not None:
            model, X, Y = pilot
            self.threshold_ = self._best_threshold(
                model._listed(X, thresholds.DEPTH), Y
            )

    def _pilot(self, plan: Plan, seeds: Array) -> tuple[Self, CSR, CSR] | None:
        """Return a smaller forest grown without some rows, and these rows.

        The first seeds serve again, so that the trees do not depend on the pilot.
        None if there are too few rows.
        """
        parts = _pilot.divided(plan.X.shape[0], int(seeds[0]))
        if parts is None:
            return None
        held, rest = parts
        part = plan.of(rest)
        trees = self._grown(part, seeds[: _pilot.N_TREES])
        model = self._with(Forest.joined(trees))
        model.seen_ = np.bincount(part.Y.indices, minlength=part.Y.shape[1]) > 0
        model._summarise(part)
        return model, plan.X[held], plan.Y[held]

    def _best_threshold(self, scores: Lists, Y: CSR) -> float:
        cost = as_counted_cost(self.cost)
        return thresholds.best_threshold(scores, Y, self.worth_, cost)

    def _scores(self, X: CSR) -> Array:
        return self._means(X, self.gain_, self.threshold_)

    def _means(self, X: CSR, gain: Floats, threshold: float) -> Singles:
        """Return the mean gain in the leaves of each row, less a threshold."""
        out = np.empty((X.shape[0], len(gain)), np.float32)
        router.mean_rows(self._reached(X), *self._leaf_lists(gain, threshold), out)
        return out

    def _topk(self, X: CSR, k: int) -> CSR:
        n_labels = len(self.gain_)
        columns = np.empty((X.shape[0], min(k, n_labels)), np.int32)
        scores = np.empty(columns.shape, np.float32)
        lists = self._leaf_lists(self.gain_, self.threshold_)
        router.best_of_rows(self._reached(X), *lists, columns, scores)
        return by_column(columns, scores, n_labels)

    def _listed(self, X: CSR, most: int, threshold: float = 0.0) -> Lists:
        """Return the labels of a row's leaves, the best, and means less a threshold."""
        reached, most = self._reached(X), min(most, len(self.gain_))
        starts, unit = self.leaf_starts_, 1 / (STEPS * (len(self.roots_) - 1))
        n_held = int((starts[reached + 1] - starts[reached]).sum())
        indptr = np.zeros(X.shape[0] + 1, np.int64)
        labels = np.empty(min(X.shape[0] * most, n_held), np.int32)
        means = np.empty(labels.shape, np.float32)
        lists = (starts, self.leaf_labels_, self.leaf_steps_, self.gain_)
        router.list_rows(
            *(reached, *lists, unit, -threshold, most, indptr, labels, means)
        )
        return Lists(indptr, labels[: indptr[-1]], means[: indptr[-1]])

    def _listed_scores(self, X: CSR) -> Lists:
        """Return the scores of all labels that may be predicted."""
        return self._listed(X, len(self.gain_), self.threshold_)

    def _labels(self, X: CSR) -> CSR:
        scores = self._listed_scores(X)
        labels = scores._replace(values=scores.values > 0).csr(len(self.classes_))
        labels.eliminate_zeros()
        return labels

    def _chunks(self, X: CSR) -> Iterator[tuple[CSR]]:
        """Cut rows so that there is work for every thread; at least one chunk."""
        return cut(X, ROWS_AT_ONCE)

    def _check_parameters(self) -> None:
        for name in ("n_estimators", "leaf_size", "labels_per_leaf"):
            check_scalar(getattr(self, name), name, Integral, min_val=1)
        if isinstance(self.C, str):
            _validation.choice(self.C, "C", ["auto"])
        else:
            _validation.number(self.C, "C", above=0)
        _validation.number(self.intercept_scaling, "intercept_scaling", least=0)
        value = self.intercept_scaling
        check_scalar(value, "intercept_scaling", Real, max_val=MOST_BIAS)
        if self.cost is not None:
            as_counted_cost(self.cost)

    def _widths(self) -> tuple[int, int]:
        return self.n_features_in_, len(self.classes_)

    def _state_shapes(self) -> dict[str, tuple[int, ...]]:
        n_nodes, n_labels = int(self.roots_[-1]), len(self.classes_)
        return {
            **{f"{name}_": (n_nodes + 1,) for name in LISTS},
            **{f"{name}_": (n_nodes,) for name in PER_NODE},
            "gain_": (n_labels,),
            "worth_": (n_labels,),
            "seen_": (n_labels,),
        }

    def _check_state(self) -> None:
        super()._check_state()
        if not np.isfinite(self.threshold_):
            raise ValueError(f"threshold_ must be finite. Got {self.threshold_}.")
        self._forest().check(*self._widths())


def usual_cost(X: CSR) -> float:
    """Return a separator cost that suits the length of the rows.

    At 1, most separators of rows of unit length send all of them one way. Chosen on
    rows held out of five training sets; longer rows need no more than 1.
    """
    square = float(np.square(X.data, dtype=np.float64).sum()) / X.shape[0]
    return max(1.0, 1.6 / square**0.25) if square > 0 else 1.0


def ideal_weights(Y: CSR, gain: Floats) -> Floats:
    """Return 1 / (the sum of discounted gains of each row, its labels best first).

    With these weights the objective of a split is nDCG. Rows without labels get 0.
    """
    rows = np.repeat(np.arange(Y.shape[0]), np.diff(Y.indptr))
    gains = gain[Y.indices]
    gains = gains[np.lexsort((-gains, rows))]
    ranks = np.arange(Y.nnz) - Y.indptr[rows]
    ideal = np.bincount(rows, gains / np.log2(ranks + 2.0), minlength=Y.shape[0])
    return np.divide(1.0, ideal, where=ideal > 0, out=np.zeros(Y.shape[0]))
