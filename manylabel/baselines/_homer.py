"""Hierarchy of multi-label classifiers."""

from itertools import pairwise
from numbers import Integral
from typing import Annotated

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_scalar

from manylabel import _validation, parallel
from manylabel._docstrings import described_like
from manylabel._typing import CSR, Array, Bools, Floats, RandomState
from manylabel.base import PAIRS_AT_ONCE, WeighingClassifier, cut
from manylabel.lists import Lists
from manylabel.model_selection.probable import CalibratedBatchClassifier
from manylabel.persistence.records import Field
from manylabel.solvers import linear
from manylabel.solvers.clustering import part_points
from manylabel.solvers.levels import Lesson, fit_trees, gather_rows
from manylabel.solvers.nodes import MOST_CHILDREN, Nodes
from manylabel.solvers.search import Search, find_labels
from manylabel.solvers.shape import Cluster, Shape

OTHERS = np.array([0, -1], np.float32)  # scores of labels not found: seen, never seen
LOGISTIC, SIGN = "log_loss", "sign"
NO_BACKGROUND = np.empty(0, np.int64)


@described_like(CalibratedBatchClassifier)
class HOMER(CalibratedBatchClassifier, WeighingClassifier):
    """A tree of multi-label classifiers, each of which chooses among few branches.

    The labels are parted into ``n_clusters`` clusters of equal size, each of these
    again, and so on, by balanced k-means of the rows that have them [1]_. At each node
    a multi-label classifier tells which clusters a row has labels of; it is learnt on
    the rows that have a label below the node. ``predict`` goes down every branch of
    positive margin, and returns the labels at which it ends. Scores are products of
    probabilities along the path.

    Parameters
    ----------
    n_clusters : int, default=3
        Branches of a node; 1 parts no labels: one node, which is binary relevance.
    C : float, default=4.0
        Weight of the logistic loss, as in :class:`OneVsRest`.
    tol : float, default=0.1
        When a classifier is done, as in :class:`OneVsRest`.
    normalize : bool, default=True
        Scale every row to unit length, in ``fit`` and when predicting.
    n_jobs : int or None, default=None
        Threads; None is 1, -1 all cores.
    random_state : int, Generator, RandomState or None, default=0
        Seeds the clusters and the order in which rows are visited.

    Attributes
    ----------
    classes_ : ndarray of shape (n_labels,)
        Column numbers of ``Y``.
    nodes_ : Nodes
        The tree and its classifiers, as flat arrays.
    seen_ : ndarray of shape (n_labels,)
        Whether a training row had the label. Others rank last.

    Notes
    -----
    k-means is spherical, and made balanced after its last round: the labels nearest to
    a centre choose first. In [1]_ distances are Euclidean, clusters are balanced in
    each round, and the classifiers are naive Bayes. Weights are kept in 16 bits.

    A label may score high without being predicted, if one branch on its path has a
    margin below 0; or be predicted though the product of many factors is small.

    References
    ----------
    .. [1] Tsoumakas, Katakis & Vlahavas, "Effective and efficient multilabel
       classification in domains with large number of labels", MMD workshop of
       ECML PKDD 2008, sections 2 and 3.

    Examples
    --------
    >>> X = [[1.0, 0.0], [1.0, 0.2], [0.0, 1.0], [0.1, 1.0]]
    >>> Y = [[1, 0, 1, 0], [1, 0, 1, 0], [0, 1, 0, 1], [0, 1, 0, 1]]
    >>> HOMER(n_clusters=2).fit(X, Y).predict([[1.0, 0.1], [0.1, 0.9]])
    array([[1, 0, 1, 0],
           [0, 1, 0, 1]])
    """

    nodes_: Nodes
    seen_: Annotated[Bools, Field("bool", "n_labels")]

    def __init__(
        self,
        *,
        n_clusters: int = 3,
        C: float = 4.0,
        tol: float = 0.1,
        normalize: bool = True,
        calibrate: str | None = None,
        n_jobs: int | None = None,
        random_state: RandomState = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.C = C
        self.tol = tol
        self.normalize = normalize
        self.calibrate = calibrate
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _check_parameters(self) -> None:
        super()._check_parameters()
        most = MOST_CHILDREN
        check_scalar(self.n_clusters, "n_clusters", Integral, min_val=1, max_val=most)
        linear.check_cost(self.C)
        _validation.number(self.tol, "tol", above=0)

    def _learn(self, X: CSR, Y: CSR, weight: Floats) -> None:
        clusters, order = parallel.spawn_seeds(self.random_state, 2)
        self.seen_ = np.bincount(Y.indices, minlength=Y.shape[1]) > 0
        rng = np.random.default_rng(int(clusters))
        with parallel.stage("clustering", 0.1):
            rows_of = sp.csr_array(Y.T.tocsr())
            tree = _part_labels(rows_of, weight, int(self.n_clusters), rng)
        settings = linear.Settings(self.C, self.tol, loss=LOGISTIC)
        rows = sp.csr_array((self._values(X), X.indices, X.indptr), shape=X.shape)
        lesson = Lesson(rows, Y, weight, None, settings, order, NO_BACKGROUND)
        with parallel.stage("training"):
            self.nodes_ = fit_trees([Shape.of([tree])], lesson, self.n_jobs)

    def _values(self, X: CSR) -> Array:
        return linear.unit_values(X) if self.normalize else X.data

    def _found(self, X: CSR, loss: str, most: int) -> Lists:
        """Return the labels of the highest scores of each row."""
        n_found = max(1, min(most, len(self.classes_)))
        how = Search(loss, self._n_scores(), n_found)
        gain = np.zeros(self.nodes_.n_nodes, np.float32)
        n_rows = max(1, PAIRS_AT_ONCE // n_found)
        found = [
            find_labels(self.nodes_, chunk, self._values(chunk), gain, how)
            for (chunk,) in cut(X, n_rows)
        ]
        return Lists.stacked(found)

    def _scores(self, X: CSR) -> Array:
        found = self._found(X, LOGISTIC, len(self.classes_))
        return found.dense(self.seen_, OTHERS)

    def _topk(self, X: CSR, k: int) -> CSR:
        return self._found(X, LOGISTIC, k).best(k, self.seen_, OTHERS)

    def _labels(self, X: CSR) -> CSR:
        found = self._found(X, SIGN, len(self.classes_))
        ones = np.ones(len(found.labels), np.int64)
        return found._replace(values=ones).csr(len(self.classes_))

    def _n_scores(self) -> int:
        """Return how many nodes of a level a row may be at: all that are no leaves."""
        inner = self.nodes_.labels < 0
        spans = self.nodes_.levels()
        return max(int(inner[level.start : level.stop].sum()) for level in spans)

    def _check_state(self) -> None:
        super()._check_state()
        leaves = self.nodes_.labels[self.nodes_.labels >= 0]
        if not self.seen_[leaves].all() or self.seen_.sum() != len(leaves):
            raise ValueError("seen_ must be true of the labels of nodes_.")


def _part_labels(
    rows_of: CSR, weight: Floats, k: int, rng: np.random.Generator
) -> Cluster:
    """Return nested clusters of the labels that have rows, at most ``k`` in each.

    They are taken in an order that does not depend on their columns.
    """
    counts, squares = np.diff(rows_of.indptr), weight[rows_of.indices]
    mass = np.repeat(rows_of @ weight, counts)
    values = np.sqrt(squares / mass).astype(np.float32)
    points = sp.csr_array((values, rows_of.indices, rows_of.indptr), rows_of.shape)
    key = [
        rows_of.indices[start:end].tobytes() for start, end in pairwise(rows_of.indptr)
    ]
    seen = np.array(sorted(np.flatnonzero(counts), key=key.__getitem__), np.int64)
    tree: Cluster = []
    stack = [(tree, seen)]
    while stack:
        cluster, members = stack.pop()
        if len(members) <= k or k == 1:
            cluster += members.tolist()
            continue
        local, _ = gather_rows(points, members)
        part, _ = part_points(local, np.arange(len(members)), k, rng, balanced=True)
        for c in np.unique(part):
            child: Cluster = []
            cluster.append(child)
            stack.append((child, members[part == c]))
    return tree
