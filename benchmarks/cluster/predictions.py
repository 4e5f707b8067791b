"""Predictions by Spark and by Ray on two processes, beside two threads of one."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import parquet

import manylabel as ml

K, N_CORES, N_FILES = 5, 2, 16
FEW = 20_000  # rows that start processes and load kernels
EXECUTOR, ACTOR = "CoarseGrainedExecutorBackend", "ray::MapWorker"
Run = Callable[[Path, Path], None]


def measure_predictions(train: ml.Dataset, test: ml.Dataset, n_rows: int) -> Any:
    """Return rows a second of each engine, the ratio to the command line, and losses.

    Rows are those of a test part, again and again.
    """
    with TemporaryDirectory() as place:
        folder = Path(place)
        model = folder / "model"
        ml.LabelTree(n_jobs=N_CORES).fit(train.X, train.Y).save(model)
        write_rows(test.X, n_rows, folder / "rows")
        write_rows(test.X, FEW, folder / "few")
        command_line(model)(folder / "few", folder / "few.parquet")
        found = {"rows": n_rows, "here": timed(command_line(model), folder, "here")}
        expected = gather(folder / "here", n_rows)
        for name, engine, victim in (
            ("spark", on_spark, EXECUTOR),
            ("ray", on_ray, ACTOR),
        ):
            with engine(model) as run:
                run(folder / "few", folder / f"few-{name}")
                found[name] = timed(run, folder, name)
                with losing(victim, found[name]["seconds"] / 2) as lost:
                    killed = timed(run, folder, f"{name}-killed")
            found[name]["ratio"] = round(
                found["here"]["seconds"] / found[name]["seconds"], 3
            )
            found[name]["equal"] = same(gather(folder / name, n_rows), expected)
            killed["equal"] = same(gather(folder / f"{name}-killed", n_rows), expected)
            found[name]["killed"] = killed | {"processes_lost": len(lost)}
        return found


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


def timed(run: Run, folder: Path, name: str) -> dict[str, Any]:
    """Return how long a run over all rows takes."""
    start = time.perf_counter()
    run(folder / "rows", folder / name)
    seconds = time.perf_counter() - start
    return {"seconds": round(seconds, 1)}


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
    builder = SparkSession.builder.master(master).config("spark.ui.enabled", "false")
    session = builder.getOrCreate()

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


@contextmanager
def losing(words: str, seconds: float) -> Iterator[list[int]]:
    """Kill one process of ours whose command has some words, after some seconds."""
    lost: list[int] = []

    def kill() -> None:
        for pid in descendants(words)[:1]:
            os.kill(pid, signal.SIGKILL)
            lost.append(pid)

    timer = threading.Timer(seconds, kill)
    timer.start()
    yield lost
    timer.cancel()


def descendants(words: str) -> list[int]:
    """Return the ids of processes below this one whose command has some words."""
    parents, found = {}, []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            stat = (entry / "stat").read_text().rpartition(")")[2].split()
            command = (entry / "cmdline").read_bytes().decode(errors="replace")
        except OSError:  # it has ended
            continue
        parents[int(entry.name)] = int(stat[1])
        if words in command:
            found.append(int(entry.name))
    return [pid for pid in found if os.getpid() in _line(pid, parents)]


def _line(pid: int, parents: dict[int, int]) -> Iterator[int]:
    while pid in parents:
        yield (pid := parents[pid])


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
