"""Which columns of an Arrow batch a model reads, and what they hold."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from manylabel._typing import CSR, Array
from manylabel.data.layout import Layout, named_columns, usual_id
from manylabel.text import Tagger

INDICES, VALUES = "indices", "values"  # of features, a list each
FOUND = ("labels", "scores")  # columns of the answer


@dataclass(frozen=True)
class Columns:
    """The columns that a model reads, and those that are copied to its answer.

    Parameters
    ----------
    read : tuple of str
        Texts, or features: two columns of lists, of indices and of values; or one of
        lists that have a value for each feature; or a column for each feature.
    keep : tuple of str
        What is copied.

    Examples
    --------
    >>> tagger = Tagger().fit(["red wine", "rye bread"], [["drink"], ["food"]])
    >>> Columns.of(["id", "text", "price"], tagger, None, None)
    Columns(read=('text',), keep=('id',))
    """

    read: tuple[str, ...]
    keep: tuple[str, ...]

    @classmethod
    def of(
        cls,
        names: Sequence[str],
        tagger: Tagger,
        read: Sequence[str] | None,
        keep: Sequence[str] | None,
    ) -> "Columns":
        """Choose among the columns that there are, or raise ValueError."""
        asked = None if read is None else named_columns(read, names)
        chosen = tuple(_usual(names, tagger)) if asked is None else asked
        kept = tuple(filter(None, [usual_id(names)]) if keep is None else keep)
        for name in (*chosen, *kept):
            if name not in names:
                known = ", ".join(names)
                raise ValueError(f"expected a column {name!r}, found {known:.200}.")
        for name in set(kept).intersection(FOUND):
            raise ValueError(
                f"keep must leave out {name!r}, which is a column of the answer."
            )
        return cls(chosen, kept)

    def items(self, batch: Any, tagger: Tagger) -> Any:
        """Return the texts or the features of a batch, or raise ValueError."""
        columns = [batch.column(name) for name in self.read]
        for name, column in zip(self.read, columns, strict=True):
            if column.null_count:
                row = column.is_null().to_pylist().index(True)
                raise ValueError(
                    f"expected no empty cell in {name!r}, found one in row {row} of "
                    "the batch."
                )
        if tagger.reads_texts_:
            return self._texts(columns)
        return self._features(columns, tagger.n_features_)

    def _texts(self, columns: list[Any]) -> list[str]:
        for name, column in zip(self.read, columns, strict=True):
            if str(column.type) not in ("string", "large_string", "string_view"):
                raise ValueError(f"expected texts in {name!r}, found {column.type}.")
        if len(columns) == 1:
            texts: list[str] = columns[0].to_pylist()
            return texts
        rows = zip(*(column.to_pylist() for column in columns), strict=True)
        return ["\n".join(part for part in row if part) for row in rows]

    def _features(self, columns: list[Any], n_features: int) -> Any:
        lists = [_is_list(column) for column in columns]
        if lists == [True, True]:
            return sparse_rows(columns[0], columns[1], n_features)
        if lists == [True]:
            return _vectors(columns[0], n_features)
        if any(lists) or len(columns) != n_features:
            raise ValueError(
                "columns must be two lists, of indices and of values, or one list of "
                f"{n_features} values, or {n_features} numbers. "
                f"Got {len(columns)} columns."
            )
        return np.column_stack(
            [_numbers(c, n) for c, n in zip(columns, self.read, strict=True)]
        )


def _usual(names: Sequence[str], tagger: Tagger) -> Sequence[str]:
    """Return the columns that a model reads if none are named."""
    if tagger.reads_texts_:
        return Layout.of(names, {"labels_column": False}).texts
    if INDICES in names and VALUES in names:
        return INDICES, VALUES
    known = tagger.feature_names_
    if known is not None and set(known) <= set(names):
        return [str(name) for name in known]
    found = ", ".join(names)
    raise ValueError(
        f"expected rows of features, in columns {INDICES!r} and {VALUES!r} or in "
        f"columns that are named, found {found:.200}."
    )


def _is_list(column: Any) -> bool:
    return "list<" in str(column.type) or "list_view<" in str(column.type)


def sparse_rows(indices: Any, values: Any, n_features: int) -> CSR:
    """Return lists of indices and of values as a CSR array, which is checked later."""
    columns, indptr = flat_lists(indices, INDICES)
    data, ends = flat_lists(values, VALUES)
    if not np.array_equal(indptr, ends):
        raise ValueError("expected as many indices as values in each row.")
    if columns.dtype.kind not in "iu":
        raise ValueError(f"expected whole numbers for indices, found {columns.dtype}.")
    parts = data.astype(np.float32, copy=False), columns, indptr
    if len(columns) and not 0 <= columns.min() <= columns.max() < n_features:
        raise ValueError(
            f"expected indices from 0 to {n_features - 1}, "
            f"found {columns.min()} to {columns.max()}."
        )
    narrow = parts[0], columns.astype(np.int32, copy=False), indptr
    return sp.csr_array(narrow, shape=(len(indptr) - 1, n_features))


def _vectors(column: Any, n_features: int) -> Array:
    """Return lists of one length as a dense array."""
    values, indptr = flat_lists(column, "features")
    if (np.diff(indptr) != n_features).any():
        raise ValueError(f"expected {n_features} values in each row, found others.")
    return values.reshape(-1, n_features)


def flat_lists(column: Any, name: str) -> tuple[Array, Array]:
    """Return the values of all lists, and where each begins, and the end."""
    values = column.flatten()
    if values.null_count:
        raise ValueError(f"expected numbers in {name!r}, found an empty one.")
    lengths = column.value_lengths().to_numpy(zero_copy_only=False)
    indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    return _numbers(values, name), indptr


def _numbers(column: Any, name: str) -> Array:
    if str(column.type) == "null":  # of which there is none, as of lists without values
        return np.empty(0, np.int32)
    numbers: Array = column.to_numpy(zero_copy_only=False)
    if numbers.dtype.kind not in "fiub":
        raise ValueError(f"expected numbers in {name!r}, found {column.type}.")
    return numbers
