"""How fast the service answers under load, from a second process on loopback.

    python -m benchmarks.service.load --data ../shared/data

A tagger of Debian packages (596 labels) is fitted, or taken from --models, and served.
Then, one after another: single texts at --rate requests a second with --feedback
feedbacks a second learnt meanwhile; single texts as fast as they are answered; batches
of texts. Requests of the first load are sent when they are due, whether or not those
before are answered, and their times count from then: so a server that falls behind
cannot hide it.
"""

import argparse
import asyncio
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

import manylabel as ml
from benchmarks.annotations import FOLDER
from benchmarks.service.wire import Wire, dump

MODEL = "debtags"
N_CONNECTIONS, N_WARM = 32, 200
BATCH = 1000
SHORT = 200  # characters of a short text
Call = Callable[[Wire, int], Awaitable[int]]


def main() -> None:
    """Serve, load, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=FOLDER)
    parser.add_argument("--models", type=Path, help="a folder with debtags/ in it")
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--rate", type=float, default=1000.0)
    parser.add_argument("--feedback", type=float, default=50.0)
    parser.add_argument("--workers", type=int, default=1)
    given = parser.parse_args()
    test = ml.read(given.data / "text" / "debtags" / "test.jsonl.gz")
    with tempfile.TemporaryDirectory() as folder:
        models = given.models or Path(folder)
        if not (models / MODEL).is_dir():
            train = ml.read(given.data / "text" / "debtags" / "train.jsonl.gz")
            ml.Tagger().fit(train).save(models / MODEL)
        with served(models, given.workers) as (process, host, port):
            load = Load(process, host, port, test)
            asyncio.run(load.run(given.seconds, given.rate, given.feedback))


@contextmanager
def served(models: Path, workers: int) -> Iterator[tuple[int, str, int]]:
    """Serve a folder of models on a free port until the block ends."""
    command = (sys.executable, "-m", "manylabel.cli.start", "serve", str(models))
    options = ("--port", "0", "--workers", str(workers))
    with subprocess.Popen(
        [*command, *options], stderr=subprocess.PIPE, text=True
    ) as server:
        assert server.stderr is not None
        try:
            place = None
            while place is None:
                line = server.stderr.readline()
                assert line, "the server has ended"
                place = re.search(r"http://([\d.]+):(\d+)/", line)
            yield server.pid, place[1], int(place[2])
        finally:
            server.terminate()
            print(server.communicate()[1].strip())


class Load:
    """Requests of some kinds to one server.

    Parameters
    ----------
    process : int
        Of the server.
    host : str
        Of the server.
    port : int
        Of the server.
    test : Dataset
        Texts with labels, to ask about and to teach.
    """

    def __init__(self, process: int, host: str, port: int, test: ml.Dataset) -> None:
        self.process = process
        self.wires = [Wire(host, port) for _ in range(N_CONNECTIONS)]
        path = f"/v1/models/{MODEL}"
        self.predict_path, self.feedback_path = f"{path}/predict", f"{path}/feedback"
        texts = list(test.texts or ())
        items = [{"text": text[:SHORT]} for text in texts]
        names = ml.LabelSpace(test.label_names).decode(test.Y)
        self.singles = [dump({"items": [item]}) for item in items]
        self.batches = [
            dump({"items": items[start : start + BATCH], "remember": False})
            for start in range(0, len(items) - BATCH, BATCH)
        ]
        self.feedbacks = [
            dump({"item": item, "accepted": labels, "complete": True})
            for item, labels in zip(items, names, strict=True)
            if labels
        ]

    async def run(self, seconds: float, rate: float, feedback: float) -> None:
        """Run all loads and print what they took."""
        await self._ready()
        for i in range(N_WARM):
            await self.predict(self.wires[0], i)
        half = N_CONNECTIONS // 2
        with self.counting() as cpu:
            predicting, teaching = await asyncio.gather(
                paced(self.predict, self.wires[:half], rate, seconds),
                paced(self.teach, self.wires[half:], feedback, seconds),
            )
        tell("single texts", predicting, cpu)
        tell("feedback meanwhile", teaching, [0.0])
        with self.counting() as cpu:
            times = await closed(self.predict, self.wires[:8], seconds)
        tell("single texts, all it can", times, cpu)
        with self.counting() as cpu:
            times = await closed(self.batch, self.wires[:2], seconds)
        tell(f"batches of {BATCH}", times, cpu, each=BATCH)
        for wire in self.wires:
            await wire.close()

    async def predict(self, wire: Wire, i: int) -> int:
        """Ask for the labels of one text."""
        body = self.singles[i % len(self.singles)]
        return (await wire.post(self.predict_path, body))[0]

    async def teach(self, wire: Wire, i: int) -> int:
        """Send the labels of one text, to be learnt."""
        body = self.feedbacks[i % len(self.feedbacks)]
        return (await wire.post(self.feedback_path, body))[0]

    async def batch(self, wire: Wire, i: int) -> int:
        """Ask for the labels of many texts."""
        body = self.batches[i % len(self.batches)]
        return (await wire.post(self.predict_path, body))[0]

    @contextmanager
    def counting(self) -> Iterator[list[float]]:
        """Yield a list that then holds the seconds passed, and the server's of CPU."""
        used: list[float] = []
        start, before = time.perf_counter(), cpu_seconds(self.process)
        yield used
        used += [time.perf_counter() - start, cpu_seconds(self.process) - before]

    async def _ready(self) -> None:
        """Wait until the model answers."""
        while True:
            try:
                if await self.predict(self.wires[0], 0) == 200:
                    return
            except OSError:
                pass
            await asyncio.sleep(0.2)


async def paced(
    call: Call, wires: list[Wire], rate: float, seconds: float
) -> list[float]:
    """Call at a rate, by any free connection; return times since each call was due."""
    free: asyncio.Queue[Wire] = asyncio.Queue()
    for wire in wires:
        free.put_nowait(wire)
    times: list[float] = []

    async def once(i: int, due: float) -> None:
        wire = await free.get()
        check(await call(wire, i))
        times.append(time.perf_counter() - due)
        free.put_nowait(wire)

    start, tasks = time.perf_counter(), []
    for i in range(int(rate * seconds)):
        due = start + i / rate
        if (pause := due - time.perf_counter()) > 0:
            await asyncio.sleep(pause)
        tasks.append(asyncio.create_task(once(i, due)))
    await asyncio.gather(*tasks)
    return times


async def closed(call: Call, wires: list[Wire], seconds: float) -> list[float]:
    """Call by each connection as soon as it is free; return times."""
    end, times = time.perf_counter() + seconds, []

    async def repeat(wire: Wire, first: int) -> None:
        i = first
        while (start := time.perf_counter()) < end:
            check(await call(wire, i))
            times.append(time.perf_counter() - start)
            i += len(wires)

    await asyncio.gather(*(repeat(wire, i) for i, wire in enumerate(wires)))
    return times


def check(status: int) -> None:
    """Stop at an answer that is none."""
    if status not in (200, 202):
        raise RuntimeError(f"the server answered {status}")


def cpu_seconds(process: int) -> float:
    """Return the CPU time of a process and of those that it has started."""
    path = Path(f"/proc/{process}")
    fields = (path / "stat").read_text().rpartition(")")[2].split()
    own = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    children = (path / "task" / str(process) / "children").read_text().split()
    return own + sum(cpu_seconds(int(child)) for child in children)


def tell(what: str, times: list[float], used: list[float], each: int = 1) -> None:
    """Print rate, percentiles, and the CPU time of the server for each text."""
    p50, p99, most = np.percentile(np.array(times) * 1000, [50, 99, 100])
    line = f"{what:26} p50 {p50:8.2f} ms  p99 {p99:8.2f} ms  most {most:8.2f} ms"
    if used[0]:
        n_texts, (wall, cpu) = len(times) * each, used
        line += f"  {n_texts / wall:7,.0f}/s  {1000 * cpu / n_texts:.3f} ms CPU each"
    print(line)


if __name__ == "__main__":
    main()
