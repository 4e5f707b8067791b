"""Label names to columns and back."""

from collections.abc import Iterable, Iterator
from itertools import pairwise

import numpy as np
import scipy.sparse as sp

from manylabel import _validation
from manylabel._typing import CSR, Array, MatrixLike


class LabelSpace:
    """The names of the labels, in the order of the columns.

    Parameters
    ----------
    names : iterable of str
        One name per column, no two the same.

    Examples
    --------
    >>> space = LabelSpace(["red", "green", "blue"])
    >>> Y = space.encode([["blue", "red"], []])
    >>> Y.toarray().astype(int)
    array([[1, 0, 1],
           [0, 0, 0]])
    >>> space.decode(Y)
    [['red', 'blue'], []]
    """

    def __init__(self, names: Iterable[str]) -> None:
        self.names = tuple(names)
        self._columns: dict[str, int] = {}
        for column, name in enumerate(self.names):
            if not isinstance(name, str):
                raise TypeError(f"names must be strings. Got {name!r}.")
            if self._columns.setdefault(name, column) != column:
                raise ValueError(f"names must differ. Got {name!r} twice.")

    @classmethod
    def from_labels(cls, labels: Iterable[Iterable[str]]) -> "LabelSpace":
        """Collect the names that occur, in sorted order.

        Parameters
        ----------
        labels : iterable of iterables of str
            The label names of each row.

        Returns
        -------
        LabelSpace
            The same whatever the order of the rows.
        """
        return cls(sorted({name for row in labels for name in row}))

    def encode(self, labels: Iterable[Iterable[str]]) -> CSR:
        """Return the 0/1 matrix of the given names.

        Parameters
        ----------
        labels : iterable of iterables of str
            The label names of each row; a repeated name counts once.

        Returns
        -------
        csr_array of shape (n_rows, n_labels)
            Float32 ones. A name that is not in the space raises ValueError.
        """
        columns, offsets = [], [0]
        for row in labels:
            columns += sorted({self.column(name) for name in row})
            offsets.append(len(columns))
        indices, indptr = np.array(columns, np.int32), np.array(offsets, np.int32)
        ones = np.ones(len(columns), np.float32)
        return sp.csr_array((ones, indices, indptr), (len(offsets) - 1, len(self)))

    def decode(self, Y: MatrixLike) -> list[list[str]]:
        """Return the names of the labels of each row, the highest score first.

        Parameters
        ----------
        Y : array or sparse array of shape (n_rows, n_labels)
            0/1 labels, or scores with the labels to name stored, zero or not, as
            ``predict_topk`` returns them. In a dense array zeros are not labels.

        Returns
        -------
        list of lists of str
            Equal scores stand in the order of the columns.
        """
        stored = sp.csr_array(_validation.scores(Y, n_labels=len(self), name="Y"))
        columns = stored.indices[best_first(stored)].tolist()
        names = [self.names[column] for column in columns]
        return [names[start:stop] for start, stop in pairwise(stored.indptr.tolist())]

    def column(self, name: str) -> int:
        """Return the column of ``name``, or raise ValueError."""
        try:
            return self._columns[name]
        except (KeyError, TypeError):
            raise ValueError(
                f"labels must be among the {len(self)} known. Got {name!r}."
            ) from None

    def __len__(self) -> int:
        return len(self.names)

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __contains__(self, name: object) -> bool:
        return name in self._columns

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, LabelSpace):
            return NotImplemented
        return self.names == other.names

    def __hash__(self) -> int:
        return hash(self.names)

    def __repr__(self) -> str:
        return f"LabelSpace({len(self)} names)"


def best_first(scores: CSR) -> Array:
    """Return the order of the stored entries: by row, the highest score first.

    Equal scores stand in the order of the columns.
    """
    row = np.repeat(np.arange(scores.shape[0]), np.diff(scores.indptr))
    return np.lexsort((scores.indices, -scores.data, row))
