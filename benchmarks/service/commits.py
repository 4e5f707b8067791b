"""How long it takes until feedback is on the disk, while others write too."""

import multiprocessing
import os
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.service.models import NAME, draw, make_body
from manylabel.server.events import Draft
from manylabel.server.log import open_log
from manylabel.server.writer import GroupWriter


def measure_commits(
    folder: Path, seconds: float, rate: float, workers: int, url: str | None
) -> dict[str, Any]:
    """Return the latencies of some processes that write feedback at a rate in all."""
    url = url or f"sqlite:///{folder}/log.db"
    open_log(url).close()
    context = multiprocessing.get_context("spawn")
    with context.Pool(workers) as pool:
        tasks = [(url, seconds, rate / workers, seed) for seed in range(workers)]
        parts = pool.starmap(write_feedback, tasks)
    taken = np.concatenate(parts)
    return {
        "log": url.partition(":")[0],
        "processes": workers,
        "feedbacks": len(taken),
        "feedbacks_per_second": round(len(taken) / seconds, 1),
        "milliseconds": _shares(taken),
        "milliseconds_of_fsync_alone": _shares(sync(folder, min(len(taken), 500))),
    }


def _shares(taken: Any) -> dict[str, float]:
    return {
        f"p{share:g}": round(1000 * float(np.percentile(taken, share)), 2)
        for share in (50, 90, 99)
    }


def sync(folder: Path, n: int) -> Any:
    """Return the seconds that the disk itself takes to keep a page, so many times."""
    taken = []
    with open(folder / "page", "wb", buffering=0) as file:
        for _ in range(n):
            file.write(bytes(4096))
            start = time.perf_counter()
            os.fsync(file.fileno())
            taken.append(time.perf_counter() - start)
    return np.array(taken)


def write_feedback(url: str, seconds: float, rate: float, seed: int) -> Any:
    """Return the seconds until each feedback was acknowledged, at a Poisson rate."""
    rng, log = np.random.default_rng(seed), open_log(url)
    writer, taken = GroupWriter(log), []
    pairs = list(draw(rng, round(2 * seconds * rate) + 10, 1000))
    until = start = time.perf_counter()
    for pair in pairs:
        until += rng.exponential(1 / rate)
        if until > start + seconds:
            break
        time.sleep(max(0.0, until - time.perf_counter()))
        sent = time.perf_counter()
        future = writer.submit(Draft(NAME, "feedback", make_body(*pair)))
        future.add_done_callback(
            lambda _, sent=sent: taken.append(time.perf_counter() - sent)
        )
    writer.stop()
    log.close()
    return np.array(taken)
