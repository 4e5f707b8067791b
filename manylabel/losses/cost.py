"""What a cost is, and how a user's own becomes one."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from manylabel import _validation
from manylabel._kernels.cs_dpp import label_weights
from manylabel._typing import Array, CountCost, Floats, Ints
from manylabel.losses.compared import Compared


class Cost(ABC):
    """The price of predicting one label set where another is true; 0 is best.

    A cost is called with two 0/1 vectors. ``of_rows`` charges many rows at once;
    ``label_weights`` splits the price of one row among its labels.

    Examples
    --------
    >>> from manylabel import losses
    >>> cost = losses.as_cost(lambda y, y_hat: abs(y - y_hat).sum())
    >>> isinstance(cost, losses.Cost)
    True
    >>> cost([1, 0, 1], [0, 0, 1])
    1.0
    """

    name: str
    meaning: str

    def __call__(self, y: Array, y_hat: Array) -> float:
        """Return the cost of predicting ``y_hat`` where ``y`` is true."""
        y = _validation.label_vector(y, name="y")
        return self._pair(y, _validation.label_vector(y_hat, len(y), name="y_hat"))

    @abstractmethod
    def of_rows(self, rows: Compared) -> Floats:
        """Return the cost of each row, shape (n_rows,)."""

    @abstractmethod
    def label_weights(self, y: Ints, y_hat: Ints, order: Ints) -> Floats:
        """Return the weight of each label (see the function of that name)."""

    @abstractmethod
    def _pair(self, y: Ints, y_hat: Ints) -> float:
        """Return the cost of one row of checked labels."""


class CountedCost(Cost):
    """A cost that depends on the counts of hits, true and predicted labels only.

    Examples
    --------
    >>> from manylabel import losses
    >>> class Missed(losses.CountedCost):
    ...     name, meaning = "missed", "True labels that were not predicted."
    ...
    ...     def from_counts(self, hits, n_true, n_predicted, n_labels):
    ...         return n_true - hits
    >>> Missed()([1, 1, 0], [1, 0, 1])
    1.0
    """

    @abstractmethod
    def from_counts(
        self, hits: Any, n_true: Any, n_predicted: Any, n_labels: Any
    ) -> Any:
        """Return the cost of each row from its counts.

        Parameters
        ----------
        hits : int or array of int
            Number of labels that are true and predicted.
        n_true, n_predicted : int or array of int
            Number of true labels and of predicted ones.
        n_labels : int or array of int
            Number of labels there are.

        Returns
        -------
        float or ndarray
            Costs; the arguments are broadcast.
        """

    def of_rows(self, rows: Compared) -> Floats:
        """Return the cost of each row, shape (n_rows,)."""
        return self._charge(rows.hits, rows.n_true, rows.n_predicted, rows.n_labels)

    def label_weights(self, y: Ints, y_hat: Ints, order: Ints) -> Floats:
        """Return the weight of each label in O(n_labels)."""
        hits, n_predicted = np.empty_like(y), np.empty_like(y)
        label_weights.count_others(y, y_hat, order, hits, n_predicted)
        right = self._charge(hits + y, y.sum(), n_predicted + y, len(y))
        wrong = self._charge(hits, y.sum(), n_predicted + 1 - y, len(y))
        return np.abs(wrong - right)

    def _pair(self, y: Ints, y_hat: Ints) -> float:
        counts = np.array([y @ y_hat]), y.sum(), y_hat.sum(), len(y)
        return float(self._charge(*counts)[0])

    def _charge(
        self, hits: Ints, n_true: Any, n_predicted: Any, n_labels: int
    ) -> Floats:
        """Return ``from_counts`` as one checked number for each of ``hits``."""
        result = self.from_counts(hits, n_true, n_predicted, n_labels)
        result = np.asarray(result, np.float64)
        if result.shape not in ((), hits.shape):
            raise ValueError(
                f"The cost {self.name!r} must return one number per row, "
                f"shape {hits.shape}. Got shape {result.shape}."
            )
        return _finite(np.broadcast_to(result, hits.shape), self.name)


class UserCountedCost(CountedCost):
    """A user's object with ``from_counts``, as a cost."""

    def __init__(self, counts: CountCost) -> None:
        self.counts = counts
        self.name = str(getattr(counts, "name", type(counts).__name__))
        self.meaning = f"Mean over rows of the cost {self.name!r}."

    def from_counts(
        self, hits: Any, n_true: Any, n_predicted: Any, n_labels: Any
    ) -> Any:
        """Ask the user's object."""
        return self.counts.from_counts(hits, n_true, n_predicted, n_labels)


class UserCost(Cost):
    """A user's function of two 0/1 vectors, as a cost: called once for each row."""

    def __init__(self, function: Callable[[Ints, Ints], float]) -> None:
        self.function = function
        self.name = getattr(function, "__name__", type(function).__name__)
        self.meaning = f"Mean over rows of the cost {self.name!r}."

    def of_rows(self, rows: Compared) -> Floats:
        """Return the cost of each row, in O(n_labels) per row."""
        result = np.empty(rows.n_rows)
        for i in range(rows.n_rows):
            y, y_hat = (
                _dense(matrix.indices[matrix.indptr[i] : matrix.indptr[i + 1]], rows)
                for matrix in (rows.truth, rows.predictions)
            )
            result[i] = self._pair(y, y_hat)
        return result

    def label_weights(self, y: Ints, y_hat: Ints, order: Ints) -> Floats:
        """Return the weight of each label by n_labels + 1 calls of the function."""
        guess = y_hat.copy()
        price = self._pair(y, guess)
        weights = np.empty(len(y))
        for k in order:
            guess[k] = 1 - guess[k]
            other = self._pair(y, guess)
            weights[k] = abs(other - price)
            if y_hat[k] == y[k]:
                guess[k] = y[k]
            else:
                price = other
        return weights

    def _pair(self, y: Ints, y_hat: Ints) -> float:
        # The function gets copies: one that writes to its arguments harms nobody.
        result = np.array(self.function(y.copy(), y_hat.copy()), np.float64)
        if result.ndim:
            raise ValueError(
                f"The cost {self.name!r} must return one number. "
                f"Got shape {result.shape}."
            )
        return float(_finite(result, self.name))


def _dense(labels: Array, rows: Compared) -> Ints:
    vector = np.zeros(rows.n_labels, np.int64)
    vector[labels] = 1
    return vector


def _finite(values: Floats, name: str) -> Floats:
    wrong = values[~np.isfinite(values)]
    if wrong.size:
        raise ValueError(
            f"The cost {name!r} must be a finite number. Got {wrong.flat[0]:g}."
        )
    return values
