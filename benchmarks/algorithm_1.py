"""Algorithm 1 of Chu, Huang & Lin 2019 in NumPy, as one would write it.

Ridge regression by Sherman-Morrison, the online PCA with its small eigenproblem, W
turned by a product. The label weights are our own, compiled.
"""

import numpy as np
from sklearn.exceptions import NotFittedError

from manylabel.losses import label_weights


class Algorithm1:
    """CS-DPP with basis transform, row by row."""

    def __init__(self, cost: str, n_components: int) -> None:
        self.cost, self.M, self.t = cost, n_components, 0

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return the labels of positive score."""
        return (self._scores(_dense(X)) > 0).astype(int)

    def partial_fit(self, X: np.ndarray, Y: np.ndarray) -> "Algorithm1":
        """Learn rows."""
        for x, y in zip(_dense(X), Y, strict=True):
            self._learn(x, y)
        return self

    def _scores(self, X: np.ndarray) -> np.ndarray:
        if self.t == 0:
            raise NotFittedError
        return np.where(self.counts > 0, X @ self.W @ self.Q[: self.M], -1.0)

    def _learn(self, x: np.ndarray, y: np.ndarray) -> None:
        K, M = len(y), self.M
        if self.t == 0:
            self.inverse, self.W = np.eye(len(x)), np.zeros((len(x), 0))
            self.Q, self.sigma, self.counts = np.zeros((0, K)), np.zeros(0), np.zeros(K)
            y_hat = np.zeros(K, int)
        else:
            y_hat = (self._scores(x[None])[0] > 0).astype(int)
        self.t += 1
        order = np.argsort(-self.counts, kind="stable")
        self.counts += y
        target = np.sqrt(label_weights(y, y_hat, self.cost, order)) * (2 * y - 1)
        v = target / max(1, np.linalg.norm(target))
        a = self.Q @ v
        residual = v - self.Q.T @ a
        length = np.linalg.norm(residual)
        Q, z = np.vstack([self.Q, residual / length]), np.append(a, length)
        rate = 2 / np.sqrt(self.t) * M / K
        step = np.diag(np.append(self.sigma, 0)) + rate * np.outer(z, z)
        values, vectors = np.linalg.eigh(step)
        values, turn = values[::-1][: M + 1], vectors.T[::-1][: M + 1]
        self.sigma = _project(values, min(M, len(values)))
        Q = turn @ Q
        self.W = self.W @ (self.Q[:M] @ Q[:M].T)
        self.Q = Q
        Ax = self.inverse @ x
        gain = Ax / (1 + x @ Ax)
        self.inverse -= np.outer(gain, Ax)
        self.W += np.outer(gain, self.Q[:M] @ target - self.W.T @ x)


def _dense(X: np.ndarray) -> np.ndarray:
    X = X.toarray() if hasattr(X, "toarray") else X
    return np.hstack([X, np.ones((len(X), 1))])


def _project(values: np.ndarray, total: int) -> np.ndarray:
    low, high = -values.max() - 1, 2 - values.min()
    for _ in range(60):
        middle = (low + high) / 2
        if np.clip(values + middle, 0, 1).sum() < total:
            low = middle
        else:
            high = middle
    return np.clip(values + high, 0, 1)
