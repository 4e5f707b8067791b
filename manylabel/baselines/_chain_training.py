"""How the classifiers of a chain are learnt: by the truth, or by what a cost asks."""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from manylabel import parallel
from manylabel._kernels.linear import chain
from manylabel._kernels.ranking import UNSEEN
from manylabel._typing import CSR, Array, Floats, Ints, Singles
from manylabel.baselines._expected_cost import charge
from manylabel.losses import Cost
from manylabel.solvers import linear

NEVER = -10.0  # margin of a label that is never worth its cost


class Lesson(NamedTuple):
    """What all classifiers of a chain learn from."""

    X: CSR
    Y: CSR
    weight: Floats  # of the rows
    settings: linear.Settings
    seed: np.uint64

    def seen(self) -> Ints:
        """Return the labels that rows have."""
        return np.flatnonzero(np.bincount(self.Y.indices, minlength=self.Y.shape[1]))


class Link(NamedTuple):
    """The classifier of one label."""

    coef: Any  # csc_array of shape (n_features, 1)
    told: Singles  # weights of the labels before it
    intercept: float
    is_late: bool  # whether it did not converge


class Chain(NamedTuple):
    """The classifiers of all labels."""

    coef: CSR  # (n_features, n_labels)
    links: Singles  # (n_labels, n_labels)
    intercept: Singles
    n_late: int

    @classmethod
    def of(cls, links: dict[int, Link], n_features: int, n_labels: int) -> "Chain":
        """Return the classifiers of some labels; others are never given."""
        told = np.zeros((n_labels, n_labels), np.float32)
        intercept = np.full(n_labels, UNSEEN, np.float32)
        none = sp.csc_array((n_features, 1), dtype=np.float32)
        for label, link in links.items():
            told[:label, label], intercept[label] = link.told, link.intercept
        columns = [links[n].coef if n in links else none for n in range(n_labels)]
        coef = sp.csr_array(sp.hstack(columns, format="csr"))
        coef.sort_indices()
        return cls(coef, told, intercept, sum(each.is_late for each in links.values()))


def learn_chain(lesson: Lesson, n_jobs: int | None) -> Chain:
    """Return classifiers that were told the true labels before them."""
    by_label, seen = lesson.Y.tocsc(), lesson.seen()
    tasks = [(label,) for label in seen.tolist()]
    fitted = parallel.run(_fit_true, tasks, n_jobs, common=(lesson, by_label))
    links = dict(zip(seen.tolist(), fitted, strict=True))
    return Chain.of(links, lesson.X.shape[1], lesson.Y.shape[1])


def learn_filter_tree(lesson: Lesson, cost: Cost, n_rounds: int) -> Chain:
    """Return classifiers that choose, where they stand, what costs less in the end.

    The last label learns first. On a path, which is the labels before it, it learns
    which of 0 and 1 costs less once the labels after it have followed; how much less is
    the weight of the row (Li & Lin 2014, Algorithm 1). Paths are the true labels, and
    from the second round on also those that the round before gave.
    """
    truth = lesson.Y.astype(np.uint8).toarray()
    paths, n_features = truth, lesson.X.shape[1]
    for n in range(n_rounds):
        with parallel.stage(f"round {n + 1}", 1 / n_rounds):
            links, features = _learn_round(lesson, cost, truth, paths)
            learnt = Chain.of(links, n_features, truth.shape[1])
            given, margin = np.zeros_like(truth), np.empty(truth.shape, np.float32)
            chain.follow(features, learnt.links, np.int64(0), given, margin)
            paths = np.vstack([truth, given])
    return learnt


def _learn_round(
    lesson: Lesson, cost: Cost, truth: Array, paths: Array
) -> tuple[dict[int, Link], Singles]:
    """Return the classifiers that paths teach, and margins of the features by these."""
    n_rows, n_labels = truth.shape
    times = len(paths) // n_rows
    X, right = sp.vstack([lesson.X] * times, format="csr"), np.tile(truth, (times, 1))
    features = np.full(paths.shape, UNSEEN, np.float32)
    told = np.zeros((n_labels, n_labels), np.float32)
    links: dict[int, Link] = {}
    for label in lesson.seen()[::-1]:
        prices = []
        for value in range(2):
            guess, margin = paths.copy(), np.empty(paths.shape, np.float32)
            guess[:, label] = value
            chain.follow(features, told, label + 1, guess, margin)
            prices.append(charge(cost, right, guess))
        gain = prices[0] - prices[1]
        target = np.where(gain == 0, right[:, label], gain > 0)
        link = _fit_weighted(lesson, X, paths[:, :label], target, np.abs(gain))
        links[int(label)] = link
        told[:label, label] = link.told
        features[:, label] = (X @ link.coef).toarray().ravel() + link.intercept
    return links, features[:n_rows]


def _fit_weighted(
    lesson: Lesson, X: CSR, told: Array, target: Array, gain: Floats
) -> Link:
    """Return the classifier of rows that count; of all, if none does."""
    counts = np.flatnonzero(gain)
    if not len(counts):
        counts, gain = np.arange(len(target)), np.ones(len(target))
    mass = np.tile(lesson.weight, len(target) // len(lesson.weight))[counts]
    weight = mass * gain[counts] / np.average(gain[counts], weights=mass)
    column = sp.csc_array(target[counts, None].astype(np.float32))
    return _fit(lesson, X[counts], sp.csr_array(told[counts]), column, weight)


def _fit_true(lesson: Lesson, by_label: Any, label: int) -> Link:
    """Return the classifier of a label that is told the true ones before it."""
    told, target = by_label[:, :label], by_label[:, [label]]
    return _fit(lesson, lesson.X, told, target, lesson.weight)


def _fit(lesson: Lesson, X: CSR, told: Any, target: Any, weight: Floats) -> Link:
    """Return the classifier of a label that is told others."""
    rows = sp.csr_array(sp.hstack([X, told.astype(np.float32)], format="csr"))
    column = sp.csc_array(target)
    fitted = linear.fit_columns(
        rows, column, lesson.settings, lesson.seed, row_weight=weight
    )
    done = [block for block in fitted if len(block.labels)]
    if not done:
        none = sp.csc_array((X.shape[1], 1), dtype=np.float32)
        return Link(none, np.zeros(told.shape[1], np.float32), NEVER, False)
    weights = done[0].weights
    return Link(
        coef=weights[: X.shape[1]],
        told=weights[X.shape[1] :].toarray().ravel(),
        intercept=float(done[0].intercept[0]),
        is_late=bool(done[0].n_iter[0] > 0),
    )
