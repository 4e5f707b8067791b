"""A data set: features or texts, labels, and the names of both."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, SupportsIndex

import numpy as np

from manylabel import _validation
from manylabel._typing import CSR
from manylabel.data.labels import LabelSpace


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
    def labels(self) -> LabelSpace:
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
        )

    def __repr__(self) -> str:
        inputs = "texts" if self.X is None else f"{self.n_features} features"
        return f"Dataset({len(self)} rows, {inputs}, {self.n_labels} labels)"


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
