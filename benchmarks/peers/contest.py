"""Runs entrants in turn; what is finished is written down and never run again."""

import json
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.catalogue import Catalogue
from benchmarks.ledger import Ledger, Record
from benchmarks.limits import run_limited
from benchmarks.machine import commit, machine
from benchmarks.peers.environments import Environments, last_line
from benchmarks.peers.judging import judge
from benchmarks.peers.programme import (
    Entrant,
    Peer,
    PeerError,
    contract,
    digest,
)
from benchmarks.peers.rows import convert
from benchmarks.peers.sources import PACKAGE
from manylabel._version import __version__

DEPTH = 5  # labels predicted
SINGLES = 200  # rows predicted one by one
THREADS = ("OMP", "OPENBLAS", "MKL", "NUMBA", "RAYON")
Watch = Callable[[int, int, Record], None]


@dataclass(frozen=True)
class Bout:
    """One run of one entrant on one data set.

    Parameters
    ----------
    peer : Peer
        The library.
    entrant : Entrant
        Its learner.
    data : str
        The data set.
    repeat : int
        Which of several runs, from 0; also the seed.
    """

    peer: Peer
    entrant: Entrant
    data: str
    repeat: int

    @property
    def pair(self) -> tuple[str, str]:
        """The entrant and the data set."""
        return self.entrant.name, self.data

    @cached_property
    def key(self) -> str:
        """What tells a finished run from others; it changes with the code that ran."""
        return digest(self.peer.code(self.entrant), self.data, self.repeat)


def plan(peers: Iterable[Peer], sets: Mapping[str, int]) -> list[Bout]:
    """Return all runs, set by set: each time all entrants before any runs again."""
    taking_part = [(peer, entrant) for peer in peers for entrant in peer.entrants]
    return [
        Bout(peer, entrant, data, repeat)
        for data, repeats in sets.items()
        for repeat in range(repeats)
        for peer, entrant in taking_part
    ]


@dataclass
class Contest:
    """Runs that are finished, and what it takes to run more.

    Parameters
    ----------
    ledger : Ledger
        The finished runs.
    catalogue : Catalogue
        The data sets.
    cache : Path
        The folder of environments and of rows in the forms that peers read.
    limit : int
        CPU seconds after which a run is ended; on the clock, it may take longer.
    failures : dict
        Reasons why an entrant has no figures for a data set, of this contest.
    """

    ledger: Ledger
    catalogue: Catalogue
    cache: Path
    limit: int
    failures: dict[tuple[str, str], str] = field(default_factory=dict)

    def run(self, bouts: Iterable[Bout], watch: Watch | None = None) -> None:
        """Run what is not finished yet. After a failure, an entrant leaves the set.

        Parameters
        ----------
        bouts : iterable of Bout
            What to run, in this order.
        watch : callable or None, default=None
            Called after each run with how many are done, how many there are, and the
            run.
        """
        bouts = list(bouts)
        for number, bout in enumerate(bouts, start=1):
            if bout.pair in self.failures or self._is_settled(bout):
                continue
            record = self._perform(bout)
            if "failure" in record:
                self.failures[bout.pair] = record["failure"]
            if "values" in record or "limit" in record:
                self.ledger.append(record)
            if watch is not None:
                watch(number, len(bouts), record)

    def _is_settled(self, bout: Bout) -> bool:
        """Whether it is finished, or was ended by a limit that was no shorter."""
        record = self.ledger.records.get(bout.key, {})
        if record.get("limit", 0) >= self.limit:
            self.failures[bout.pair] = record["failure"]
            return True
        return "values" in record

    def _perform(self, bout: Bout) -> Record:
        record = {
            "key": bout.key,
            "peer": bout.peer.name,
            "entrant": bout.entrant.name,
            "parameters": bout.entrant.parameters,
            "data": bout.data,
            "repeat": bout.repeat,
            "seed": bout.repeat,
        }
        try:
            values = self._measure(bout)
        except TimeoutError:
            minutes = f"took over {self.limit / 60:g} minutes of CPU time"
            record |= {"failure": minutes, "limit": self.limit}
        except PeerError as error:
            record |= {"failure": str(error)}
        else:
            record |= {"version": values.pop("version") or __version__}
            record |= {"values": values}
        return record | {
            "finished": datetime.now(UTC).isoformat(timespec="seconds"),
            "commit": commit(),
            "machine": machine(),
        }

    def _measure(self, bout: Bout) -> dict[str, Any]:
        """Return what an entrant's own program says, and how good its labels are."""
        program = Environments(self.cache / "peers").python(bout.peer)
        source = self.catalogue[bout.data]
        rows = convert(source, self.cache / "data")
        with TemporaryDirectory() as folder:
            job = self._job(bout, rows, Path(folder))
            _run(program, bout.peer, job, self.limit)
            values: dict[str, Any] = json.loads(job.with_name("out.json").read_bytes())
            values |= judge(rows, job.with_name("out.npz"), source.propensity)
        return values

    def _job(self, bout: Bout, rows: Path, folder: Path) -> Path:
        """Write down what a program is to do; return the file."""
        model = folder / "model"
        model.mkdir()
        told = {
            "name": bout.peer.name,
            "peer": str(bout.peer.path),
            "parameters": bout.entrant.parameters,
            "data": str(rows),
            "unit": bout.entrant.rows == "unit",
            "model": str(model),
            "out": str(folder / "out"),
            "k": DEPTH,
            "singles": SINGLES,
            "test_rows": bout.entrant.test_rows,
            "seed": bout.repeat,
        }
        job = folder / "job.json"
        job.write_text(json.dumps(told), encoding="utf-8")
        return job


def _run(program: Path, peer: Peer, job: Path, limit: float) -> None:
    """Run the program of a job to its end."""
    command = [str(program), "-P", str(contract(peer.path.parent)), str(job)]
    said = job.with_name("said")
    with said.open("wb") as file:
        status = run_limited(command, limit, stderr=file, env=_environment(peer))
    if status < 0:
        raise PeerError(f"was ended by signal {-status}")
    if status:
        raise PeerError(f"failed: {last_line(said.read_text(errors='replace'))}")


def _environment(peer: Peer) -> dict[str, str]:
    """Return the variables of a run: one thread, and no modules of ours for peers."""
    found = {name: text for name, text in os.environ.items() if name != "PYTHONPATH"}
    found |= {f"{library}_NUM_THREADS": "1" for library in THREADS}
    if peer.is_installed:
        found["PYTHONPATH"] = str(PACKAGE.parent)
    return found | {"PYTHONNOUSERSITE": "1"}
