"""Predictions by Arrow batches: tables of features, folders of files, Parquet."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from manylabel.cli.inputs import DataFile

if TYPE_CHECKING:
    from manylabel.distributed import BatchPredictor


class Answer(NamedTuple):
    """The labels of a row with their scores, the best first, and what row it is."""

    best: list[tuple[Any, float]]
    id: str = ""
    text: str = ""


def is_for_batches(predictor: "BatchPredictor", data: DataFile, format: str) -> bool:
    """Tell whether rows go by batches: what no reader of data sets takes."""
    if format == "parquet" or (data.given.is_dir() and not data.is_sharded):
        return True
    return not data.is_sharded and not predictor.tagger.reads_texts_ and data.is_table()


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
            kept, labels, scores = _columns(batch)
            pairs = (
                zip(*each, strict=True) for each in zip(labels, scores, strict=True)
            )
            yield [Answer(list(row), id) for row, id in zip(pairs, kept, strict=True)]


def _columns(batch: Any) -> tuple[list[str], list[list[str]], list[list[float]]]:
    """Return identifiers, which may be empty strings, labels and scores."""
    *kept, labels, scores = (column.to_pylist() for column in batch.columns)
    ids = map(str, kept[0]) if kept else [""] * len(labels)
    return list(ids), labels, scores


def write_table(
    out: Path, format: str, header: list[str], answers: Iterable[Any]
) -> None:
    """Write answers as Parquet, which needs no header."""
    from manylabel.distributed.files import write_answers

    write_answers(answers, out)
