"""What the trees over labels have in common."""

from collections.abc import Iterator
from functools import cached_property
from numbers import Integral
from typing import Annotated, Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from joblib import effective_n_jobs
from sklearn.base import clone
from sklearn.utils import check_scalar
from sklearn.utils.validation import check_is_fitted

from manylabel import _validation, parallel
from manylabel._docstrings import described_like
from manylabel._kernels.coding_tree import budget as planes
from manylabel._kernels.coding_tree import decoding, margins
from manylabel._kernels.coding_tree.annotation import Shape
from manylabel._kernels.coding_tree.decisions import Decisions
from manylabel._typing import (
    CSR,
    Array,
    Bools,
    Floats,
    Ints,
    RandomState,
    Singles,
)
from manylabel.base import ExplainedClassifier, cut
from manylabel.budget import _decisions, _nodes, _odds, _reading
from manylabel.budget._bounds import LeafBounds, bound_leaves, check_confidence
from manylabel.budget._nodes import Annotator, CodingNodes
from manylabel.budget._odds import Odds, Sample
from manylabel.budget._prices import Price, Pricing, Quality, equal_prices
from manylabel.budget._reading import Diagnostics, Nodes
from manylabel.explanation import Explanation, Node, Ranked
from manylabel.lists import Lists
from manylabel.losses import CountedCost, Hamming
from manylabel.losses.resolve import as_counted_cost
from manylabel.model_selection import thresholds
from manylabel.model_selection.probable import CalibratedBatchClassifier
from manylabel.model_selection.stepwise import PLAIN, Setting, choose
from manylabel.persistence.records import Field, Finite, Number

LOSSES = {"squared_hinge": margins.SQUARED_HINGE, "logistic": margins.LOGISTIC}
LIKELY = 0.5  # labels of a larger chance are predicted, unless a cost is named
LEAST = 0.02  # of a threshold
PERFECT = Quality(1.0, 1.0)
PATHS = 10  # followed at once to rank labels, unless a beam is named
MAX_STEPS = 1000  # of the solver, for each plane
NEVER = -2.0  # the score of a label that no training row has
TINY = np.finfo(np.float32).tiny
ROWS_AT_ONCE = 1 << 14  # that all threads annotate


class Trial(NamedTuple):
    """A tree without the rows held out, and how probable its decisions are right."""

    tree: "CodingTree"
    odds: Odds


@described_like(CalibratedBatchClassifier)
class CodingTree(CalibratedBatchClassifier, ExplainedClassifier):
    """A tree of budgeted decisions that leads a row to its labels.

    A subclass has ``_shape(Y)``, which follows from the labels alone.

    Parameters
    ----------
    budget : int or "auto", default="auto"
        Features of a plane, at most; all of them when there are fewer. "auto" is 20 or
        100, chosen with ``C``.
    max_planes : int, default=5
        Planes of a decision, at most: it looks at ``budget * max_planes`` features, at
        most.
    C : float or "auto", default="auto"
        Cost of the decisions' loss. "auto" is 1, or 4 or 1/4 times as much up to three
        times, chosen on a validation set: rows held out from smaller trees, judged by
        ``cost``, or by F1. What is chosen differs from 1 and a budget of 20 only if it
        gains more than the standard error of its gain; with fewer than 20 rows it never
        does.
    loss : {"squared_hinge", "logistic"}, default="squared_hinge"
        Loss of a margin.
    tol : float, default=1e-2
        Duality gap of a decision, relative to its objective, at which to stop.
    propensity : Propensity, array of shape (n_labels,), float or None, default=None
        How probable it is that a true label is recorded, in (0, 1]. A recorded label
        counts 1 / propensity in its chance; for what a decision costs see Notes. None
        is 1.
    cost : str, object with ``from_counts`` or None, default=None
        What predictions are to make small, per row: ``"f1"``, ``"accuracy"``,
        ``"hamming"`` ...; see :func:`manylabel.losses.as_cost`. With a beam, the
        threshold is chosen for it on rows held out; without, rows weigh what a wrong
        decision costs them (see Notes). None is one half, and equal weights.
    beam : int or None, default=None
        Paths followed at once; None is a single one, without probabilities.
    n_jobs : int or None, default=None
        Threads; None is 1, -1 all cores. The tree does not depend on it.
    random_state : int, Generator, RandomState or None, default=0
        Seeds the choice of rows that are held out from smaller trees, to choose
        settings and to find out how probable decisions are right: at most 2,000 of
        6,000.

    Attributes
    ----------
    classes_ : ndarray of shape (n_labels,)
        Column numbers of ``Y``.
    coef_ : csr_array of shape (n_nodes, n_features)
        Weights of the decisions; made when asked for.
    selected_features_ : ndarray of int
        Features that a decision looks at, ascending.
    gain_ : ndarray of shape (n_labels,)
        1 / propensity: factor of the label's chance.
    threshold_ : float
        Labels of a larger chance are predicted, with a beam.
    seen_ : ndarray of shape (n_labels,)
        Whether a training row had the label.
    radius_ : float
        Length of the longest training row.
    C_, budget_ : float, int
        Settings of the decisions: what was given or chosen.
    """

    _unweighted = "the shape of the tree follows from counts of rows"
    budget: int | str
    max_planes: int
    C: float | str
    loss: str
    tol: float
    cost: Any
    beam: int | None
    n_jobs: int | None
    random_state: RandomState

    # Whether chances are relative to the leaves reached, which alone have labels.
    _only_leaves_count = False
    # Whether prices depend on how well the rest of a row is labelled.
    _needs_quality = False

    tree_: CodingNodes
    gain_: Annotated[Floats, Field("float64", "n_labels", Finite())]
    seen_: Annotated[Bools, Field("bool", "n_labels")]
    threshold_: Annotated[float, Number()]
    radius_: Annotated[float, Number(least=0)]
    C_: Annotated[float, Number(least=0)]
    budget_: Annotated[int, Number(least=1, whole=True)]

    def __init__(
        self,
        *,
        budget: int | str = "auto",
        max_planes: int = 5,
        C: float | str = "auto",
        loss: str = "squared_hinge",
        tol: float = 1e-2,
        propensity: Any = None,
        cost: Any = None,
        beam: int | None = None,
        calibrate: str | None = None,
        n_jobs: int | None = None,
        random_state: RandomState = 0,
    ) -> None:
        self.budget = budget
        self.max_planes = max_planes
        self.C = C
        self.loss = loss
        self.tol = tol
        self.propensity = propensity
        self.cost = cost
        self.beam = beam
        self.calibrate = calibrate
        self.n_jobs = n_jobs
        self.random_state = random_state

    @property
    def coef_(self) -> CSR:
        """Weights of the decisions, shape (n_nodes, n_features); made when asked."""
        check_is_fitted(self)
        return self.tree_.weights(self.n_features_in_)

    @property
    def selected_features_(self) -> Array:
        """Features that a decision looks at, ascending."""
        return self.tree_.selected

    def nodes(self, depth: int | None = None) -> list[Node]:
        """Return the nodes of the tree to be read, each before its children.

        Parameters
        ----------
        depth : int or None, default=None
            Levels below the root; None for all.

        Returns
        -------
        list of Node
            Each has its ``node``, ``parent``, ``level``, ``n_rows``, the labels that it
            has ``fixed``, the label ``asked`` and the weights of its ``features``.
        """
        return _reading.upper(self._arrays(), depth)

    def outline(
        self, depth: int | None = 3, feature_names: Any = None, label_names: Any = None
    ) -> str:
        """Return the upper nodes of the tree in words, a line each.

        Parameters
        ----------
        depth : int or None, default=3
            Levels below the root to show; None for all.
        feature_names, label_names : sequence of str or None, default=None
            Names of the columns; None shows their numbers.

        Returns
        -------
        str
            Each line has the training rows of a node, the labels that it fixes, the
            label that it asks for and the weights by which it decides.
        """
        lines = _reading.outline(self.nodes(depth), feature_names, label_names)
        return "\n".join(lines)

    def diagnostics(self) -> Diagnostics:
        """Return the tree in figures, beside what the paper's theorems say of them."""
        return _reading.diagnose(self._arrays(), self.radius_)

    def bounds(self, confidence: float = 0.95) -> LeafBounds:
        """Return what Theorems 17 and 18 say of the errors of each labelset.

        Parameters
        ----------
        confidence : float, default=0.95
            With which the bounds hold, each for itself.

        Returns
        -------
        LeafBounds
            An entry for each leaf: ``labels``, ``n_rows``, ``n_decisions``,
            ``complexity`` and ``bound``.
        """
        check_confidence(confidence)
        return bound_leaves(self._arrays(), self.radius_, confidence)

    def _explained(self, row: CSR, labels: Ranked) -> Explanation:
        x = row.toarray()[0].astype(np.float64)
        return _reading.explain(self._arrays(), x, labels)

    def _arrays(self) -> Nodes:
        check_is_fitted(self)
        tree = self.tree_

        def chance(at: int, score: float) -> float:
            return float(1 / (1 + np.exp(-tree.slope * score - tree.shift[at])))

        return Nodes(
            *(tree.children, tree.n_rows, tree.asked, self.coef_),
            *(tree.intercept, chance, tree.f_indptr, tree.f_indices),
        )

    def _shape(self, Y: CSR) -> Shape:
        raise NotImplementedError

    def _prices(
        self, shape: Shape, Y: CSR, worth: Floats, cost: CountedCost, quality: Quality
    ) -> Price:
        """Return what a wrong decision costs, by the worth of recorded labels."""
        raise NotImplementedError

    def _learn(self, X: CSR, Y: CSR) -> None:
        self.seen_ = np.bincount(Y.indices, minlength=Y.shape[1]) > 0
        self.radius_ = float(np.sqrt(X.multiply(X).sum(axis=1).max()))
        worth = self._label_gain(Y.shape[1])
        seed = int(parallel.spawn_seeds(self.random_state, 1)[0])
        sample = _odds.draw_sample(X, Y, seed)
        self._set(self._first_setting())
        prices = self._pricing(worth, sample)
        trial = self._choose(sample, prices, worth) if sample is not None else None
        shape = self._shape(Y)
        self._keep(_nodes.join(shape, self._decide(X, shape, prices(shape, Y))))
        self.gain_, self.threshold_ = worth, LIKELY
        if trial is not None:
            self.tree_ = _odds.calibrate(self.tree_, trial.odds, shape)
            self.threshold_ = trial.tree.threshold_

    def _first_setting(self) -> Setting:
        """Return what is given, and where the search for the rest begins."""
        C = PLAIN.C if self.C == "auto" else float(self.C)
        budget = PLAIN.budget if self.budget == "auto" else int(self.budget)
        return Setting(C, budget)

    def _set(self, setting: Setting) -> None:
        self.C_, self.budget_ = setting

    def _settled(self) -> dict[str, Any]:
        return super()._settled() | {"C": self.C_, "budget": self.budget_}

    def _choose(self, sample: Sample, prices: Pricing, worth: Floats) -> Trial:
        """Set what "auto" leaves open; return the tree that was tried with it."""
        trials: dict[Setting, Trial] = {}
        X, Y = sample.X[sample.held], sample.Y[sample.held]
        cost = as_counted_cost("f1" if self.cost is None else self.cost)

        def losses(setting: Setting) -> Floats:
            self._set(setting)
            trials[setting] = trial = self._try(sample, prices, worth)
            return thresholds.costs_of_sets(trial.tree._labels(X), Y, worth, cost)

        start, free = self._first_setting(), (self.C == "auto", self.budget == "auto")
        if any(free):
            chosen = choose(start, losses, any_cost=free[0], any_budget=free[1])
        else:
            chosen, trials[start] = start, self._try(sample, prices, worth)
        self._set(chosen)
        return trials[chosen]

    def _pricing(self, worth: Floats, sample: Sample | None) -> Pricing:
        """Return how decisions are priced: with a beam, a threshold does it better.

        How well the rest of a row is labelled is found out by a tree for Hamming loss,
        whose prices do not depend on it.
        """
        if self.beam is not None or (self.cost is None and self.propensity is None):
            return equal_prices

        def prices(shape: Shape, Y: CSR) -> Price:
            return self._prices(shape, Y, worth, Hamming(), PERFECT)

        cost = self._cost()
        if cost == Hamming():
            return prices
        quality = PERFECT
        if sample is not None and self._needs_quality:
            quality = self._try(sample, prices, worth).tree._quality(sample, worth)
        return lambda shape, Y: self._prices(shape, Y, worth, cost, quality)

    def _try(self, sample: Sample, prices: Pricing, worth: Floats) -> Trial:
        """Return a tree of the rows of a sample that are not held out.

        Those held out cost nothing at its nodes, which is as if they were not there.
        """
        shape = self._shape(sample.Y)
        price, kept = prices(shape, sample.Y), 1.0 - sample.held[shape.rows]

        def counted(nodes: Ints) -> Floats:
            parts = [kept[start:end] for start, _, end in shape.bounds[nodes]]
            return np.asarray(price(nodes) * np.concatenate(parts))

        found = self._decide(sample.X, shape, counted)
        tree = clone(self)
        tree.classes_, tree.seen_ = self.classes_, self.seen_
        tree.n_features_in_ = self.n_features_in_
        odds = _odds.fit_odds(sample, shape, found)
        nodes = _nodes.join(shape, found)
        tree._keep(_odds.calibrate(nodes, odds, shape, sample.held))
        tree.gain_, tree.threshold_ = worth, LIKELY
        if self.beam is not None and self.cost is not None:
            tree.threshold_ = tree._best_threshold(sample)
        return Trial(tree, odds)

    def _quality(self, sample: Sample, worth: Floats) -> Quality:
        labels, Y = self._labels(sample.X[sample.held]), sample.Y[sample.held]
        n_true = max(1.0, float(worth[Y.indices].sum()))
        found = sp.csr_array(labels.multiply(Y))
        hits = max(1.0, float(worth[found.indices].sum()))
        return Quality(hits / n_true, max(hits, labels.nnz) / n_true)

    def _best_threshold(self, sample: Sample) -> float:
        X, Y = sample.X[sample.held], sample.Y[sample.held]
        met = self._listed(X, len(self.classes_), most=np.inf, shift=0.0)
        best = thresholds.best_threshold(met.above(LEAST), Y, self.gain_, self._cost())
        return max(LEAST, best)

    def _decide(self, X: CSR, shape: Shape, price: Price) -> Decisions:
        settings = self._settings(X.shape[1])

        def cost(nodes: Ints) -> Floats:
            return np.asarray(self.C_ * price(nodes))

        return _decisions.learn(X, shape, cost, settings, self.n_jobs)

    def _settings(self, n_features: int) -> planes.PlaneSettings:
        return planes.PlaneSettings(
            loss=LOSSES[self.loss],
            with_intercept=True,
            budget=min(self.budget_, n_features),
            max_planes=int(self.max_planes),
            tolerance=float(self.tol),
            max_iter=MAX_STEPS,
            with_gap=False,
        )

    def _keep(self, tree: CodingNodes) -> None:
        self.tree_ = tree
        self.__dict__.pop("_annotator", None)
        self._annotator  # noqa: B018 - in fit, so that nothing is kept by predict

    @cached_property
    def _annotator(self) -> Annotator:
        """The tree, linked; after loading when it is needed, as it may be large."""
        return _nodes.link(self.tree_, self.n_features_in_, len(self.classes_))

    def _n_paths(self) -> int:
        """Return how many paths are followed at most: no more than there are nodes."""
        return min(int(self.beam or PATHS), len(self.tree_.children))

    def _ranked(self, X: CSR, k: int) -> Lists:
        """Return the scores of the best labels; those not met have ``_others``."""
        if self.beam is not None:
            return self._listed(X, k, most=np.inf, shift=self.threshold_)
        given = self._annotator.annotate(X)
        return self._listed(X, k, given, most=1.0, shift=1.0)

    def _listed(
        self, X: CSR, k: int, given: Any = None, *, most: float, shift: float
    ) -> Lists:
        """Return the best labels that paths meet, and their chances times gains."""
        n_labels, n_rows = len(self.classes_), X.shape[0]
        if given is None:
            given = np.zeros(n_rows + 1, np.int32), np.empty(0, np.int32)
        ranking = decoding.Ranking(
            *(self._n_paths(), self._only_leaves_count, min(k, n_labels)),
            *(self.gain_.astype(np.float32), np.float32(most)),
            *(TINY, np.float32(shift)),
        )
        rows = decoding.RankedRows(X.indptr, X.indices, X.data, *given)
        table = self._annotator.chains.table
        return Lists(*decoding.best_scores(rows, self.tree_, ranking, table))

    def _others(self) -> Singles:
        """Return the scores of labels that no path meets: of seen ones, of the rest."""
        unmet = -1.0 if self.beam is None else -self.threshold_
        return np.array([unmet, NEVER], np.float32)

    def _scores(self, X: CSR) -> Array:
        return self._ranked(X, len(self.classes_)).dense(self.seen_, self._others())

    def _topk(self, X: CSR, k: int) -> CSR:
        return self._ranked(X, k).best(k, self.seen_, self._others())

    def _labels(self, X: CSR) -> CSR:
        if self.beam is not None:
            width = len(self.classes_)
            return self._ranked(X, width).above(0).csr(width).astype(bool)
        starts, labels = self._annotator.annotate(X)
        return Lists(starts, labels, labels).ones(len(self.classes_))

    def _chunks(self, X: CSR) -> Iterator[tuple[CSR]]:
        """Cut rows so that there is work for every thread; at least one chunk."""
        n_threads = 1 if self.n_jobs is None else effective_n_jobs(self.n_jobs)
        return cut(X, max(1, ROWS_AT_ONCE // n_threads))

    def _check_parameters(self) -> None:
        super()._check_parameters()
        _check_auto(self.budget, "budget")
        _check_auto(self.C, "C")
        names = ("budget",) * (self.budget != "auto") + ("max_planes",)
        for name in names + ("beam",) * (self.beam is not None):
            check_scalar(getattr(self, name), name, Integral, min_val=1)
        if self.C != "auto":
            _validation.number(self.C, "C", above=0)
        _validation.number(self.tol, "tol", above=0)
        _validation.choice(self.loss, "loss", LOSSES)
        self._cost()

    def _cost(self) -> CountedCost:
        return as_counted_cost("hamming" if self.cost is None else self.cost)

    def _check_state(self) -> None:
        super()._check_state()
        self.__dict__.pop("_annotator", None)


def _check_auto(value: Any, name: str) -> None:
    if isinstance(value, str):
        _validation.choice(value, name, ["auto"])
