"""Vowpal Wabbit: a probabilistic label tree, learnt online (``--plt``).

Rows are parsed before they are learnt or predicted, and parsing is not timed. It tells
an order of labels without scores. The tree is full, so with more than two children a
node there are leaves of labels that do not exist: they are never learnt, come out among
the best at times, and are dropped here; as many more labels are asked for.
"""

from typing import Any

import numpy as np
import vowpalwabbit


class Entrant:
    """A label tree with the ``options`` that are given, after so many ``passes``."""

    def __init__(self, job: Any) -> None:
        self.job, self.n_labels = job, job.Y.shape[1]
        children = job.parameters["children"]
        self.model = vowpalwabbit.Workspace(
            f"--plt {self.n_labels} --kary_tree {children} --loss_function logistic "
            f"--top_k {job.k + children - 2} --random_seed {job.seed} --quiet "
            f"{job.parameters['options']}"
        )
        order = np.random.default_rng(job.seed).permutation(job.X.shape[0])
        self.examples = self.rows(job.X[order], job.Y[order])

    def train(self) -> None:
        for _ in range(self.job.parameters["passes"]):
            for example in self.examples:
                self.model.learn(example)

    def save(self) -> None:
        self.model.save(str(self.job.model / "model.vw"))

    def rows(self, X: Any, Y: Any = None) -> list[Any]:
        found = []
        for i in range(X.shape[0]):
            a, b = X.indptr[i : i + 2]
            labels = [] if Y is None else Y.indices[Y.indptr[i] : Y.indptr[i + 1]]
            row = zip(X.indices[a:b], X.data[a:b], strict=True)
            text = " ".join(f"{feature}:{value:.6g}" for feature, value in row)
            line = f"{','.join(map(str, labels))} | {text}"
            found.append(self.model.parse(line))
        return found

    def predict(self, rows: list[Any]) -> list[list[tuple[int, int]]]:
        return [
            [
                (label, -rank)
                for rank, label in enumerate(self.model.predict(row))
                if label < self.n_labels
            ]
            for row in rows
        ]
