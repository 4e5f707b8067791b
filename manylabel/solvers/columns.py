"""Linear classifiers as columns, whoever learnt them."""

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Annotated, NamedTuple, Self

import numpy as np
import scipy.sparse as sp

from manylabel._typing import Array, Bools, Floats, Ints, Singles
from manylabel.growing import Growing
from manylabel.persistence.records import Columns as In
from manylabel.persistence.records import Field, Finite, Offsets
from manylabel.solvers.lanes import LANES, Fitted


def cost_blocks(costs: Floats, numbers: Ints, is_last: Bools) -> Floats:
    """Put the costs of classifiers that are solved side by side on the last of them.

    A range that ends within such a block would cost as much as one that does not.

    Parameters
    ----------
    costs : ndarray of shape (n_columns,)
        Of each classifier.
    numbers : ndarray of shape (n_columns,)
        Which it is among those that learn from the same rows.
    is_last : ndarray of shape (n_columns,)
        Whether it is the last of these.

    Examples
    --------
    >>> last = np.array([False, True, False, True])
    >>> cost_blocks(np.ones(4), np.array([0, 1, 0, 1]), last)
    array([0., 2., 0., 2.])
    """
    ends = np.flatnonzero(is_last | (numbers % LANES == LANES - 1))
    blocks = np.zeros(len(costs))
    if len(ends):
        blocks[ends] = np.add.reduceat(costs, np.append(0, ends[:-1] + 1))
    return blocks


class Columns(NamedTuple):
    """Classifiers one after another, those that no row has without weights.

    Attributes
    ----------
    starts : ndarray of shape (n_columns + 1,)
        Where the weights of each classifier start in the next two.
    features : ndarray of shape (n_weights,)
        The features that have them.
    weights : ndarray of shape (n_weights,)
        Large weights; small ones were dropped.
    intercept : ndarray of shape (n_columns,)
        Intercepts.
    n_iter : ndarray of shape (n_columns,)
        Passes, as the solver counts them: negative if it converged, 0 if there was
        nothing to learn.
    """

    starts: Annotated[Ints, Field("int64", "n_columns + 1", Offsets("features"))]
    features: Annotated[Array, Field("int32", "n_weights", In("n_features"))]
    weights: Annotated[Singles, Field("float32", "n_weights", Finite())]
    intercept: Annotated[Singles, Field("float32", "n_columns", Finite())]
    n_iter: Annotated[Ints, Field("int64", "n_columns")]

    @classmethod
    def of(cls, fitted: Sequence[Fitted], features: Array, n_columns: int) -> Self:
        """Return what was fitted, whose rows stand for such features."""
        sizes, n_iter = np.zeros(n_columns, np.int64), np.zeros(n_columns, np.int64)
        intercept = np.zeros(n_columns, np.float32)
        for block in fitted:
            sizes[block.labels] = np.diff(block.weights.indptr)
            intercept[block.labels] = block.intercept
            n_iter[block.labels] = block.n_iter
        none = sp.csc_array((len(features), 0), dtype=np.float32)
        columns = sp.hstack([none, *(block.weights for block in fitted)], format="csc")
        labels = [np.empty(0, np.int64), *(block.labels for block in fitted)]
        columns = columns[:, np.argsort(np.concatenate(labels))]
        return cls(
            starts=np.concatenate([[0], np.cumsum(sizes)]),
            features=features[columns.indices].astype(np.int32),
            weights=columns.data,
            intercept=intercept,
            n_iter=n_iter,
        )

    @classmethod
    def joined(cls, parts: Iterable[Self]) -> Self:
        """Return the classifiers of several records, in order, each asked for once."""
        none, end = cls.of([], np.empty(0, np.int32), 0), 0
        grown = [Growing(array.dtype) for array in none]
        for part in chain([none], parts):
            starts = part.starts[part is not none :] + end
            for each, array in zip(grown, part._replace(starts=starts), strict=True):
                each.extend(array)
            end += int(part.starts[-1])
        return cls(*(each.array() for each in grown))

    def fitted(self, n_features: int) -> Fitted:
        """Return them as they were fitted."""
        seen = np.flatnonzero(self.n_iter)
        starts = np.append(self.starts[seen], self.starts[-1])  # others have no weights
        weights = sp.csc_array(
            (self.weights, self.features, starts), shape=(n_features, len(seen))
        )
        return Fitted(seen, weights, self.intercept[seen], self.n_iter[seen])
