"""Test-then-train over all rows of a data set (Chu, Huang & Lin 2019, section 5)."""

from typing import Any

import numpy as np

from manylabel.evaluation import progressive
from manylabel.experiments.catalogue import Source
from manylabel.experiments.protocols.outcome import Outcome, timed
from manylabel.experiments.trial import Trial

N_POINTS = 100  # of a curve


def stream(trial: Trial, data: Source) -> Outcome:
    """Predict each row, charge it, learn it; rows in a random order.

    Settings: ``hide`` and ``judge`` as of ``manylabel.progressive``; ``rows`` to take
    so many after permuting; ``label_orders`` to keep the order of the rows and take the
    labels in a random one.
    """
    settings: dict[str, Any] = dict(trial.settings)
    n_rows, label_orders = settings.pop("rows", None), settings.pop("label_orders", 0)
    X, Y = data.spread
    rng = np.random.default_rng(trial.seed)
    if label_orders:
        Y = Y[:, rng.permutation(Y.shape[1])]
    elif n_rows:
        chosen = rng.permutation(len(X))[:n_rows]
        X, Y = X[chosen], Y[chosen]
    costs = [name for name in trial.metrics if name != "seconds"]
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
