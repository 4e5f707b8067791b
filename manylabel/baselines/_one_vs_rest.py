"""One linear SVM per label."""

import warnings
from collections.abc import Callable
from numbers import Integral
from typing import Annotated, Any

import numpy as np
import scipy.sparse as sp
from joblib import effective_n_jobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_scalar

from manylabel import _validation, parallel
from manylabel._kernels.csr import with_full_rows
from manylabel._kernels.linear import svm
from manylabel._kernels.ranking import UNSEEN
from manylabel._typing import CSR, Array, Bools, Ints, RandomState, Singles
from manylabel.base import BatchClassifier
from manylabel.baselines._lanes import LANES, Fitted, Shared, fit_labels
from manylabel.baselines._rare import fit_rare
from manylabel.persistence.records import Field, Finite, Matrix

# Labels of one task: enough to fill lanes that fall free, few enough to share out, and,
# for those that are packed anew, to remember their state.
LABELS_PER_TASK = 4 * LANES
RARE_LABELS_PER_TASK = 1024
# So many rows matter for a rare label, measured on texts: a few for all, more for each
# row that has it. It pays to look for them if they are at most one row in SMALL_SHARE.
ROWS_THAT_MATTER = (256, 8)
SMALL_SHARE = 24
Solver = Callable[[Shared, Array, float], list[Fitted]]


class OneVsRest(BatchClassifier):
    """Binary relevance: an L2-regularised squared-hinge linear SVM per label.

    Solved by dual coordinate descent with shrinking [1]_, 64 labels side by side, so
    that a row is read once for all of them. A label that is rare among many rows is
    solved on the few that matter for it, which all rows are searched for. The outcome
    for a label does not depend on which others it is solved with, nor on ``n_jobs``.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the loss against ``|w|^2 / 2``.
    tol : float, default=0.1
        A label is done when its projected gradients differ by at most this: the rule
        and the default of LIBLINEAR.
    max_iter : int, default=1000
        Most passes over the rows.
    normalize : bool, default=True
        Scale every row to unit length, in ``fit`` and when predicting. Raw counts
        converge slowly and rank worse.
    fit_intercept : bool, default=True
        Add a constant feature, regularised as the others.
    min_weight : float, default=0.01
        Weights of at most this size are dropped, as in DiSMEC [2]_; 0 keeps all.
    n_jobs : int or None, default=None
        Threads; None is 1, -1 all cores.
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
        Passes that each label took, over all rows or over those that matter.

    Notes
    -----
    Starting every label from the solution of a label without positives was tried: it
    saves no pass, so all labels start from zero.

    References
    ----------
    .. [1] Hsieh, Chang, Lin, Keerthi & Sundararajan, "A dual coordinate descent method
       for large-scale linear SVM", ICML 2008, Algorithm 3.
    .. [2] Babbar & Schölkopf, "DiSMEC: distributed sparse machines for extreme
       multi-label classification", WSDM 2017.

    Examples
    --------
    >>> X = [[1.0, 0.0], [1.0, 0.2], [0.0, 1.0], [0.1, 1.0]]
    >>> Y = [[1, 0], [1, 0], [0, 1], [0, 1]]
    >>> OneVsRest().fit(X, Y).predict([[0.9, 0.1]])
    array([[1, 0]])
    """

    coef_: Annotated[CSR, Matrix("float32", "n_features, n_labels")]
    intercept_: Annotated[Singles, Field("float32", "n_labels", Finite())]
    n_iter_: Annotated[Ints, Field("int64", "n_labels", Finite(0))]

    def __init__(
        self,
        *,
        C: float = 1.0,
        tol: float = 0.1,
        max_iter: int = 1000,
        normalize: bool = True,
        fit_intercept: bool = True,
        min_weight: float = 0.01,
        n_jobs: int | None = None,
        random_state: RandomState = 0,
    ) -> None:
        self.C = C
        self.tol = tol
        self.max_iter = max_iter
        self.normalize = normalize
        self.fit_intercept = fit_intercept
        self.min_weight = min_weight
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _learn(self, X: CSR, Y: CSR) -> None:
        rows, by_label = X, Y.tocsc()
        if self.normalize:
            parts = (_unit_values(X), X.indices, X.indptr)
            rows = sp.csr_array(parts, shape=X.shape)
        counts = np.diff(by_label.indptr)
        # Labels of like frequency take a like number of passes.
        seen = np.argsort(-counts, kind="stable")[: np.count_nonzero(counts)]
        # Without an intercept every row matters: a score of 0 is above -1.
        is_rare = _is_rare(counts[seen], rows.shape[0]) & bool(self.fit_intercept)
        shared, n_jobs = self._shared(rows, by_label), effective_n_jobs(self.n_jobs)
        shares = [
            *(
                (fit_labels, s)
                for s in _shares(seen[~is_rare], LABELS_PER_TASK, n_jobs)
            ),
            *(
                (fit_rare, s)
                for s in _shares(seen[is_rare], RARE_LABELS_PER_TASK, n_jobs)
            ),
        ]
        tasks = [(solver, shared, share, self.min_weight) for solver, share in shares]
        fitted = parallel.run(_fit, tasks, self.n_jobs)
        self._gather([block for blocks in fitted for block in blocks])

    def _scores(self, X: CSR) -> Array:
        values = _unit_values(X) if self.normalize else X.data
        out = np.empty((X.shape[0], len(self.classes_)), np.float32)
        W = self.coef_
        svm.scores(
            *(X.indptr, X.indices, values),
            *(W.indptr, W.indices, W.data, self.intercept_, out),
        )
        return out

    def _shared(self, rows: CSR, by_label: Any) -> Shared:
        bias, diagonal = float(bool(self.fit_intercept)), 0.5 / self.C
        norms = np.empty(rows.shape[0])
        svm.squared_norms(rows.indptr, rows.data, norms)
        rows, features = _frequent_first(rows)
        problem = svm.Problem(
            *(rows.indptr, rows.indices, rows.data, by_label.indptr, by_label.indices),
            bias=np.float32(bias),
            curvature=(norms + bias**2 + diagonal).astype(np.float32),
            diagonal=np.float32(diagonal),
            tolerance=float(self.tol),
        )
        seed = parallel.spawn_seeds(self.random_state, 1)[0]
        return Shared(problem, features, int(self.max_iter), seed, _mean_row(rows))

    def _gather(self, fitted: list[Fitted]) -> None:
        n_labels = len(self.classes_)
        self.intercept_ = np.full(n_labels, UNSEEN, dtype=np.float32)
        self.n_iter_ = np.zeros(n_labels, np.int64)
        for block in fitted:
            self.intercept_[block.labels] = block.intercept
            self.n_iter_[block.labels] = block.n_iter
        unseen = np.flatnonzero(self.n_iter_ == 0)
        labels = np.concatenate([unseen, *(block.labels for block in fitted)])
        empty = sp.csc_array((self.n_features_in_, len(unseen)), dtype=np.float32)
        columns = [empty, *(block.weights for block in fitted)]
        weights = sp.hstack(columns, format="csc")[:, np.argsort(labels)].tocsr()
        # A row of all labels is added up many at a time; most words have such a row.
        parts = (weights.indptr, weights.indices, weights.data)
        starts, names, values = with_full_rows(*parts, n_labels)
        self.coef_ = sp.csr_array((values, names, starts), shape=weights.shape)
        n_late = np.count_nonzero(self.n_iter_ > 0)
        self.n_iter_ = np.abs(self.n_iter_)
        if n_late:
            warnings.warn(
                f"{n_late} of {n_labels} labels did not converge in max_iter="
                f"{self.max_iter} passes: raise max_iter, or scale the features.",
                ConvergenceWarning,
                stacklevel=3,
            )

    def _check_parameters(self) -> None:
        C = _validation.number(self.C, "C", above=0)
        if 0.5 / C > float(np.finfo(np.float32).max):
            raise ValueError(f"C must be larger, or 1 / C is infinite. Got {C}.")
        _validation.number(self.tol, "tol", above=0)
        _validation.number(self.min_weight, "min_weight", least=0)
        check_scalar(self.max_iter, "max_iter", Integral, min_val=1)


def _unit_values(X: CSR) -> Singles:
    """Return the values of ``X`` with rows of length 1; rows of zeros stay."""
    values = np.empty(len(X.data), np.float32)
    svm.unit_rows(X.indptr, X.data, values)
    return values


def _frequent_first(X: CSR) -> tuple[CSR, Array]:
    """Renumber the columns, frequent ones first; return also their old numbers.

    The weights that are needed most then lie side by side and stay in the cache.
    """
    order = np.argsort(-np.bincount(X.indices, minlength=X.shape[1]), kind="stable")
    rank = np.empty(len(order), X.indices.dtype)
    rank[order] = np.arange(len(order))
    data = X.data.copy()  # sorted in place below, and it may be the user's
    renumbered = sp.csr_array((data, rank[X.indices], X.indptr), shape=X.shape)
    renumbered.sort_indices()
    return renumbered, order


def _mean_row(X: CSR) -> Singles:
    total = np.bincount(X.indices, X.data, minlength=X.shape[1])
    mean: Singles = (total / X.shape[0]).astype(np.float32)
    return mean


def _is_rare(counts: Array, n_rows: int) -> Bools:
    few, each = ROWS_THAT_MATTER
    return np.asarray(few + each * counts.astype(np.int64) <= n_rows / SMALL_SHARE)


def _shares(labels: Array, size: int, n_jobs: int) -> list[Array]:
    """Cut labels into equal shares of at most ``size``, as many for each job.

    The outcome does not depend on it, because labels do not depend on their company.
    """
    n_rounds = -(-len(labels) // (size * n_jobs))
    n_shares = min(len(labels), n_rounds * n_jobs)
    return [labels[i::n_shares] for i in range(n_shares)]


def _fit(solver: Solver, *task: Any) -> list[Fitted]:
    return solver(*task)
