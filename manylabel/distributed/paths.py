"""Predictions for files by path and range, on whichever engine."""

import os
import socket
from collections.abc import Mapping, Sequence
from numbers import Integral
from pathlib import Path
from typing import Any

from sklearn.utils import check_scalar

from manylabel import parallel
from manylabel.distributed.answers import (
    FILE,
    Piece,
    answer_place,
    is_answered,
    plan_answers,
    remove_drafts,
)
from manylabel.distributed.engines import connect
from manylabel.distributed.files import alike, predict_file, write_answers
from manylabel.distributed.lock import locked
from manylabel.distributed.prediction import BatchPredictor, predict_batches
from manylabel.distributed.sealed import find_plan
from manylabel.distributed.shards import files_with_checksums
from manylabel.distributed.versions import check_versions, versions
from manylabel.exceptions import DataError

N_ROWS = 100_000  # of a task, about


def predict_paths(
    paths: str | Path | Sequence[str | Path],
    model: str | Path,
    *,
    out: str | Path,
    client: Any = None,
    n_rows: int = N_ROWS,
    **options: Any,
) -> list[Path]:
    """Predict labels for files, each read and answered where an engine sees fit.

    A worker gets a path, and a range of row groups where a Parquet file is large; it
    writes a Parquet file of answers, whole or not at all. What has been answered when a
    run breaks is not predicted again by the next.

    Parameters
    ----------
    paths : str, Path or sequence of them
        Parquet, JSON lines or arrays, or a folder of such files, or a sharded folder
        (:func:`write_shards`), at the same place on every machine. Rows are answered in
        this order, those of folders by name.
    model : str or Path
        A model's folder, at the same place on every machine.
    out : str or Path
        A folder that all machines see, for the answers of this call alone.
    client : distributed.Client, SparkSession, the module ray, str or None, default=None
        Who runs it, or its address, as :func:`fit` takes it; None is this process.
    n_rows : int, default=100_000
        Rows of a task, about: larger Parquet files are divided between row groups.
    **options
        ``columns``, ``k``, ``keep`` and more, as :func:`predict_batches` takes them.

    Returns
    -------
    list of Path
        The files of answers, in the order of the rows: the columns that are kept,
        ``labels`` and ``scores``. What is kept must have the same types in all files.

    Examples
    --------
    >>> import json, tempfile
    >>> from pyarrow import parquet
    >>> from manylabel import Tagger
    >>> tagger = Tagger().fit(["red wine", "rye bread"], [["drink"], ["food"]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     tagger.save(f"{folder}/model")
    ...     size = Path(f"{folder}/a.jsonl").write_text('{"id": 7, "text": "wine"}')
    ...     asked = {"out": f"{folder}/answers", "k": 1}
    ...     (answers,) = predict_paths(f"{folder}/a.jsonl", f"{folder}/model", **asked)
    ...     parquet.read_table(answers).select(["id", "labels"]).to_pylist()
    [{'id': 7, 'labels': ['drink']}]
    """
    check_scalar(n_rows, "n_rows", Integral, min_val=1)
    given = [paths] if isinstance(paths, str | Path) else list(paths)
    listed = (file for path in given for file in files_with_checksums(path))
    files = [(Path(os.path.abspath(file)), checksum) for file, checksum in listed]
    if not files:
        raise ValueError("paths must name at least one file. Got none.")
    predictor, folder = predict_batches(model, **options), Path(out).absolute()
    predictor.check()
    with locked(folder), connect(client) as engine:
        plan = plan_answers(folder, predictor, files, int(n_rows))
        task: dict[str, Any] = {"plan": plan["checksum"], "versions": versions()}
        task |= {"model": predictor.model, "n_jobs": predictor.n_jobs}
        numbers = range(len(plan["pieces"]))
        calls = [(str(folder), task, number) for number in numbers]
        parallel.follow(engine.run(predict_piece, calls), len(calls))
        remove_drafts(folder)
    return [answer_place(folder, number) for number in numbers]


def predict_piece(out: str, task: Mapping[str, Any], number: int) -> int:
    """Write the answer for a piece of a plan, unless it is there; return its number."""
    check_versions(task["versions"])
    folder = Path(out)
    plan = find_plan(folder / FILE, task["plan"], number)
    piece, place = Piece(*plan["pieces"][number]), answer_place(folder, number)
    if is_answered(place, piece):
        return number
    n_bytes = Path(piece.path).stat().st_size
    if n_bytes != piece.n_bytes:
        raise DataError(
            piece.path,
            f"expected {piece.n_bytes:,} bytes, as the driver saw, found {n_bytes:,} "
            f"on {socket.gethostname()}.",
        )
    asked = {"model": task["model"], "n_jobs": task["n_jobs"], **plan["asked"]}
    groups = range(piece.start, piece.stop)
    answers = predict_file(
        BatchPredictor(**asked), Path(piece.path), groups or None, piece.checksum
    )
    if "kinds" in plan:  # not so in older ones
        first = Path(plan["pieces"][0][0]).name
        answers = alike(answers, piece.path, plan["kinds"], first)
    write_answers(answers, place)
    return number
