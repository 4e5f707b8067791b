"""Manylabel itself, by the interpreter that runs the contest.

Kernels are compiled when first used and then kept on disk, from where each process
loads them once: a few rows are learnt and predicted for this before anything is timed.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp

import manylabel as ml

FEW = 50  # rows, that touch each kernel


class Entrant:
    """A learner of the class that is given as ``class``, with the other parameters."""

    def __init__(self, job: Any) -> None:
        self.job = job
        given = dict(job.parameters)
        self.kind = getattr(ml, given.pop("class"))
        self.given = given | {"random_state": job.seed}

    def warm(self) -> None:
        few = self._learnt(self.job.X[:FEW], self.job.Y[:FEW])
        few.predict_topk(self.job.X[:FEW], self.job.k)

    def train(self) -> None:
        self.model = self._learnt(self.job.X, self.job.Y)

    def save(self) -> None:
        self.model.save(self.job.model / "model")

    def rows(self, X: Any) -> Any:
        return sp.csr_array(X, dtype=np.float32)

    def predict(self, X: Any) -> Any:
        return self.model.predict_topk(X, self.job.k)

    def _learnt(self, X: Any, Y: Any) -> Any:
        return self.kind(**self.given).fit(X, Y)
