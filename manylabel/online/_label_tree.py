"""A probabilistic label tree that learns a stream and grows with it."""

from numbers import Integral
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.special import expit
from sklearn.utils import check_scalar

from manylabel import _validation
from manylabel._kernels.label_tree import incremental
from manylabel._kernels.linear import svm
from manylabel._kernels.ranking import UNSEEN
from manylabel._typing import CSR, Array, Floats, Singles
from manylabel.base import PAIRS_AT_ONCE, cut
from manylabel.lists import by_column
from manylabel.online._growing import GrowingClassifier
from manylabel.online._label_sets import counted, n_predicted
from manylabel.online._tree_state import (
    TreeState,
    begin,
    with_labels,
    with_nodes,
    with_pairs,
)
from manylabel.solvers import linear

MOST_PREDICTED = 64  # labels of a row
LEAST_ODDS = -4.6  # log odds below which a label counts for nothing in a set: 1 %
MOST_LISTED = 1000  # beyond which all labels are scored, then ranked
BYTES_PER_LABEL = 24
LEAST_BITS, MOST_BITS = 10, 30
MOST_ARITY = 1024
MOST_FEATURES = (1 << 31) - 1
SMALL = 4  # nodes of a tree, in beams, whose weights are all multiplied at once


class OnlineLabelTree(GrowingClassifier):
    """Learn a stream by a probabilistic label tree that grows with it.

    Labels are the leaves of a tree. Each inner node has a logistic model for each of
    its children, of whether the row has a label below, and the probability of a label
    is the product along its path [1]_. A row teaches the nodes on the paths of its
    labels only, so it costs the number of its labels times the depth, whatever the
    number of all labels. Rows may bring new features and labels at any time: a new
    label becomes a leaf at once, beside those that its first row resembles most [2]_.

    Parameters
    ----------
    cost : str or object with ``from_counts``, default="hamming"
        What predictions are charged: ``predict`` gives the most probable labels, as
        many as cost least in expectation, and at most 64. The ranking is the same for
        all costs.
    arity : int, default=16
        Children of a node.
    eta0 : float, default=1.0
        Step size of AdaGrad.
    beam : int, default=10
        Nodes of each level that ``predict_topk`` and ``predict`` look below; as many
        as labels are asked for at least.
    n_bits : int, default=21
        Weights are kept for at most 3/4 of ``2 ** n_bits`` pairs of a node and a
        feature, in ``8 * arity + 8`` bytes each: 285 MB. The memory grows up to that as
        it is needed. Then the pairs that were learnt least are forgotten.
    propensity : Propensity, array of shape (n_labels,), float, "running" or None
        Chance p that a true label is recorded. A relevant label then weighs
        ``2 / p - 1``; "running" applies the law of Jain et al. to the counts so far.
        None trusts the labels.
    max_inverse_propensity : float, default=10.0
        Largest ``1 / p``.
    calibrate : {"auto", "sigmoid", "isotonic"} or None, default=None
        Make scores probabilities, for ``predict_proba``: one row in eight is ranked
        before it is learnt, and the last 1,024 of these say how often labels of some
        score are true; see :class:`Calibrated`. Sets and rankings stay as they are.

    Attributes
    ----------
    classes_ : ndarray of shape (n_labels,)
        Column numbers of ``Y``.
    n_seen_ : int
        Rows learnt so far.
    state_ : TreeState
        What was learnt, a record of arrays that change from row to row: the tree as
        ``children`` and ``parent`` of each node and the ``leaf`` of each label, and a
        hash table of ``keys`` and ``blocks`` of weights.
    window_ : Window
        Best labels of the rows that were ranked last; empty without ``calibrate``.

    Notes
    -----
    Rows are brought to length 1. Features that were never learnt are ignored in
    prediction; a label that no row has had is not predicted and ranks last.

    Without ``calibrate``, ``predict_proba`` is the product along the path of a label,
    and scores are its log odds. With a propensity it is above 1/2 where the complete
    label is more probable than not; other values are tilted. An inner node takes the
    weight of the rarest label below it that the row has.

    References
    ----------
    .. [1] Jasinska et al., "Extreme F-measure Maximization using Sparse Probability
       Estimates", ICML 2016.
    .. [2] Jasinska-Kobus et al., "Online probabilistic label trees", AISTATS 2021. Here
       the tree has the least depth that takes its labels, and no auxiliary models: the
       free places of a node are learnt as labels that no row has.

    Examples
    --------
    >>> learner = OnlineLabelTree()
    >>> for _ in range(20):
    ...     learner = learner.learn_one({0: 1.0}, {0}).learn_one({5: 1.0}, {0, 3})
    >>> sorted(learner.predict_one({5: 1.0}))
    [0, 3]
    >>> for _ in range(5):
    ...     learner = learner.learn_one({9: 1.0}, {7})  # a new feature and a new label
    >>> learner.predict_one({9: 1.0})
    {7}
    """

    grow = True
    state_: TreeState

    def __init__(
        self,
        *,
        cost: Any = "hamming",
        arity: int = 16,
        eta0: float = 1.0,
        beam: int = 10,
        n_bits: int = 21,
        propensity: Any = None,
        max_inverse_propensity: float = 10.0,
        calibrate: str | None = None,
    ) -> None:
        self.cost = cost
        self.arity = arity
        self.eta0 = eta0
        self.beam = beam
        self.n_bits = n_bits
        self.propensity = propensity
        self.max_inverse_propensity = max_inverse_propensity
        self.calibrate = calibrate

    @property
    def n_seen_(self) -> int:
        """Rows learnt so far."""
        return int(self.state_.counters[incremental.N_SEEN])

    def _has_own_probabilities(self) -> bool:
        return True

    def _own_probabilities(self, X: CSR) -> Floats:
        """Return the product along the path of each label."""
        p: Floats = expit(self._scores(X))
        return p

    def _start(self, n_features: int, n_labels: int) -> None:
        self._check_room(n_features, n_labels)
        self._boosts(n_labels)
        self.state_ = begin(n_labels, self.arity)
        self._begin_calibration()
        self.__dict__.pop("feature_names_in_", None)

    def _grow(self, n_features: int, n_labels: int) -> None:
        self._check_arity()
        self._check_room(n_features, n_labels)
        if self.propensity is not None:
            self._boosts(n_labels)
        if n_labels > len(self.classes_):
            self.state_ = with_labels(self.state_, n_labels)
            self.classes_ = np.arange(n_labels)
        self.n_features_in_ = n_features

    def _learn_rows(self, X: CSR, Y: CSR) -> None:
        self._check_arity()
        n_rows, row = X.shape[0], 0
        stream = incremental.Stream(X.indptr, X.indices, X.data, Y.indptr, Y.indices)
        settings = self._settings()
        longest = int(np.diff(X.indptr).max(initial=0))
        while row < n_rows:
            n_nodes = len(self.state_.parent)
            scratch = incremental.make_scratch(longest, n_nodes, self.arity)
            row = incremental.learn_rows(stream, row, settings, self.state_, scratch)
            if row < n_rows:
                n_relevant = int(Y.indptr[row + 1] - Y.indptr[row])
                self._make_room(n_relevant, int(scratch.need[0]))

    def _make_room(self, n_relevant: int, n_pairs: int) -> None:
        """Make room for a row with so many labels, which may bring so many pairs."""
        state = self.state_
        if state.counters[incremental.N_NODES] + n_relevant > len(state.parent):
            self.state_ = with_nodes(state, n_relevant)
        else:
            self.state_ = with_pairs(state, n_pairs, self.n_bits)

    def _scores(self, X: CSR) -> Array:
        state = self.state_
        out = np.full((X.shape[0], len(self.classes_)), UNSEEN)
        log_p = np.empty(len(state.parent))
        rows = incremental.Rows(X.indptr, X.indices, X.data)
        scratch = self._scratch(X)
        incremental.score_rows(rows, self._margins(X), state, scratch, log_p, out)
        return out

    def _labels(self, X: CSR) -> CSR:
        n_labels = len(self.classes_)
        columns, scores = self._search(X, MOST_PREDICTED, least=LEAST_ODDS)
        p = np.where(columns >= 0, expit(scores), 0)
        n = n_predicted(p, counted(self.cost), n_labels)
        is_given = np.arange(columns.shape[1]) < n[:, np.newaxis]
        indptr = np.concatenate([[0], np.cumsum(n)])
        given = columns[is_given]
        ones = np.ones(len(given), np.bool_)
        labels = sp.csr_array((ones, given, indptr), shape=(X.shape[0], n_labels))
        labels.sort_indices()
        return labels

    def _topk(self, X: CSR, k: int) -> CSR:
        n_labels = len(self.classes_)
        if k > MOST_LISTED:
            pieces = cut(X, max(1, PAIRS_AT_ONCE // n_labels))
            rank = super()._topk
            return sp.vstack([rank(rows, k) for (rows,) in pieces], "csr")
        columns, scores = self._search(X, k, by_column=True)
        n_rows, n_found = columns.shape
        if n_found < min(k, n_labels):
            others = np.flatnonzero(self.state_.leaf < 0)[: k - n_found]
            others = np.tile(others.astype(np.int32), (n_rows, 1))
            columns = np.hstack([columns, others])
            scores = np.hstack([scores, np.full(others.shape, UNSEEN)])
            order = np.argsort(columns, axis=1)
            columns = np.take_along_axis(columns, order, axis=1)
            scores = np.take_along_axis(scores, order, axis=1)
        return by_column(columns, scores, n_labels)

    def _search(
        self, X: CSR, k: int, *, least: float = -np.inf, by_column: bool = False
    ) -> tuple[Array, Floats]:
        """Return the best labels among those seen and their log odds."""
        state, k = self.state_, min(k, int(self.state_.n_leaves[0]))
        columns, scores = np.empty((X.shape[0], k), np.int32), np.empty((X.shape[0], k))
        if k:
            beam = incremental.make_beam(int(state.counters[incremental.N_NODES]))
            incremental.best_of_rows(
                *(incremental.Rows(X.indptr, X.indices, X.data), self._margins(X)),
                *(state, self._scratch(X), beam, max(self.beam, k), least),
                *(columns, scores, by_column),
            )
        return columns, scores

    def _margins(self, X: CSR) -> Singles:
        """Return the scores of all children of all nodes, a row of X a row, or none.

        Where rows have all features and the tree is small, one product with all weights
        takes less than a search for each weight of the nodes on the way.
        """
        state, (n_rows, n_features) = self.state_, X.shape
        n_nodes, arity = int(state.counters[incremental.N_NODES]), self.arity
        is_full = X.nnz == n_rows * n_features
        if not is_full or n_rows < n_nodes or n_nodes > SMALL * self.beam:
            return np.empty((0, 0), np.float32)
        weights = np.zeros((n_features, n_nodes * arity), np.float32)
        incremental.weights_by_feature(state, weights)
        out = np.empty((n_rows, n_nodes * arity), np.float32)
        intercept = state.bias[:n_nodes, :arity].ravel()
        values = linear.unit_values(X).reshape(X.shape)
        svm.dense_scores(values, weights, intercept, out)
        return out

    def _scratch(self, X: CSR) -> Any:
        is_one = X.shape[0] == 1  # np.diff takes long for one row
        longest = X.nnz if is_one else int(np.diff(X.indptr).max(initial=0))
        return incremental.make_scratch(longest, 0, self.state_.children.shape[1])

    def _n_scores(self) -> int:
        return MOST_PREDICTED

    def _settings(self) -> incremental.Settings:
        law_a, law_b = self._law()
        trusts = self.propensity is None or self._is_running()
        boost = np.empty(0) if trusts else self._boosts(len(self.classes_))
        return incremental.Settings(
            step=np.float32(self.eta0),
            law_a=law_a,
            law_b=law_b,
            most=float(self.max_inverse_propensity),
            boost=boost,
        )

    def _check_room(self, n_features: int, n_labels: int) -> None:
        """Refuse new labels that would fill the memory: a row may name any number."""
        if n_features > MOST_FEATURES:
            raise ValueError(
                f"X must have at most {MOST_FEATURES} features. Got {n_features}."
            )
        more = (n_labels - len(getattr(self, "classes_", ""))) * BYTES_PER_LABEL
        if more > (most := _validation.most_bytes()):
            raise ValueError(
                f"New columns must not take more than {most:,} bytes at once. Got "
                f"{n_labels} labels, for {more:,} bytes."
            )

    def _check_arity(self) -> None:
        if self.arity != self.state_.children.shape[1]:
            raise ValueError(
                "arity must stay as it was when the stream began; fit begins anew."
            )

    def _check_state(self) -> None:
        super()._check_state()
        self._check_arity()

    def _check_parameters(self) -> None:
        super()._check_parameters()
        counted(self.cost)
        for name, least, most in (
            ("arity", 2, MOST_ARITY),
            ("beam", 1, None),
            ("n_bits", LEAST_BITS, MOST_BITS),
        ):
            check_scalar(
                getattr(self, name), name, Integral, min_val=least, max_val=most
            )
        _validation.number(self.eta0, "eta0", above=0)
        self._check_propensity()
        largest = self.max_inverse_propensity
        _validation.number(largest, "max_inverse_propensity", least=1)
