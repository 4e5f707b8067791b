"""Which format a file has, told by its content, and how to read it."""

import os
import re
from collections.abc import Iterator, Mapping
from numbers import Integral
from typing import Any, Unpack

from sklearn.utils import check_scalar

from manylabel import _validation
from manylabel._paths import as_path
from manylabel.data.arff import OPTION_C, MekaReader, MulanReader
from manylabel.data.dataset import Dataset
from manylabel.data.encoding import REMEDY
from manylabel.data.json_records import is_json
from manylabel.data.reader import Reader, ReadOptions, check_options
from manylabel.data.records import RecordReader
from manylabel.data.source import BLOCK, Source, suffix
from manylabel.data.sparse_rows import HEADER, SvmlightReader, XCReader
from manylabel.data.text_files import (
    CsvReader,
    JsonlReader,
    LibMultiLabelReader,
    LinesReader,
    ParquetReader,
    TsvReader,
    tell_table,
)
from manylabel.exceptions import DataError

READERS: Mapping[str, type[Reader[Any]]] = {
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
# Formats of texts, not of features.
TEXTS = {name for name, kind in READERS.items() if issubclass(kind, RecordReader)}
TABLES = {".csv": "csv", ".tsv": "tsv"}
PARQUET_MAGIC = b"PAR1"
RELATION = re.compile(rb"^[ \t]*+@relation\b.*$", re.IGNORECASE | re.MULTILINE)
LABELS = rb"[+-]?\d++(?:\.0*+)?(?:,[+-]?\d++(?:\.0*+)?)*+"
ROW = re.compile(rb"[ \t]*+(?:%s)?[ \t\r]*+(?:#|qid:|\d++:|$)" % LABELS)

FEATURES = re.compile(rb"(?:%s)?(?:[ \t]*+\d++:[-+.\deE]++)++" % LABELS)
N_TOLD = 10  # lines that tell features from texts


def read(path: str | os.PathLike[str], **options: Unpack[ReadOptions]) -> Dataset:
    r"""Read a data file into memory.

    Parameters
    ----------
    path : str or path-like
        The file; may be gzipped, whatever its name.
    format : str or None, default=None
        "xc", "svmlight", "arff", "meka", "jsonl", "parquet", "csv", "tsv" or
        "libmultilabel"; None tells it by the content, and where that could be anything
        by the suffixes ``.csv`` and ``.tsv``, perhaps before ``.gz``. See Notes.
    encoding : str or None, default=None
        How letters are written, as "utf-8", "utf-16", "latin-1" or "cp1252". None tells
        UTF-16 by its byte order mark or zeros, cp1252 by accents that cannot be UTF-8
        in the first 64 KB, and takes UTF-8 otherwise.
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
    zero_based : bool, "auto" or None, default=None
        Whether features count from 0 (svmlight); None and "auto" say yes if a 0 occurs.
        Do not rely on that for the parts of one data set: a part may lack it.
    labels_from : str, path-like or None, default=None
        The XML file that names the labels (arff); None looks beside the file.
    id_column : str or None, default=None
        The column of the identifiers (jsonl, parquet, csv, tsv). None is ``id`` or
        ``uid``, in upper or lower case, if there is one.
    text_columns : str, sequence of str or None, default=None
        The columns of the text (jsonl, parquet, csv, tsv), joined by a newline. None is
        ``text``, or else ``title`` and one of ``content``, ``description``, ``body``,
        in upper or lower case.
    labels_column : str, sequence of str, False or None, default=None
        The column of the labels (jsonl, parquet, csv, tsv), or several whose labels are
        joined. None is ``labels``, ``tags`` or ``target_ind``; False reads no labels,
        as for texts to be tagged. Names in all these options may also stand in one
        string, with commas between.
    labels_columns : str, sequence of str or None, default=None
        Columns that each have a 1 where a row has the label of that name, and else a 0
        or nothing; "x", "yes" and "no" will do. None takes those that have nothing else
        in the first thousand rows, if no column is named as one of labels.
    label_separator : str or None, default=None
        What separates labels that are a string; spaces around a label do not count.
        None tells line end, tab, ``|``, ``;`` and comma by the first thousand rows, and
        warns ``DoubtfulLabels`` where two may be meant; a comma where none occurs. In
        libmultilabel it is a blank.
    skip_bad_lines : bool, default=False
        Whether to leave bad lines out and warn ``SkippedLines`` with their number and
        the first few errors, in place of raising DataError at the first.
    max_line_bytes : int or None, default=None
        The longest line, and the longest record of a table whose quoted fields hold
        line ends; None is 2**23, 8 MB. A longer one raises DataError, so that a file
        that somebody sends cannot fill the memory.

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
    ``X``. ``jsonl`` has an object a line, or all in an array. ``csv`` and ``tsv`` have
    a header; a field may stand in quotes, with line ends and doubled quotes in it, and
    a csv is separated by that of comma, semicolon, tab and ``|`` in its header which
    most lines have as often. Their labels are names, even if they look like numbers; a
    field that is a whole list of strings, as ``['a', 'b']``, is taken as such.
    ``libmultilabel`` has no header and no quotes: identifier, tab, labels separated by
    blanks, tab, text. Nothing in it tells it from another table, so it must be asked
    for. What was told of a file of texts is in ``Dataset.read_as``. If every row has
    one label at most and some look like several, or each is another, ``DoubtfulLabels``
    is warned.

    Examples
    --------
    >>> from tempfile import NamedTemporaryFile
    >>> with NamedTemporaryFile("w") as file:
    ...     _ = file.write("2 3 4\n0,2 0:0.5 2:1\n3 1:2\n")
    ...     file.flush()
    ...     read(file.name)
    Dataset(2 rows, 3 features, 4 labels)
    """
    (whole,) = open_reader(path, options).chunks()
    return whole


def iter_chunks(
    path: str | os.PathLike[str],
    *,
    n_rows: int = 10_000,
    **options: Unpack[ReadOptions],
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
    **options
        As in :func:`manylabel.read`; the warning of ``skip_bad_lines`` comes after the
        last chunk.

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
    return open_reader(path, options).chunks(int(n_rows))


def open_reader(path: str | os.PathLike[str], options: ReadOptions) -> Reader[Any]:
    """Choose the reader of a file and hand it the options."""
    longest = options.get("max_line_bytes")
    if longest is not None:
        check_scalar(longest, "max_line_bytes", Integral, min_val=BLOCK)
    source = Source(as_path(path), longest, options.get("encoding"))
    if not source.head.strip():
        raise DataError(source.path, "expected data, found an empty file.")
    format = options.get("format") or tell_format(source)
    _validation.choice(format, "format", READERS)
    check_options(options, format, READERS[format].OPTIONS)
    return READERS[format](source, {**options, "format": format})


def has_features(head: bytes) -> bool:
    r"""Return whether the first lines of a file are rows of features, and no texts.

    Examples
    --------
    >>> has_features(b"1,2 3:0.5 7:1\n4 1:2\n"), has_features(b"1 2 3\nof a song\n")
    (True, False)
    """
    if RELATION.search(head):
        return True
    lines = [line.strip() for line in head.split(b"\n")[:N_TOLD]]
    rows = lines[1:] if HEADER.match(head + b"\n") else lines
    return any(rows) and all(FEATURES.fullmatch(row) for row in rows if row)


def tell_format(source: Source) -> str:
    """Tell the format by the first lines, or raise DataError."""
    head = source.head
    if head.startswith(PARQUET_MAGIC):
        return "parquet"
    if b"\0" in head:
        raise DataError(
            source.path,
            "expected text or Parquet, found a binary file, or text that is not in "
            f"{source.encoding}; {REMEDY}.",
        )
    if HEADER.match(head + b"\n"):
        return "xc"
    if is_json(head):
        return "jsonl"
    if head.lstrip().startswith((b"@", b"%")):
        found = RELATION.search(head)
        relation = found[0].decode("latin-1").rstrip("'\" \r") if found else ""
        return "meka" if OPTION_C.search(relation) else "arff"
    line = head.lstrip(b"\r\n").partition(b"\n")[0]
    if ROW.match(line):
        return "svmlight"
    if table := tell_table(line) or TABLES.get(suffix(source.path)):
        return table
    start = line[:40].decode(errors="backslashreplace")
    known = ", ".join(READERS)
    reason = f"expected one of {known}, found {start!r}; format says which it is."
    raise DataError(source.path, reason, line=1)
