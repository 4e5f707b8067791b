"""A fit by dask on two processes, beside two threads of one."""

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import numpy as np
from distributed import Client, LocalCluster
from distributed.comm.tcp import TCP

import manylabel as ml
from benchmarks.cluster.calls import cost_of_kill, noted_part, read_calls
from benchmarks.cluster.data import LEARNERS
from benchmarks.cluster.notes import Notes
from manylabel import parallel, persistence

FEW = 2000  # rows that kernels are loaded on


def measure_fit(
    name: str, data: ml.Dataset, trees: int, folder: Path
) -> dict[str, Any]:
    """Return times, bytes and whether bits are equal, also with a worker killed.

    What the folder has of a run that was stopped is taken as it is.
    """

    def make() -> Any:
        return LEARNERS[name](trees)

    folder.mkdir(parents=True, exist_ok=True)
    notes, model = Notes(folder / "notes.json"), folder / "model"
    here = notes.measure("two_threads", lambda: fit_here(make, data, model))
    dask = notes.measure("dask", lambda: fit_by_dask(make, data, folder))
    killed = notes.measure("killed", lambda: fit_by_dask(make, data, folder, kill=True))
    return {
        "learner": name,
        "rows": len(data),
        "labels": data.n_labels,
        "trees": trees if name == "FastXML" else 1,
        **notes.found,
        "ratio": round(dask["seconds"] / here["seconds"], 3),
        "cpu_ratio": round(dask["cpu"] / here["cpu"], 3),
        "killed_ratio": round(killed["seconds"] / here["seconds"], 3),
        "model_megabytes": round(_bytes(persistence.load(model)) / 1e6, 2),
    }


def fit_here(make: Any, data: ml.Dataset, model: Path) -> dict[str, Any]:
    """Fit by two threads of this process, and keep the model."""
    few = data[:FEW]
    make().fit(few.X, few.Y)
    start, cpu = time.perf_counter(), time.process_time()
    fitted = make().fit(data.X, data.Y)
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    fitted.save(model)
    return {"seconds": round(seconds, 2), "cpu": round(cpu, 2)}


def fit_by_dask(
    make: Any, data: ml.Dataset, folder: Path, kill: bool = False
) -> dict[str, Any]:
    """Fit by parts on two processes, which have loaded their kernels."""
    expected = persistence.load(folder / "model")
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
    with (
        TemporaryDirectory(dir=folder) as place,
        LocalCluster(**options) as cluster,
        Client(cluster) as client,
    ):
        warm(make, data[:FEW], client, Path(place))
        return fit_once(make(), data, client, Path(place, "out"), expected, kill)


def warm(make: Any, few: ml.Dataset, client: Client, place: Path) -> None:
    """Let each worker load its kernels, on a few rows."""
    parts = ml.distributed.plan(make(), few, 4, place / "few")
    places = []
    for worker in client.scheduler_info(n_workers=-1)["workers"]:
        for part in parts:
            where = place / f"few-{part.number}-{worker.rpartition(':')[2]}"
            task = (str(place / "few"), part._asdict(), str(where))
            learnt = client.submit(
                ml.distributed.fit_part, *task, workers=[worker], pure=False
            )
            places.append(learnt.result())
    ml.distributed.merge(places)


def fit_once(
    learner: Any,
    data: ml.Dataset,
    client: Client,
    out: Path,
    expected: Any,
    kill: bool = False,
) -> dict[str, Any]:
    """Fit by parts; return seconds by stage, bytes sent, and whether bits are equal."""
    processes = list(client.run(os.getpid).values())
    killed: list[float] = []
    killer = threading.Thread(target=kill_one, args=(processes[0], out, killed))
    stages: dict[str, float] = {}
    start, cpu = time.perf_counter(), cpu_seconds(client)

    def note(stage: str, _: float) -> None:
        stages[stage.partition(",")[0]] = round(time.perf_counter() - start, 2)

    function = noted_part if kill else ml.distributed.fit_part
    with (
        sent_bytes() as sent,
        parallel.watched(note),
        patch("manylabel.distributed.fitting.fit_part", function),
    ):
        if kill:
            killer.start()
        model = ml.distributed.fit(learner, data, out=out, client=client)
        seconds = time.perf_counter() - start
    cpu = cpu_seconds(client) - cpu  # of a worker that was killed, nobody knows it
    cost = {}
    if kill:
        killer.join()
        calls = read_calls(out)
        cost["of_kill"] = cost_of_kill(calls, processes, processes[0], killed[0])
    one, other = model.get_state(), expected.get_state()
    return {
        "seconds": round(seconds, 2),
        "cpu": None if kill else round(cpu, 2),
        "until": stages,
        "parts": len(list((out / "parts").iterdir())),
        "kilobytes_sent": round(sum(sent) / 1e3, 1),
        "equal_bits": all(np.array_equal(one[key], other[key]) for key in other),
        **cost,
    }


def kill_one(process: int, out: Path, killed: list[float]) -> None:
    """Kill a worker when some parts are there, and tell when."""
    while len(list(out.glob("parts/*/manifest.json"))) < 4:
        time.sleep(0.01)
    os.kill(process, signal.SIGKILL)
    killed.append(time.time())


def cpu_seconds(client: Client) -> float:
    """Return the seconds that this process and the workers have computed."""
    return time.process_time() + sum(client.run(time.process_time).values())


@contextmanager
def sent_bytes() -> Iterator[list[int]]:
    """Yield a list of the sizes of what client and scheduler send, both in here."""
    sizes: list[int] = []
    write = TCP.write

    async def count(self: TCP, *given: Any, **options: Any) -> Any:
        sizes.append(await write(self, *given, **options))
        return sizes[-1]

    TCP.write = count
    try:
        yield sizes
    finally:
        TCP.write = write


def _bytes(model: Any) -> int:
    values = model.get_state().values()
    return sum(each.nbytes for each in values if isinstance(each, np.ndarray))
