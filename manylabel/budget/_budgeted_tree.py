"""A tree whose every decision looks at a few features: SBT."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_scalar
from sklearn.utils.validation import check_is_fitted

from manylabel import _validation, parallel
from manylabel._kernels.coding_tree.budget import PlaneSettings
from manylabel._typing import CSR, Floats, Ints, MatrixLike, RandomState
from manylabel.binary import Sides, draw_folds
from manylabel.budget import _reading
from manylabel.budget._binary import LOSSES, WeightedClassifier
from manylabel.budget._bounds import TreeBound, bound_tree, check_confidence
from manylabel.budget._grower import Grower, Plan
from manylabel.budget._reading import Nodes
from manylabel.budget._voting_nodes import VotingNodes
from manylabel.explanation import Node
from manylabel.model_selection.race import is_more, race

# What cross-validation tries of a parameter that is not given.
BUDGETS, PLANES, COSTS = (1, 5, 20, 100), (1, 10), (0.01, 0.1, 1.0, 10.0)
# Of one linear classifier of all features; half of them in terms of scikit-learn.
LINEAR_COSTS = (0.002, 0.02, 0.2, 1.0)
AHEAD = 2.0  # standard errors by which a tree must be better than that classifier
MAX_VALUES = 1 << 20  # of rows on which all of these are tried; of more, a share is
FINALISTS = 2  # of these, tried on all rows then


class BudgetedTree(WeightedClassifier):
    """A tree of linear classifiers that look at a few features each (SBT).

    From the root down, the rows of a node are split by classifiers learnt from them, as
    :class:`BudgetedClassifier` learns, until the rows of a node are of one class, are
    all sent the same way, are few, or are deep. There is one classifier for each fold
    of the rows, learnt without it; all look at the same features, and they vote. A node
    loses its children if these err no less than it would as a leaf, each classifier
    judged by the rows that it did not learn from.

    A tree has to be better than one linear classifier of all features, beyond chance,
    or that classifier takes its place, as a single decision (see ``budget``).

    Parameters
    ----------
    budget : int, float, sequence of these or None, default=None
        Features of a plane, at most; all of them when there are fewer. A float below 1
        is a share of all features. A node has up to ``budget * max_planes``. None also
        allows one linear classifier of all features in place of a tree.
    max_planes : int, sequence of int or None, default=None
        Planes of a node, at most.
    C : float, sequence of float or None, default=None
        Cost of the loss. Where ``budget``, ``max_planes`` and ``C`` have several
        values, or None, one is chosen by cross-validation of whole trees, ``C`` after
        the others. Of rows with more than a million values a share chooses two
        candidates, and one fold of all rows one of them.
    loss : {"squared_hinge", "logistic"}, default="squared_hinge"
        Loss of a margin.
    cv : int, default=5
        Classifiers of a node; 1 learns one from all rows, and does not allow to prune.
    prune : bool or "pair", default=True
        Whether children are removed that do not help; "pair" judges both children of a
        node together, as the paper does.
    max_depth : int, default=10
        Decisions that a row passes, at most.
    min_samples_split : int, default=10
        Rows that a node must have to be split.
    class_weight : dict, "balanced" or None, default=None
        How much a class counts; "balanced" lets both weigh the same.
    tol : float, default=1e-2
        Duality gap, relative to the objective, at which a node is learnt.
    max_iter : int, default=1000
        Gradient steps after each plane, at most.
    n_jobs : int or None, default=None
        Trees of the cross-validation that are grown at a time. The result does not
        depend on it.
    random_state : int, Generator, RandomState or None, default=0
        Draws the folds.

    Attributes
    ----------
    budget_, max_planes_, C_
        Given, or chosen.
    PAPER : dict
        Parameters of the paper's experiments: budgets of 1 to 9 % of the features, its
        values of ``C`` and its pruning.
    PAPER_BUDGETS : tuple of int
        The paper's budgets for rcv, news20 and webspam, sets of many features.
    selected_features_ : ndarray of int
        Features that the tree looks at, ascending.
    tree_ : VotingNodes
        The nodes, a record of arrays: ``children``, the first child of a node, that of
        the second class, which the other follows, 0 in a leaf; ``value``, from -1 to 1,
        how far the training rows of a node are of the second class; ``n_rows``;
        ``features``, their ``weights`` in each fold and ``intercept``, and more.

    Notes
    -----
    Liu & Tsang (2017), Algorithm 2, equation 11 and section 5.2. The paper does not say
    when to stop if a node is not pure; here it is by ``max_depth``, by
    ``min_samples_split``, and if all rows go the same way even when both classes weigh
    the same. Without this second attempt a node with no feature that helps at once, as
    in XOR, would end at the first small difference between the sizes of the classes. A
    leaf predicts the larger class of its rows. A node is compared with its children
    after these were pruned. As a leaf it errs what the paper says, the error of the
    classifiers above on its rows, or the weight of its smaller class if this is less.
    By the first alone hardly a node is ever pruned: its rows were sent by the vote,
    mostly of classifiers that had learnt from them, so its children seem to err less
    whatever they do. ``prune="pair"`` is the paper's rule; the paper neither names its
    number of planes nor falls back to a linear classifier.

    Candidates race: after each fold, those drop out that err more than the best by 3
    standard errors of the rows on which the two differ. The linear classifier is chosen
    unless the best tree errs less by 2 of these.

    A feature that is 0 in all rows of a node is never selected there. A budget of 0,
    and one class alone, are refused.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(1000, 2))
    >>> y = (X[:, 0] > 0) != (X[:, 1] > 0)
    >>> model = BudgetedTree(budget=1, max_planes=1, C=1, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.95)
    True
    """

    PAPER: ClassVar[dict[str, Any]] = {
        "budget": tuple(percent / 100 for percent in range(1, 10)),
        "max_planes": 10,
        "C": (0.001, 0.01, 0.1, 5.0, 10.0),
        "prune": "pair",
        "min_samples_split": 2,
    }
    PAPER_BUDGETS: ClassVar[tuple[int, ...]] = (
        2,
        5,
        10,
        20,
        50,
        100,
        150,
        200,
        250,
        400,
    )

    budget_: int
    max_planes_: int
    C_: float
    tree_: VotingNodes

    def __init__(
        self,
        *,
        budget: float | Sequence[float] | None = None,
        max_planes: int | Sequence[int] | None = None,
        C: float | Sequence[float] | None = None,
        loss: str = "squared_hinge",
        cv: int = 5,
        prune: bool | str = True,
        max_depth: int = 10,
        min_samples_split: int = 10,
        class_weight: Any = None,
        tol: float = 1e-2,
        max_iter: int = 1000,
        n_jobs: int | None = None,
        random_state: RandomState = 0,
    ) -> None:
        self.budget = budget
        self.max_planes = max_planes
        self.C = C
        self.loss = loss
        self.cv = cv
        self.prune = prune
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _learn(self, rows: Sides) -> None:
        """Choose what is not given, grow the tree, and prune it."""
        seeds = parallel.spawn_seeds(self.random_state, 2)
        fold = draw_folds(rows.side, max(2, self.cv), seeds[0])
        n_shares = max(1, -(-rows.X.nnz // MAX_VALUES))
        share = np.flatnonzero(draw_folds(rows.side, n_shares, seeds[1]) == 0)
        best = self._choose(rows, fold, share)
        settings: Any = best.settings
        self.budget_, self.max_planes_ = settings.budget, settings.max_planes
        self.C_ = best.cost
        self.tree_ = self._grow(best)

    @property
    def selected_features_(self) -> Ints:
        """Features that the tree looks at, ascending."""
        return np.unique(self.tree_.features)

    @property
    def depth_(self) -> int:
        """Decisions on the longest way down."""
        return int(self.tree_.depth().max())

    def nodes(self, depth: int | None = None) -> list[Node]:
        """Return the nodes of the tree to be read, each before its children.

        Parameters
        ----------
        depth : int or None, default=None
            Levels below the root; None for all.

        Returns
        -------
        list of Node
            Classes stand for labels: a decision has ``asked`` for the second of them,
            by weights that are means over the folds, and a leaf has one ``fixed``.
        """
        check_is_fitted(self)
        return _reading.upper(self._arrays(), depth)

    def bound(
        self, X: MatrixLike, y: Any, *, confidence: float = 0.95, constant: float = 1.0
    ) -> TreeBound:
        """Return what Theorem 5 says of the errors of the tree.

        Parameters
        ----------
        X : array or sparse array of shape (n_rows, n_features)
            Features of the training rows.
        y : array of shape (n_rows,)
            Their classes.
        confidence : float, default=0.95
            With which the bound holds.
        constant : float, default=1.0
            The "universal small constant" c, which the paper does not name.

        Returns
        -------
        TreeBound
            Its four terms, their ``total``, and ``weighted``.

        Notes
        -----
        Each decision is taken to be the mean of the classifiers that vote, with the
        intercept as the weight of a feature that is 1 everywhere; the Gaussian
        complexity is that of such decisions of length 1 (Bartlett & Mendelson 2002,
        Lemma 22). Rows count the same, whatever they weighed.
        """
        check_is_fitted(self)
        check_confidence(confidence)
        rows = _validation.features(self, X, reset=False)
        classes, side = _validation.sides(y, rows.shape[0])
        if not np.array_equal(classes, self.classes_):
            raise ValueError(f"y must have the classes {self.classes_}. Got {classes}.")
        return bound_tree(self.tree_, rows, side, confidence, constant)

    def _arrays(self) -> Nodes:
        tree, n_nodes = self.tree_, len(self.tree_.children)
        parts = (tree.weights.mean(axis=1), tree.features, tree.starts)
        weights = sp.csr_array(parts, shape=(n_nodes, self.n_features_in_))
        is_leaf = tree.children == 0
        return Nodes(
            *(tree.children, tree.n_rows, np.where(is_leaf, -1, 1), weights),
            intercept=tree.intercept.mean(axis=1),
            odds=None,
            label_starts=np.concatenate([[0], np.cumsum(is_leaf)]),
            labels=(tree.value[is_leaf] > 0).astype(np.int64),
        )

    def _votes(self, X: CSR) -> Floats:
        return np.asarray(self.tree_.value[self.tree_.leaves(X)])

    def _choose(self, sides: Sides, fold: Ints, share: Ints) -> Plan:
        """Choose budget and planes at the middle of the costs, then the cost."""
        n_features = sides.X.shape[1]
        costs = _listed(self.C, COSTS)
        cost = costs[(len(costs) - 1) // 2]
        budgets = [_size(b, n_features) for b in _listed(self.budget, BUDGETS)]
        shapes = product(sorted(set(budgets)), _listed(self.max_planes, PLANES))
        plans = [self._plan(sides, fold, *shape, cost) for shape in shapes]
        linear = []
        if self.budget is None:
            one = self._plan(sides, fold, n_features, 1, cost)
            tried = _listed(self.C, LINEAR_COSTS)
            linear = [replace(one, cv=1, max_depth=1, cost=cost) for cost in tried]
        best = self._best(linear, plans, share)
        if best in linear:
            return best
        return self._best([], [replace(best, cost=cost) for cost in costs], share)

    def _plan(
        self, sides: Sides, fold: Ints, budget: int, max_planes: int, cost: float
    ) -> Plan:
        settings = PlaneSettings(
            loss=LOSSES[self.loss],
            with_intercept=True,
            budget=budget,
            max_planes=max_planes,
            tolerance=float(self.tol),
            max_iter=self.max_iter,
            with_gap=False,
        )
        rows, limits = np.arange(len(fold)), (self.max_depth, self.min_samples_split)
        return Plan(sides, fold, rows, self.cv, settings, float(cost), *limits)

    def _best(self, linear: list[Plan], trees: list[Plan], share: Ints) -> Plan:
        """Return the plan whose trees err least on folds that they did not see.

        That is the best linear classifier, unless a tree is better beyond chance. If
        ``share`` is not all rows, it chooses a few plans, and one fold of all rows the
        best of these.
        """
        plans, n_rounds = [*linear, *trees], max(2, self.cv)
        if len(share) < len(plans[0].rows):
            on_share = {replace(plan, rows=share): plan for plan in plans}
            left, _ = race(list(on_share), n_rounds, self._judge)
            plans, n_rounds = [on_share[plan] for plan in left[:FINALISTS]], 1
        plans, lost = race(plans, n_rounds, self._judge)
        for at, plan in enumerate(plans):
            if plan in linear and not is_more(lost[at], lost[0], AHEAD):
                return plan
        return plans[0]

    def _judge(self, plans: list[Plan], held: int) -> Floats:
        """Return the weight of each row of a fold that a plan gets wrong, else 0."""
        tasks = [(number,) for number in range(len(plans))]
        common = plans, held
        return np.array(parallel.run(self._losses, tasks, self.n_jobs, common=common))

    def _losses(self, plans: list[Plan], held: int, number: int) -> Floats:
        plan = plans[number]
        tree = self._grow(plan.without(held))
        X, side, mass = (part[plan.judges(held)] for part in plan.sides)
        is_wrong = (tree.value[tree.leaves(X)] > 0) != (side > 0)
        return np.asarray(mass * is_wrong)

    def _grow(self, plan: Plan) -> VotingNodes:
        tree = Grower(plan).grow()
        if self.prune == "pair":
            return tree.prune_pairs()
        return tree.prune() if self.prune else tree

    def _check_parameters(self) -> None:
        for name in ("budget", "max_planes", "C"):
            if getattr(self, name) in ((), []):
                raise ValueError(f"{name} must have a value to try. Got none.")
        self._check_solver(
            list(LOSSES)[:2],
            budget=[b for b in _listed(self.budget, ()) if not _is_share(b)],
            max_planes=_listed(self.max_planes, ()),
            C=_listed(self.C, ()),
        )
        if isinstance(self.prune, str):
            _validation.choice(self.prune, "prune", ["pair"])
        for name in ("cv", "max_depth", "min_samples_split"):
            check_scalar(getattr(self, name), name, Integral, min_val=1)
        if self.prune and self.cv == 1:
            raise ValueError("cv must be at least 2 to prune. Got 1.")


def _listed(value: Any, default: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the values to try of a parameter."""
    if value is None:
        return default
    return tuple(value) if isinstance(value, (tuple, list)) else (value,)


def _is_share(budget: Any) -> bool:
    return isinstance(budget, float) and 0 < budget < 1


def _size(budget: float, n_features: int) -> int:
    """Return the features of a plane: a number, or a share of all, and at least one."""
    if _is_share(budget):
        return max(1, round(budget * n_features))
    return min(int(budget), n_features)
