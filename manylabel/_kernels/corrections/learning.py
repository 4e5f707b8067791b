"""Learning corrections, one row after another.

The log odds of a label are those of the other learner plus what corrections add: w . x,
learnt by AdaGrad. A label that is accepted has the loss -log q, one that is rejected
-log(1 - q). One that is not mentioned, though it would be with probability p if it were
true, has -log(1 - p q), the likelihood of that: p is 1 where the labels are complete.

What is left of the error of the row itself goes to a weight of the row as a whole.
"""

from typing import Any, NamedTuple

import numpy as np

from manylabel._kernels._jit import inner, kernel
from manylabel._kernels.corrections.candidates import (
    ACCEPTED,
    FIRST_PRINT,
    LISTED,
    MOST_CHAINED,
    N_RINGED,
    REJECTED,
    add_unlisted,
    list_candidates,
    move_candidates,
    set_row,
)
from manylabel._kernels.corrections.memory import (
    N_RECENT,
    N_SEEN,
    WEIGHTS,
    best_weight,
    find_ring,
    open_pair,
    put_first,
    read_weight,
    step_pair,
)
from manylabel._kernels.label_tree.incremental import log_sigmoid

STEP = np.float32(1.0)  # of AdaGrad
MOST_STEPS = 8  # of an accepted label's weights, for one row
HALF = 0.5  # slope of an accepted label, above which one step is enough
LEAST_SLOPE = 0.05  # of a label, below which it is not learnt
DECAY = 0.998  # of the losses, by row
CLEAR = 2.0  # nats beyond the threshold of a label that was accepted or rejected
RESCALE = 0.1  # step of AdaGrad by which the other learner's log odds are rescaled
OFFSET_STEP = np.float32(0.3)  # the same for the offsets of labels
FIRST_OFFSET = FIRST_PRINT - WEIGHTS.shape[0]  # features that stand for offsets
AHEAD = 0.5  # nats of an accepted label before the best that was not mentioned


class Mentions(NamedTuple):
    """Labels that were accepted or rejected by row, ACCEPTED or REJECTED each."""

    indptr: Any
    labels: Any
    kinds: Any
    complete: Any  # (n_rows,) uint8 whether no other label is true


class Settings(NamedTuple):
    """What does not change from row to row."""

    n_known: Any  # labels that the other learner knows
    thresholds: Any  # (n_labels,) log odds above which it gives labels
    chance: Any  # (n_labels,) that a label, if it is true, is mentioned


@kernel
def learn_rows(rows, lists, mentions, first, settings, learnt, recent, row, candidates):
    """Learn rows from ``first`` on; return the row that there is no room for."""
    n_rows, n_slots = mentions.complete.shape[0], recent.keys.shape[0]
    for i in range(first, n_rows):
        n_features, print_ = set_row(rows, i, row)
        n = list_candidates(
            *(lists, i, row, n_features, print_, settings.n_known),
            *(recent, candidates),
        )
        n = _mention(lists, mentions, i, settings.n_known, candidates, n)
        n_pairs = n * (n_features + 1 + WEIGHTS.shape[0])
        has_room = recent.counters[N_RECENT] + n_pairs <= n_slots // 4 * 3
        if has_room:
            move_candidates(row, n_features, print_, learnt, recent, candidates, n)
            complete = mentions.complete[i] != 0
            _set_chances(complete, settings.chance, recent.mentions, candidates, n)
            _judge(learnt, recent, candidates, n)
            _learn_words(row, n_features, learnt, recent, candidates, n)
            _settle(complete, settings, print_, learnt, recent, candidates, n)
            _remember(row, n_features, print_, recent, candidates, n)
            recent.counters[N_SEEN] += 1
        for t in range(n):
            candidates.place[candidates.labels[t]] = 0
        if not has_room:
            return i
    return n_rows


@inner
def _mention(lists, mentions, i, n_known, candidates, n):
    """Note which candidates were mentioned; return how many there are with them."""
    for p in range(mentions.indptr[i], mentions.indptr[i + 1]):
        label = mentions.labels[p]
        n = add_unlisted(label, lists, i, n_known, candidates, n)
        candidates.kinds[candidates.place[label] - 1] = mentions.kinds[p]
    return n


@inner
def _slope(kind, odds, chance):
    """Return the derivative of the loss of a candidate by its log odds."""
    q = 1.0 / (1.0 + np.exp(-odds))
    if kind == ACCEPTED:
        return q - 1.0
    if kind == REJECTED:
        return q
    return chance * q * (1.0 - q) / (1.0 - chance * q) if chance < 1.0 else q


@inner
def _loss(kind, odds, chance):
    """Return the negative log likelihood of a candidate."""
    if kind == ACCEPTED:
        return -log_sigmoid(odds)
    if kind == REJECTED or chance == 1.0:
        return -log_sigmoid(-odds)
    return -np.log1p(-chance / (1.0 + np.exp(-odds)))


@inner
def _judge(learnt, recent, candidates, n):
    """Add to the loss of each weight what the row costs, before it is learnt.

    The log odds of the other learner are rescaled on the way, for each weight by
    itself, with an offset for each label: corrections count for what they know of the
    row, not for a habit of those who correct.
    """
    for w in range(recent.losses.shape[0]):
        scale, total, by_slope, by_offset = recent.scales[w], 0.0, 0.0, 0.0
        for t in range(n):
            label, kind, odds = (
                candidates.labels[t],
                candidates.kinds[t],
                candidates.odds[t],
            )
            offset = read_weight(label, FIRST_OFFSET + w, learnt, recent)
            moved = scale[0] * odds + scale[1] + np.float64(offset)
            moved += WEIGHTS[w] * candidates.words[t]
            total += _loss(kind, moved, candidates.chances[t])
            slope = _slope(kind, moved, candidates.chances[t])
            by_slope, by_offset = by_slope + slope * odds, by_offset + slope
            if abs(slope) >= LEAST_SLOPE:
                step_pair(
                    *(label, FIRST_OFFSET + w, np.float32(slope)),
                    *(OFFSET_STEP, learnt, recent),
                )
        recent.losses[w] = DECAY * recent.losses[w] + total
        for each, slope in ((0, by_slope), (1, by_offset)):
            scale[2 + each] += slope * slope
            scale[each] -= RESCALE * slope / np.sqrt(scale[2 + each] + 1.0)


@inner
def _set_chances(complete, chance, mentions, candidates, n):
    """Write how probable it is that each candidate, if it were true, were mentioned.

    That is the chance by its frequency, times the share of the probable labels that
    corrections have mentioned so far: some say a single label, others all.
    """
    share = mentions[0] / (mentions[0] + mentions[1])
    for t in range(n):
        candidates.chances[t] = (
            1.0 if complete else share * chance[candidates.labels[t]]
        )
    if complete:
        return
    for t in range(n):
        if candidates.kinds[t] == ACCEPTED:
            mentions[0] += 1.0
        elif candidates.kinds[t] == LISTED:
            mentions[1] += 1.0 / (1.0 + np.exp(-candidates.odds[t]))


@inner
def _learn_words(row, n_features, learnt, recent, candidates, n):
    """Step the weights of the row's features, for each candidate.

    A label that was accepted is stepped until it is probable, so that one correction
    shows in rows that share most of the features.
    """
    for t in range(n):
        label, kind = candidates.labels[t], candidates.kinds[t]
        for _ in range(MOST_STEPS):
            odds = candidates.odds[t] + candidates.words[t] + candidates.whole[t]
            slope = _slope(kind, odds, candidates.chances[t])
            if abs(slope) < LEAST_SLOPE:
                break
            for j in range(n_features):
                slope_j = np.float32(slope) * row.x[j]
                move = step_pair(label, row.features[j], slope_j, STEP, learnt, recent)
                candidates.words[t] += np.float64(row.x[j]) * np.float64(move)
            if kind != ACCEPTED or slope > -HALF:
                break


@inner
def _settle(complete, settings, print_, learnt, recent, candidates, n):
    """Put accepted labels first and rejected ones below the threshold, in this row.

    That is what was said of the row itself, whatever it says of others.
    """
    weight, best = best_weight(recent.losses), -np.inf
    for accepts in range(2):
        for t in range(n):
            kind = candidates.kinds[t]
            if (kind == ACCEPTED) != (accepts == 1):
                continue
            rank, label = candidates.ranks[t], candidates.labels[t]
            threshold = settings.thresholds[label]
            now = rank + weight * candidates.words[t] + candidates.whole[t]
            wanted = now
            if kind == ACCEPTED:
                wanted = max(now, max(best + AHEAD, threshold + CLEAR))
            elif kind == REJECTED:
                wanted = min(now, min(threshold, rank) - CLEAR)
            elif complete:
                wanted = min(now, threshold - CLEAR)
            if kind != ACCEPTED and wanted > best:
                best = wanted
            if wanted != now:
                at = open_pair(label, print_, learnt, recent)
                recent.blocks[at, 0] += np.float32(wanted - now)
                recent.blocks[at, 1] += np.float32(1)


@inner
def _remember(row, n_features, print_, recent, candidates, n):
    """Make the accepted labels the latest of the rings of the row."""
    n_accepted, n_labels = 0, recent.rings.shape[1]
    for t in range(n):
        if candidates.kinds[t] != ACCEPTED:
            continue
        label = candidates.labels[t]
        for j in range(min(n_features, N_RINGED)):
            put_first(label, recent.rings[find_ring(row.features[j], recent)])
        chained = n_accepted // n_labels
        if chained < MOST_CHAINED:
            put_first(label, recent.rings[find_ring(print_ + chained, recent)])
        n_accepted += 1
