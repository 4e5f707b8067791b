"""PECOS: XR-Linear, a label tree of linear classifiers, with the defaults of its guide.

Labels are clustered by the mean of their rows (PIFA), which is counted as training.
Prediction is by the model as loaded for prediction only, the quicker way.
"""

from typing import Any

import numpy as np
from pecos.xmc import Indexer, LabelEmbeddingFactory
from pecos.xmc.xlinear.model import XLinearModel


class Entrant:
    """XR-Linear."""

    def __init__(self, job: Any) -> None:
        self.job = job
        self.Y = job.Y.astype(np.float32)

    def train(self) -> None:
        means = LabelEmbeddingFactory.create(self.Y, self.job.X, method="pifa")
        clusters = Indexer.gen(means, threads=1, seed=self.job.seed)
        self.model = XLinearModel.train(
            self.job.X, self.Y, clusters, threads=1, **self.job.parameters
        )

    def save(self) -> None:
        self.model.save(str(self.job.model))
        self.model = XLinearModel.load(str(self.job.model), is_predict_only=True)

    def rows(self, X: Any) -> Any:
        return X

    def predict(self, X: Any) -> Any:
        return self.model.predict(X, only_topk=self.job.k, threads=1)
