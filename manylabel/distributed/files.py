"""Predictions for files of rows, a batch in memory at a time."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from manylabel.data.arrow import files_of, iter_batches
from manylabel.data.writing import replacing
from manylabel.distributed.prediction import BatchPredictor
from manylabel.exceptions import DataError


def predict_files(
    predictor: BatchPredictor, path: str | Path, groups: Sequence[int] | None = None
) -> Iterator[Any]:
    """Yield the answers for the rows of a file, or of the files of a folder, by name.

    Parameters
    ----------
    predictor : BatchPredictor
        What :func:`predict_batches` returned.
    path : str or Path
        Parquet or JSON lines, or a folder of such files.
    groups : sequence of int or None, default=None
        Row groups of Parquet files to read; None is all.

    Yields
    ------
    pyarrow.RecordBatch
        An answer for each batch of rows. What is wrong with a file raises DataError.
    """

    def choose(names: Sequence[str]) -> list[str]:
        columns = predictor.choose(names)
        return list(dict.fromkeys([*columns.read, *columns.keep]))

    for file in files_of(path):
        n_rows = 0
        for batch in iter_batches(file, choose, groups=groups):
            try:
                yield predictor.predict(batch)
            except (TypeError, ValueError) as error:
                reason = f"rows from {n_rows} on cannot be read: {error}"
                raise DataError(file, reason) from None
            n_rows += len(batch)


def write_answers(answers: Iterable[Any], out: str | Path) -> None:
    """Write answers to a Parquet file, which appears whole or not at all."""
    from pyarrow import parquet

    batches = iter(answers)
    first = next(batches, None)
    if first is None:
        raise ValueError("answers must be for some rows. Got none.")
    with replacing(out) as file, parquet.ParquetWriter(file, first.schema) as writer:
        for batch in chain([first], batches):
            writer.write_batch(batch)
