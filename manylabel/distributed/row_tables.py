"""Rows of features as Arrow tables: written as Parquet, and read back by batches."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from manylabel._typing import CSR, Ints
from manylabel.data import Dataset, LabelSpace, iter_chunks
from manylabel.data.arrow import parquet_batches
from manylabel.data.source import Source
from manylabel.data.writing import replacing
from manylabel.distributed.columns import INDICES, VALUES, flat_lists, sparse_rows
from manylabel.exceptions import DataError, MissingExtra

LABELS, TEXT, ID = "labels", "text", "id"


def write_table(data: Dataset, path: Path) -> None:
    """Write texts, or else features, with their labels as a Parquet file."""
    pa, parquet = _arrow()
    if data.texts is not None:
        columns = {TEXT: pa.array(data.texts, pa.string())}
    else:
        columns = _feature_columns(data.X)
    labels = pa.array(data.Y.indices)
    if data.texts is not None or data.label_names is not None:
        labels = pa.array(data.labels.names, pa.string()).take(labels)
    columns[LABELS] = _lists(data.Y.indptr, labels)
    if data.ids is not None:
        columns[ID] = pa.array(data.ids, pa.string())
    with replacing(path) as file:
        parquet.write_table(pa.table(columns), file)


def read_tables(
    path: Path,
    n_rows: int,
    n_features: int,
    n_labels: int,
    label_names: Sequence[str] | None,
) -> Iterator[Dataset]:
    """Yield rows of features that :func:`write_table` wrote, so many at a time."""
    names = None if label_names is None else tuple(label_names)
    space = None if names is None else LabelSpace(names)

    def choose(names: Sequence[str]) -> list[str]:
        return [INDICES, VALUES, LABELS, *([ID] if ID in names else [])]

    for batch in parquet_batches(Source(path), choose, n_rows):
        indices, values, labels = (batch.column(name) for name in choose(()))
        ids = batch.column(ID).to_pylist() if ID in batch.schema.names else None
        try:
            X = sparse_rows(indices, values, n_features)
            Y = _labels(labels, n_labels, space)
            chunk = Dataset(X, Y, None, names, ids)
        except (TypeError, ValueError) as error:
            raise DataError(path, str(error)) from None
        yield chunk


def feature_batches(path: Path, n_rows: int) -> Iterator[Any]:
    """Yield the rows of repository text as batches of features, without labels."""
    pa, _ = _arrow()
    for chunk in iter_chunks(path, n_rows=n_rows, format="xc"):
        yield pa.RecordBatch.from_pydict(_feature_columns(chunk.X))


def _feature_columns(X: CSR | None) -> dict[str, Any]:
    """Return the indices and the values of rows of features, a list a row each."""
    pa, _ = _arrow()
    if X is None:
        raise ValueError("rows must have texts or features. Got neither.")
    parts = {INDICES: X.indices, VALUES: X.data}
    return {name: _lists(X.indptr, pa.array(part)) for name, part in parts.items()}


def _lists(indptr: Ints, values: Any) -> Any:
    pa, _ = _arrow()
    return pa.ListArray.from_arrays(pa.array(indptr, pa.int32()), values)


def _labels(labels: Any, n_labels: int, space: LabelSpace | None) -> CSR:
    """Return lists of names, or of columns if there is no space of names, as 0/1."""
    if space is not None:
        return space.encode(labels.to_pylist())
    columns, indptr = flat_lists(labels, LABELS)
    ones = np.ones(len(columns), np.float32)
    return sp.csr_array((ones, columns, indptr), (len(labels), n_labels))


def _arrow() -> tuple[Any, Any]:
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError:
        raise MissingExtra("Parquet", "pyarrow", "parquet") from None
    return pa, parquet
