"""How probable decisions are right, found out on rows held out."""

from typing import NamedTuple

import numpy as np

from manylabel._kernels.coding_tree import decisions as coding
from manylabel._kernels.coding_tree.annotation import Shape
from manylabel._kernels.coding_tree.decisions import Decisions
from manylabel._typing import CSR, Array, Bools, Floats
from manylabel.budget._nodes import CodingNodes

MOST_ROWS, FEWEST_ROWS = 6000, 20  # of a sample, those held out among them
# More than elsewhere: of one row in five, by ``model_selection.holdout``, PowersetTree
# with a beam has an F1 of 0.154 on Corel5k in place of 0.168 (4 seeds, 3 folds each).
HELD = 1 / 3
N_STEPS = 25  # of Newton's method
RIDGE = 1.0  # of the squared coefficients: with few pairs, log-odds stay small


class Odds(NamedTuple):
    """What counts how much in the log-odds of the first child."""

    slope: float  # of the weighted features
    intercept: float
    prior: float  # the sizes of the sides
    constant: float


class Sample(NamedTuple):
    """Some rows, and which of them are held out."""

    X: CSR
    Y: CSR
    held: Bools


def draw_sample(X: CSR, Y: CSR, seed: int) -> Sample | None:
    """Return some rows, a third of them to hold out; None if there are too few."""
    if X.shape[0] < FEWEST_ROWS:
        return None
    rng = np.random.default_rng(seed)
    rows = np.sort(rng.permutation(X.shape[0])[:MOST_ROWS])
    return Sample(X[rows], Y[rows], rng.random(len(rows)) < HELD)


def priors(shape: Shape, held: Bools | None = None) -> Floats:
    """Return the logarithm of the ratio of the sides, each a row larger than it is."""
    kept = np.ones(len(shape.rows)) if held is None else 1.0 - held[shape.rows]
    before = np.concatenate([[0], np.cumsum(kept)])[shape.bounds]
    sizes = np.diff(before, axis=1) + 1
    return np.asarray(np.log(sizes[:, 0] / sizes[:, 1]))


def fit_odds(sample: Sample, shape: Shape, found: Decisions) -> Odds:
    """Return how well decisions tell the side of rows held out.

    One logistic regression serves all nodes: most have too few rows for their own.
    """
    X, inner = sample.X, np.flatnonzero(shape.children)
    features = coding.Features(X.indptr, X.indices, X.data, np.float32(1))
    rows = (shape.rows, shape.bounds[inner], sample.held)
    score, node, is_first = coding.judge(features, X.shape[1], *rows, found)
    intercept = found.intercept[node]
    prior = priors(shape, sample.held)[inner][node]
    inputs = np.stack([score - intercept, intercept, prior, np.ones(len(node))])
    slope, *rest = _regress(inputs, is_first)
    return Odds(max(slope, 0.0), *rest)


def calibrate(
    tree: CodingNodes, odds: Odds, shape: Shape, held: Bools | None = None
) -> CodingNodes:
    """Return the tree with log-odds of its scores; ``held`` are rows not learnt."""
    shift = odds.prior * priors(shape, held) + odds.constant
    shift += (odds.intercept - odds.slope) * tree.intercept
    shift = np.where(shape.children > 0, shift, 0).astype(np.float32)
    return tree._replace(slope=odds.slope, shift=shift)


def _regress(inputs: Array, target: Bools) -> list[float]:
    """Return the coefficients of a logistic regression, by Newton's method."""
    weights = np.zeros(len(inputs))
    for _ in range(N_STEPS):
        odds = np.clip(weights @ inputs, -30, 30)
        share = 1 / (1 + np.exp(-odds))
        gradient = inputs @ (share - target) + RIDGE * weights
        bend = (inputs * (share * (1 - share))) @ inputs.T
        step = np.linalg.solve(bend + RIDGE * np.eye(len(inputs)), gradient)
        weights -= np.clip(step, -1, 1)
        if np.abs(step).max() < 1e-6:  # noqa: PLR2004 - nothing depends on more
            break
    return [float(weight) for weight in weights]
