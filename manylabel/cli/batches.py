"""Predictions by Arrow batches: tables of features, folders of files, Parquet."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from manylabel.cli.inputs import DataFile

if TYPE_CHECKING:
    from manylabel.distributed import BatchPredictor


def is_for_batches(predictor: "BatchPredictor", data: DataFile, format: str) -> bool:
    """Tell whether rows go by batches: what no reader of data sets takes."""
    if format == "parquet" or data.given.is_dir():
        return True
    return not predictor.tagger.reads_texts_ and data.is_table()


def find_answers(
    predictor: "BatchPredictor", data: DataFile, format: str
) -> Iterator[Any]:
    """Return answers for the batches of a file or a folder, to come.

    The next are found while the last are written.
    """
    from manylabel import parallel
    from manylabel.distributed.files import predict_files

    is_folder = data.given.is_dir()
    if format in ("csv", "xc"):
        raise ValueError(
            f"--format must be tsv, jsonl or parquet for tables. Got {format!r}."
        )
    if not is_folder and not data.is_table():
        raise data.fault("expected Parquet or JSON lines, for --format parquet.")
    return parallel.make_ahead(
        predict_files(predictor, data.given if is_folder else data.path)
    )


def rows_of(answers: Iterable[Any], format: str) -> Iterator[Any]:
    """Yield answers for Parquet, else the labels of each row with their scores."""
    for batch in answers:
        if format == "parquet":
            yield batch
        else:
            columns = (batch.column(name).to_pylist() for name in ("labels", "scores"))
            yield [list(zip(*row, strict=True)) for row in zip(*columns, strict=True)]


def write_table(
    out: Path, format: str, header: list[str], answers: Iterable[Any]
) -> None:
    """Write answers as Parquet, which needs no header."""
    from manylabel.distributed.files import write_answers

    write_answers(answers, out)
