"""scikit-learn: ``OneVsRestClassifier(LinearSVC())``.

Labels that no training row has are left out: it would rank them above most others. The
best labels are picked by NumPy from the scores of all.
"""

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
        parts = self.model.estimators_
        weights = np.vstack([part.coef_ for part in parts])
        intercept = np.concatenate([part.intercept_ for part in parts])
        self.job.keep(weights=weights, intercept=intercept, labels=self.seen)

    def rows(self, X: Any) -> Any:
        return X.astype(np.float64)

    def predict(self, X: Any) -> Any:
        scores = self.model.decision_function(X)
        return self.job.best(scores, self.seen)
