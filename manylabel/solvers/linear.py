"""A linear classifier for each of many labels, on rows that all of them share."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from joblib import effective_n_jobs

from manylabel import _validation, parallel
from manylabel._kernels.linear import svm
from manylabel._typing import CSR, Array, Bools, Singles
from manylabel.solvers.lanes import LANES, Fitted, Shared, fit_labels
from manylabel.solvers.rare import fit_rare

LOSSES = ("squared_hinge", "log_loss")
# Labels of one task: enough to fill lanes that fall free, few enough to share out, and,
# for those that are packed anew, to remember their state.
LABELS_PER_TASK = 4 * LANES
RARE_LABELS_PER_TASK = 1024
# So many rows matter for a rare label, measured on texts: a few for all, more for each
# row that has it. It pays to look for them if they are at most one row in SMALL_SHARE.
ROWS_THAT_MATTER = (256, 8)
SMALL_SHARE = 24
# The gradients of a squared hinge range over all margins, those of the logistic loss
# over [-1, 1].
LOGISTIC_STRICTNESS = 0.1
DIAGONAL = 1e-20, 1e30  # 1 / (2 C_i): within these, no sum of singles overflows
HEAVIEST = 1e8  # of a row with a label beside one without
Solver = Callable[[Shared, Array, float], list[Fitted]]


class Settings(NamedTuple):
    """What one asks of the classifiers of all labels."""

    C: float = 1.0
    tol: float = 0.1
    max_iter: int = 1000
    fit_intercept: bool = True
    min_weight: float = 0.01
    loss: str = "squared_hinge"


def fit_columns(
    X: CSR,
    by_label: Any,
    settings: Settings,
    seed: np.uint64,
    *,
    n_jobs: int | None = None,
    row_weight: Array | None = None,
    positive_weight: Array | None = None,
) -> list[Fitted]:
    """Fit a classifier to each column of ``by_label`` that is not empty.

    Parameters
    ----------
    X : csr_array of shape (n_rows, n_features)
        Features, float32.
    by_label : csc_array of shape (n_rows, n_labels)
        Labels.
    settings : Settings
        What the classifiers are to be.
    seed : uint64
        Seeds the order in which rows are visited.
    n_jobs : int or None, default=None
        Threads.
    row_weight, positive_weight : array or None, default=None
        How much each row weighs, and of each label, how much more a row that has it.

    Returns
    -------
    list of Fitted
        Blocks of labels. What is found for a label does not depend on the others.
    """
    counts = np.diff(by_label.indptr)
    # Labels of like frequency take a like number of passes.
    seen = np.argsort(-counts, kind="stable")[: np.count_nonzero(counts)]
    # Without an intercept every row matters: a score of 0 is above -1.
    has_few = bool(settings.fit_intercept) and settings.loss == "squared_hinge"
    rare = is_rare(counts[seen], X.shape[0]) & has_few
    shared = share(X, by_label, settings, seed, row_weight, positive_weight)
    jobs, kept = effective_n_jobs(n_jobs), settings.min_weight
    shares: list[tuple[Solver, Array]] = [
        *((fit_labels, s) for s in _shares(seen[~rare], LABELS_PER_TASK, jobs)),
        *((fit_rare, s) for s in _shares(seen[rare], RARE_LABELS_PER_TASK, jobs)),
    ]
    fitted = parallel.run(_fit, shares, n_jobs, common=(shared, kept))
    return [block for blocks in fitted for block in blocks]


def check_cost(C: Any) -> None:
    """Refuse a weight of the loss that single precision cannot hold the inverse of."""
    checked = _validation.number(C, "C", above=0)
    if 0.5 / checked > float(np.finfo(np.float32).max):
        raise ValueError(f"C must be larger, or 1 / C is infinite. Got {checked}.")


def unit_values(X: CSR) -> Singles:
    """Return the values of ``X`` with rows of length 1; rows of zeros stay."""
    values = np.empty(len(X.data), np.float32)
    svm.unit_rows(X.indptr, X.data, values)
    return values


def share(
    X: CSR,
    by_label: Any,
    settings: Settings,
    seed: np.uint64,
    row_weight: Array | None = None,
    positive_weight: Array | None = None,
) -> Shared:
    """Return what the classifiers of all labels share."""
    bias, (n_rows, n_labels) = float(bool(settings.fit_intercept)), by_label.shape
    norms = np.empty(n_rows)
    svm.squared_norms(X.indptr, X.data, norms)
    rows, features = _frequent_first(X)
    heavy = np.ones(n_labels) if positive_weight is None else positive_weight
    weight = np.ones(n_rows) if row_weight is None else row_weight
    with np.errstate(over="ignore"):
        diagonal = np.clip(0.5 / settings.C / weight, *DIAGONAL)
    is_logistic = settings.loss == "log_loss"
    strictness = LOGISTIC_STRICTNESS if is_logistic else 1.0
    problem = svm.Problem(
        *(rows.indptr, rows.indices, rows.data, by_label.indptr, by_label.indices),
        bias=np.float32(bias),
        length=(norms + bias**2).astype(np.float32),
        diagonal=diagonal.astype(np.float32),
        positive_weight=np.minimum(heavy, HEAVIEST).astype(np.float32),
        tolerance=float(settings.tol * strictness),
        is_logistic=is_logistic,
    )
    return Shared(problem, features, int(settings.max_iter), seed, _mean_row(rows))


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


def is_rare(counts: Array, n_rows: int) -> Bools:
    """Return whether labels are solved on the few rows that matter."""
    few, each = ROWS_THAT_MATTER
    return np.asarray(few + each * counts.astype(np.int64) <= n_rows / SMALL_SHARE)


def _shares(labels: Array, size: int, n_jobs: int) -> list[Array]:
    """Cut labels into equal shares of at most ``size``, as many for each job.

    The outcome does not depend on it, because labels do not depend on their company.
    """
    n_rounds = -(-len(labels) // (size * n_jobs))
    n_shares = min(len(labels), n_rounds * n_jobs)
    return [labels[i::n_shares] for i in range(n_shares)]


def _fit(shared: Shared, kept: float, solver: Solver, labels: Array) -> list[Fitted]:
    return solver(shared, labels, kept)
