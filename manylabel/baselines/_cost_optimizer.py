"""What a tree of classifiers that pay for features minimises, node by node."""

from typing import Any

import numpy as np
import scipy
import scipy.sparse as sp
from scipy.special import expit

from manylabel._typing import CSR, Array, Floats, Ints

LEAST_WEIGHT = 1e-3  # times the deviation of the feature; smaller ones are 0
FIRST_PENALTY = 0.1  # of the squared weights that it starts from
INNER_STEPS = 20  # of a node, each time that it is its turn


class Optimizer:
    """The nodes of a full binary tree, all of them soft, improved in turn.

    Node k has the children 2k + 1 and 2k + 2. Rows are centred on the fly, so that
    sparse ones stay sparse.
    """

    def __init__(self, X: CSR, side: Array, depth: int) -> None:
        self.X, self.target = X.astype(np.float64), side.astype(np.float64)
        self.mean, self.deviation = _moments(self.X)
        self.n_inner, n_features = 2**depth - 1, X.shape[1]
        self.n_nodes = 2 * self.n_inner + 1
        self.beta = np.zeros((self.n_nodes, n_features))
        self.intercept, self.threshold = np.zeros(self.n_nodes), np.zeros(self.n_nodes)
        self.scores = np.zeros((X.shape[0], self.n_nodes))

    @property
    def children(self) -> Ints:
        """The first child of each node, 0 for a leaf."""
        k = np.arange(self.n_nodes)
        return np.where(k < self.n_inner, 2 * k + 1, 0)

    def start(self) -> None:
        """Learn from the root down; half of the rows of a node go either way."""
        for k in range(self.n_nodes):
            weight = self._chances()[:, k]
            nothing = np.zeros((2, len(weight)))
            penalty = np.full(self.beta.shape[1], FIRST_PENALTY)
            self._optimize(k, weight, nothing, penalty)
            if k < self.n_inner:
                self.threshold[k] = _median(self.scores[:, k], weight)

    def improve(self, feature_cost: float, alpha: float) -> None:
        """Optimise each node, from the root down, with the others fixed."""
        for k in range(self.n_nodes):
            chances = self._chances()
            values = self._values(feature_cost * self._lengths())
            penalty = self._penalty(k, feature_cost, alpha, chances.mean(axis=0))
            below = np.zeros((2, len(self.target)))
            if k < self.n_inner:
                below = values[:, 2 * k + 1 : 2 * k + 3].T
            self._optimize(k, chances[:, k], below, penalty)

    def objective(self, feature_cost: float, alpha: float) -> float:
        """Return what is minimised."""
        values = self._values(feature_cost * self._lengths())
        return float(values[:, 0].mean() + alpha * np.abs(self.beta).sum())

    def drop(self) -> None:
        """Set small weights to 0; 0 they then stay."""
        self.beta[np.abs(self.beta) * self.deviation < LEAST_WEIGHT] = 0
        for k in range(self.n_nodes):
            self.scores[:, k] = self._multiply(self.beta[k]) + self.intercept[k]

    def planes(self) -> tuple[CSR, Floats, Floats]:
        """Return weights and intercepts for rows as they are, and thresholds."""
        coef = sp.csr_array(self.beta)
        return coef, self.intercept - coef @ self.mean, self.threshold.copy()

    def _multiply(self, beta: Floats) -> Floats:
        return np.asarray(self.X @ beta - self.mean @ beta)

    def _multiply_back(self, rows: Floats) -> Floats:
        return np.asarray(self.X.T @ rows - self.mean * rows.sum())

    def _turns(self) -> Floats:
        """Return the chance of each row to turn to the first child of each node."""
        inner = slice(self.n_inner)
        return np.asarray(expit(self.scores[:, inner] - self.threshold[inner]))

    def _chances(self) -> Floats:
        """Return the chance of each row to pass each node."""
        turns, chances = self._turns(), np.ones(self.scores.shape)
        for k in range(self.n_inner):
            chances[:, 2 * k + 1] = chances[:, k] * turns[:, k]
            chances[:, 2 * k + 2] = chances[:, k] * (1 - turns[:, k])
        return chances

    def _values(self, leaf_costs: Floats) -> Floats:
        """Return what each row is expected to cost from each node on."""
        turns = self._turns()
        values = (self.scores - self.target[:, None]) ** 2
        values[:, self.n_inner :] += leaf_costs
        for k in range(self.n_inner - 1, -1, -1):
            first, second = values[:, 2 * k + 1], values[:, 2 * k + 2]
            values[:, k] += turns[:, k] * first + (1 - turns[:, k]) * second
        return values

    def _squares(self) -> Floats:
        """Return for each node the squared weights of the features on the way to it."""
        squares = self.beta**2
        for k in range(1, self.n_nodes):
            squares[k] += squares[(k - 1) // 2]
        return squares

    def _lengths(self) -> Floats:
        """Return for each leaf the mixed norm of the weights on the way to it."""
        return np.asarray(np.sqrt(self._squares()[self.n_inner :]).sum(axis=1))

    def _penalty(
        self, k: int, feature_cost: float, alpha: float, share: Floats
    ) -> Floats:
        """Return the weight of the squared weight of each feature of a node.

        It makes ``sqrt(z)`` the least of ``(z / t + t) / 2``, touched at ``t`` of now.
        """
        lengths, below = np.sqrt(self._squares()), [k]
        while below[0] < self.n_inner:
            below = [child for at in below for child in (2 * at + 1, 2 * at + 2)]
        with np.errstate(divide="ignore", invalid="ignore"):
            penalty = alpha / (2 * np.abs(self.beta[k]))
            penalty += feature_cost * (share[below, None] / (2 * lengths[below])).sum(0)
        return np.where(self.beta[k] != 0, penalty, np.inf)

    def _optimize(self, k: int, weight: Floats, below: Floats, penalty: Floats) -> None:
        """Optimise one node; ``below`` is what rows cost at either child."""
        n_rows, gap = len(weight), below[0] - below[1]
        curvature = weight.mean() * self.deviation**2 + penalty
        unit = 1 / np.sqrt(2 * curvature)  # of steps of equal size
        fixed = np.where(np.isfinite(penalty), penalty, 0.0)

        def evaluate(free: Floats) -> tuple[float, Floats]:
            beta = unit * free[:-2]
            score = self._multiply(beta) + free[-2]
            error, turn = score - self.target, expit(score - free[-1])
            value = weight @ (error**2 + turn * gap) / n_rows + fixed @ beta**2
            routing = weight * turn * (1 - turn) * gap / n_rows
            along = 2 * weight * error / n_rows + routing
            slope = unit * (self._multiply_back(along) + 2 * fixed * beta)
            return value, np.concatenate([slope, [along.sum(), -routing.sum()]])

        with np.errstate(divide="ignore"):
            start = np.where(unit > 0, self.beta[k] / np.where(unit > 0, unit, 1), 0)
        given = np.concatenate([start, [self.intercept[k], self.threshold[k]]])
        options: dict[str, Any] = {"maxiter": INNER_STEPS}
        found = scipy.optimize.minimize(
            evaluate, given, jac=True, method="L-BFGS-B", options=options
        )
        self.beta[k] = unit * found.x[:-2]
        self.intercept[k], self.threshold[k] = found.x[-2:]
        self.scores[:, k] = self._multiply(self.beta[k]) + self.intercept[k]


def _moments(X: CSR) -> tuple[Floats, Floats]:
    """Return means and standard deviations of sparse columns, 1 for 0."""
    mean = np.asarray(X.mean(axis=0)).ravel()
    square = np.asarray(X.multiply(X).mean(axis=0)).ravel()
    deviation = np.sqrt(np.maximum(square - mean**2, 0))
    return mean, np.where(deviation > 1e-6 * np.sqrt(square), deviation, 1.0)


def _median(values: Floats, weight: Floats) -> float:
    """Return a value with half of the weight on either side."""
    order = np.argsort(values, kind="stable")
    running = np.cumsum(weight[order])
    return float(values[order][np.searchsorted(running, running[-1] / 2)])
