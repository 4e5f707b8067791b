"""Predictions for files of rows, a batch in memory at a time."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from manylabel.data.arrow import BATCH, iter_batches
from manylabel.data.writing import replacing
from manylabel.distributed.columns import FOUND
from manylabel.distributed.prediction import BatchPredictor
from manylabel.distributed.row_tables import feature_batches
from manylabel.distributed.shards import SUFFIXES, files_with_checksums, verify
from manylabel.exceptions import DataError


def predict_files(predictor: BatchPredictor, path: str | Path) -> Iterator[Any]:
    """Yield the answers for the rows of a file, or of the files of a folder, by name.

    Parameters
    ----------
    predictor : BatchPredictor
        What :func:`predict_batches` returned.
    path : str or Path
        Parquet or JSON lines, or a folder of such files; or a sharded folder.

    Yields
    ------
    pyarrow.RecordBatch
        An answer for each batch of rows. What is wrong with a file raises DataError.
    """
    predictor.check()  # what is wrong with the model, or asked of it, is no file's
    for file, checksum in files_with_checksums(path):
        yield from predict_file(predictor, file, checksum=checksum)


def predict_file(
    predictor: BatchPredictor,
    file: Path,
    groups: Sequence[int] | None = None,
    checksum: str | None = None,
    n_rows: int = BATCH,
) -> Iterator[Any]:
    """Yield the answers for a file, or for some row groups of Parquet, by batches.

    What has a checksum is a shard, which may also be repository text.
    """

    def choose(names: Sequence[str]) -> list[str]:
        columns = predictor.choose(names)
        return list(dict.fromkeys([*columns.read, *columns.keep]))

    if checksum is not None:
        verify(file, checksum)
    if checksum is not None and file.suffix == SUFFIXES["xc"]:
        batches = feature_batches(file, n_rows)
    else:
        batches = iter_batches(file, choose, n_rows, groups)
    n_read, kinds = 0, None
    for batch in batches:
        try:
            answer = predictor.predict(batch)
            kinds = kinds or answer.schema
            _check_kinds(kinds, answer.schema)
        except (TypeError, ValueError) as error:
            reason = f"rows from {n_read} on cannot be read: {error}"
            raise DataError(file, reason) from None
        yield answer
        n_read += len(batch)


def kinds_of(answer: Any) -> list[list[str]]:
    """Return the names and types of the columns that an answer has of its rows."""
    kept = list(answer.schema)[: -len(FOUND)]
    return [[field.name, str(field.type)] for field in kept]


def alike(
    answers: Iterable[Any], path: str | Path, kinds: list[list[str]], first: str | Path
) -> Iterator[Any]:
    """Yield answers; refuse columns that are not those of the first file's answer."""
    for answer in answers:
        found = kinds_of(answer)
        if found != kinds:
            here, there = map(_spelt, (found, kinds))
            reason = f"expected {there} to keep, as in {first}, found {here}."
            raise DataError(path, reason)
        yield answer


def _spelt(kinds: list[list[str]]) -> str:
    return ", ".join(f"{name!r} ({kind})" for name, kind in kinds) or "no column"


def write_answers(answers: Iterable[Any], out: str | Path) -> None:
    """Write answers to a Parquet file, which appears whole or not at all."""
    from pyarrow import parquet

    batches = iter(answers)
    first = next(batches, None)
    if first is None:
        raise ValueError("answers must be for some rows. Got none.")
    with replacing(out) as file, parquet.ParquetWriter(file, first.schema) as writer:
        for batch in chain([first], batches):
            try:
                _check_kinds(first.schema, batch.schema)
            except ValueError as error:
                raise DataError(out, f"rows do not fit one file: {error}") from None
            writer.write_batch(batch)


def _check_kinds(before: Any, now: Any) -> None:
    """Refuse values of another kind than those before them."""
    for one, other in zip(before, now, strict=True):
        if one.type != other.type:
            raise ValueError(
                f"expected {one.type} in {one.name!r}, as before, found {other.type}."
            )
