"""Algorithm 1 of Chu, Huang & Lin 2019 in NumPy, as one would write it.

Ridge regression by Sherman-Morrison, the online PCA with its small eigenproblem, W
turned by a product. The label weights are our own, compiled.
"""

import numpy as np
import scipy.sparse as sp

from manylabel.losses import label_weights


class Algorithm1:
    """CS-DPP with basis transform, row by row."""

    def __init__(self, cost: str, n_components: int) -> None:
        self.cost, self.M, self.t = cost, n_components, 0

    def fit(self, X: sp.csr_array, Y: np.ndarray) -> "Algorithm1":
        """Predict and learn each row."""
        self.t = 0
        rows = np.hstack([X.toarray(), np.ones((X.shape[0], 1))])
        for x, y in zip(rows, Y, strict=True):
            self._learn(x, y)
        return self

    def _guess(self, x: np.ndarray) -> np.ndarray:
        scores = x @ self.W @ self.Q[: self.M]
        return ((scores > 0) & (self.counts > 0)).astype(int)

    def _learn(self, x: np.ndarray, y: np.ndarray) -> None:
        K, M = len(y), self.M
        if self.t == 0:
            self.inverse, self.W = np.eye(len(x)), np.zeros((len(x), 0))
            self.Q, self.sigma, self.counts = np.zeros((0, K)), np.zeros(0), np.zeros(K)
        y_hat = self._guess(x)
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


def _project(values: np.ndarray, total: int) -> np.ndarray:
    low, high = -values.max() - 1, 2 - values.min()
    for _ in range(60):
        middle = (low + high) / 2
        if np.clip(values + middle, 0, 1).sum() < total:
            low = middle
        else:
            high = middle
    return np.clip(values + high, 0, 1)
