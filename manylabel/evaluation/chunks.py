"""The rows of a stream, whatever it is made of, checked chunk by chunk."""

import os
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from manylabel import _validation
from manylabel._typing import CSR, Ints
from manylabel.data import Dataset, iter_chunks


class Chunk(NamedTuple):
    """Rows of a stream, the labels to learn them by and those to judge them by.

    Examples
    --------
    >>> chunk = Chunk.of(([[1.0], [2.0]], [[1, 0], [0, 0]]), sparse=True)
    >>> [piece.Y.nnz for piece in chunk.pieces(n_rows=1, order=np.array([1, 0]))]
    [0, 1]
    """

    X: Any
    Y: CSR
    complete: CSR

    @classmethod
    def of(cls, part: Any, *, sparse: bool) -> "Chunk":
        """Check a Dataset, (X, Y) or (X, Y, complete); ``sparse`` makes X a CSR array.

        Otherwise X keeps its form and its values, which the learner will check.
        """
        if isinstance(part, Dataset):
            part = part.X, part.Y
        if not isinstance(part, tuple) or len(part) not in (2, 3):
            raise TypeError(
                "A stream must yield Datasets, (X, Y) or (X, Y, complete). "
                f"Got {type(part).__name__}."
            )
        X, Y, complete = (*part, None)[:3]
        if X is None:
            raise ValueError("X must be a matrix of features. Got a Dataset of texts.")
        if sparse or sp.issparse(X):
            X = _validation.feature_matrix(X)
        X = X if sp.issparse(X) else np.asarray(X)
        labels = _validation.labels(Y, n_rows=X.shape[0])
        if complete is None:
            return cls(X, labels, labels)
        n_rows, n_labels = labels.shape
        truth = _validation.labels(
            complete, n_rows=n_rows, n_labels=n_labels, name="complete"
        )
        return cls(X, labels, truth)

    def pieces(self, n_rows: int, order: Ints | None = None) -> Iterator["Chunk"]:
        """Yield the rows, in their own order or a given one, ``n_rows`` at a time."""
        for start in range(0, self.Y.shape[0], n_rows):
            rows: Any = slice(start, start + n_rows)
            rows = rows if order is None else order[rows]
            yield Chunk(self.X[rows], self.Y[rows], self.complete[rows])

    def widened(self, n_features: int, n_labels: int) -> "Chunk":
        """Return the rows with so many columns at least; new ones are empty."""
        least = (n_features, n_labels, n_labels)
        pairs = zip(self, least, strict=True)
        return Chunk(*(_validation.widened(p, max(p.shape[1], n)) for p, n in pairs))


def chunks_of(X: Any, Y: Any, complete: Any, *, sparse: bool) -> Iterator[Chunk]:
    """Return the checked chunks of arrays, a data file, a Dataset or an iterable."""
    return (Chunk.of(part, sparse=sparse) for part in _parts(X, Y, complete))


def is_whole(X: Any, Y: Any) -> bool:
    """Tell whether all rows are at hand, to be run in any order."""
    return Y is not None or isinstance(X, Dataset)


def _parts(X: Any, Y: Any, complete: Any) -> Iterable[Any]:
    is_path = isinstance(X, str | os.PathLike)
    if is_whole(X, Y):
        if is_path or (isinstance(X, Dataset) and Y is not None):
            raise ValueError("Y must be None unless X is an array. Got a matrix.")
        return [(X.X, X.Y, complete) if isinstance(X, Dataset) else (X, Y, complete)]
    if complete is not None:
        raise ValueError(
            "complete must be None for a stream: its chunks are (X, Y, complete)."
        )
    if is_path:
        return iter_chunks(X)
    if sp.issparse(X) or isinstance(X, np.ndarray):
        raise ValueError("Y must be given, as X is an array. Got None.")
    if not isinstance(X, Iterable):
        raise TypeError(
            "X must be an array, a path, a Dataset or an iterable of chunks. "
            f"Got {type(X).__name__}."
        )
    return X
