"""Test-then-train over all rows of a data set (Chu, Huang & Lin 2019, section 5)."""

from typing import Any

import numpy as np

from benchmarks.reproduce.protocols.outcome import Outcome, timed
from benchmarks.reproduce.trial import Trial
from benchmarks.source import Source
from manylabel.evaluation import progressive
from manylabel.losses import Rank

N_POINTS = 100  # of a curve


def stream(trial: Trial, data: Source) -> Outcome:
    """Predict each row, charge it, learn it; rows in a random order.

    Settings: ``hide`` and ``judge`` as of ``manylabel.progressive``; ``rows`` takes so
    many at most; ``label_orders`` keeps the order of the rows and takes the labels in a
    random one; ``empty`` is the rank loss of a row without labels.
    """
    settings: dict[str, Any] = dict(trial.settings)
    n_rows = settings.pop("rows", None)
    label_orders = settings.pop("label_orders", False)
    rank = Rank(empty=settings.pop("empty", 0.0))
    X, Y = data.spread
    rng = np.random.default_rng(trial.seed)
    if label_orders:
        X, Y = X[:n_rows], Y[:n_rows, rng.permutation(Y.shape[1])]
    elif n_rows is not None and n_rows < len(X):
        drawn = rng.permutation(len(X))[:n_rows]
        X, Y = X[drawn], Y[drawn]
    names = [name for name in trial.metrics if name != "seconds"]
    costs = [rank if name == rank.name else name for name in names]
    run, seconds = timed(
        lambda: progressive(
            trial.make(),
            *(X, Y),
            costs=costs,
            permutations=None if label_orders else 1,
            random_state=trial.seed,
            **settings,
        )
    )
    points = np.unique(np.linspace(0, len(run.rows) - 1, N_POINTS).astype(int))
    curves = {
        name: curve[points].round(6).tolist() for name, curve in run.curve.items()
    }
    return Outcome(
        run.mean | {"seconds": seconds}, {"rows": run.rows[points].tolist()} | curves
    )
