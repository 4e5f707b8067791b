"""A tree of labels, with a linear classifier for each branch."""

from collections.abc import Iterator, Sequence
from numbers import Integral
from typing import Annotated, Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_scalar

from manylabel import _validation, parallel
from manylabel._typing import CSR, Array, Floats, Ints, MatrixLike, RandomState, Singles
from manylabel.base import ExplainedClassifier, cut
from manylabel.explanation import Explanation, Ranked
from manylabel.label_tree._division import TreeDivision, split_shapes
from manylabel.label_tree._explanation import explain
from manylabel.label_tree._growth import add_leaves
from manylabel.label_tree._hierarchy import check_parents, from_parents
from manylabel.label_tree._validation_set import (
    OTHERS,
    Chosen,
    choose,
    find_splits,
    fit_pilots,
)
from manylabel.lists import Lists, by_column, with_rows
from manylabel.losses.resolve import as_counted_cost
from manylabel.metrics import as_metric
from manylabel.model_selection import thresholds
from manylabel.model_selection.calibration import Curves
from manylabel.model_selection.holdout import Split
from manylabel.model_selection.probable import CalibratedClassifier
from manylabel.persistence.records import Field, Finite, Number
from manylabel.propensity import Propensity
from manylabel.solvers import linear
from manylabel.solvers.background import TRUST, check_background, draw_rows
from manylabel.solvers.clustering import (
    Clustering,
    cluster_labels,
    find_centroids,
    split_large,
    unit_points,
)
from manylabel.solvers.levels import Lesson, fit_trees
from manylabel.solvers.nodes import MOST_CHILDREN, Nodes
from manylabel.solvers.search import Search, find_gain, find_labels
from manylabel.solvers.shape import Shape

LIKELY = 0.5  # labels of a larger score are predicted, unless a cost is named
USUAL_TILT = 0.01
PAIRS_AT_ONCE = 1 << 16  # of rows and nodes of the beam
USUAL_LEAF, FEW, SMALL_LEAF = 400, 1000, 20  # labels: see leaf_labels
ROOM = 1 << 22  # pairs of rows and labels that there is room for in one search
LISTED = 20  # labels of each of several trees, at least, whose scores are averaged
NAMED = "auto"
CLUSTERING = 0.05  # of the time of a fit, about


class LabelTree(CalibratedClassifier, ExplainedClassifier):
    """A tree of labels: the quickest good ranking of ten thousand labels and more.

    Labels that the same rows have are put into clusters, clusters of many labels into
    smaller ones. Each node has a linear classifier of its own, learnt on the rows that
    reach its parent, so a rare label is told from those that are like it, and from few
    rows. A row goes down the branches of the highest scores (beam search). The tree is
    wide and shallow: deep, narrow trees are as quick, and bury rare labels [1]_, [2]_.

    Parameters
    ----------
    n_estimators : int, default=1
        Trees, of other clusters, whose scores are averaged: an ensemble.
    n_clusters : int or None, default=None
        Clusters that a node is parted into (arity); None takes 1.5 times the square
        root of its labels, at most 256.
    leaf_labels : int or None, default=None
        A cluster of more labels than this is parted again; None takes 400. With as few
        labels in all, or 1,000 for None, the tree is one-vs-rest; further trees of an
        ensemble have clusters of 20, and count as much as it together.
    balanced : bool, default=False
        Make the clusters of a node equally large, by k-means with room for so many.
    beam : int or None, default=10
        Nodes of each level that a row goes through; None goes through all of them
        (exact search).
    background : int, default=0
        Rows drawn at random that the labels of every cluster are also told from, where
        most labels are seen once or twice: 2,000, say, with a beam of 20. Scores then
        follow clusters less and labels more. It takes three times the time, and costs
        precision where labels have more rows.
    loss : {"squared_hinge", "log_loss"}, default="squared_hinge"
        What the classifiers minimise. By the logistic loss, scores are probabilities,
        if there is no background.
    C : float, default=1.0
        Weight of the loss against ``|w|^2 / 2``.
    tol : float, default=0.2
        A classifier is done when its projected gradients differ by at most this.
    normalize : bool, default=True
        Scale every row to unit length, in ``fit`` and when predicting.
    min_weight : float, default=0.05
        Weights of at most this size are dropped.
    propensity : Propensity, array of shape (n_labels,), float or None, default=None
        How probable it is that a true label is recorded, in (0, 1]. Where it is given,
        rows that have a label weigh 2 / p - 1 in training, which makes the loss
        unbiased [3]_. None weighs them as the others, and tilts by ``Propensity()``.
    tilt : float or "auto", default=0.01
        Scores are multiplied by (1 / p)^tilt, in search and ranking; "auto" chooses it
        on a validation set, for ``metric``.
    metric : str or None, default=None
        What the tilt is chosen for, as "PSP@5"; None for P@k and PSP@k together.
    cost : str, object with ``from_counts`` or None, default=None
        What the threshold of ``predict`` is to make small, on a validation set; None
        predicts labels of a score above 0.5.
    calibrate : {"auto", "sigmoid", "isotonic"} or None, default=None
        Make scores probabilities, for ``predict_proba``, by the validation set; see
        :class:`Calibrated`. It takes about one more fit, unless a tilt is chosen too.
        Then ``predict`` gives the sets of the least expected ``cost``, if one is named.
    label_features : array or sparse array of shape (n_labels, n), or None, default=None
        Rows to cluster labels by, as embeddings or names; None takes the mean of the
        rows that have a label.
    parents : sequence of int, mapping of str to str, Vocabulary or None, default=None
        A hierarchy to take in place of clusters: for each label the column of its
        parent, -1 for none. Entries after the last label are groups that are none. As
        the learner of a :class:`Tagger` also names, and the names of their parents, or
        a :class:`Vocabulary`, of which the first broader term of each label is taken.
    n_jobs : int or None, default=None
        Threads; None is 1, -1 all cores.
    random_state : int, Generator, RandomState or None, default=0
        Seeds clusters, background, the order in which rows are visited and the
        validation set.

    Attributes
    ----------
    classes_ : ndarray of shape (n_labels,)
        Column numbers of ``Y``.
    nodes_ : Nodes
        The trees.
    counts_ : ndarray of shape (n_labels,)
        Training rows that have a label. One that none has ranks last.
    inverse_propensity_ : ndarray of shape (n_labels,)
        1 / p, how many true labels a recorded one stands for.
    tilt_ : float
        Power of the inverse propensity.
    gain_ : ndarray of shape (n_nodes,)
        Logarithm of (1 / p)^tilt of a label, and of the most below an inner node.
    threshold_ : float
        What a label must exceed to be predicted.
    calibration_ : Curves
        What scores mean; empty without ``calibrate``. See :class:`Calibrated`.

    Notes
    -----
    Scores are less ``threshold_``: those above 0 are predicted, unless probabilities
    decide. Without ``calibrate``, ``predict_proba`` is the scores without tilt, which
    are probabilities if ``loss="log_loss"`` and ``background=0``; a label that the beam
    does not reach has 0. A margin m of the
    squared hinge counts as exp(-max(0, 1 - m)^3 - 0.1 / (1 + max(0, m))), as in PECOS
    but for the last term, which tells margins above 1 apart. With a background, the
    logarithm of a cluster's factor counts 0.3 of itself.

    References
    ----------
    .. [1] Khandagale, Xiao & Babbar, "Bonsai: diverse and shallow trees for extreme
       multi-label classification", Machine Learning 109, 2020.
    .. [2] Yu, Zhong, Zhang, Chang & Dhillon, "PECOS: prediction for enormous and
       correlated output spaces", JMLR 23, 2022.
    .. [3] Natarajan, Dhillon, Ravikumar & Tewari, "Learning with noisy labels",
       NIPS 2013.

    Examples
    --------
    >>> from manylabel import make_corpus
    >>> corpus = make_corpus(n_rows=500, n_labels=40, random_state=0)
    >>> model = LabelTree(n_clusters=6, leaf_labels=10).fit(corpus.X, corpus.Y)
    >>> model.predict_topk(corpus.X, k=3).nnz
    1500
    """

    nodes_: Nodes
    counts_: Annotated[Ints, Field("int64", "n_labels", Finite(0))]
    inverse_propensity_: Annotated[
        Floats, Field("float64", "n_labels", Finite(least=1))
    ]
    tilt_: Annotated[float, Number(least=0, most=10)]
    gain_: Annotated[Singles, Field("float32", "n_all_nodes", Finite())]
    threshold_: Annotated[float, Number()]

    def __init__(
        self,
        *,
        n_estimators: int = 1,
        n_clusters: int | None = None,
        leaf_labels: int | None = None,
        balanced: bool = False,
        beam: int | None = 10,
        background: int = 0,
        loss: str = "squared_hinge",
        C: float = 1.0,
        tol: float = 0.2,
        normalize: bool = True,
        min_weight: float = 0.05,
        propensity: Any = None,
        tilt: float | str = USUAL_TILT,
        metric: str | None = None,
        cost: Any = None,
        calibrate: str | None = None,
        label_features: Any = None,
        parents: Any = None,
        n_jobs: int | None = None,
        random_state: RandomState = 0,
    ) -> None:
        self.n_estimators = n_estimators
        self.n_clusters = n_clusters
        self.leaf_labels = leaf_labels
        self.balanced = balanced
        self.beam = beam
        self.background = background
        self.loss = loss
        self.C = C
        self.tol = tol
        self.normalize = normalize
        self.min_weight = min_weight
        self.propensity = propensity
        self.tilt = tilt
        self.metric = metric
        self.cost = cost
        self.calibrate = calibrate
        self.label_features = label_features
        self.parents = parents
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: MatrixLike, Y: MatrixLike, sample_weight: Any = None) -> Self:
        """Cluster the labels, then learn the classifiers of each level.

        Parameters
        ----------
        X : array or sparse array of shape (n_rows, n_features)
            Features.
        Y : array or sparse array of shape (n_rows, n_labels)
            Labels, 0/1.
        sample_weight : array of shape (n_rows,) or None, default=None
            How much each row counts in the classifiers. A row of weight 0 is as if it
            were not there.

        Returns
        -------
        LabelTree
            Itself.
        """
        with self._undo_on_error():
            lesson = self._begin_lesson(X, Y, sample_weight)
            with parallel.stage("clustering", CLUSTERING):
                shapes = self._shapes(lesson)
            splits = find_splits(self, lesson.X.shape[0])
            pilots = fit_pilots(self, lesson, shapes, splits)
            chosen = self._chosen(lesson, splits, pilots)
            with parallel.stage("training"):
                self._take(chosen, fit_trees(shapes, lesson, self.n_jobs))
        return self

    def add_labels(self, X: MatrixLike, Y: MatrixLike) -> Self:
        """Learn labels that came later, and leave the known ones as they are.

        Each new label goes into the cluster that its rows are led to, and is learnt
        there, against the rows of ``X`` that have a label of the cluster, and against a
        background of ``X`` if ``fit`` had one.

        Parameters
        ----------
        X : array or sparse array of shape (n_rows, n_features)
            Rows that have new labels, and others to tell them from.
        Y : array or sparse array of shape (n_rows, n_labels + n_new)
            All labels, the known ones first, 0/1.

        Returns
        -------
        LabelTree
            Itself.
        """
        rows = self._unit(self._known_features(X))
        labels = _validation.labels(Y, n_rows=rows.shape[0])
        n_known, n_labels = len(self.classes_), labels.shape[1]
        if n_labels <= n_known:
            raise ValueError(
                f"Y must have more than {n_known} columns, the labels known already. "
                f"Got {n_labels}."
            )
        counts = np.bincount(labels.indices, minlength=n_labels)
        new = np.flatnonzero(counts[n_known:]) + n_known
        with self._undo_on_error():
            lesson = self._lesson(rows, labels, None)._replace(positive_weight=None)
            nodes = add_leaves(self.nodes_, lesson, new, self.gain_, self._search(1))
            self.classes_ = np.arange(n_labels)
            self.counts_ = np.append(self.counts_, counts[n_known:])
            # Until a fit tells more, a new label is as often recorded as the rarest.
            rarest = self.inverse_propensity_.max()
            more = np.full(n_labels - n_known, rarest)
            self.inverse_propensity_ = np.append(self.inverse_propensity_, more)
            curves = self.calibration_.widen(n_labels)
            self._take(Chosen(self.tilt_, self.threshold_, curves), nodes)
        return self

    def _divide(self, X: MatrixLike, Y: MatrixLike, prepared: Any = None) -> Any:
        """Begin a fit whose classifiers are learnt apart."""
        lesson = self._begin_lesson(X, Y, None)
        shapes = self._shapes(lesson) if prepared is None else split_shapes(prepared)
        return TreeDivision(self, lesson, shapes)

    def _begin_lesson(self, X: MatrixLike, Y: MatrixLike, sample_weight: Any) -> Lesson:
        """Check rows and return what all nodes learn from; what was learnt is gone."""
        self._check_parameters()
        rows, labels, mass = self._begin_weighted_fit(X, Y, sample_weight)
        self.counts_ = np.bincount(labels.indices, minlength=labels.shape[1])
        given = self.propensity
        known = Propensity().fit(labels) if given is None else given
        self.inverse_propensity_ = 1 / _validation.propensities(known, labels.shape[1])
        weight = None if sample_weight is None else mass
        return self._lesson(self._unit(rows), labels, weight)

    def _lesson(self, X: CSR, Y: CSR, row_weight: Floats | None) -> Lesson:
        heavy = None
        if self.propensity is not None:
            heavy = 2 * self.inverse_propensity_ - 1
        names = linear.Settings._fields
        given = {name: v for name, v in vars(self).items() if name in names}
        seed = parallel.spawn_seeds(self.random_state, 1)[0]
        drawn = draw_rows(X.shape[0], self.background, seed)
        return Lesson(X, Y, row_weight, heavy, linear.Settings(**given), seed, drawn)

    def _shapes(self, lesson: Lesson) -> list[Shape]:
        """Return the clusters of each tree."""
        points, parents = self._check_labels(lesson.Y.shape[1])
        seen = np.flatnonzero(self.counts_)
        is_few = self.leaf_labels is None and len(seen) <= FEW
        usual = len(seen) + 1 if is_few else USUAL_LEAF
        leaf_labels = usual if self.leaf_labels is None else int(self.leaf_labels)
        how = Clustering(self.n_clusters, leaf_labels, bool(self.balanced))
        if points is None:
            points = find_centroids(lesson.X, lesson.Y)
        seeds = parallel.spawn_seeds(self.random_state, 1 + self.n_estimators)[1:]
        shapes: list[Shape] = []
        for seed in seeds:
            rng = np.random.default_rng(int(seed))
            if shapes and len(seen) <= how.leaf_labels:
                # One-vs-rest is the same each time; clusters make an ensemble of it.
                how = how._replace(leaf_labels=min(SMALL_LEAF, how.leaf_labels))
            if parents is None:
                tree = cluster_labels(points, seen, how, rng)
            else:
                tree = split_large(from_parents(parents, seen), points, how, rng)
            shapes.append(Shape.of([tree]))
        return shapes

    def _chosen(
        self, lesson: Lesson, splits: Sequence[Split], pilots: Sequence[Nodes]
    ) -> Chosen:
        """Return tilt, threshold and curve; what has to be is chosen on rows held out.

        The validation set is ranked by trees of the same clusters, fitted to the rest.
        """
        tilt = 0.0 if self.tilt == NAMED else float(self.tilt)
        usual = Chosen(tilt, LIKELY, Curves.none())
        if not splits:
            return usual
        held = [split.as_new(lesson.X) for split in splits]
        lists = [self._rank(*each) for each in zip(pilots, held, strict=True)]
        true = lesson.Y[np.concatenate([split.held for split in splits])]
        return choose(self, Lists.stacked(lists), true, usual)

    def _rank(self, nodes: Nodes, X: CSR) -> Lists:
        """Return the best labels of rows held out, without tilt."""
        pilot = type(self)(**self.get_params(deep=False))
        pilot.__dict__.update({n: v for n, v in vars(self).items() if n.endswith("_")})
        pilot._take(Chosen(0.0, LIKELY, Curves.none()), nodes)
        return pilot._listed(X, thresholds.DEPTH)

    def _take(self, chosen: Chosen, nodes: Nodes) -> None:
        self.nodes_ = nodes
        self.tilt_, self.threshold_, self.calibration_ = chosen
        worth = np.log(self.inverse_propensity_)
        self.gain_ = find_gain(nodes, self.tilt_ * worth)

    def _listed(self, X: CSR, most: int) -> Lists:
        """Return the best labels of each row, and their scores."""
        most = min(max(most, LISTED) if len(self.nodes_.roots) > 1 else most, self._n())
        how = self._search(most)
        n_rows, found = max(1, ROOM // max(most, how.beam)), []
        for (chunk,) in cut(X, n_rows):
            values = linear.unit_values(chunk) if self.normalize else chunk.data
            found.append(find_labels(self.nodes_, chunk, values, self.gain_, how))
        return Lists.stacked(found)

    def _search(self, most: int) -> Search:
        trust = TRUST if self.background else 1.0
        return Search(self.loss, self._beam(), most, trust)

    def _beam(self) -> int:
        """Return the width of the beam: of an exact search, all nodes of a level."""
        if self.beam is not None:
            return int(self.beam)
        inner = self.nodes_.labels < 0
        return max(int(inner[a.start : a.stop].sum()) for a in self.nodes_.levels())

    def _n(self) -> int:
        return len(self.classes_)

    def _scores(self, X: CSR) -> Array:
        scores = self._less(self._listed(X, self._n()))
        return scores.dense(self.counts_ > 0, self._others())

    def _has_own_probabilities(self) -> bool:
        return True

    def _own_probabilities(self, X: CSR) -> Singles:
        listed = self._listed(X, self._n())
        values = listed.values / self.inverse_propensity_[listed.labels] ** self.tilt_
        found = listed._replace(values=np.clip(values, 0, 1).astype(np.float32))
        return found.dense(self.counts_ > 0, np.zeros(2, np.float32))

    def _topk(self, X: CSR, k: int) -> CSR:
        scores, shape = self._less(self._listed(X, k)), (X.shape[0], min(k, self._n()))
        if len(scores.labels) == shape[0] * shape[1]:
            labels = scores.labels.reshape(shape)
            return by_column(labels, scores.values, self._n())
        return scores.best(k, self.counts_ > 0, self._others())

    def _labels(self, X: CSR) -> CSR:
        if self.cost is not None and self.calibrate is not None:
            return self._cheapest_sets(X, self.cost)
        labels = self._above(X, thresholds.DEPTH)
        full = np.flatnonzero(np.diff(labels.indptr) >= thresholds.DEPTH)
        if len(full):
            labels = with_rows(labels, full, self._above(X[full], self._n()))
        return labels

    def _above(self, X: CSR, most: int) -> CSR:
        """Return ones for the labels of positive score, of so many that are best."""
        return self._less(self._listed(X, most)).above(0).ones(self._n())

    def _less(self, listed: Lists) -> Lists:
        """Return scores less the threshold."""
        return listed._replace(values=listed.values - np.float32(self.threshold_))

    def _others(self) -> Singles:
        """Return the scores of labels that are not listed: seen ones, and the rest."""
        return OTHERS - np.float32(self.threshold_)

    def _unit(self, X: CSR) -> CSR:
        if not self.normalize:
            return X
        return sp.csr_array((linear.unit_values(X), X.indices, X.indptr), shape=X.shape)

    def _explained(self, row: CSR, labels: Ranked) -> Explanation:
        return explain(self.nodes_, self._unit(row), labels, self.counts_)

    def _chunks(self, X: CSR) -> Iterator[tuple[CSR]]:
        return cut(X, max(1, PAIRS_AT_ONCE // self._beam()))

    def _check_labels(self, n_labels: int) -> tuple[CSR | None, Ints | None]:
        """Return the points and the hierarchy that are given for the labels."""
        points = parents = None
        if self.label_features is not None:
            checked = _validation.feature_matrix(
                self.label_features, n_rows=n_labels, name="label_features"
            )
            points = unit_points(checked)
        if self.parents is not None:
            parents = check_parents(self.parents, n_labels)
        return points, parents

    def _check_state(self) -> None:
        super()._check_state()
        if len(self.gain_) != self.nodes_.n_nodes:
            raise ValueError("gain_ must have a number for each node.")
        seen = np.zeros(self._n(), np.bool_)
        seen[self.nodes_.labels[self.nodes_.labels >= 0]] = True
        if (seen & (self.counts_ == 0)).any():
            raise ValueError("counts_ must be above 0 for the labels of the trees.")

    def _check_parameters(self) -> None:
        self._check_calibrate()
        check_scalar(self.n_estimators, "n_estimators", Integral, min_val=1)
        for name in ("leaf_labels", "n_clusters", "beam"):
            if (value := getattr(self, name)) is not None:
                check_scalar(value, name, Integral, min_val=1, max_val=MOST_CHILDREN)
        check_background(self.background)
        _validation.choice(self.loss, "loss", linear.LOSSES)
        linear.check_cost(self.C)
        _validation.number(self.tol, "tol", above=0)
        _validation.number(self.min_weight, "min_weight", least=0)
        if isinstance(self.tilt, str):
            _validation.choice(self.tilt, "tilt", [NAMED])
        else:
            _validation.number(self.tilt, "tilt", least=0)
            check_scalar(self.tilt, "tilt", (int, float), max_val=10)
        if self.metric is not None:
            as_metric(self.metric)
        if self.cost is not None:
            as_counted_cost(self.cost)
        if self.label_features is not None and self.parents is not None:
            raise ValueError("label_features and parents must not both be given.")
