"""What the trees over labels have in common."""

from collections.abc import Iterator
from numbers import Integral
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_scalar
from sklearn.utils.validation import check_is_fitted

from manylabel import _validation
from manylabel._kernels import budget as planes
from manylabel._kernels import decoding, margins
from manylabel._kernels.annotation import Shape
from manylabel._typing import CSR, Array, Bools, Floats, Ints, MatrixLike, Singles
from manylabel.base import MultiLabelClassifier
from manylabel.budget import _decisions

LOSSES = {"squared_hinge": margins.SQUARED_HINGE, "logistic": margins.LOGISTIC}
MAX_STEPS = 1000  # of the solver, for each plane
ROWS_AT_ONCE = 4096  # that a task annotates


class CodingTree(MultiLabelClassifier):
    """A tree of budgeted decisions that leads a row to its labels.

    A subclass has ``_shape(Y)``, which follows from the labels alone.
    """

    budget: int
    max_planes: int
    C: float
    loss: str
    tol: float
    beam: int
    n_jobs: int | None

    children_: Array
    node_rows_: Array
    asked_: Array
    intercept_: Singles
    selected_features_: Ints
    weight_starts_: Array
    weight_numbers_: Array
    weight_values_: Singles
    label_starts_: Array
    labels_: Array
    most_labels_: int
    slope_: float
    shift_: Singles
    seen_: Bools

    def fit(self, X: MatrixLike, Y: MatrixLike) -> Self:
        """Grow the tree over the labels, then learn its decisions.

        Parameters
        ----------
        X : array or sparse array of shape (n_rows, n_features)
            Features.
        Y : array or sparse array of shape (n_rows, n_labels)
            Labels, 0/1.

        Returns
        -------
        CodingTree
            Itself.
        """
        self._check_parameters()
        with self._undo_on_error():
            rows, labels = self._begin_fit(X, Y)
            self.seen_ = np.bincount(labels.indices, minlength=labels.shape[1]) > 0
            self._learn(rows, labels)
        return self

    @property
    def weights_(self) -> CSR:
        """Weights of the decisions, shape (n_nodes, n_features); made when asked."""
        check_is_fitted(self)
        features = self.selected_features_[self.weight_numbers_]
        parts = (self.weight_values_, features, self.weight_starts_)
        return sp.csr_array(parts, shape=(len(self.children_), self.n_features_in_))

    def _shape(self, Y: CSR) -> Shape:
        raise NotImplementedError

    def _learn(self, X: CSR, Y: CSR) -> None:
        shape = self._shape(Y)

        def price(nodes: Ints) -> Floats:
            n_rows = np.ptp(shape.bounds[nodes], axis=1).sum()
            return np.full(n_rows, float(self.C))

        rules = self._rules(X.shape[1])
        found = _decisions.learnt(X, shape, price, rules, self.n_jobs)
        self._take(shape, found)

    def _rules(self, n_features: int) -> planes.Rules:
        return planes.Rules(
            loss=LOSSES[self.loss],
            with_intercept=True,
            budget=min(int(self.budget), n_features),
            max_planes=int(self.max_planes),
            tolerance=float(self.tol),
            max_steps=MAX_STEPS,
        )

    def _take(self, shape: Shape, found: Any) -> None:
        """Keep the nodes; leaves have no weights."""
        inner = shape.children > 0
        self.children_, self.asked_ = shape.children, shape.asked
        self.node_rows_ = np.ptp(shape.bounds, axis=1).astype(np.int32)
        self.intercept_ = np.zeros(len(inner), np.float32)
        self.intercept_[inner] = found.intercept
        n_weights = np.zeros(len(inner) + 1, np.int64)
        n_weights[1:][inner] = np.diff(found.w_indptr)
        self.weight_starts_ = np.cumsum(n_weights)
        self.selected_features_, numbers = np.unique(
            found.w_indices.astype(np.int64), return_inverse=True
        )
        self.weight_numbers_ = numbers.astype(np.int32)
        self.weight_values_ = found.w_data
        self.label_starts_, self.labels_ = shape.f_indptr, shape.f_indices
        self.slope_, self.shift_ = 2.0, np.zeros(len(inner), np.float32)
        self.most_labels_ = int(decoding.most_labels(self._tree()))

    def _tree(self) -> decoding.Tree:
        return decoding.Tree(
            children=self.children_,
            intercept=self.intercept_,
            selected=self.selected_features_,
            w_indptr=self.weight_starts_,
            w_indices=self.weight_numbers_,
            w_data=self.weight_values_,
            f_indptr=self.label_starts_,
            f_indices=self.labels_,
            slope=self.slope_,
            shift=self.shift_,
        )

    def _annotated(self, X: CSR) -> tuple[Array, Array, Array]:
        """Return the labels of each row, how many, and the decisions it took."""
        labels = np.empty((X.shape[0], max(1, self.most_labels_)), np.int32)
        n_labels, n_decisions = np.empty((2, X.shape[0]), np.int32)
        decoding.annotate(_rows(X), self._tree(), labels, n_labels, n_decisions)
        return labels, n_labels, n_decisions

    def _scores(self, X: CSR) -> Array:
        out = np.empty((X.shape[0], len(self.classes_)), np.float32)
        decoding.rank(_rows(X), self._tree(), int(self.beam), self.seen_, out)
        return out

    def _topk(self, X: CSR, k: int) -> CSR:
        parts = [super(CodingTree, self)._topk(p, k) for (p,) in super()._chunks(X)]
        return sp.vstack(parts, format="csr")

    def _labels(self, X: CSR) -> CSR:
        labels, n_labels, _ = self._annotated(X)
        given = np.arange(labels.shape[1]) < n_labels[:, None]
        indptr = np.concatenate([[0], np.cumsum(n_labels)])
        columns = labels[given]
        shape = (X.shape[0], len(self.classes_))
        found = sp.csr_array((np.ones(len(columns), bool), columns, indptr), shape)
        found.sort_indices()
        return found

    def _chunks(self, X: CSR) -> Iterator[tuple[CSR]]:
        """Cut rows so that there is work for every thread; at least one chunk."""
        if X.shape[0] <= ROWS_AT_ONCE:
            return iter([(X,)])
        starts = range(0, X.shape[0], ROWS_AT_ONCE)
        return ((X[start : start + ROWS_AT_ONCE],) for start in starts)

    def _check_parameters(self) -> None:
        for name in ("budget", "max_planes", "beam"):
            check_scalar(getattr(self, name), name, Integral, min_val=1)
        _validation.number(self.C, "C", above=0)
        _validation.number(self.tol, "tol", above=0)
        _validation.choice(self.loss, "loss", LOSSES)

    def _state_shapes(self) -> dict[str, tuple[int, ...]]:
        n_nodes = len(self.children_)
        per_node = ("node_rows_", "asked_", "intercept_", "shift_")
        return {
            **{name: (n_nodes,) for name in per_node},
            **{name: (n_nodes + 1,) for name in ("weight_starts_", "label_starts_")},
            "seen_": (len(self.classes_),),
        }

    def _check_state(self) -> None:
        super()._check_state()
        children, nodes = self.children_, np.arange(len(self.children_))
        inner = children != 0
        if (
            not len(nodes)
            or not ((children > nodes) & (children < nodes[-1]))[inner].all()
        ):
            raise ValueError("children_ must follow their parents.")
        lists = {
            "weight_starts_": ("weight_numbers_", len(self.selected_features_)),
            "label_starts_": ("labels_", len(self.classes_)),
        }
        for name, (entries, width) in lists.items():
            _check_lists(getattr(self, name), name, getattr(self, entries), width)
        if self.weight_values_.shape != self.weight_numbers_.shape:
            raise ValueError("weight_values_ must have one value for each number.")
        _check_columns(
            self.selected_features_, "selected_features_", self.n_features_in_
        )
        if self.most_labels_ != decoding.most_labels(self._tree()):
            raise ValueError("most_labels_ must be that of the longest path.")


def _rows(X: CSR) -> decoding.Rows:
    return decoding.Rows(X.indptr, X.indices, X.data, X.shape[1])


def _check_lists(starts: Array, name: str, entries: Array, width: int) -> None:
    """Refuse lists that leave their entries, or entries that leave the columns."""
    if starts[0] != 0 or starts[-1] != len(entries) or (np.diff(starts) < 0).any():
        raise ValueError(f"{name} must rise from 0 to the number of entries.")
    _check_columns(entries, f"entries of {name}", width)


def _check_columns(columns: Array, name: str, width: int) -> None:
    if len(columns) and not 0 <= columns.min() <= columns.max() < width:
        raise ValueError(f"{name} must be under {width}.")
