"""How good the labels are that an entrant gave, by the same code for all."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from manylabel.evaluation import evaluate
from manylabel.propensity import Propensity

DEPTHS = (1, 3, 5)
METRICS = tuple(f"{name}@{k}" for name in ("P", "PSP") for k in DEPTHS)


def judge(
    rows: Path, ranked: Path, propensity: Mapping[str, float]
) -> dict[str, float]:
    """Return P@k and PSP@k of the labels in a file, the best of each row first.

    Where fewer rows were predicted, these are the first test rows. Propensities are by
    the counts of the training rows: 0 for labels that only test rows have.
    """
    labels = np.load(ranked)["labels"]
    train, test = (
        sp.csr_array(sp.load_npz(rows / f"{part}_Y.npz")) for part in ("train", "test")
    )
    train.resize(train.shape[0], test.shape[1])
    report = evaluate(
        test[: len(labels)],
        as_scores(labels, test.shape[1]),
        k=DEPTHS,
        propensity=Propensity(**propensity).fit(train),
    )
    return {name: float(report[name]) for name in METRICS}


def as_scores(labels: np.ndarray, n_labels: int) -> sp.csr_array:
    """Return scores that rank labels as listed; a label of -1 is none.

    Examples
    --------
    >>> as_scores(np.array([[2, 0], [1, -1]]), 3).toarray()
    array([[1., 0., 2.],
           [0., 2., 0.]])
    """
    is_label = labels >= 0
    falling = np.broadcast_to(np.arange(labels.shape[1], 0, -1.0), labels.shape)
    places = np.nonzero(is_label)[0], labels[is_label]
    shape = len(labels), n_labels
    return sp.csr_array((falling[is_label], places), shape=shape)
