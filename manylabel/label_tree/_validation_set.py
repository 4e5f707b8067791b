"""What a label tree chooses on a validation set: tilt, threshold and calibration."""

from typing import Any, NamedTuple

import numpy as np

from manylabel import parallel
from manylabel._typing import CSR, Floats, Ints
from manylabel.lists import Lists
from manylabel.losses.resolve import as_counted_cost
from manylabel.metrics import as_metric
from manylabel.model_selection import thresholds
from manylabel.model_selection.calibration import Curves
from manylabel.model_selection.holdout import FEWEST, Split, hold_out
from manylabel.model_selection.probable import DEPTH, split_rows
from manylabel.solvers.background import draw_rows
from manylabel.solvers.levels import Lesson, fit_trees
from manylabel.solvers.nodes import Nodes
from manylabel.solvers.shape import Shape

TILTS = (0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6)
OTHERS = np.array([0, -1], np.float32)  # labels not listed: seen ones, and the rest
METRICS = ("P@1", "P@3", "P@5", "PSP@1", "PSP@3", "PSP@5")


class Chosen(NamedTuple):
    """What is chosen, or left as usual."""

    tilt: float
    threshold: float
    calibration: Curves


def find_splits(model: Any, n_rows: int) -> list[Split]:
    """Return which rows are held out in turn; none if there is nothing to choose."""
    if model.calibrate is not None:
        return split_rows(n_rows, model.random_state)
    chooses = isinstance(model.tilt, str) or model.cost is not None
    if chooses and n_rows >= FEWEST:
        return [hold_out(n_rows, model.random_state)]
    return []


def fit_pilots(
    model: Any, lesson: Lesson, shapes: list[Shape], splits: list[Split]
) -> list[Nodes]:
    """Return trees of the same clusters, fitted to the rows that are not held out."""
    if not splits:
        return []
    with parallel.stage("validation", len(splits) / (1 + len(splits))):
        lessons = (part_of(model, lesson, split.train) for split in splits)
        return [fit_trees(shapes, part, model.n_jobs) for part in lessons]


def part_of(model: Any, lesson: Lesson, train: Ints) -> Lesson:
    """Return what trees learn from when other rows are held out."""
    weight = lesson.row_weight
    return lesson._replace(
        X=lesson.X[train],
        Y=lesson.Y[train],
        row_weight=None if weight is None else weight[train],
        background=draw_rows(len(train), model.background, lesson.seed),
    )


def choose(model: Any, scores: Lists, Y: CSR, usual: Chosen) -> Chosen:
    """Return what serves rows best that were not learnt.

    Parameters
    ----------
    model : LabelTree
        Whose parameters say what is to be chosen, and for what.
    scores : Lists
        The best labels of the validation set, without tilt.
    Y : csr_array
        Labels of the validation set.
    usual : Chosen
        What is not to be chosen.
    """
    chosen, worth = usual, model.inverse_propensity_
    weights = worth if model.propensity is not None else np.ones_like(worth)
    if isinstance(model.tilt, str):
        names = METRICS if model.metric is None else (model.metric,)
        chosen = chosen._replace(tilt=_best_tilt(scores, Y, worth, names))
    tilted = _tilted(scores, worth, chosen.tilt)
    if model.cost is not None and model.calibrate is None:
        cost = as_counted_cost(model.cost)
        best = thresholds.best_threshold(tilted, Y, weights, cost)
        chosen = chosen._replace(threshold=best)
    if model.calibrate is not None:
        best = tilted.best(DEPTH, model.counts_ > 0, OTHERS)
        best.data = best.data - chosen.threshold
        curves = Curves.fit(best, Y, model.counts_, weights, model.calibrate)
        chosen = chosen._replace(calibration=curves)
    return chosen


def _tilted(scores: Lists, worth: Floats, tilt: float) -> Lists:
    values = scores.values * worth[scores.labels] ** tilt
    return scores._replace(values=values.astype(np.float32))


def _best_tilt(scores: Lists, Y: CSR, worth: Floats, names: tuple[str, ...]) -> float:
    """Return the tilt by which the metrics, beside those without one, are best.

    The mean of their ratios counts, and the least: no metric is given up for others.
    """

    def values(tilt: float) -> Floats:
        ranked = _tilted(scores, worth, tilt).csr(Y.shape[1])
        found = [as_metric(n, 1 / worth).update(Y, ranked).value for n in names]
        return np.maximum(found, np.finfo(float).tiny)

    plain = values(0.0)
    ratios = {tilt: values(tilt) / plain for tilt in TILTS}
    return max(TILTS, key=lambda t: float(ratios[t].mean() + ratios[t].min()))
