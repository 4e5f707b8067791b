"""A tree whose every decision looks at a few features: SBT."""

from dataclasses import replace
from itertools import product
from numbers import Integral
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_scalar
from sklearn.utils.validation import check_is_fitted

from manylabel import parallel
from manylabel._kernels.coding_tree.budget import PlaneSettings
from manylabel._typing import CSR, Floats, Ints, RandomState
from manylabel.binary import Sides, draw_folds
from manylabel.budget import _reading
from manylabel.budget._binary import LOSSES, WeightedClassifier
from manylabel.budget._grower import Grower, Plan
from manylabel.budget._reading import Nodes
from manylabel.budget._voting_nodes import VotingNodes
from manylabel.explanation import Node

# What cross-validation tries of a parameter that is not given.
BUDGETS, PLANES, COSTS = (1, 5, 20, 100), (1, 10), (0.01, 0.1, 1.0, 10.0)
MAX_VALUES = 1 << 23  # of rows on which all of these are tried; of more, a share is
FINALISTS = 2  # of these, tried on all rows then


class BudgetedTree(WeightedClassifier):
    """A tree of linear classifiers that look at a few features each (SBT).

    From the root down, the rows of a node are split by classifiers learnt from them, as
    :class:`BudgetedClassifier` learns, until the rows of a node are of one class, are
    all sent the same way, are few, or are deep. There is one classifier for each fold
    of the rows, learnt without it; all look at the same features, and they vote. A node
    loses its children if these err no less than it would as a leaf, each classifier
    judged by the rows that it did not learn from.

    Parameters
    ----------
    budget : int or None, default=None
        Features of a plane, at most; all of them when there are fewer. A node has up to
        ``budget * max_planes``.
    max_planes : int or None, default=None
        Planes of a node, at most.
    C : float or None, default=None
        Cost of the loss. Of ``budget``, ``max_planes`` and ``C``, those that are None
        are chosen by cross-validation of whole trees, ``C`` after the others. Of rows
        with more than 8 million values a share chooses two candidates, and one fold of
        all rows one of them.
    loss : {"squared_hinge", "logistic"}, default="squared_hinge"
        Loss of a margin.
    cv : int, default=5
        Classifiers of a node; 1 learns one from all rows, and does not allow to prune.
    prune : bool, default=True
        Whether children are removed that do not help.
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
        Trees of the cross-validation that are grown at a time.
    random_state : int, Generator, RandomState or None, default=0
        Draws the folds.

    Attributes
    ----------
    budget_, max_planes_, C_
        Given, or chosen.
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
    whatever they do.

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

    budget_: int
    max_planes_: int
    C_: float
    tree_: VotingNodes

    def __init__(
        self,
        *,
        budget: int | None = None,
        max_planes: int | None = None,
        C: float | None = None,
        loss: str = "squared_hinge",
        cv: int = 5,
        prune: bool = True,
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
        budgets = BUDGETS if self.budget is None else (self.budget,)
        planes = PLANES if self.max_planes is None else (self.max_planes,)
        costs = COSTS if self.C is None else (float(self.C),)
        sizes = sorted({min(budget, n_features) for budget in budgets})
        cost = costs[(len(costs) - 1) // 2]
        plans = [self._plan(sides, fold, *s, cost) for s in product(sizes, planes)]
        best = self._best(plans, share)
        return self._best([replace(best, cost=cost) for cost in costs], share)

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
        return Plan(sides, fold, rows, self.cv, settings, cost, *limits)

    def _best(self, plans: list[Plan], share: Ints) -> Plan:
        """Return the plan whose trees err least on folds that they did not see.

        If ``share`` is not all rows, two folds of it choose a few plans, and one fold
        of all rows the best of these.
        """
        n_held = max(2, self.cv)
        if len(share) < len(plans[0].rows):
            n_held = 1
            if len(plans) > FINALISTS:
                tried = [replace(plan, rows=share) for plan in plans]
                order = np.argsort(self._errors(tried, 2), kind="stable")
                plans = [plans[at] for at in order[:FINALISTS]]
        if len(plans) == 1:
            return plans[0]
        return plans[np.argmin(self._errors(plans, n_held))]

    def _errors(self, plans: list[Plan], n_held: int) -> Floats:
        tasks = list(product(plans, range(n_held)))
        errors = parallel.run(self._error, tasks, self.n_jobs)
        return np.asarray(np.reshape(errors, (len(plans), n_held)).sum(axis=1))

    def _error(self, plan: Plan, held: int) -> float:
        tree = self._grow(plan.without(held))
        judges = plan.rows[plan.fold[plan.rows] == held]
        X, side, mass = (part[judges] for part in plan.sides)
        is_wrong = (tree.value[tree.leaves(X)] > 0) != (side > 0)
        return float(mass[is_wrong].sum())

    def _grow(self, plan: Plan) -> VotingNodes:
        tree = Grower(plan).grow()
        return tree.prune() if self.prune else tree

    def _check_parameters(self) -> None:
        self._check_solver(list(LOSSES)[:2], may_be_none=True)
        for name in ("cv", "max_depth", "min_samples_split"):
            check_scalar(getattr(self, name), name, Integral, min_val=1)
        if self.prune and self.cv == 1:
            raise ValueError("cv must be at least 2 to prune. Got 1.")
