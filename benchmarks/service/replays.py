"""How quickly a log is replayed, and a service started."""

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks.service.models import NAME, fill, make_tagger, serve_model
from manylabel.server.collecting import collect_less
from manylabel.server.following import Following
from manylabel.server.log import Log, open_log
from manylabel.server.service import Service
from manylabel.server.store import Store

N_LABELS = 1_000


def measure_replay(folder: Path, learner: str, n_events: int) -> dict[str, Any]:
    """Return how many events a second are replayed, kernels compiled."""
    log = open_log(f"sqlite:///{folder}/log.db")
    store = serve_model(folder, log, make_tagger(learner, N_LABELS))
    fill(log, 500, N_LABELS, seed=2)
    _replay(log, store)  # compiles
    fill(log, n_events, N_LABELS)
    collect_less()  # as a server does when it starts
    seconds, cpu = _replay(log, store)
    log.close()
    return {
        "learner": learner,
        "labels": N_LABELS,
        "events": n_events + 500,
        "seconds": round(seconds, 3),
        "cpu_seconds": round(cpu, 3),
        "events_per_second": round((n_events + 500) / seconds),
        "events_per_cpu_second": round((n_events + 500) / cpu),
    }


def _replay(log: Log, store: Store) -> tuple[float, float]:
    following = Following(NAME, log, store)
    start, cpu = time.perf_counter(), time.process_time()
    following.start()
    assert following.published is not None
    assert following.published.applied == log.last()
    return time.perf_counter() - start, time.process_time() - cpu


def measure_start(folder: Path, learner: str, n_events: int) -> dict[str, Any]:
    """Return how long a new process takes until it is ready, after a snapshot."""
    url = f"sqlite:///{folder}/log.db"
    log = open_log(url)
    store = serve_model(folder, log, make_tagger(learner, N_LABELS))
    fill(log, 1000, N_LABELS, seed=2)
    following = Following(NAME, log, store)
    following.start()
    now = following.published
    assert now is not None
    store.take_snapshot(
        NAME, now.version, now.applied, now.model.save, following.facts()
    )
    fill(log, n_events, N_LABELS)
    log.close()
    command = [sys.executable, "-m", "benchmarks.service.replays", str(folder), url]
    begun = time.perf_counter()
    run = subprocess.run(command, check=True, capture_output=True)
    total = time.perf_counter() - begun
    figures = {"learner": learner, "labels": N_LABELS, "events": n_events}
    return figures | json.loads(run.stdout) | {"process_seconds": round(total, 3)}


def main(folder: str, url: str) -> None:
    """Start a service and print how long it took."""
    start = time.perf_counter()
    log = open_log(url)
    service = Service(f"{folder}/models", log).start()
    while not service.is_ready():
        time.sleep(0.005)
    print(json.dumps({"seconds": round(time.perf_counter() - start, 3)}))
    service.stop()
    log.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
