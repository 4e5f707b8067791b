"""How probable it is that a label is missing, or wrong, by others' rows.

Let pi be the probability that a label is true, of which a learner's score tells, and p
that it is then recorded. Bayes' rule says of a label that is not recorded

    P(true | not recorded) = pi (1 - p) / (1 - pi p),

and of one that is, where a share of all recorded labels is wrong wherever they stand,

    P(wrong | recorded) = e (1 - pi) / (pi p),

with e the rate of wrong labels among rows that should not have it, if that is below 1.

Labels of a band share a curve, which may give one of them more than it has. Of n
recorded labels n (1 / p - 1) are missing on average, with a variance of n (1 - p) / p^2
(a negative binomial). Where more are suspected than chance allows, the log odds of the
suspicions are lowered until as many are as are expected. pi, by which rows are drawn,
stays.
"""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.special import expit, logit
from sklearn.base import clone

from manylabel import parallel
from manylabel._typing import CSR, Array, Floats, Ints, RandomState
from manylabel.model_selection.calibration import Curves
from manylabel.model_selection.holdout import hold_out_in_turn

DEPTH = 50  # labels of a row that are looked at
N_FOLDS = 5
WRONG = 0.01  # of recorded labels, before anything is known of them
BEYOND = 2  # standard deviations above what is expected are no chance
MOST, CLOSE = 30.0, 50  # log odds that are taken off, and halvings that find how many
SURE = 1 - 1e-6  # a probability of 1 has no odds to lower


class Suspicion(NamedTuple):
    """Probabilities of each row's best labels, and of its recorded ones.

    Attributes
    ----------
    true : csr_array of shape (n_rows, n_labels)
        Of the 50 best labels of a row: that they are true, whatever was recorded.
    missing : csr_array of shape (n_rows, n_labels)
        Of those that are not recorded: that they are true.
    wrong : csr_array of shape (n_rows, n_labels)
        Of the recorded labels: that they are wrong.
    bands : ndarray of shape (n_labels,)
        Labels that are about as frequent, the rarest first.
    """

    true: CSR
    missing: CSR
    wrong: CSR
    bands: Ints


def rank_unseen(learner: Any, X: CSR, Y: CSR, random_state: RandomState) -> CSR:
    """Return scores of each row's best labels by a learner that has not seen it."""
    splits = hold_out_in_turn(X.shape[0], random_state, n_folds=N_FOLDS)
    found = []
    for train, held in splits:
        with parallel.stage("cross-validation", 1 / N_FOLDS):
            fitted = clone(learner).fit(X[train], Y[train])
            found.append(fitted.predict_topk(X[held], DEPTH))
    order = np.argsort(np.concatenate([split.held for split in splits]))
    return sp.csr_array(sp.vstack(found, format="csr")[order])


def suspect(ranked: CSR, Y: CSR, propensity: Floats) -> Suspicion:
    """Return what the scores of rows that were not seen say about their labels."""
    counts = np.bincount(Y.indices, minlength=Y.shape[1])
    is_recorded = are_stored(ranked, Y)
    worth = is_recorded / propensity[ranked.indices]
    pairs = ranked.data, ranked.indices, worth, np.ones(ranked.nnz)
    curves = Curves.fit_pairs(*pairs, counts, 0.0, "auto")
    true = ranked.copy()
    true.data = curves.apply(ranked.data, ranked.indices)
    p = propensity[ranked.indices]
    missing = true.copy()
    missing.data = true.data * (1 - p) / np.maximum(1 - true.data * p, 1e-12)
    missing.data[is_recorded] = 0
    missing.eliminate_zeros()
    missing.data = _lower(missing, counts, propensity)
    return Suspicion(true, missing, _doubt(true, Y, propensity, curves), curves.bands)


def are_stored(ranked: CSR, Y: CSR) -> Array:
    """Return which stored entries of one matrix are also stored in the other."""
    keys, known = (
        np.repeat(np.arange(M.shape[0]), np.diff(M.indptr)) * M.shape[1] + M.indices
        for M in (ranked, Y)
    )
    return np.isin(keys, known)


def _lower(missing: CSR, counts: Ints, propensity: Floats) -> Floats:
    """Return suspicions, lowered for labels of which too many would be missing."""
    labels, chance = missing.indices, np.array(missing.data, np.float64)
    expected = counts * (1 / propensity - 1)
    most = expected + BEYOND * np.sqrt(counts * (1 - propensity)) / propensity
    is_over = np.bincount(labels, chance, minlength=len(counts)) > most
    mine = np.flatnonzero(is_over[labels])
    label, odds = labels[mine], logit(np.minimum(chance[mine], SURE))
    low, high = -MOST * is_over, np.zeros(len(counts))
    for _ in range(CLOSE * is_over.any()):
        middle = (low + high) / 2
        found = expit(odds + middle[label])
        is_much = np.bincount(label, found, minlength=len(counts)) > expected
        low, high = np.where(is_much, low, middle), np.where(is_much, middle, high)
    chance[mine] = expit(odds + low[label])
    return chance


def _doubt(true: CSR, Y: CSR, propensity: Floats, curves: Curves) -> CSR:
    """Return how probable it is that recorded labels are wrong.

    Those that are not even listed are as seldom recorded as others of their band.
    """
    n_rows, n_labels = Y.shape
    counts = np.bincount(Y.indices, minlength=n_labels)
    rate = WRONG * counts / n_rows
    is_listed = are_stored(Y, true)
    bands, band = curves.bands, curves.bands[Y.indices]
    n_unlisted = np.bincount(band[~is_listed], minlength=bands.max() + 1)
    n_pairs = n_rows * np.bincount(bands) - np.bincount(bands[true.indices])
    share = (n_unlisted / np.maximum(n_pairs, 1))[band]
    chance = np.zeros(Y.nnz)
    rows = np.repeat(np.arange(n_rows), np.diff(Y.indptr))[is_listed]
    chance[is_listed] = np.asarray(true[rows, Y.indices[is_listed]]).ravel()
    share[is_listed] = (chance * propensity[Y.indices])[is_listed]
    wrong = Y.astype(np.float64)
    found = rate[Y.indices] * (1 - chance) / np.maximum(share, 1e-12)
    wrong.data = np.minimum(found, 1.0)
    return wrong
