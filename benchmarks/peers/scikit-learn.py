"""scikit-learn: ``OneVsRestClassifier(LinearSVC())``.

Labels that no training row has are left out: it would rank them above most others. The
best labels are picked by NumPy from the scores of all.
"""

import pickle
from typing import Any

import numpy as np
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import LinearSVC


class Entrant:
    """One-vs-rest of linear SVMs with the parameters that are given."""

    def __init__(self, job: Any) -> None:
        self.job = job
        self.X = job.X.astype(np.float64)
        self.seen = np.flatnonzero(job.Y.getnnz(axis=0))
        self.Y = job.Y[:, self.seen].astype(np.int64)

    def train(self) -> None:
        svm = LinearSVC(random_state=self.job.seed, **self.job.parameters)
        self.model = OneVsRestClassifier(svm, n_jobs=1).fit(self.X, self.Y)

    def save(self) -> None:
        with open(self.job.model / "model.pickle", "wb") as file:
            pickle.dump(self.model, file)

    def rows(self, X: Any) -> Any:
        return X.astype(np.float64)

    def predict(self, X: Any) -> Any:
        scores = self.model.decision_function(X)
        best = np.argpartition(scores, -self.job.k, axis=1)[:, -self.job.k :]
        found = np.take_along_axis(scores, best, axis=1)
        return np.stack([self.seen[best], found], axis=2)
