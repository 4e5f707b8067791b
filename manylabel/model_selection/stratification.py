"""Rows to learn and rows to judge by, with the share of every label on both sides."""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_random_state

from manylabel import _validation
from manylabel._kernels import stratification
from manylabel._typing import CSR, Array, Ints, MatrixLike, RandomState


class StratifiedSplit(NamedTuple):
    """Rows to learn and rows to judge by, and how well labels are spread.

    Attributes
    ----------
    train, test : ndarray
        Rows, in the order of the data.
    n_both : int
        Labels that both sides have.
    n_possible : int
        Labels of two rows or more, which both sides could have.
    n_rare_both, n_rare : int
        Labels of two to nine rows that both sides have, and all of these.
    deviation : float
        How far the share of a label's rows in ``test`` is from ``test_size``, mean over
        labels of ten rows or more; NaN if there are none.
    """

    train: Ints
    test: Ints
    n_both: int
    n_possible: int
    n_rare_both: int
    n_rare: int
    deviation: float


FREQUENT = 10  # rows of a label whose share is told
LITTLE = 0.1  # of the labels of `test`, in rows that are there for a rare one


def stratified_split(
    Y: MatrixLike, *, test_size: float = 0.2, random_state: RandomState = 0
) -> StratifiedSplit:
    """Split rows so that each label has its share on both sides.

    Labels take turns, the rarest first, and send their rows where they are needed more
    (iterative stratification [1]_, in one pass over the labels). Rows without a label
    have their share too. A label of two to nine rows is wanted on both sides, and one
    of a single row in ``train``, as far as the rows that this takes are few: where most
    labels are rare, these would else be the rows that have many labels, and ``test``
    would not be like the rows that come.

    Parameters
    ----------
    Y : array or sparse array of shape (n_rows, n_labels)
        Labels, 0/1.
    test_size : float, default=0.2
        Share of the rows to judge by, in (0, 1).
    random_state : int, Generator, RandomState or None, default=0
        Seeds the order of the rows.

    Returns
    -------
    StratifiedSplit
        ``train`` and ``test``, and how well it went.

    References
    ----------
    .. [1] Sechidis, Tsoumakas & Vlahavas, "On the stratification of multi-label data",
       ECML PKDD 2011.

    Examples
    --------
    >>> from manylabel import make_corpus
    >>> corpus = make_corpus(n_rows=500, n_labels=40, random_state=0)
    >>> split = stratified_split(corpus.Y, test_size=0.3)
    >>> len(split.train), len(split.test), round(split.deviation, 2)
    (350, 150, 0.01)
    """
    if hasattr(Y, "label_names"):
        raise TypeError("Y must be a matrix of labels: of a Dataset, its Y.")
    labels = _validation.labels(Y)
    share = float(_validation.number(test_size, "test_size", above=0))
    n_test = round(share * labels.shape[0])
    if not 0 < n_test < labels.shape[0]:
        raise ValueError(
            f"test_size must leave rows on both sides of {labels.shape[0]} rows. "
            f"Got {test_size}."
        )
    side = _part(labels, share, n_test, random_state)
    test, train = np.flatnonzero(side == 1), np.flatnonzero(side == 0)
    return StratifiedSplit(train, test, *_judge(labels, side, share))


def _part(Y: CSR, share: float, n_test: int, random_state: RandomState) -> Array:
    """Return the side of each row: 1 to judge by, 0 to learn."""
    rng = random_state
    if not isinstance(rng, np.random.Generator):
        rng = np.random.default_rng(check_random_state(rng).randint(2**31))
    mixed = rng.permutation(Y.shape[0])
    strata = _strata(Y, share)[mixed]
    by_label = strata.tocsc()
    counts = np.diff(by_label.indptr)
    tested = _wanted(counts, share)
    need = np.column_stack([counts - tested, tested])
    room = np.array([Y.shape[0] - n_test, n_test])
    order, side = np.argsort(counts, kind="stable"), np.full(Y.shape[0], -1, np.int8)
    stratification.part_rows(
        *(strata.indptr, strata.indices, by_label.indptr, by_label.indices),
        *(order, need, room, side),
    )
    out = np.empty_like(side)
    out[mixed] = side
    return out


def _wanted(counts: Ints, share: float) -> Array:
    """Return how many rows of each label to judge by: of several, one on both sides."""
    wanted: Array = np.where(counts > 1, np.clip(share * counts, 1, counts - 1), 0.0)
    return wanted


def _strata(Y: CSR, share: float) -> CSR:
    """Return labels that are spread, then rows of others alone, and rows of none.

    A rare label, which should have less than a row on one side, is spread only as far
    as rows that move for such labels have few of all labels: they are rows that have
    many, and a side would else not be like the other.
    """
    counts, sizes = np.bincount(Y.indices, minlength=Y.shape[1]), np.diff(Y.indptr)
    fair = share * counts
    moves = _wanted(counts, share) - fair
    moves *= (Y.T @ sizes) / np.maximum(counts, 1)  # rows that move, in their labels
    spread = np.ones(len(counts), bool)
    for some in (np.flatnonzero(moves > 0), np.flatnonzero(moves < 0)):
        cheapest = some[np.argsort(np.abs(moves[some]), kind="stable")]
        taken = np.cumsum(np.abs(moves[cheapest]))
        spread[cheapest[taken > LITTLE * fair.sum()]] = False
    kept = sp.csr_array(Y[:, spread])
    alone = (np.diff(kept.indptr) == 0) & (sizes > 0)
    groups = np.column_stack([alone, sizes == 0]).astype(Y.dtype)
    return sp.csr_array(sp.hstack([kept, sp.csr_array(groups)], format="csr"))


def _judge(Y: CSR, side: Array, share: float) -> tuple[int, int, int, int, float]:
    """Return how many labels both sides have, and could have, then of rare ones.

    The last is the mean deviation.
    """
    counts = np.bincount(Y.indices, minlength=Y.shape[1])
    there = np.bincount(Y.indices, np.repeat(side, np.diff(Y.indptr)), Y.shape[1])
    on_both, several, frequent = (
        (there > 0) & (there < counts),
        counts > 1,
        counts >= FREQUENT,
    )
    rare = several & ~frequent
    gaps = np.abs(there[frequent] / counts[frequent] - share)
    deviation = float(gaps.mean()) if len(gaps) else float("nan")
    kinds = (on_both, several, on_both & rare, rare)
    both, possible, rare_both, n_rare = (int(np.count_nonzero(kind)) for kind in kinds)
    return both, possible, rare_both, n_rare, deviation
