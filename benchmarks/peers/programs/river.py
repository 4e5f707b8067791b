"""river: a logistic regression for each label, in a dict, row after row.

Quicker than its own wrappers for several labels. It stops when ``seconds`` are over and
is judged by what it has learnt so far.
"""

import time
from heapq import nlargest
from operator import itemgetter
from typing import Any

import numpy as np
from river.linear_model import LogisticRegression
from river.optim import SGD


class Entrant:
    """Logistic regressions, with steps of the size ``rate``."""

    def __init__(self, job: Any) -> None:
        self.job = job
        order = np.random.default_rng(job.seed).permutation(job.X.shape[0])
        Y = job.Y[order]
        spans = zip(Y.indptr[:-1], Y.indptr[1:], strict=True)
        sets = [set(Y.indices[a:b].tolist()) for a, b in spans]
        self.stream = list(zip(self.rows(job.X[order]), sets, strict=True))
        optimizer = SGD(job.parameters["rate"])
        labels = range(job.Y.shape[1])
        self.models = {i: LogisticRegression(optimizer.clone()) for i in labels}

    def train(self) -> int:
        end = time.process_time() + self.job.parameters["seconds"]
        done = 0
        for x, labels in self.stream:
            for label, model in self.models.items():
                model.learn_one(x, label in labels)
            done += 1
            if time.process_time() > end:
                break
        return done

    def save(self) -> None:
        models = self.models.values()
        self.job.keep(
            features=np.concatenate([list(m.weights) for m in models]),
            weights=np.concatenate([list(m.weights.values()) for m in models]),
            counts=[len(m.weights) for m in models],
            intercept=[m.intercept for m in models],
        )

    def rows(self, X: Any) -> list[dict[int, float]]:
        spans = zip(X.indptr[:-1], X.indptr[1:], strict=True)
        return [
            dict(zip(X.indices[a:b].tolist(), X.data[a:b].tolist(), strict=True))
            for a, b in spans
        ]

    def predict(self, rows: list[dict[int, float]]) -> list[list[tuple[int, float]]]:
        return [
            nlargest(
                self.job.k,
                ((i, m.predict_proba_one(x)[True]) for i, m in self.models.items()),
                key=itemgetter(1),
            )
            for x in rows
        ]
