"""PD-Sparse: margins between labels, few weights and few dual variables."""

from numbers import Integral
from typing import Annotated, Any

import numpy as np
import scipy.sparse as sp
from joblib import effective_n_jobs
from sklearn.utils import check_scalar

from manylabel import _validation, parallel
from manylabel._docstrings import described_like
from manylabel._kernels.csr import with_full_rows
from manylabel._kernels.forest.router import Rows
from manylabel._kernels.linear import pd_sparse, separable, svm
from manylabel._kernels.ranking import UNSEEN
from manylabel._typing import CSR, Array, Floats, Ints, RandomState, Singles
from manylabel.base import WeighingClassifier
from manylabel.lists import Lists
from manylabel.model_selection import thresholds
from manylabel.model_selection.probable import CalibratedBatchClassifier
from manylabel.persistence.records import Field, Finite, Matrix
from manylabel.solvers import linear

LOSSES = ("separable", "margin")
PASSES_PER_SEARCH = 5  # over the active rows of a label
LABELS_PER_TASK = 64
COSTS = 1e-37, 1e37  # C of a row is kept within these
SHORTEST = 1e-6  # squared length of a row, which steps are divided by


@described_like(CalibratedBatchClassifier)
class PDSparse(CalibratedBatchClassifier, WeighingClassifier):
    """Linear classifiers of few weights, learnt by few dual variables.

    A label l has the score z_l = w_l . x and costs ``|w_l|^2 / 2 + l1_regularization *
    |w_l|_1``. The separable loss, of PPD-Sparse [2]_, is a squared hinge of each label:
    only rows within the margin have dual variables, and they are looked for by the few
    features that a label uses. That of PD-Sparse [1]_ is by how much the margin between
    a row's worst label and the best one that it lacks is violated,

        max(0, 1 + max over labels n it lacks of z_n - min over its labels p of z_p),

    and its dual is solved row by row, over the labels of the row and those that have
    violated its margin, the worst of which is looked for at each visit.

    Parameters
    ----------
    loss : {"separable", "margin"}, default="separable"
        ``"separable"`` is PPD-Sparse, one label at a time; ``"margin"`` is PD-Sparse,
        for which an ``l1_regularization`` of 0.01 is better.
    C : float, default=1.0
        Weight of the loss.
    l1_regularization : float, default=0.2
        Weight of the sum of absolute weights.
    max_iter : int, default=100
        Most passes: over the active rows of a label, or over all rows.
    tol : float, default=0.01
        Good enough: no projected gradient of a label is larger; or, of ``"margin"``, no
        dual variable moved by more than this part of its row's ``C`` in a pass.
    fit_intercept : bool, default=True
        Add a constant feature, which ``l1_regularization`` leaves out.
    n_jobs : int or None, default=None
        Threads; None is 1, -1 all cores. Training by ``"margin"`` takes one.
    random_state : int, Generator, RandomState or None, default=0
        Seeds the order in which rows are visited.

    Attributes
    ----------
    classes_ : ndarray of shape (n_labels,)
        Column numbers of ``Y``.
    coef_ : csr_array of shape (n_features, n_labels)
        Weights, float32. Of a feature that more than a third of the labels use, zeros
        are stored too.
    intercept_ : ndarray of shape (n_labels,)
        Intercepts; of a label never seen, the smallest float32.
    n_iter_ : ndarray of shape (n_labels,)
        Passes that were taken.

    Notes
    -----
    Rows are scaled to length 1. The weight of a row is a factor of its ``C``.

    ``loss="margin"`` ranks labels, and does not tell how many a row has: intercepts are
    shifted, all by the same, so that as many scores of the training rows are above 0 as
    these rows have labels. Scores of all labels are made to find the worst, in a dense
    array of ``n_features * n_labels`` numbers, which the paper keeps in hash tables;
    ``loss="separable"`` holds one label at a time. Where rows have many labels, the
    worst of a row says little about the others, and the exact solution ranks badly.

    References
    ----------
    .. [1] Yen, Huang, Ravikumar, Zhong & Dhillon, "PD-Sparse: a primal and dual sparse
       approach to extreme multiclass and multilabel classification", ICML 2016.
    .. [2] Yen, Huang, Dai, Ravikumar, Dhillon & Xing, "PPDsparse: a parallel
       primal-dual sparse method for extreme classification", KDD 2017.

    Examples
    --------
    >>> X, Y = [[1.0, 0.0], [0.0, 1.0]] * 3, [[1, 0], [0, 1]] * 3
    >>> PDSparse().fit(X, Y).predict([[1.0, 0.0]])
    array([[1, 0]])
    """

    coef_: Annotated[CSR, Matrix("float32", "n_features, n_labels")]
    intercept_: Annotated[Singles, Field("float32", "n_labels", Finite())]
    n_iter_: Annotated[Ints, Field("int64", "n_labels", Finite(0))]

    def __init__(
        self,
        *,
        loss: str = "separable",
        C: float = 1.0,
        l1_regularization: float = 0.2,
        max_iter: int = 100,
        tol: float = 0.01,
        fit_intercept: bool = True,
        calibrate: str | None = None,
        n_jobs: int | None = None,
        random_state: RandomState = 0,
    ) -> None:
        self.loss = loss
        self.C = C
        self.l1_regularization = l1_regularization
        self.max_iter = max_iter
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.calibrate = calibrate
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _check_parameters(self) -> None:
        super()._check_parameters()
        _validation.choice(self.loss, "loss", LOSSES)
        linear.check_cost(self.C)
        _validation.number(self.l1_regularization, "l1_regularization", least=0)
        _validation.number(self.tol, "tol", above=0)
        check_scalar(self.max_iter, "max_iter", Integral, min_val=1)

    def _learn(self, X: CSR, Y: CSR, weight: Floats) -> None:
        rows = sp.csr_array((linear.unit_values(X), X.indices, X.indptr), X.shape)
        lengths = np.empty(X.shape[0])
        svm.squared_norms(rows.indptr, rows.data, lengths)
        lengths = np.maximum(lengths + self._bias(), SHORTEST).astype(np.float32)
        seen = np.flatnonzero(np.bincount(Y.indices, minlength=Y.shape[1]))
        self.intercept_ = np.full(Y.shape[1], UNSEEN, np.float32)
        self.n_iter_ = np.zeros(Y.shape[1], np.int64)
        is_margin = self.loss == "margin"
        learn = self._learn_margins if is_margin else self._learn_labels
        weights = learn(rows, Y, lengths, self._costs(weight), seen)
        wide = sp.csr_array(weights.tocoo(), dtype=np.float32)
        place = np.repeat(np.arange(X.shape[1]), np.diff(wide.indptr))
        coef = (wide.data, (place, seen[wide.indices]))
        self.coef_ = _with_zeros(sp.csr_array(coef, shape=(X.shape[1], Y.shape[1])))
        if is_margin and len(seen):
            best = self.predict_topk(X, k=thresholds.DEPTH)
            lists = Lists(best.indptr, best.indices, best.data)
            n_given = float(weight @ np.diff(Y.indptr))
            shift = thresholds.matching_threshold(lists, n_given, weight)
            self.intercept_[seen] -= shift

    def _learn_margins(
        self, X: CSR, Y: CSR, lengths: Singles, costs: Singles, seen: Ints
    ) -> Any:
        """Learn all labels that were seen; return their weights."""
        labels = sp.csr_array(Y.tocsc()[:, seen])
        n_rows, n_labels = labels.shape
        _check_size(X.shape[1], n_labels)
        capacity = min(n_labels, int(self.max_iter))
        sums = np.zeros((X.shape[1] + 1, n_labels), np.float32)
        active = pd_sparse.Active(
            positive=np.zeros(labels.nnz, np.float32),
            n_others=np.zeros(n_rows, np.int64),
            others=np.zeros((n_rows, capacity), np.int32),
            negative=np.zeros((n_rows, capacity), np.float32),
        )
        at_hand = pd_sparse.Margins(
            scores=np.empty(n_labels, np.float32),
            taken=np.zeros(n_labels, np.bool_),
            up=np.empty(np.diff(labels.indptr).max(initial=0), np.float32),
            down=np.empty(capacity, np.float32),
        )
        rows = Rows(X.indptr, X.indices, X.data)
        targets = Rows(labels.indptr, labels.indices, labels.data)
        order, state = np.arange(n_rows), parallel.spawn_seeds(self.random_state, 1)
        task = rows, targets, lengths, order, state, self._penalty(costs), sums
        n_iter, change = 0, np.inf
        while n_iter < self.max_iter and change > self.tol:
            change = pd_sparse.margin_pass(*task, active, at_hand)
            n_iter += 1
        self.n_iter_[seen] = n_iter
        self.intercept_[seen] = self._bias() * sums[-1]
        return sp.csr_array(_shrink(sums[:-1], float(self.l1_regularization)))

    def _learn_labels(
        self, X: CSR, Y: CSR, lengths: Singles, costs: Singles, seen: Ints
    ) -> Any:
        """Learn one label after another; return their weights."""
        by_label, seed = Y.tocsc(), parallel.spawn_seeds(self.random_state, 1)
        shared = X, sp.csc_array(X), (lengths, costs), seed, by_label
        n_tasks = max(-(-len(seen) // LABELS_PER_TASK), effective_n_jobs(self.n_jobs))
        shares = [seen[at::n_tasks] for at in range(n_tasks)]
        tasks = [(share,) for share in shares if len(share)]
        found = parallel.run(self._learn_share, tasks, self.n_jobs, common=shared)
        columns = [sp.csc_array((X.shape[1], 0), dtype=np.float32)]
        order = np.concatenate([np.empty(0, np.int64), *(task[-1] for task in tasks)])
        for (weights, intercept, n_iter), task in zip(found, tasks, strict=True):
            columns.append(weights)
            self.intercept_[task[-1]], self.n_iter_[task[-1]] = intercept, n_iter
        return sp.hstack(columns, format="csc")[:, np.argsort(order)]

    def _learn_share(
        self, X: CSR, by_column: Any, by_row: Any, seed: Array, Y: Any, share: Ints
    ) -> tuple[Any, Singles, Ints]:
        """Learn some labels; return weights, intercepts and passes."""
        (n_rows, n_features), (lengths, costs) = X.shape, by_row
        at_hand = separable.Label(
            sums=np.empty(n_features + 1, np.float32),
            dual=np.empty(n_rows, np.float32),
            side=np.empty(n_rows, np.float32),
            scores=np.empty(n_rows, np.float32),
            rows=np.empty(n_rows, np.int64),
            is_active=np.empty(n_rows, np.bool_),
        )
        rows = Rows(X.indptr, X.indices, X.data)
        columns = Rows(by_column.indptr, by_column.indices, by_column.data)
        limits = int(self.max_iter), PASSES_PER_SEARCH, np.float32(self.tol)
        intercept, n_iter = np.empty(len(share), np.float32), np.empty(len(share), int)
        weights = []
        for n, label in enumerate(share):
            own = Y.indices[Y.indptr[label] : Y.indptr[label + 1]]
            task = rows, columns, own, lengths, self._penalty(costs), limits
            n_iter[n] = separable.solve(*task, seed.copy(), at_hand)
            intercept[n] = self._bias() * at_hand.sums[-1]
            kept = _shrink(at_hand.sums[:-1, None], float(self.l1_regularization))
            weights.append(sp.csc_array(kept))
        return sp.hstack(weights, format="csc"), intercept, n_iter

    def _costs(self, weight: Floats) -> Singles:
        """Return C of each row, as singles that can be divided by."""
        costs: Singles = np.clip(self.C * weight, *COSTS).astype(np.float32)
        return costs

    def _penalty(self, costs: Singles) -> tuple[Any, ...]:
        return costs, np.float32(self.l1_regularization), np.float32(self._bias())

    def _bias(self) -> float:
        return float(bool(self.fit_intercept))

    def _scores(self, X: CSR) -> Array:
        out = np.empty((X.shape[0], len(self.classes_)), np.float32)
        W, values = self.coef_, linear.unit_values(X)
        svm.scores(
            *(X.indptr, X.indices, values),
            *(W.indptr, W.indices, W.data, self.intercept_, out),
        )
        return out


def _shrink(sums: Singles, l1: float) -> Singles:
    weights: Singles = np.sign(sums) * np.maximum(np.abs(sums) - np.float32(l1), 0)
    return weights


def _with_zeros(weights: CSR) -> CSR:
    """Return weights by feature; of a feature that many labels use, zeros too."""
    starts, columns, values = with_full_rows(
        *(weights.indptr, weights.indices, weights.data, weights.shape[1])
    )
    return sp.csr_array((values, columns, starts), shape=weights.shape)


def _check_size(n_features: int, n_labels: int) -> None:
    most = _validation.most_bytes()
    if 4 * (n_features + 1) * n_labels > most:
        raise ValueError(
            f'loss="margin" keeps n_features x n_labels numbers of 4 bytes, at most '
            f"{most} bytes. Got {n_features} features and {n_labels} labels: use "
            'loss="separable".'
        )
