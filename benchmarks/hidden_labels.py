"""Coding trees that learn from some of the labels, judged by all of them.

    python -m benchmarks.hidden_labels
    python -m benchmarks.hidden_labels --tree PowersetTree

Half of the rows are learnt, at most 6,000; of their labels 70 % are hidden at random,
or some by the law of Jain et al. with half its propensities. F1 loss on the other half,
with ``propensity`` alone, with ``cost="f1"`` too, and with ``beam=10`` as well: the
mean over some draws of what is hidden. ± is the standard error of the difference of the
first two.
"""

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.metrics import f1_score

import manylabel as ml
from benchmarks.annotations import FOLDER
from benchmarks.streams import print_head, print_row, read_scaled

SETS = ("corpus", "yeast", "emotions", "CAL500", "scene", "tmc2007")
PLAIN: dict[str, Any] = {"budget": 20, "C": 1.0}
MOST = 6000


def read(name: str, folder: Path) -> tuple[Any, Any]:
    """Return rows and their complete labels."""
    if name == "corpus":
        corpus = ml.make_corpus(n_rows=4000, propensity=1.0)
        return corpus.X, corpus.Y
    if name == "tmc2007":
        data = ml.read(folder / "xmc" / name / "train.txt.gz")
        return data.X, data.Y
    X, Y = read_scaled(name, folder)
    return sp.csr_array(X), sp.csr_array(Y)


def measure(tree: Any, X: Any, Y: Any, p: np.ndarray, seed: int) -> list[float]:
    """Return the losses of one draw."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(X.shape[0])
    train, test = (np.sort(part)[:MOST] for part in np.array_split(order, 2))
    left = sp.csr_array(Y[train])
    left.data = left.data * (rng.random(left.nnz) < p[left.indices])
    left.eliminate_zeros()
    losses = []
    for more in ({}, {"cost": "f1"}, {"cost": "f1", "beam": 10}):
        model = tree(**PLAIN, propensity=p, **more).fit(X[train], left)
        score = f1_score(
            Y[test], model.predict(X[test]), average="samples", zero_division=1
        )
        losses.append(1 - score)
    return losses


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", nargs="*", default=SETS)
    parser.add_argument("--data", type=Path, default=FOLDER)
    trees = ("AnnotationTree", "PowersetTree")
    parser.add_argument("--tree", choices=trees, default=trees[0])
    parser.add_argument("--draws", type=int, default=3)
    given = parser.parse_args()
    print_head("data", "hidden", "propensity alone", 'with cost="f1"', "±", "beam")
    for name in given.sets:
        X, Y = read(name, given.data)
        law = ml.Propensity().fit(Y).values_ / 2
        for how, p in (("random", np.full(Y.shape[1], 0.3)), ("law", law)):
            parts = (getattr(ml, given.tree), X, Y, p)
            found = np.array([measure(*parts, seed) for seed in range(given.draws)])
            error = (found[:, 0] - found[:, 1]).std(ddof=1) / np.sqrt(given.draws)
            mean = [f"{loss:.3f}" for loss in found.mean(axis=0)]
            print_row(name, how, *mean[:2], f"{error:.3f}", mean[2])


if __name__ == "__main__":
    main()
