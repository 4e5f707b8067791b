"""A data set: features or texts, labels, and the names of both."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, SupportsIndex

import numpy as np
import scipy.sparse as sp

from manylabel import _validation
from manylabel._markup import isolate, lay_table
from manylabel._suggestion import suggest
from manylabel._typing import CSR, Array, MatrixLike

MOST_ROWS, MOST_LABELS, MOST_LETTERS = 5, 10, 200  # shown in a notebook


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """Rows with their features or texts and their labels.

    Parameters
    ----------
    X : array or sparse array of shape (n_rows, n_features), or None
        Features, kept as a CSR array of float32; None for texts not yet vectorised.
    Y : array or sparse array of shape (n_rows, n_labels)
        0/1 labels, kept as a CSR array of float32 ones.
    feature_names : sequence of str or None, default=None
        One name per column of ``X``.
    label_names : sequence of str or None, default=None
        One name per column of ``Y``, no two the same.
    ids : sequence of str or None, default=None
        One identifier per row.
    texts : sequence of str or None, default=None
        One text per row.
    read_as : mapping or None, default=None
        Of a file of texts, the options with which :func:`manylabel.read` reads it
        without guessing: its format, encoding, columns and separator of labels.

    Examples
    --------
    >>> data = Dataset([[0.5, 0], [0, 2]], [[1, 0], [1, 1]], label_names=["a", "b"])
    >>> data
    Dataset(2 rows, 2 features, 2 labels)
    >>> data[1:].labels.decode(data[1:].Y)
    [['a', 'b']]
    """

    X: CSR | None
    Y: CSR
    feature_names: tuple[str, ...] | None = None
    label_names: tuple[str, ...] | None = None
    ids: tuple[str, ...] | None = None
    texts: tuple[str, ...] | None = None
    read_as: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        Y = _validation.labels(self.Y)
        X = self.X
        if X is not None:
            X = _validation.feature_matrix(X, n_rows=Y.shape[0])
        counts = {
            "feature_names": (0 if X is None else X.shape[1], "column of X"),
            "label_names": (Y.shape[1], "column of Y"),
            "ids": (Y.shape[0], "row"),
            "texts": (Y.shape[0], "row"),
        }
        for field, (count, what) in counts.items():
            strings = _strings(getattr(self, field), count, field, what)
            object.__setattr__(self, field, strings)
        object.__setattr__(self, "X", X)
        object.__setattr__(self, "Y", Y)
        names = self.label_names or ()
        if len(set(names)) < len(names):
            LabelSpace(names)  # says which name is repeated

    @property
    def n_labels(self) -> int:
        """Number of columns of ``Y``."""
        return int(self.Y.shape[1])

    @property
    def n_features(self) -> int | None:
        """Number of columns of ``X``; None for texts."""
        return None if self.X is None else int(self.X.shape[1])

    @cached_property
    def labels(self) -> "LabelSpace":
        """The label names; column numbers as strings where there are none."""
        return LabelSpace(self.label_names or map(str, range(self.n_labels)))

    def __len__(self) -> int:
        return int(self.Y.shape[0])

    def __getitem__(
        self, rows: SupportsIndex | slice | Sequence[Any] | Any
    ) -> "Dataset":
        """Return the rows of a slice, an index array or a mask as a data set."""
        chosen = np.atleast_1d(np.arange(len(self))[rows])
        return Dataset(
            None if self.X is None else self.X[chosen],
            self.Y[chosen],
            self.feature_names,
            self.label_names,
            _take(self.ids, chosen.tolist()),
            _take(self.texts, chosen.tolist()),
            self.read_as,
        )

    def __repr__(self) -> str:
        inputs = "texts" if self.X is None else f"{self.n_features} features"
        return f"Dataset({len(self)} rows, {inputs}, {self.n_labels} labels)"

    def _repr_html_(self) -> str:
        """Return the first rows as a table, for notebooks."""
        head = ["id" if self.ids else "row", "text" if self.texts else "features"]
        first, name = self[:MOST_ROWS], self.labels.names
        rows = []
        for row, columns in enumerate(np.split(first.Y.indices, first.Y.indptr[1:-1])):
            words = [isolate(name[each]) for each in columns[:MOST_LABELS].tolist()]
            if len(columns) > MOST_LABELS:
                words.append(f"{len(columns) - MOST_LABELS} more")
            mark = first.ids[row] if first.ids else row
            rows.append([isolate(mark), first._brief(row), ", ".join(words)])
        caption, head = isolate(repr(self)), [*head, "labels"]
        return "".join(lay_table(caption, head, rows, are_numbers=False))

    def _brief(self, row: int) -> str:
        """Return the begin of a text, or how many features a row has, as markup."""
        if self.texts is None:
            return "" if self.X is None else f"{self.X[[row]].nnz} not zero"
        text = self.texts[row]
        short = text if len(text) <= MOST_LETTERS else f"{text[:MOST_LETTERS]}…"
        return isolate(short)


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
        if not all(issubclass(kind, str) for kind in set(map(type, self.names))):
            wrong = next(name for name in self.names if not isinstance(name, str))
            raise TypeError(f"names must be strings. Got {wrong!r}.")
        self._columns = dict(zip(self.names, range(len(self.names)), strict=True))
        if len(self._columns) < len(self.names):  # a dict keeps the last of two
            pairs = enumerate(self.names)
            twice = next(name for at, name in pairs if self._columns[name] != at)
            raise ValueError(f"names must differ. Got {twice!r} twice.")

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
        columns, offsets = list[int](), [0]
        for row in labels:
            names = list(row)
            try:
                columns += sorted(set(map(self._columns.__getitem__, names)))
            except (KeyError, TypeError):  # the sentence names the one that is wrong
                columns += sorted(set(map(self.column, names)))
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
                f"labels must be among the {len(self)} known. "
                f"Got {name!r:.80}.{suggest(name, self.names)}"
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


def _strings(
    strings: Sequence[str] | None, count: int, field: str, what: str
) -> tuple[str, ...] | None:
    if strings is None:
        return None
    if isinstance(strings, str) or not all(isinstance(s, str) for s in strings):
        raise TypeError(f"{field} must be a sequence of strings. Got {strings!r:.60}.")
    if len(strings) != count:
        raise ValueError(
            f"{field} must have {count} strings, one per {what}. Got {len(strings)}."
        )
    return tuple(strings)


def _take(
    strings: tuple[str, ...] | None, rows: Sequence[int]
) -> tuple[str, ...] | None:
    return None if strings is None else tuple(strings[row] for row in rows)
