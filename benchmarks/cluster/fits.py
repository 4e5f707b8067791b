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

import numpy as np
from distributed import Client, LocalCluster
from distributed.comm.tcp import TCP

import manylabel as ml
from benchmarks.cluster.data import LEARNERS
from manylabel import parallel

FEW = 2000  # rows that kernels are loaded on


def measure_fit(name: str, data: ml.Dataset, trees: int) -> dict[str, Any]:
    """Return times, bytes and whether bits are equal, also with a worker killed."""

    def make() -> Any:
        return LEARNERS[name](trees)

    few = data[:FEW]
    make().fit(few.X, few.Y)
    start, cpu = time.perf_counter(), time.process_time()
    here = make().fit(data.X, data.Y)
    threads, cpu = time.perf_counter() - start, time.process_time() - cpu
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
    with (
        TemporaryDirectory() as place,
        LocalCluster(**options) as cluster,
        Client(cluster) as client,
    ):
        warm(make, few, client, Path(place))
        found = fit_once(make(), data, client, Path(place, "out"), here)
        killed = fit_once(make(), data, client, Path(place, "kill"), here, kill=True)
    return {
        "learner": name,
        "rows": len(data),
        "labels": data.n_labels,
        "trees": trees if name == "FastXML" else 1,
        "two_threads": {"seconds": round(threads, 2), "cpu": round(cpu, 2)},
        "dask": found,
        "ratio": round(found["seconds"] / threads, 3),
        "cpu_ratio": round(found["cpu"] / cpu, 3),
        "killed": killed,
        "killed_ratio": round(killed["seconds"] / threads, 3),
        "model_megabytes": round(_bytes(here) / 1e6, 2),
    }


def warm(make: Any, few: ml.Dataset, client: Client, place: Path) -> None:
    """Let each worker load its kernels, on a few rows."""
    parts = ml.distributed.plan(make(), few, 4, place / "few")
    for worker in client.scheduler_info(n_workers=-1)["workers"]:
        for part in parts:
            where = place / f"few-{part.number}-{worker.rpartition(':')[2]}"
            task = (str(place / "few"), part._asdict(), str(where))
            client.submit(
                ml.distributed.fit_part, *task, workers=[worker], pure=False
            ).result()


def fit_once(
    learner: Any,
    data: ml.Dataset,
    client: Client,
    out: Path,
    expected: Any,
    kill: bool = False,
) -> dict[str, Any]:
    """Fit by parts; return seconds by stage, bytes sent, and whether bits are equal."""
    killer = threading.Thread(target=kill_one, args=(client, out))
    stages: dict[str, float] = {}
    start, cpu = time.perf_counter(), cpu_seconds(client)

    def note(stage: str, _: float) -> None:
        stages[stage.partition(",")[0]] = round(time.perf_counter() - start, 2)

    with sent_bytes() as sent, parallel.watched(note):
        if kill:
            killer.start()
        model = ml.distributed.fit(learner, data, out=out, client=client)
        seconds = time.perf_counter() - start
    cpu = cpu_seconds(client) - cpu  # of a worker that was killed, nobody knows it
    if kill:
        killer.join()
    one, other = model.get_state(), expected.get_state()
    return {
        "seconds": round(seconds, 2),
        "cpu": None if kill else round(cpu, 2),
        "until": stages,
        "parts": len(list((out / "parts").iterdir())),
        "kilobytes_sent": round(sum(sent) / 1e3, 1),
        "equal_bits": all(np.array_equal(one[key], other[key]) for key in other),
    }


def kill_one(client: Client, out: Path) -> None:
    """Kill a worker when some parts are there."""
    pids = list(client.run(os.getpid).values())
    while len(list(out.glob("parts/*/manifest.json"))) < 4:
        time.sleep(0.01)
    os.kill(pids[0], signal.SIGKILL)


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
