"""How labels score, by several paths down a sparse coding tree.

The weights of a node are numbered within the features that the tree selects. A table
turns the features of a row into these numbers once, so that a decision reads a few
values of a short array (Liu & Tsang 2017, section 7).
"""

from typing import Any, NamedTuple

import numpy as np

from manylabel._kernels import topk
from manylabel._kernels._jit import inner, kernel
from manylabel._kernels.coding_tree.scores import score
from manylabel._kernels.csr import stretch
from manylabel._kernels.sorting import sort
from manylabel._kernels.workspace import reused

FEW = 8  # labels of a row that lists have room for at first
FAINT = 1e-4  # a path less probable than this share of the best is left


class RankedRows(NamedTuple):
    """Features by row, and labels of each row that rank above all others."""

    x_indptr: Any
    x_indices: Any
    x_data: Any
    g_indptr: Any  # (n_rows + 1,) where the labels of a row that are given start
    g_indices: Any


class Ranking(NamedTuple):
    """How paths are followed, and how chances become scores.

    A chance times the gain is ``most`` at most, and ``least`` at least if the label is
    given; of others ``shift`` is taken off.
    """

    width: Any  # paths at once
    is_relative: Any  # chances, to those of all leaves reached
    k: Any  # best labels to list
    gain: Any  # (n_labels,)
    most: Any
    least: Any
    shift: Any


class LabelLists(NamedTuple):
    """What is listed: where the list of each row starts, labels ascending, scores."""

    starts: Any  # (n_rows + 1,)
    labels: Any
    scores: Any


class Beam(NamedTuple):
    """The row, the paths it follows at once, and what they say of the labels."""

    at: Any  # (3 width,) nodes; children behind the live ones
    chance: Any  # (3 width,) of the paths to them
    best: Any  # (width,)
    total: Any  # (n_labels,) 0 between rows
    met: Any  # (n_labels,) labels of a total above 0
    score: Any  # (n_labels,) of the labels met
    order: Any  # (k,) the best of them
    is_given: Any  # (n_labels,) False between rows
    dense: Any  # (n_selected,) values of the row; 0 between rows


@reused
def _make_beam(width, n_labels, k, n_selected):
    return Beam(
        *(np.empty(3 * width, np.int64), np.empty(3 * width)),
        *(np.empty(width, np.int64), np.zeros(n_labels)),
        *(np.empty(n_labels, np.int64), np.empty(n_labels, np.float32)),
        *(np.empty(k, np.int64), np.zeros(n_labels, np.bool_)),
        np.zeros(n_selected, np.float32),
    )


def best_scores(rows, tree, ranking, table):
    """Return lists of labels that ``ranking.width`` paths at once meet, with scores.

    There are the ``k`` best, more if some score as much as the last of them. The chance
    of a label is the sum over the paths that fix it, each counted where it does,
    whether or not the path is followed further; or else, relative to all leaves
    reached. ``tree`` is a record of nodes, parents before children: ``children``,
    ``intercept``, ``selected`` features, ``w_indptr``, ``w_indices`` (numbers within
    those selected) and ``w_data``, the labels fixed ``f_indptr`` and ``f_indices``,
    ``slope`` and ``shift`` of the log-odds of the first child. ``table`` has the
    numbers of all features, -1 for those not selected.
    """
    n_rows, n_labels = rows.x_indptr.shape[0] - 1, ranking.gain.shape[0]
    beam = _make_beam(ranking.width, n_labels, ranking.k, len(tree.selected))
    lists = LabelLists(np.zeros(n_rows + 1, np.int64), *_make_lists(FEW * n_rows))
    done = _list_rows(rows, 0, tree, ranking, table, beam, lists)
    while done < n_rows:  # no room for the list of this row
        longer = _make_lists(2 * len(lists.labels) + n_labels)
        for old, new in zip(lists[1:], longer, strict=True):
            new[: len(old)] = old
        lists = LabelLists(lists.starts, *longer)
        done = _list_rows(rows, done, tree, ranking, table, beam, lists)
    used = lists.starts[-1]
    return lists.starts, lists.labels[:used].copy(), lists.scores[:used].copy()


def _make_lists(size):
    return np.empty(size, np.int32), np.empty(size, np.float32)


@kernel
def _list_rows(rows, first, tree, ranking, table, beam, lists):
    """List labels of the rows from ``first`` on; return the row that has no room."""
    total, met, dense = beam.total, beam.met, beam.dense
    for i in range(first, rows.x_indptr.shape[0] - 1):
        for p in stretch(rows.x_indptr, i):
            number = table[np.uintp(rows.x_indices[p])]
            if number >= 0:
                dense[number] = rows.x_data[p]
        n_met, ends = _search(tree, beam)
        for p in stretch(rows.x_indptr, i):
            number = table[np.uintp(rows.x_indices[p])]
            if number >= 0:
                dense[number] = 0.0
        n_met = _score(i, n_met, 1.0 / ends, rows, ranking, beam)
        n_kept = _keep_labels(n_met, ranking, beam)
        used = lists.starts[i]
        has_room = used + n_kept <= lists.labels.shape[0]
        if has_room:
            for n in range(n_kept):
                lists.labels[used + n] = met[n]
                lists.scores[used + n] = total[met[n]]
            lists.starts[i + 1] = used + n_kept
        for n in range(n_met):
            total[met[n]] = 0.0
        if not has_room:
            return i
    return rows.x_indptr.shape[0] - 1


@inner
def _score(i, n_met, scale, rows, ranking, beam):
    """Turn chances into scores; return how many labels have one, those given too."""
    for p in stretch(rows.g_indptr, i):
        label = rows.g_indices[p]
        if beam.total[label] == 0.0 and not beam.is_given[label]:
            beam.met[n_met] = label
            n_met += 1
        beam.is_given[label] = True
    for n in range(n_met):
        label = beam.met[n]
        chance = beam.total[label] * (scale if ranking.is_relative else 1.0)
        score = min(np.float32(min(chance, 1.0)) * ranking.gain[label], ranking.most)
        if beam.is_given[label]:
            score = max(score, ranking.least)
        else:
            score -= ranking.shift
        beam.total[label] = beam.score[n] = score
    for p in stretch(rows.g_indptr, i):
        beam.is_given[rows.g_indices[p]] = False
    return n_met


@inner
def _keep_labels(n_met, ranking, beam):
    """Bring the labels of the best scores to the front, ascending; return how many.

    A score no better than that of a label that is not met needs no list.
    """
    least, n_kept, k = np.float32(-np.inf), np.int64(0), ranking.k
    if n_met > k:
        topk.best_positions(beam.score[:n_met], k, beam.order)
        least = beam.score[beam.order[k - 1]]
    for n in range(n_met):
        if beam.score[n] >= least and beam.score[n] > -ranking.shift:
            beam.met[n_kept], beam.met[n] = beam.met[n], beam.met[n_kept]
            n_kept += 1
    sort(beam.met, np.int64(0), n_kept)
    return n_kept


@inner
def _search(tree, beam):
    """Add up the chances of the labels of one row.

    Return how many are met, and the chances of the leaves reached.
    """
    beam.at[0], beam.chance[0], n_live = 0, 1.0, 1 if tree.children[0] > 0 else 0
    root, n_met, ends = np.int64(0), np.int64(0), 0.0 if n_live else 1.0
    n_met = _enter(root, 1.0, n_met, tree, beam)
    while n_live > 0:
        # Children are written behind the live nodes, then the best move to the front.
        end = n_live
        for n in range(n_live):
            at, chance = beam.at[n], beam.chance[n]
            odds = tree.slope * score(at, tree, beam.dense) + tree.shift[at]
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
        n_live = _keep_best(n_live, end - n_live, beam)
    return n_met, ends


@inner
def _keep_best(start, n_next, beam):
    """Move the best of the paths from ``start`` on to the front; return how many."""
    chance, best, n_live = beam.chance[start : start + n_next], beam.best, 0
    n_kept = topk.best_positions(chance, best.shape[0], best)
    most = chance[best[0]] if n_kept else 0.0
    sort(best, np.int64(0), n_kept)  # so that nothing is overwritten before it moves
    for n in range(n_kept):
        place = start + best[n]
        if beam.chance[place] >= FAINT * most:
            beam.at[n_live], beam.chance[n_live] = beam.at[place], beam.chance[place]
            n_live += 1
    return n_live


@inner
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
