"""What the forests have in common."""

from collections.abc import Iterator
from numbers import Integral
from typing import Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.utils import check_scalar
from sklearn.utils.validation import check_is_fitted

from manylabel import _validation, parallel
from manylabel._kernels import router
from manylabel._typing import (
    CSR,
    Array,
    Bools,
    Floats,
    MatrixLike,
    RandomState,
    Singles,
)
from manylabel.base import MultiLabelClassifier
from manylabel.trees._grower import Plan, grow_tree
from manylabel.trees._nodes import Forest

LIKELY = 0.5  # labels of a larger mean are predicted
NOWHERE, UNSEEN = np.float32(-LIKELY), np.float32(-1 - LIKELY)  # scores without a leaf
ROWS_AT_ONCE = 2048  # that route together; more gain little


class ForestClassifier(MultiLabelClassifier):
    """A forest of linear separators.

    A subclass says how labels and rows count: ``_gain(Y)`` is the gain of each label,
    ``_weight(Y, gain)`` the weight of each row in the objective of a split.
    """

    n_trees: int
    max_leaf: int
    labels_per_leaf: int
    C: float
    bias: float
    warm_start: bool
    n_jobs: int | None
    random_state: RandomState

    roots_: Array
    children_: Array
    intercept_: Singles
    weights_: CSR
    leaves_: CSR
    seen_: Bools

    def fit(self, X: MatrixLike, Y: MatrixLike) -> Self:
        """Grow the trees.

        Parameters
        ----------
        X : array or sparse array of shape (n_rows, n_features)
            Features.
        Y : array or sparse array of shape (n_rows, n_labels)
            Labels, 0/1.

        Returns
        -------
        ForestClassifier
            Itself.
        """
        self._check_parameters()
        with self._undo_on_error():
            known = self._forest() if self._goes_on() else None
            rows, labels = self._begin_fit(X, Y)
            n_known = self._count_known(known)
            self.seen_ = np.bincount(labels.indices, minlength=labels.shape[1]) > 0
            plan = self._plan(rows, labels)
            seeds = parallel.spawn_seeds(self.random_state, self.n_trees)[n_known:]
            grown = parallel.run(
                grow_tree, ((plan, seed) for seed in seeds), self.n_jobs
            )
            self._take(Forest.joined([*([known] if known else []), *grown]))
        return self

    def merged(self, other: Self) -> Self:
        """Return a new forest of the trees of two, grown apart on the same data.

        Parameters
        ----------
        other : ForestClassifier
            A fitted forest of the same class, features and labels.

        Returns
        -------
        ForestClassifier
            Has this forest's parameters but for ``n_trees``.
        """
        mine, theirs = self._forest(), other._forest()
        if type(other) is not type(self) or not _same_widths(mine, theirs):
            raise ValueError(
                f"other must be a {type(self).__name__} of {self.n_features_in_} "
                f"features and {len(self.classes_)} labels. Got a "
                f"{type(other).__name__} of {other.n_features_in_} and "
                f"{len(other.classes_)}."
            )
        model = self._with(Forest.joined([mine, theirs]))
        model.seen_ = self.seen_ | other.seen_
        return model

    def trimmed(self, n_trees: int) -> Self:
        """Return a new forest of the first trees of this one.

        Parameters
        ----------
        n_trees : int
            How many trees to keep.

        Returns
        -------
        ForestClassifier
            Has this forest's parameters but for ``n_trees``.
        """
        forest = self._forest()
        most = len(forest.roots) - 1
        check_scalar(n_trees, "n_trees", Integral, min_val=1, max_val=most)
        return self._with(forest.head(int(n_trees)))

    def _gain(self, Y: CSR) -> Floats:
        raise NotImplementedError

    def _weight(self, Y: CSR, gain: Floats) -> Floats:
        raise NotImplementedError

    def _plan(self, X: CSR, Y: CSR) -> Plan:
        gain = self._gain(Y)
        return Plan(
            X=X,
            Y=Y,
            gain=gain,
            weight=self._weight(Y, gain),
            cost=self.C,
            bias=self.bias,
            max_leaf=self.max_leaf,
            labels_per_leaf=self.labels_per_leaf,
        )

    def _forest(self) -> Forest:
        check_is_fitted(self)
        return Forest(
            roots=self.roots_,
            children=self.children_,
            intercept=self.intercept_,
            weights=self.weights_,
            leaves=self.leaves_,
        )

    def _take(self, forest: Forest) -> None:
        for name, value in forest._asdict().items():
            setattr(self, f"{name}_", value)

    def _with(self, forest: Forest) -> Self:
        """Return an estimator like this one that has another forest."""
        model: Self = clone(self).set_params(n_trees=len(forest.roots) - 1)
        learnt = {name: v for name, v in vars(self).items() if name.endswith("_")}
        model.__dict__.update(learnt)
        model._take(forest)
        return model

    def _goes_on(self) -> bool:
        return bool(self.warm_start) and hasattr(self, "roots_")

    def _count_known(self, known: Forest | None) -> int:
        """Return how many trees to keep, or refuse data that these did not see."""
        if known is None:
            return 0
        n_known = len(known.roots) - 1
        widths = (known.weights.shape[1], known.leaves.shape[1])
        found = (self.n_features_in_, len(self.classes_))
        if found != widths:
            raise ValueError(
                f"X and Y must have {widths[0]} and {widths[1]} columns, as the trees "
                f"that warm_start keeps. Got {found[0]} and {found[1]}."
            )
        if self.n_trees < n_known:
            raise ValueError(
                f"n_trees must be at least {n_known}, the trees that warm_start keeps. "
                f"Got {self.n_trees}."
            )
        return n_known

    def _reached(self, X: CSR) -> Array:
        """Return the leaf of each row in each tree."""
        W = self.weights_
        out = np.empty((X.shape[0], len(self.roots_) - 1), np.int32)
        router.descend(
            *(X.indptr, X.indices, X.data, X.shape[1], self.roots_, self.children_),
            *(self.intercept_, W.indptr, W.indices, W.data, out),
        )
        return out

    def _start(self) -> Singles:
        """Return the score of each label where no leaf has it."""
        return np.where(self.seen_, NOWHERE, UNSEEN)

    def _scores(self, X: CSR) -> Array:
        leaves = self.leaves_
        out = np.empty((X.shape[0], leaves.shape[1]), np.float32)
        router.mean_rows(
            *(self._reached(X), leaves.indptr, leaves.indices, leaves.data),
            *(LIKELY, self._start(), out),
        )
        return out

    def _topk(self, X: CSR, k: int) -> CSR:
        leaves = self.leaves_
        shape = (X.shape[0], leaves.shape[1])
        k = min(k, shape[1])
        columns = np.empty((shape[0], k), np.int32)
        scores = np.empty((shape[0], k), np.float32)
        router.best_of_rows(
            *(self._reached(X), leaves.indptr, leaves.indices, leaves.data),
            *(LIKELY, self._start(), columns, scores),
        )
        order = np.argsort(columns, axis=1)
        columns = np.take_along_axis(columns, order, axis=1)
        scores = np.take_along_axis(scores, order, axis=1)
        indptr = np.arange(0, columns.size + 1, k)
        return sp.csr_array((scores.ravel(), columns.ravel(), indptr), shape)

    def _labels(self, X: CSR) -> CSR:
        parts = [
            super(ForestClassifier, self)._labels(p) for (p,) in super()._chunks(X)
        ]
        return sp.vstack(parts, format="csr")

    def _chunks(self, X: CSR) -> Iterator[tuple[CSR]]:
        """Cut rows so that there is work for every thread; at least one chunk."""
        for start in range(0, max(1, X.shape[0]), ROWS_AT_ONCE):
            yield (X[start : start + ROWS_AT_ONCE],)

    def _check_parameters(self) -> None:
        for name in ("n_trees", "max_leaf", "labels_per_leaf"):
            check_scalar(getattr(self, name), name, Integral, min_val=1)
        _validation.number(self.C, "C", above=0)
        _validation.number(self.bias, "bias", least=0)

    def _state_shapes(self) -> dict[str, tuple[int, ...]]:
        n_nodes, n_labels = int(self.roots_[-1]), len(self.classes_)
        return {
            "children_": (n_nodes,),
            "intercept_": (n_nodes,),
            "weights_": (n_nodes, self.n_features_in_),
            "leaves_": (n_nodes, n_labels),
            "seen_": (n_labels,),
        }

    def _check_state(self) -> None:
        super()._check_state()
        self._forest().check()


def _same_widths(one: Forest, other: Forest) -> bool:
    return (one.weights.shape[1], one.leaves.shape[1]) == (
        other.weights.shape[1],
        other.leaves.shape[1],
    )


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
