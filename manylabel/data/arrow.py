"""Files as Arrow batches: Parquet, and JSON lines as records."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

from manylabel.data.json_records import iter_objects
from manylabel.data.layout import json_object
from manylabel.data.source import Source
from manylabel.exceptions import DataError, MissingExtra

ARROW_BUFFER = 1 << 16
BATCH = 10_000  # rows in memory
Choose = Callable[[Sequence[str]], Sequence[str]]
Record = tuple[int, Mapping[str, Any]]  # a line, and the object that is there


def iter_batches(
    path: str | Path,
    choose: Choose,
    n_rows: int = BATCH,
    groups: Sequence[int] | None = None,
) -> Iterator[Any]:
    """Yield the rows of a file, or of all files of a folder by name, as batches.

    Parameters
    ----------
    path : str or Path
        Parquet or JSON lines, or a folder of such files.
    choose : callable
        Returns the columns to read, of those that there are.
    n_rows : int, default=10_000
        The most rows of a batch.
    groups : sequence of int or None, default=None
        Row groups of Parquet files to read; None is all. Other files have none.

    Yields
    ------
    pyarrow.RecordBatch
        At least one, perhaps without rows.
    """
    for file in files_of(path):
        source = Source(file)
        if is_parquet(source):
            yield from parquet_batches(source, choose, n_rows, groups)
        else:
            yield from _json(source, choose, n_rows)


def is_parquet(source: Source) -> bool:
    """Tell whether a file begins as Parquet does, or has its name and is empty."""
    is_emptied = not source.head and source.path.suffix == ".parquet"
    return is_emptied or source.head.startswith(b"PAR1")


def files_of(path: str | Path) -> list[Path]:
    """Return a file, or those of a folder by name, but for hidden ones."""
    if not Path(path).is_dir():
        return [Path(path)]
    files = sorted(file for file in Path(path).iterdir() if file.name[0] not in "._")
    if not files:
        raise DataError(path, "expected a folder with files, found none.")
    return files


def parquet_batches(
    source: Source, choose: Choose, n_rows: int, groups: Sequence[int] | None = None
) -> Iterator[Any]:
    """Yield the batches of a Parquet file, or of some of its row groups."""
    with open_parquet(source) as file:
        try:
            columns = list(choose(file.schema_arrow.names))
        except ValueError as error:
            raise DataError(source.path, str(error)) from None
        if not file.metadata.num_rows:
            yield from file.read(columns).to_batches() or [_empty(file, columns)]
        yield from file.iter_batches(n_rows, row_groups=groups, columns=columns)


@contextmanager
def open_parquet(source: Source) -> Iterator[Any]:
    """Open a Parquet file; what is wrong with it raises DataError."""
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError:
        raise MissingExtra("Parquet", "pyarrow", "parquet") from None
    if source.gzipped:
        reason = "expected Parquet as it is, found it inside gzip."
        raise DataError(source.path, reason)
    try:
        # Without a buffer, or with one filled ahead, Arrow holds whole columns.
        with parquet.ParquetFile(
            source.path, buffer_size=ARROW_BUFFER, pre_buffer=False
        ) as file:
            yield file
    except (pa.ArrowException, OSError) as error:
        reason = str(error).partition("\n")[0]
        reason = f"expected a whole Parquet file: {reason}."
        raise DataError(source.path, reason) from None


def _empty(file: Any, columns: list[str]) -> Any:
    import pyarrow as pa

    fields = [file.schema_arrow.field(name) for name in columns]
    return pa.RecordBatch.from_pylist([], pa.schema(fields))


def _json(source: Source, choose: Choose, n_rows: int) -> Iterator[Any]:
    """Yield the batches of a file of JSON lines."""
    try:
        import pyarrow as pa
    except ImportError:
        raise MissingExtra("Arrow batches", "pyarrow", "parquet") from None
    records = _records(source)
    columns: Sequence[str] = ()
    while held := list(islice(records, n_rows)):
        line, first = held[0]
        try:
            columns = columns or choose(list(first))
        except ValueError as error:
            raise DataError(source.path, str(error), line) from None
        arrays = [_column(source, name, held) for name in columns]
        yield pa.RecordBatch.from_arrays(arrays, list(columns))


def _column(source: Source, name: str, held: Sequence[Record]) -> Any:
    """Return the values of a field, or say which of them is of another kind."""
    import pyarrow as pa

    cells = [(line, row.get(name)) for line, row in held]
    try:
        return pa.array([value for _, value in cells])
    except (pa.ArrowException, OverflowError) as error:
        kinds: dict[type, tuple[int, Any]] = {}
        for line, value in cells:
            if value is not None:
                kinds.setdefault(type(value), (line, value))
        (_, one), *_, (last, other) = [*kinds.values()] * 2
        found = (
            f"{one!r:.40} and {other!r:.40}" if len(kinds) > 1 else f"others: {error}"
        )
        reason = f"expected values of one kind in {name!r}, found {found}."
        raise DataError(source.path, reason, last) from None


def _records(source: Source) -> Iterator[Record]:
    """Yield the objects of a file of JSON, and their lines."""
    for number, text in iter_objects(source):
        try:
            yield number, json_object(text)
        except ValueError as error:
            raise DataError(source.path, str(error), number) from None
