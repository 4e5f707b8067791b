"""Data files that are larger than memory."""

import os
from collections.abc import Iterator, Sequence
from numbers import Integral
from typing import Literal

from sklearn.utils import check_scalar

from manylabel.data.columns import Names
from manylabel.data.dataset import Dataset
from manylabel.data.formats import open_reader


def iter_chunks(
    path: str | os.PathLike[str],
    *,
    n_rows: int = 10_000,
    format: str | None = None,
    label_names: Names | None = None,
    feature_names: Names | None = None,
    n_labels: int | None = None,
    n_features: int | None = None,
    zero_based: bool | Literal["auto"] = "auto",
    labels_from: str | os.PathLike[str] | None = None,
    text_columns: str | Sequence[str] | None = None,
    labels_column: str | Literal[False] | None = None,
    label_separator: str | None = None,
    skip_bad_lines: bool = False,
) -> Iterator[Dataset]:
    r"""Read a data file in pieces that all have the same columns.

    One chunk is in memory at a time, whatever the size of the file. Where the header
    does not tell the columns, the file is read twice, first to find them: svmlight,
    unless ``n_labels``, ``n_features`` and ``zero_based`` are given; texts, unless
    ``label_names`` is given or ``labels_column`` is False. In one pass, the chunks
    before a bad line come before its error.

    Parameters
    ----------
    path : str or path-like
        The file, as in :func:`manylabel.read`.
    n_rows : int, default=10_000
        Rows per chunk; the last may have fewer. A file without rows is one chunk, which
        has its columns.
    format, label_names, feature_names, n_labels, n_features, zero_based, labels_from
        As in :func:`manylabel.read`.
    text_columns, labels_column, label_separator
        As in :func:`manylabel.read`.
    skip_bad_lines : bool, default=False
        As in :func:`manylabel.read`; the warning comes after the last chunk.

    Yields
    ------
    Dataset
        The next rows.

    Examples
    --------
    >>> from tempfile import NamedTemporaryFile
    >>> with NamedTemporaryFile("w") as file:
    ...     _ = file.write("1 1:0.5\n0,2 3:1\n2 2:2\n")
    ...     file.flush()
    ...     for chunk in iter_chunks(file.name, n_rows=2):
    ...         print(chunk)
    Dataset(2 rows, 3 features, 3 labels)
    Dataset(1 rows, 3 features, 3 labels)
    """
    check_scalar(n_rows, "n_rows", Integral, min_val=1)
    reader = open_reader(
        path,
        format,
        label_names=label_names,
        feature_names=feature_names,
        n_labels=n_labels,
        n_features=n_features,
        zero_based=zero_based,
        labels_from=labels_from,
        text_columns=text_columns,
        labels_column=labels_column,
        label_separator=label_separator,
        skip_bad_lines=skip_bad_lines,
    )
    return reader.chunks(int(n_rows))
