"""How labels score, by several paths down a sparse coding tree.

The weights of a node are numbered within the features that the tree selects. A table
turns the features of a row into these numbers once, so that a decision reads a few
values of a short array (Liu & Tsang 2017, section 7).
"""

from typing import Any, NamedTuple

import numpy as np

from manylabel._kernels import topk
from manylabel._kernels._jit import allocating_kernel
from manylabel._kernels.csr import stretch

FAINT = 1e-4  # a path less probable than this share of the best is left


class Rows(NamedTuple):
    """Features by row."""

    indptr: Any
    indices: Any
    data: Any
    n_features: Any


class Tree(NamedTuple):
    """Nodes, parents before children."""

    children: Any  # (n_nodes,) the first child, the second follows; 0 in a leaf
    intercept: Any  # (n_nodes,)
    selected: Any  # features with weights, ascending
    w_indptr: Any  # (n_nodes + 1,)
    w_indices: Any  # numbers within ``selected``
    w_data: Any
    f_indptr: Any  # (n_nodes + 1,) labels fixed at a node
    f_indices: Any
    slope: Any  # of the log-odds of the first child in the score
    shift: Any  # (n_nodes,) log-odds at score 0


class Given(NamedTuple):
    """Labels of each row that rank above all others."""

    indptr: Any
    indices: Any


class Rule(NamedTuple):
    """How paths are followed, and how chances become scores.

    A chance times the gain is ``most`` at most, and ``least`` at least if the label is
    given; of others ``shift`` is taken off.
    """

    width: Any  # paths at once
    is_relative: Any  # chances, to those of all leaves reached
    gain: Any  # (n_labels,)
    most: Any
    least: Any
    shift: Any


class Beam(NamedTuple):
    """The paths followed at once, and what they say of the labels."""

    at: Any  # (3 width,) nodes; children behind the live ones
    chance: Any  # (3 width,) of the paths to them
    best: Any  # (width,)
    total: Any  # (n_labels,) 0 between rows
    met: Any  # (n_labels,) labels of a total above 0
    score: Any  # (n_labels,) of the labels met
    order: Any  # (k,) the best of them
    is_given: Any  # (n_labels,) False between rows


@allocating_kernel
def most_labels(tree):
    """Return how many labels the nodes from the root to a leaf fix at most."""
    fixed = np.diff(tree.f_indptr)
    for at in range(tree.children.shape[0]):
        child = tree.children[at]
        if child > 0:
            fixed[child] += fixed[at]
            fixed[child + 1] += fixed[at]
    return fixed.max()


@allocating_kernel
def best_scores(rows, given, tree, rule, k):
    """Return lists of labels that ``rule.width`` paths at once meet, and their scores.

    Lists of each row: where they start, labels ascending, scores. There are the ``k``
    best, more if some score as much as the last of them. The chance of a label is the
    sum over the paths that fix it, each counted where it does, whether or not the path
    is followed further; or else, relative to all leaves reached.
    """
    table, dense = _table(rows, tree), np.zeros(tree.selected.shape[0], np.float32)
    n_labels = rule.gain.shape[0]
    beam = Beam(
        np.empty(3 * rule.width, np.int64),
        np.empty(3 * rule.width),
        np.empty(rule.width, np.int64),
        np.zeros(n_labels),
        np.empty(n_labels, np.int64),
        np.empty(n_labels, np.float32),
        np.empty(k, np.int64),
        np.zeros(n_labels, np.bool_),
    )
    n_rows = rows.indptr.shape[0] - 1
    starts, used = np.zeros(n_rows + 1, np.int64), 0
    labels, scores = np.empty(n_rows, np.int32), np.empty(n_rows, np.float32)
    for i in range(n_rows):
        _lay_out(i, rows, table, dense)
        n_met, ends = _search(tree, dense, beam)
        _clear(i, rows, table, dense)
        n_met = _score(i, n_met, 1.0 / ends, given, rule, beam)
        n_kept = _keep_labels(n_met, k, rule, beam)
        while used + n_kept > labels.shape[0]:
            labels, scores = _doubled(labels), _doubled(scores)
        for n in range(n_kept):
            labels[used + n] = beam.met[n]
            scores[used + n] = beam.total[beam.met[n]]
        for n in range(n_met):
            beam.total[beam.met[n]] = 0.0
        used += n_kept
        starts[i + 1] = used
    return starts, labels[:used], scores[:used]


@allocating_kernel
def _score(i, n_met, scale, given, rule, beam):
    """Turn chances into scores; return how many labels have one, those given too."""
    for p in stretch(given.indptr, i):
        label = given.indices[p]
        beam.is_given[label] = True
        if beam.total[label] == 0.0:
            beam.met[n_met] = label
            n_met += 1
    for n in range(n_met):
        label = beam.met[n]
        chance = beam.total[label] * (scale if rule.is_relative else 1.0)
        score = min(np.float32(min(chance, 1.0)) * rule.gain[label], rule.most)
        if beam.is_given[label]:
            score = max(score, rule.least)
        else:
            score -= rule.shift
        beam.total[label] = beam.score[n] = score
    for p in stretch(given.indptr, i):
        beam.is_given[given.indices[p]] = False
    return n_met


@allocating_kernel
def _keep_labels(n_met, k, rule, beam):
    """Bring the labels of the best scores to the front, ascending; return how many.

    A score no better than that of a label that is not met needs no list.
    """
    least, n_kept = np.float32(-np.inf), 0
    if n_met > k:
        topk.best_positions(beam.score[:n_met], k, beam.order)
        least = beam.score[beam.order[k - 1]]
    for n in range(n_met):
        if beam.score[n] >= least and beam.score[n] > -rule.shift:
            beam.met[n_kept], beam.met[n] = beam.met[n], beam.met[n_kept]
            n_kept += 1
    beam.met[:n_kept].sort()
    return n_kept


@allocating_kernel
def _doubled(array):
    """Return the array with as much room again."""
    larger = np.empty(2 * array.shape[0], array.dtype)
    larger[: array.shape[0]] = array
    return larger


@allocating_kernel
def _search(tree, dense, beam):
    """Add up the chances of the labels of one row.

    Return how many are met, and the chances of the leaves reached.
    """
    width = beam.best.shape[0]
    beam.at[0], beam.chance[0], n_live = 0, 1.0, 1 if tree.children[0] > 0 else 0
    n_met, ends = _enter(0, 1.0, 0, tree, beam), 0.0 if n_live else 1.0
    while n_live > 0:
        # Children are written behind the live nodes, then the best move to the front.
        end = n_live
        for n in range(n_live):
            at, chance = beam.at[n], beam.chance[n]
            odds = tree.slope * score(at, tree, dense) + tree.shift[at]
            small = np.exp(-abs(odds))
            share = (1.0 if odds > 0.0 else small) / (1.0 + small)
            child = np.int64(tree.children[at])
            for second in range(2):
                own = chance * (1.0 - share if second else share)
                n_met = _enter(child + second, own, n_met, tree, beam)
                beam.at[end], beam.chance[end] = child + second, own
                is_leaf = tree.children[child + second] == 0
                ends += own if is_leaf else 0.0
                end += not is_leaf and own > 0.0
        n_live = _keep_best(n_live, end - n_live, width, beam)
    return n_met, ends


@allocating_kernel
def _keep_best(start, n_next, width, beam):
    """Move the best of the paths from ``start`` on to the front; return how many."""
    chance = beam.chance[start : start + n_next]
    n_kept = topk.best_positions(chance, width, beam.best)
    n_live = 0
    beam.best[:n_kept].sort()  # so that nothing is overwritten before it moves
    most = chance.max() if n_next else 0.0
    for n in range(n_kept):
        place = start + beam.best[n]
        if beam.chance[place] >= FAINT * most:
            beam.at[n_live] = beam.at[place]
            beam.chance[n_live] = beam.chance[place]
            n_live += 1
    return n_live


@allocating_kernel
def _enter(at, chance, n_met, tree, beam):
    """Credit the labels that a node fixes; return how many labels have credit."""
    for p in stretch(tree.f_indptr, at):
        label = tree.f_indices[p]
        if chance > 0.0:
            if beam.total[label] == 0.0:
                beam.met[n_met] = label
                n_met += 1
            beam.total[label] += chance
    return n_met


@allocating_kernel
def score(at, tree, dense):
    """Return the score of a row at a node, from the values laid out."""
    total = np.float64(tree.intercept[at])
    for p in stretch(tree.w_indptr, at):
        total += tree.w_data[p] * dense[np.uintp(tree.w_indices[p])]
    return total


@allocating_kernel
def _table(rows, tree):
    """Return the number of each feature within those selected; -1 for others."""
    table = np.full(rows.n_features, -1, np.int32)
    for n in range(tree.selected.shape[0]):
        table[tree.selected[n]] = n
    return table


@allocating_kernel
def _lay_out(i, rows, table, dense):
    for p in stretch(rows.indptr, i):
        number = table[np.uintp(rows.indices[p])]
        if number >= 0:
            dense[number] = rows.data[p]


@allocating_kernel
def _clear(i, rows, table, dense):
    for p in stretch(rows.indptr, i):
        number = table[np.uintp(rows.indices[p])]
        if number >= 0:
            dense[number] = 0.0
