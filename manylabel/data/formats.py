"""Which format a file has, told by its content, and how to read it."""

import os
import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from manylabel import _validation
from manylabel.data.arff import MekaReader, MulanReader
from manylabel.data.arff_labels import OPTION_C
from manylabel.data.columns import Names
from manylabel.data.dataset import Dataset
from manylabel.data.jsonl import JsonlReader
from manylabel.data.lines import LinesReader
from manylabel.data.parquet import ParquetReader
from manylabel.data.reader import Reader
from manylabel.data.records import RecordReader
from manylabel.data.source import Source
from manylabel.data.svmlight import SvmlightReader
from manylabel.data.table import CsvReader, LibMultiLabelReader, TsvReader, tell_table
from manylabel.data.xc import HEADER, XCReader
from manylabel.exceptions import DataError

READERS: Mapping[str, type[Reader]] = {
    "xc": XCReader,
    "svmlight": SvmlightReader,
    "arff": MulanReader,
    "meka": MekaReader,
    "jsonl": JsonlReader,
    "parquet": ParquetReader,
    "csv": CsvReader,
    "tsv": TsvReader,
    "libmultilabel": LibMultiLabelReader,
    "lines": LinesReader,
}
TABLES = {".csv": "csv", ".tsv": "tsv"}
PARQUET_MAGIC = b"PAR1"
RELATION = re.compile(rb"^[ \t]*+@relation\b.*$", re.IGNORECASE | re.MULTILINE)
LABELS = rb"[+-]?\d++(?:\.0*+)?(?:,[+-]?\d++(?:\.0*+)?)*+"
ROW = re.compile(rb"[ \t]*+(?:%s)?[ \t\r]*+(?:#|qid:|\d++:|$)" % LABELS)


def read(
    path: str | os.PathLike[str],
    *,
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
) -> Dataset:
    r"""Read a data file into memory.

    Parameters
    ----------
    path : str or path-like
        The file; may be gzipped, whatever its name.
    format : str or None, default=None
        "xc", "svmlight", "arff", "meka", "jsonl", "parquet", "csv", "tsv" or
        "libmultilabel"; None tells it by the content, and where that could be anything
        by the suffixes ``.csv`` and ``.tsv``, perhaps before ``.gz``. See Notes.
    label_names : sequence of str, str, path-like or None, default=None
        Names of the labels, or a file with one a line (xc, svmlight). With texts they
        fix the columns, and a label that is not among them is an error.
    feature_names : sequence of str, str, path-like or None, default=None
        Names of the features, or a file with one a line (xc, svmlight).
    n_labels : int or None, default=None
        Number of labels, where it is more than the file shows (svmlight, and texts
        with numbered labels).
    n_features : int or None, default=None
        Number of features, where it is more than the file shows (svmlight).
    zero_based : bool or "auto", default="auto"
        Whether features count from 0 (svmlight); "auto" says yes if a 0 occurs.
        Do not rely on "auto" for the parts of one data set: a part may lack it.
    labels_from : str, path-like or None, default=None
        The XML file that names the labels (arff); None looks beside the file.
    text_columns : str, sequence of str or None, default=None
        The columns of the text (jsonl, parquet, csv, tsv), joined by a newline. None is
        ``text``, or else ``title`` and one of ``content``, ``description``, ``body``,
        in upper or lower case.
    labels_column : str, False or None, default=None
        The column of the labels (jsonl, parquet, csv, tsv). None is ``labels``,
        ``tags`` or ``target_ind``; False reads no labels, as for texts to be tagged.
    label_separator : str or None, default=None
        What separates labels that are a string; spaces around a label do not count.
        None is a comma in csv and tsv and a blank in libmultilabel; jsonl and parquet
        then have lists only.
    skip_bad_lines : bool, default=False
        Whether to leave bad lines out and warn ``SkippedLines`` with their number and
        the first few errors, in place of raising DataError at the first.

    Returns
    -------
    Dataset
        The whole file.

    Notes
    -----
    ``xc`` is the text of the Extreme Classification Repository, with a header
    ``rows features labels``; columns count from 0. ``svmlight`` has none; labels count
    from 0, and a file of +1 and -1 has one label. ``arff`` is Mulan's, with an XML file
    of the same name (or without ``-train``, ``-test``); ``meka`` has ``-C n`` in its
    relation. In both a missing ``?`` is read as 0, and nominal features other than
    ``{0,1}`` become one column per value.

    All others hold texts with labels and perhaps an ``id``, and give ``texts`` and no
    ``X``. ``jsonl`` has an object a line. ``csv`` and ``tsv`` have a header; a field
    may stand in quotes, with line ends and doubled quotes in it, and a csv whose header
    has no comma is separated by semicolons. Their labels are names, even if they look
    like numbers; a field that is a whole list of strings, as ``['a', 'b']``, is taken
    as such. ``libmultilabel`` has no header and no quotes: identifier, tab, labels
    separated by blanks, tab, text. Nothing in it tells it from another table, so it
    must be asked for.

    Examples
    --------
    >>> from tempfile import NamedTemporaryFile
    >>> with NamedTemporaryFile("w") as file:
    ...     _ = file.write("2 3 4\n0,2 0:0.5 2:1\n3 1:2\n")
    ...     file.flush()
    ...     read(file.name)
    Dataset(2 rows, 3 features, 4 labels)
    """
    return open_reader(
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
    ).read()


def open_reader(
    path: str | os.PathLike[str], format: str | None, **options: Any
) -> Reader:
    """Choose the reader of a file and hand it the options that were given."""
    source = Source(path)
    if not source.head.strip():
        raise DataError(source.path, "expected data, found an empty file.")
    format = tell_format(source) if format is None else format
    _validation.choice(format, "format", READERS)
    given = {
        name: value
        for name, value in options.items()
        if not (value is None or (name == "zero_based" and value == "auto"))
    }
    for name in given.keys() - READERS[format].OPTIONS - {"skip_bad_lines"}:
        raise ValueError(f"{name} must be left out for {format} files. Got a value.")
    return READERS[format](source, **given)


def holds_texts(format: str) -> bool:
    """Return whether files of a format hold texts, not features."""
    return format in READERS and issubclass(READERS[format], RecordReader)


def tell_format(source: Source) -> str:
    """Tell the format by the first lines, or raise DataError."""
    head = source.head
    if head.startswith(PARQUET_MAGIC):
        return "parquet"
    if b"\0" in head:
        raise DataError(source.path, "expected text or Parquet, found a binary file.")
    if HEADER.match(head + b"\n"):
        return "xc"
    if head.lstrip().startswith(b"{"):
        return "jsonl"
    if head.lstrip().startswith((b"@", b"%")):
        found = RELATION.search(head)
        relation = found[0].decode("latin-1").rstrip("'\" \r") if found else ""
        return "meka" if OPTION_C.search(relation) else "arff"
    line = head.lstrip(b"\r\n").partition(b"\n")[0]
    if ROW.match(line):
        return "svmlight"
    path = source.path
    suffix = path.with_suffix("").suffix if path.suffix == ".gz" else path.suffix
    if table := tell_table(line) or TABLES.get(suffix):
        return table
    start = line[:40].decode("ascii", "backslashreplace")
    known = ", ".join(READERS)
    raise DataError(source.path, f"expected one of {known}, found {start!r}.", line=1)
