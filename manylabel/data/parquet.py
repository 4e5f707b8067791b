"""Parquet with a column of texts and a column of lists of labels."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from manylabel.data.records import RecordReader
from manylabel.exceptions import MissingExtra

BATCH = 4096
BUFFER = 1 << 16


class ParquetReader(RecordReader):
    """Read records from a Parquet file, page by page.

    Columns are told by name, as the fields of JSON lines; all others are
    left unread. A bad row is reported by its number, counted from 1.
    """

    def batches(self) -> Iterator[Iterable[tuple[int, Mapping[str, Any]]]]:
        """Yield the rows of each batch."""
        try:
            import pyarrow as pa
            from pyarrow import parquet
        except ImportError:
            raise MissingExtra("Parquet", "pyarrow", "parquet") from None
        if self.source.gzipped:
            raise self.fault("expected Parquet as it is, found it inside gzip.")
        n_rows = 0
        try:
            # Without a buffer, or with one filled ahead, Arrow holds whole columns.
            path = self.source.path
            with parquet.ParquetFile(
                path, buffer_size=BUFFER, pre_buffer=False
            ) as file:
                fields = self.lay_out(file.schema_arrow.names).fields
                for batch in file.iter_batches(BATCH, columns=fields):
                    yield enumerate(batch.to_pylist(), start=n_rows + 1)
                    n_rows += len(batch)
        except (pa.ArrowException, OSError) as error:
            reason = str(error).partition("\n")[0]
            raise self.fault(f"expected a whole Parquet file: {reason}.") from None
        except ValueError as error:
            raise self.fault(str(error)) from None
