"""Processes that append and learn are killed at random moments.

Each is forked from this one, which has compiled the kernels and has no threads, and
serves the same model from the same log. It sends feedback with keys, tells by a pipe
what was acknowledged, and takes snapshots all the time. Whoever comes after one that
was killed sends what was not acknowledged again, with the same keys.
"""

import os
import random
import select
import shutil
import signal
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.service.models import NAME, draw, make_tagger, serve_model
from manylabel.server.following import Following
from manylabel.server.items import FeedbackIn
from manylabel.server.log import Log, open_log
from manylabel.server.service import Service
from manylabel.server.settings import Settings
from manylabel.server.store import Store
from manylabel.server.transfer import read_all, verify

N_LABELS, N_WORKERS, AT_ONCE = 50, 2, 8
LONGEST = 0.2  # seconds that a process lives after its first acknowledgement
PATIENCE = 60.0  # seconds in which one must answer
SETTINGS = Settings(snapshot_every=40, keep_snapshots=3, poll=0.2)


class Worker:
    """A process that serves, and what it has acknowledged."""

    def __init__(self, folder: Path, url: str, lane: int, first: int) -> None:
        self.lane, self.acknowledged = lane, {}  # type: int, dict[int, int]
        self._reader, writer = os.pipe()
        self.process = os.fork()
        if self.process == 0:
            os.close(self._reader)
            try:
                work(folder, url, lane, first, writer)
            finally:
                os._exit(1)
        os.close(writer)
        self._rest = b""

    def listen(self, seconds: float) -> bool:
        """Read what is acknowledged for some time; return whether it still lives."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            if not select.select([self._reader], [], [], left)[0]:
                return True
            found = os.read(self._reader, 1 << 16)
            if not found:
                return False
            *lines, self._rest = (self._rest + found).split(b"\n")
            for line in lines:
                number, sequence = map(int, line.split())
                self.acknowledged[number] = sequence
        return True

    def await_first(self) -> None:
        """Wait until it has acknowledged something."""
        until = time.monotonic() + PATIENCE
        while not self.acknowledged:
            if not self.listen(0.01) or time.monotonic() > until:
                raise RuntimeError("a process ended or hung by itself")

    def kill(self) -> None:
        """Kill it, and read what it said before."""
        os.kill(self.process, signal.SIGKILL)
        os.waitpid(self.process, 0)
        while self.listen(1.0):
            pass
        os.close(self._reader)


def work(folder: Path, url: str, lane: int, first: int, out: int) -> None:
    """Serve and send feedback until killed; tell what was acknowledged."""
    service = Service(folder / "models", open_log(url), settings=SETTINGS).start()
    replica = service.replica(NAME)
    while not replica.is_ready():
        time.sleep(0.001)
    rng = np.random.default_rng(lane)
    pairs = list(draw(rng, 200, N_LABELS))
    number = first
    while True:
        sent = []
        for _ in range(AT_ONCE):
            text, labels = pairs[number % len(pairs)]
            said = FeedbackIn(accepted=labels, item={"text": text}, complete=True)
            key = f"{lane}-{number}"
            sent.append((number, replica.feedback(said, key, who="kills")))
            number += 1
        for each, future in sent:
            os.write(out, f"{each} {future.result().sequence}\n".encode())
        replica.predict([{"text": pairs[number % len(pairs)][0]}])


def kill_workers(
    folder: Path, count: int, seconds: float, url: str | None, seed: int
) -> dict[str, Any]:
    """Kill processes, one or all at a time, until enough died or time is up."""
    url = url or f"sqlite:///{folder}/log.db"
    chance, begun = random.Random(seed), time.perf_counter()
    log = open_log(url)
    store = serve_model(folder, log, make_tagger("online-label-tree", N_LABELS))
    _follow(log, store)  # compiles
    log.close()
    known: list[dict[int, int]] = [{} for _ in range(N_WORKERS)]
    workers: list[Worker | None] = [None] * N_WORKERS
    n_killed = n_changed = 0
    while n_killed < count and time.perf_counter() < begun + seconds:
        for lane in range(N_WORKERS):
            workers[lane] = workers[lane] or _start(folder, url, lane, known)
        for worker in filter(None, workers):
            worker.await_first()
            worker.listen(chance.uniform(0, LONGEST))
        lanes = list(range(N_WORKERS))
        for lane in lanes if chance.random() < 0.3 else [chance.choice(lanes)]:
            worker, workers[lane] = workers[lane], None
            assert worker is not None
            worker.kill()
            n_changed += _take_over(known[lane], worker.acknowledged)
            n_killed += 1
    for worker in filter(None, workers):
        worker.kill()
        n_changed += _take_over(known[worker.lane], worker.acknowledged)
    figures = {"kills": n_killed, "changed_numbers": n_changed}
    figures |= _judge(open_log(url), store, known)
    return figures | {"seconds": round(time.perf_counter() - begun, 1)}


def _start(folder: Path, url: str, lane: int, known: list[dict[int, int]]) -> Worker:
    # What was acknowledged without a gap is not sent again; the rest is.
    first = next(n for n in range(len(known[lane]) + 1) if n not in known[lane])
    return Worker(folder, url, lane, first)


def _take_over(known: dict[int, int], said: dict[int, int]) -> int:
    """Note acknowledged numbers; return how many were others before."""
    n_changed = sum(known.get(number, at) != at for number, at in said.items())
    known.update(said)
    return n_changed


def _judge(log: Log, store: Store, known: list[dict[int, int]]) -> dict[str, Any]:
    """Compare the log with what was acknowledged, and what was learnt with a replay."""
    n_events = verify(log)
    events = [event for event in read_all(log) if event.kind == "feedback"]
    at = {event.key: event.sequence for event in events}
    lost = sum(
        at.get(f"{lane}-{number}") != sequence
        for lane, numbers in enumerate(known)
        for number, sequence in numbers.items()
    )
    twice = sum(n - 1 for n in Counter(event.key for event in events).values())
    sequences = [each.sequence for each in store.snapshots(NAME)]
    resumed = _follow(log, store)
    n_more = resumed.costs.to_dict()["hamming"]["count"] - len(events)
    shutil.rmtree(store.kept / NAME / "snapshots")
    replayed = _follow(log, store)
    log.close()
    return {
        "events": n_events,
        "acknowledged": sum(map(len, known)),
        "lost": lost,
        "twice_in_the_log": twice,
        "learnt_twice": _n_learnt(resumed) - _n_learnt(replayed),
        "judged_twice": n_more,
        "snapshots": sequences,
        "same_bits": _bits(resumed) == _bits(replayed),
    }


def _follow(log: Log, store: Store) -> Following:
    following = Following(NAME, log, store)
    following.start()
    return following


def _n_learnt(following: Following) -> int:
    assert following.published is not None
    return int(following.published.model.tagger.n_rows_)


def _bits(following: Following) -> dict[str, Any]:
    assert following.published is not None
    state = following.published.model.tagger.get_state()
    return {
        name: value.tobytes() if isinstance(value, np.ndarray) else value
        for name, value in state.items()
    }
