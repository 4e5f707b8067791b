"""What the forests have in common."""

from collections.abc import Iterable, Iterator, Sequence
from numbers import Integral, Real
from typing import Annotated, Any, ClassVar, Self

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
from manylabel.model_selection.holdout import FEWEST
from manylabel.model_selection.probable import CalibratedClassifier
from manylabel.persistence.records import Field, Finite, Number
from manylabel.trees._division import (
    VALIDATION_TREES,
    ForestDivision,
    validation_rows,
)
from manylabel.trees._explanation import explain
from manylabel.trees._grower import Plan, grow_tree
from manylabel.trees._nodes import Forest
from manylabel.trees._weighting import Weighting

LIKELY = 0.5  # labels of a larger mean are predicted, unless a cost is named
MOST_BIAS = 1e30  # single precision
ROWS_AT_ONCE = 2048  # that route together; more gain little
TREES = 0.9  # of the time of a fit, about
MOST_GAIN = 1e30  # of a label; singles hold it, and its inverse
FEW_PAIRS = 1 << 16  # of rows and labels, for which it is not worth to count how many


class ForestClassifier(CalibratedClassifier, ExplainedClassifier):
    """A forest of linear separators.

    A subclass has ``_weighting(Y)``, which says how labels and rows count.
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

    forest_: Forest
    gain_: Annotated[Floats, Field("float64", "n_labels", Finite())]
    inverse_propensity_: Annotated[Floats, Field("float64", "n_labels", Finite())]
    seen_: Annotated[Bools, Field("bool", "n_labels")]
    threshold_: Annotated[float, Number()]

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
            rows, labels, mass = self._begin_weighted_fit(X, Y, sample_weight)
            n_known = sum(forest.n_trees for forest in known)
            self._check_known(n_known, widths)
            plan = self._begin_plan(rows, labels, mass)
            for forest in known:  # may have been grown on other rows
                self.seen_[forest.leaf_labels] = True
            seeds = self._seeds()
            share = self._training_share(len(mass))
            with parallel.stage("trees", share * TREES):
                grown = self._grown(plan, seeds[n_known:])
            self.forest_ = Forest.joined([*known, *grown])
            with parallel.stage("validation", share * (1 - TREES)):
                self._finish(plan, seeds, self._pilot_trees(plan, seeds))
            weight = None if sample_weight is None else mass / mass.max()
            self._calibrate(plan.X, labels, weight)
        return self

    def _divide(self, X: MatrixLike, Y: MatrixLike, prepared: Any = None) -> Any:
        """Begin a fit whose trees are grown apart."""
        self._check_parameters()
        if self.calibrate is not None:
            raise ValueError(
                "calibrate must be None for trees that are grown apart. "
                f"Got {self.calibrate!r}."
            )
        return ForestDivision(
            self, self._begin_plan(*self._begin_weighted_fit(X, Y, None))
        )

    def _begin_plan(self, X: CSR, Y: CSR, mass: Floats) -> Plan:
        """Count the labels and return what trees are grown from."""
        mass = mass / mass.max()  # sums cannot overflow
        if not X.data.all():  # how X is stored must not matter
            X = X.copy()
            X.eliminate_zeros()
        self.seen_ = np.bincount(Y.indices, minlength=Y.shape[1]) > 0
        weighting = self._weighting(Y)
        self.inverse_propensity_ = weighting.inverse_propensity
        self.gain_ = weighting.score_gain
        return self._plan(X, Y, weighting, mass / mass.mean())

    def _seeds(self) -> Array:
        return parallel.spawn_seeds(self.random_state, self.n_estimators)

    def _has_own_probabilities(self) -> bool:
        return True

    def _own_probabilities(self, X: CSR) -> Singles:
        """Return the mean share in the leaves, over the propensity; at most 1."""
        return np.clip(self._means(X, self.inverse_propensity_, 0.0), 0, 1)

    @property
    def coef_(self) -> CSR:
        """Weights of the separators, shape (n_nodes, n_features); made when asked."""
        check_is_fitted(self)
        return self.forest_.weights(self.n_features_in_)

    @property
    def leaves_(self) -> CSR:
        """Share of the training rows of a leaf that have a label; made when asked."""
        check_is_fitted(self)
        return self.forest_.leaves(len(self.classes_))

    @property
    def feature_importances_(self) -> Floats:
        """Size of the weights of each feature, times the rows routed by them.

        Summed over all nodes, and scaled to a sum of 1; all 0 if nothing was split.
        """
        check_is_fitted(self)
        forest = self.forest_
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
        check_is_fitted(self)
        return self._merged([other])

    def _merged(self, others: Iterable[Any]) -> Self:
        """Return a new forest of the trees of this and others, each asked for once."""
        seen = self.seen_.copy()

        def find_forests() -> Iterator[Forest]:
            yield self.forest_
            for other in others:
                self._check_alike(other)
                seen[other.seen_] = True
                yield other.forest_

        model = self._with(Forest.joined(find_forests()))
        model.seen_ = seen
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
        check_is_fitted(self)
        most = self.forest_.n_trees
        check_scalar(n_estimators, "n_estimators", Integral, min_val=1, max_val=most)
        return self._with(self.forest_.head(int(n_estimators)))

    def _check_alike(self, other: Any) -> None:
        """Refuse another forest that was not grown on the same data."""
        if not isinstance(other, ForestClassifier):
            raise TypeError(f"other must be a forest. Got a {type(other).__name__}.")
        check_is_fitted(other)
        if type(other) is not type(self) or self._widths() != other._widths():
            raise ValueError(
                f"other must be a {type(self).__name__} of {self.n_features_in_} "
                f"features and {len(self.classes_)} labels. Got a "
                f"{type(other).__name__} of {other.n_features_in_} and "
                f"{len(other.classes_)}."
            )
        for name in ("gain_", "inverse_propensity_"):
            if not np.array_equal(getattr(self, name), getattr(other, name)):
                raise ValueError(f"other must weigh labels the same: {name} differs.")

    def _explained(self, row: CSR, labels: Ranked) -> Explanation:
        return explain(self.forest_, row, self._reached(row)[0], labels)

    def _weighting(self, Y: CSR) -> Weighting:
        raise NotImplementedError

    def _plan(self, X: CSR, Y: CSR, weighting: Weighting, mass: Floats) -> Plan:
        return Plan(
            X=X,
            Y=Y,
            gain=weighting.gain,
            weight=weighting.row_weights(Y) * mass,
            mass=mass,
            cost=usual_cost(X) if isinstance(self.C, str) else self.C,
            bias=self.intercept_scaling,
            leaf_size=self.leaf_size,
            labels_per_leaf=self.labels_per_leaf,
        )

    def _with(self, forest: Forest) -> Self:
        """Return an estimator like this one that has another forest."""
        # A clone would forget what a Propensity was fitted to.
        parameters = self.get_params(deep=False) | {"n_estimators": forest.n_trees}
        model = type(self)(**parameters)
        learnt = {name: v for name, v in vars(self).items() if name.endswith("_")}
        model.__dict__.update(learnt)
        model.forest_ = forest
        return model

    def _known(self) -> tuple[list[Forest], tuple[int, int] | None]:
        """Return the trees that ``fit`` keeps, if any, and the widths of their data."""
        if self.warm_start and hasattr(self, "forest_"):
            return [self.forest_], self._widths()
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
        out = np.empty((X.shape[0], self.forest_.n_trees), np.int32)
        rows = router.Rows(X.indptr, X.indices, X.data)
        forest, journey = self.forest_, router.make_journey(*X.shape)
        w = (forest.weight_starts, forest.weight_features, forest.weight_bits)
        nodes = (forest.roots, forest.children, forest.intercept, router.Rows(*w))
        router.descend(rows, *nodes, journey, out)
        return out

    def _grown(self, plan: Plan, seeds: Array) -> list[Forest]:
        tasks = [(seed,) for seed in seeds]
        return parallel.run(grow_tree, tasks, self.n_jobs, common=(plan,))

    def _finish(self, plan: Plan, seeds: Array, pilots: Sequence[Forest]) -> None:
        """Choose, when the trees are grown, how means become scores.

        ``pilots`` are the trees of a validation set, none if there is no such set.
        """
        self.threshold_ = LIKELY
        if pilots:
            model, _, held = self._pilot(plan, seeds, pilots)
            scores = model._listed(held.X, thresholds.DEPTH)
            self.threshold_ = self._best_threshold(scores, held.Y)

    def _chooses(self) -> bool:
        """Return whether something is chosen on a validation set."""
        return self._seeks_threshold()

    def _seeks_threshold(self) -> bool:
        """Return whether one is chosen for the cost: probabilities need none."""
        return self.cost is not None and self.calibrate is None

    def _settled(self) -> dict[str, Any]:
        return super()._settled() | {"cost": None, "warm_start": False}

    def _validates(self, n_rows: int) -> bool:
        """Return whether there is something to choose, and rows to hold out for it."""
        return self._chooses() and n_rows >= FEWEST

    def _pilot_trees(self, plan: Plan, seeds: Array) -> list[Forest]:
        """Return trees that are grown without a validation set, if there is one.

        The first seeds serve again, so that the trees do not depend on it.
        """
        if not self._validates(plan.X.shape[0]):
            return []
        part = plan.of(validation_rows(plan, seeds).train)
        return self._grown(part, seeds[:VALIDATION_TREES])

    def _pilot(
        self, plan: Plan, seeds: Array, pilots: Sequence[Forest]
    ) -> tuple[Self, Plan, Plan]:
        """Return a smaller forest, the rows it was grown on, and a validation set."""
        train, held = validation_rows(plan, seeds)
        part = plan.of(train)
        model = self._with(Forest.joined(pilots))
        model.seen_ = np.bincount(part.Y.indices, minlength=part.Y.shape[1]) > 0
        return model, part, plan.of(held)

    def _best_threshold(self, scores: Lists, Y: CSR) -> float:
        cost = as_counted_cost(self.cost)
        return thresholds.best_threshold(scores, Y, self.inverse_propensity_, cost)

    def _scores(self, X: CSR) -> Array:
        return self._means(X, self.gain_, self.threshold_)

    def _means(self, X: CSR, gain: Floats, threshold: float) -> Singles:
        """Return the mean gain in the leaves of each row, less a threshold."""
        means = self._listed(X, len(gain), threshold, gain)
        return means.dense(self.seen_, _others(threshold))

    def _topk(self, X: CSR, k: int) -> CSR:
        scores, others = self._listed(X, k, self.threshold_), _others(self.threshold_)
        scores, shape = scores.above(others[0]), (X.shape[0], min(k, len(self.gain_)))
        if len(scores.labels) < shape[0] * shape[1]:
            return scores.best(k, self.seen_, others)
        return by_column(scores.labels.reshape(shape), scores.values, len(self.gain_))

    def _listed(
        self, X: CSR, most: int, threshold: float = 0.0, gain: Floats | None = None
    ) -> Lists:
        """Return the labels of a row's leaves, the best, and means less a threshold."""
        forest, reached = self.forest_, self._reached(X)
        starts, most = forest.leaf_starts, min(most, len(self.gain_))
        n_listed = X.shape[0] * most
        if n_listed > FEW_PAIRS:
            n_listed = min(n_listed, int((starts[reached + 1] - starts[reached]).sum()))
        indptr = np.zeros(X.shape[0] + 1, np.int64)
        labels = np.empty(n_listed, np.int32)
        listed = Lists(indptr, labels, np.empty(labels.shape, np.float32))
        shares = router.Rows(starts, forest.leaf_labels, forest.leaf_steps)
        router.list_rows(
            *(reached, shares, self.gain_ if gain is None else gain),
            *(1 / (STEPS * forest.n_trees), -float(threshold), most),
            *(router.make_votes(len(self.gain_)), router.Rows(*listed)),
        )
        return Lists(indptr, *(part[: indptr[-1]] for part in listed[1:]))

    def _listed_scores(self, X: CSR) -> Lists:
        """Return the scores of all labels that may be predicted."""
        return self._listed(X, len(self.gain_), self.threshold_)

    def _labels(self, X: CSR) -> CSR:
        if self.cost is not None and self.calibrate is not None:
            return self._cheapest_sets(X, self.cost)
        found = self._listed_scores(X).above(0)
        ones = np.ones(len(found.labels), np.int64)  # a conversion would take longer
        return found._replace(values=ones).csr(len(self.classes_))

    def _chunks(self, X: CSR) -> Iterator[tuple[CSR]]:
        """Cut rows so that there is work for every thread; at least one chunk."""
        return cut(X, ROWS_AT_ONCE)

    def _check_parameters(self) -> None:
        self._check_calibrate()
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


def usual_cost(X: CSR) -> float:
    """Return a separator cost that suits the length of the rows.

    At 1, most separators of rows of unit length send all of them one way. Chosen on
    rows held out of five training sets; longer rows need no more than 1.
    """
    square = float(np.square(X.data, dtype=np.float64).sum()) / X.shape[0]
    return max(1.0, 1.6 / square**0.25) if square > 0 else 1.0


def _others(threshold: float) -> Singles:
    """Return the scores of labels that no leaf of a row has: seen ones, and others."""
    return np.array([-threshold, -threshold - 1.0], np.float32)
