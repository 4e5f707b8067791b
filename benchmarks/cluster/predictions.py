"""Predictions by Spark and by Ray on two processes, beside two threads of one."""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import parquet

import manylabel as ml
from benchmarks.cluster.processes import Meter, losing

K, N_CORES, N_FILES = 5, 2, 16
PATIENCE = 600  # seconds
FEW = 20_000  # rows that start processes and load kernels
Run = Callable[[Path, Path], None]


def measure_predictions(
    train: ml.Dataset, test: ml.Dataset, n_rows: int, folder: Path
) -> dict[str, Any]:
    """Return rows a second of each engine, the ratio to the command line, and losses.

    Rows are those of a test part, again and again. What the folder has of a run that
    was stopped is taken as it is.
    """
    model, notes = folder / "model", folder / f"{n_rows}.json"
    prepare(train, test, n_rows, folder)
    found = json.loads(notes.read_text()) if notes.exists() else {"rows": n_rows}
    if "here" not in found:
        run = command_line(model)
        run(folder / "few", folder / "few.parquet")
        found["here"] = timed(run, folder, n_rows, "here")
        notes.write_text(json.dumps(found))
    for name in [name for name in ENGINES if name not in found]:
        found[name] = measure_engine(name, folder, n_rows, found["here"])
        notes.write_text(json.dumps(found))
    return found


def prepare(train: ml.Dataset, test: ml.Dataset, n_rows: int, folder: Path) -> None:
    """Write model and rows to a folder, unless they are there."""
    if not (folder / "model").exists():
        learner = ml.LabelTree(n_jobs=N_CORES)
        learner.fit(train.X, train.Y).save(folder / "model")
    for place, count in (("few", FEW), (f"rows-{n_rows}", n_rows)):
        if not (folder / place).exists():
            write_rows(test.X, count, folder / f"{place}.part")
            (folder / f"{place}.part").rename(folder / place)


def measure_engine(
    name: str, folder: Path, n_rows: int, here: dict[str, Any]
) -> dict[str, Any]:
    """Return the figures of one engine, once as it is, once with a process killed."""
    engine, victim = ENGINES[name]
    shutil.rmtree(folder / f"few-{name}", ignore_errors=True)
    with engine(folder / "model") as run:
        run(folder / "few", folder / f"few-{name}")
        found = timed(run, folder, n_rows, name)
        with losing(victim, found["seconds"] / 2) as lost:
            killed = timed(run, folder, n_rows, f"{name}-killed")
    killed["processes_lost"] = len(lost)
    found["ratio"] = round(here["seconds"] / found["seconds"], 3)
    found["cpu_ratio"] = round(here["cpu"] / found["cpu"], 3)
    expected = gather(folder / f"here-{n_rows}", n_rows)
    for figures, place in ((found, name), (killed, f"{name}-killed")):
        out = folder / f"{place}-{n_rows}"
        figures["equal"] = same(gather(out, n_rows), expected)
        shutil.rmtree(out)
    return found | {"killed": killed}


def write_rows(X: Any, n_rows: int, folder: Path) -> None:
    """Write rows of features as Parquet files, a matrix again and again."""
    folder.mkdir()
    for number, ids in enumerate(np.array_split(np.arange(n_rows), N_FILES)):
        rows = X[ids % X.shape[0]]
        offsets = pa.array(rows.indptr.astype(np.int32))
        lists = [
            pa.ListArray.from_arrays(offsets, pa.array(part))
            for part in (rows.indices.astype(np.int32), rows.data)
        ]
        table = pa.table([pa.array(ids), *lists], ["id", "indices", "values"])
        parquet.write_table(table, folder / f"{number:02}.parquet")


def timed(run: Run, folder: Path, n_rows: int, name: str) -> dict[str, Any]:
    """Return how long a run over all rows takes, and what all processes compute."""
    out = folder / f"{name}-{n_rows}"
    shutil.rmtree(out, ignore_errors=True)  # of a run that was stopped
    start = time.perf_counter()
    with Meter() as meter:
        run(folder / f"rows-{n_rows}", out)
    seconds = time.perf_counter() - start
    return {
        "seconds": round(seconds, 1),
        "rows_per_second": round(n_rows / seconds),
        "cpu": round(meter.seconds, 1),
        "cpu_microseconds_per_row": round(1e6 * meter.seconds / n_rows, 2),
    }


def command_line(model: Path) -> Run:
    """Return the command line, on as many threads as engines have processes."""

    def run(rows: Path, out: Path) -> None:
        command = [sys.executable, "-m", "manylabel.cli.start", "predict", model, rows]
        options = ["-k", K, "--jobs", N_CORES, "--format", "parquet", "-o", out]
        subprocess.run([*map(str, command + options)], check=True)

    return run


@contextmanager
def on_spark(model: Path) -> Iterator[Run]:
    """Yield a run by Spark, on two executors of one core."""
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    master = f"local-cluster[{N_CORES},1,1024]"
    options = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.files.minPartitionNum": N_FILES,  # what is lost is a file at a time
        "spark.worker.timeout": PATIENCE,  # else a busy machine is taken for a lost one
    }
    session = SparkSession.builder.master(master).config(map=options).getOrCreate()

    def run(rows: Path, out: Path) -> None:
        answer = ml.distributed.predict(session.read.parquet(str(rows)), model, k=K)
        answer.write.parquet(str(out))

    yield run
    session.stop()


@contextmanager
def on_ray(model: Path) -> Iterator[Run]:
    """Yield a run by Ray, on two cores."""
    import ray

    ray.init(num_cpus=N_CORES, include_dashboard=False, log_to_driver=False)

    def run(rows: Path, out: Path) -> None:
        answer = ml.distributed.predict(ray.data.read_parquet(str(rows)), model, k=K)
        answer.write_parquet(str(out))

    yield run
    ray.shutdown()


def gather(path: Path, n_rows: int) -> tuple[Any, Any]:
    """Return labels and scores by id; -1 and NaN where a row has fewer."""
    labels = np.full((n_rows, K), -1, np.int32)
    scores = np.full((n_rows, K), np.nan, np.float32)
    for file in sorted(path.glob("*.parquet")) if path.is_dir() else [path]:
        for batch in parquet.ParquetFile(file).iter_batches(1 << 18):
            lengths = batch.column("labels").value_lengths().to_numpy()
            rows = np.repeat(batch.column("id").to_numpy(), lengths)
            ranks = np.arange(lengths.sum()) - np.repeat(
                np.cumsum(lengths) - lengths, lengths
            )
            names = batch.column("labels").flatten().cast(pa.int32())
            labels[rows, ranks] = names.to_numpy()
            scores[rows, ranks] = batch.column("scores").flatten().to_numpy()
    return labels, scores


def same(one: tuple[Any, Any], other: tuple[Any, Any]) -> bool:
    """Tell whether all labels and all bits of scores are equal."""
    return all(
        np.array_equal(mine.view(np.int32), theirs.view(np.int32))
        for mine, theirs in zip(one, other, strict=True)
    )


# How to run by each, and a word of the process that is killed.
ENGINES = {
    "spark": (on_spark, "CoarseGrainedExecutorBackend"),
    "ray": (on_ray, "ray::MapWorker"),
}
