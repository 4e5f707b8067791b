"""Names to columns, given out as the names come up."""

from collections.abc import Hashable, Iterable, Iterator
from contextlib import contextmanager

import numpy as np
import scipy.sparse as sp

from manylabel._typing import CSR, Array


class Columns:
    """The columns of names, in the order in which the names came up.

    Parameters
    ----------
    kind : {"feature", "label"}
        What the names are of.
    width : int or None
        Columns to start with; None for as many as there are names at first.

    Examples
    --------
    >>> columns = Columns("feature", 3)
    >>> with columns.of(["red", "green"], grow=False):
    ...     columns.row(["green", "blue"], np.array([2.0, 1.0])).toarray()
    array([[0., 2., 0.]], dtype=float32)
    >>> list(columns)
    ['red', 'green']
    """

    def __init__(self, kind: str, width: int | None) -> None:
        self.kind = kind
        self.width = width
        self._columns: dict[Hashable, int] = {}

    def __iter__(self) -> Iterator[Hashable]:
        return iter(self._columns)

    @contextmanager
    def of(self, names: Iterable[Hashable], *, grow: bool) -> Iterator[None]:
        """Give new names their columns, and take them back if the block fails."""
        columns, width, n_known = self._columns, self.width, len(self._columns)
        try:
            for name in names:
                if name not in columns:
                    if len(columns) == width and not grow:
                        raise ValueError(self._full(name))
                    columns[name] = len(columns)
            self.width = max(1, width or 0, len(columns))
            yield
        except BaseException:
            self.width = width
            while len(columns) > n_known:
                columns.popitem()
            raise

    def row(self, names: Iterable[Hashable], values: Array) -> CSR:
        """Return the values as a row; names without a column are left out."""
        given = [self._columns.get(name, -1) for name in names]
        columns = np.array(given, np.int32)
        stored = np.flatnonzero((columns >= 0) & (values != 0))
        stored = stored[np.argsort(columns[stored])]
        indptr = np.array([0, len(stored)], np.int32)
        data = values[stored].astype(np.float32)
        return sp.csr_array((data, columns[stored], indptr), shape=(1, self.width))

    def _full(self, name: Hashable) -> str:
        return (
            f"The learner does not grow and has given its {self.width} columns of "
            f"{self.kind}s to other names, so there is none for {name!r}: reserve more "
            f"by n_{self.kind}s, or take CSDPP(grow=True)."
        )
