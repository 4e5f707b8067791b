"""Predictions by Spark, Ray and dask on two processes, beside two threads of one."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import parquet

import manylabel as ml
from benchmarks.cluster.notes import Notes, say
from benchmarks.cluster.processes import Meter, losing

K, N_CORES, N_FILES = 5, 2, 16
PATIENCE = 600  # seconds
ATTEMPTS = 5
FEW = 20_000  # rows that start processes and load kernels
Run = Callable[[Path, Path], None]
Predict = Callable[[Any, Path, Path, Path], None]  # by a client and a model


def measure_predictions(
    read: Callable[[str], ml.Dataset], n_rows: int, folder: Path, engines: list[str]
) -> dict[str, Any]:
    """Return rows a second of each engine, the ratio to the command line, and losses.

    Rows are those of a test part, again and again. What the folder has of a run that
    was stopped is taken as it is.
    """
    prepare(read, n_rows, folder)
    notes = Notes(folder / f"{n_rows}.json")
    notes.measure("local", lambda: measure_command_line(folder, n_rows))
    for name in [name for name in engines if name != "local"]:
        measure = partial(measure_engine, name, folder, n_rows)
        whole = notes.measure(name, measure)
        notes.measure(f"{name}, killed", partial(measure, whole["seconds"] / 2))
    return {"rows": n_rows, **with_ratios(notes.found)}


def prepare(read: Callable[[str], ml.Dataset], n_rows: int, folder: Path) -> None:
    """Write model and rows to a folder, unless they are there."""
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / "model").exists():
        say("model: begins")
        train = read("train")
        learner = ml.LabelTree(n_jobs=N_CORES)
        learner.fit(train.X, train.Y).save(folder / "model")
    for place, count in (("few", FEW), (f"rows-{n_rows}", n_rows)):
        if not (folder / place).exists():
            say(f"{count:,} rows: begins")
            shutil.rmtree(folder / f"{place}.part", ignore_errors=True)
            write_rows(read("test").X, count, folder / f"{place}.part")
            (folder / f"{place}.part").rename(folder / place)


def measure_command_line(folder: Path, n_rows: int) -> dict[str, Any]:
    """Return the figures of the command line, whose answer stays."""
    run = command_line(folder / "model")
    run(folder / "few", folder / "few.parquet")
    return timed(run, folder, n_rows, "local")


def measure_engine(
    name: str, folder: Path, n_rows: int, kill_after: float | None = None
) -> dict[str, Any]:
    """Return the figures of one engine; a process may be killed after some seconds."""
    engine, predict, victim = ENGINES[name]
    shutil.rmtree(folder / f"few-{name}", ignore_errors=True)
    with engine(folder / "model", predict) as run:
        run(folder / "few", folder / f"few-{name}")
        with losing(victim, kill_after) as lost:
            found = timed(run, folder, n_rows, name)
    out = folder / f"{name}-{n_rows}"
    expected = gather(folder / f"local-{n_rows}", n_rows)
    found["equal"] = same(gather(out, n_rows), expected)
    shutil.rmtree(out)
    return found if kill_after is None else found | {"processes_lost": len(lost)}


def with_ratios(found: dict[str, Any]) -> dict[str, Any]:
    """Return figures with the rows a second beside those of the command line."""
    local = found["local"]
    return {
        name: figures
        | {
            "ratio": round(local["seconds"] / figures["seconds"], 3),
            "cpu_ratio": round(local["cpu"] / figures["cpu"], 3),
        }
        for name, figures in found.items()
    }


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
def on_spark(model: Path, run: Predict) -> Iterator[Run]:
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
    try:
        yield partial(run, session, model)
    finally:
        session.stop()


@contextmanager
def on_ray(model: Path, run: Predict) -> Iterator[Run]:
    """Yield a run by Ray, on two cores, a task a file."""
    os.environ["RAY_DATA_PARQUET_BIN_PACKING_BYTES"] = "1"  # else files are joined
    import ray

    start_ray(ray)
    try:
        yield partial(run, ray, model)
    finally:
        ray.shutdown()


@contextmanager
def on_dask(model: Path, run: Predict) -> Iterator[Run]:
    """Yield a run by dask, on two processes of one thread."""
    from distributed import Client, LocalCluster

    options = {"n_workers": N_CORES, "threads_per_worker": 1}
    with LocalCluster(dashboard_address=":0", **options) as cluster:
        with Client(cluster) as client:
            yield partial(run, client, model)


def predict_paths(client: Any, model: Path, rows: Path, out: Path) -> None:
    """Predict by path: workers read and write files."""
    ml.distributed.predict_paths(rows, model, out=out, client=client, k=K)


def predict_spark_frame(session: Any, model: Path, rows: Path, out: Path) -> None:
    """Predict a frame: Spark reads and writes files."""
    answer = ml.distributed.predict(session.read.parquet(str(rows)), model, k=K)
    answer.write.parquet(str(out))


def predict_ray_frame(ray: Any, model: Path, rows: Path, out: Path) -> None:
    """Predict a frame: Ray Data reads and writes files."""
    answer = ml.distributed.predict(ray.data.read_parquet(str(rows)), model, k=K)
    answer.write_parquet(str(out))


def start_ray(ray: Any) -> None:
    """Start Ray, which gives itself 30 seconds: too few on a busy machine."""
    for attempt in range(1, ATTEMPTS + 1):
        try:
            ray.init(num_cpus=N_CORES, include_dashboard=False, log_to_driver=False)
            return
        except Exception as error:  # of no class of its own
            ray.shutdown()
            if attempt == ATTEMPTS:
                raise
            say(f"ray: attempt {attempt} to start: {error!r:.100}")


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


# How to run by each, files by path or frames, and a word of the process that is killed.
ENGINES = {
    "spark": (on_spark, predict_paths, "CoarseGrainedExecutorBackend"),
    "spark-frame": (on_spark, predict_spark_frame, "CoarseGrainedExecutorBackend"),
    "ray": (on_ray, predict_paths, "ray::attempt"),
    "ray-frame": (on_ray, predict_ray_frame, "MapBatches(BatchPredictor"),
    "dask": (on_dask, predict_paths, "spawn_main"),
}
