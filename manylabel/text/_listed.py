"""The labels that a tagger lists, with what their scores mean."""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.special import logit

from manylabel._kernels.corrections import candidates
from manylabel._typing import CSR, Array, Floats, Ints
from manylabel.data.dataset import best_first
from manylabel.text._decision import Decision, is_probable, scorer_of
from manylabel.text._odds import SURE, ScoreMap

N_LISTED = 16  # labels of the tagger that corrections are learnt beside
MOST_LEARNT = 30.0  # log odds by which corrections are learnt


class Listed(NamedTuple):
    """Labels of rows end to end, the best of each row first."""

    lists: candidates.Lists
    scores: Floats
    chances: Floats | None  # probabilities, if the learner was calibrated


def list_best(
    decision: Decision, X: CSR, depth: int, scale: ScoreMap, given: CSR | None = None
) -> Listed:
    """Return the labels that are ranked first, and those ``given``, which have scores.

    Log odds are those of the learner's probabilities where it has them, else of ranks.
    """
    best = decision.rank(X, depth)
    if given is not None:
        best = _join(best, given)
    found = _read(best, decision.learner, scale)
    least = found, best.indptr
    if decision.allowed is not None:  # scores do not depend on what is allowed
        whole = decision._replace(allowed=None).rank(X, N_LISTED)
        least = _read(whole, decision.learner, scale), whole.indptr
    indptr = best.indptr.astype(np.int64)
    lists = candidates.Lists(indptr, *found[:3], *_find_least(*least))
    return Listed(lists, *found[3:])


class _Labels(NamedTuple):
    """Labels end to end, and what their scores mean."""

    labels: Ints
    odds: Floats
    ranks: Floats
    scores: Floats
    chances: Floats | None  # probabilities, if the learner was calibrated


def _read(best: CSR, learner: Any, scale: ScoreMap) -> _Labels:
    order = best_first(best)
    labels, scores = best.indices[order].astype(np.int64), best.data[order]
    ranks = scale.to_odds(scores)
    if is_probable(learner):
        chances = scorer_of(learner).to_proba(best).data[order]
        odds = np.clip(logit(chances), -SURE, SURE)
    else:
        chances = None
        odds = np.minimum(np.maximum(ranks, -MOST_LEARNT), MOST_LEARNT)
    return _Labels(labels, odds, ranks, scores.astype(np.float64), chances)


def _find_least(found: _Labels, indptr: Array) -> list[Floats]:
    """Return the log odds and ranks of the last label of each row that counts."""
    last = np.minimum(indptr[:-1] + N_LISTED, indptr[1:]) - 1
    return [each[last] for each in (found.odds, found.ranks)]


def _join(best: CSR, given: CSR) -> CSR:
    """Return the entries of both; where both have one, that of the first."""
    keys, values = [], []
    for each in (best, given):
        rows = np.repeat(np.arange(each.shape[0]), np.diff(each.indptr))
        keys.append(rows * each.shape[1] + each.indices)
        values.append(each.data)
    found, first = np.unique(np.concatenate(keys), return_index=True)
    rows, columns = np.divmod(found, best.shape[1])
    indptr = np.searchsorted(rows, np.arange(best.shape[0] + 1))
    parts = np.concatenate(values)[first], columns, indptr
    return sp.csr_array(parts, shape=best.shape)
