"""What a contest runs: each entrant in turn, by a program of its own."""

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.catalogue import Catalogue
from benchmarks.ledger import Ledger, Record, digest
from benchmarks.limits import run_limited
from benchmarks.peers.environments import Environments
from benchmarks.peers.judging import judge
from benchmarks.peers.programme import Entrant, Peer, contract
from benchmarks.peers.rows import convert
from benchmarks.peers.sources import PACKAGE
from benchmarks.runner import Watch, run

DEPTH = 5  # labels predicted
SINGLES = 200  # rows predicted one by one
THREADS = ("OMP", "OPENBLAS", "MKL", "NUMBA", "RAYON")


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
    def group(self) -> tuple[str, str]:
        """The entrant and the data set."""
        return self.entrant.name, self.data

    @cached_property
    def key(self) -> str:
        """What tells a finished run from others; it changes with the code that ran."""
        return digest(self.peer.code(self.entrant), self.data, self.repeat)

    @property
    def about(self) -> Record:
        """Who ran on what."""
        return {
            "peer": self.peer.name,
            "entrant": self.entrant.name,
            "parameters": self.entrant.parameters,
            "data": self.data,
            "repeat": self.repeat,
            "seed": self.repeat,
        }


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
    """What it takes to run entrants.

    Parameters
    ----------
    catalogue : Catalogue
        The data sets.
    cache : Path
        The folder of environments and of rows in the forms that peers read.
    limit : int
        CPU seconds after which a run is ended; on the clock, it may take longer.
    """

    catalogue: Catalogue
    cache: Path
    limit: int

    def run(
        self, bouts: Iterable[Bout], ledger: Ledger, watch: Watch | None = None
    ) -> list[Record]:
        """Run what is not finished yet; return what failed.

        After a failure, an entrant leaves the set.
        """
        return run(bouts, self.perform, ledger, limit=self.limit, watch=watch)

    def perform(self, bout: Bout) -> Record:
        """Return what an entrant's own program says, and how good its labels are."""
        program = Environments(self.cache / "peers").python(bout.peer)
        source = self.catalogue[bout.data]
        rows = convert(source, self.cache / "data")
        with TemporaryDirectory() as folder:
            job = self._job(bout, rows, Path(folder))
            command = [str(program), "-P", str(contract(bout.peer.path.parent))]
            run_limited([*command, str(job)], self.limit, _environment(bout.peer))
            values: dict[str, Any] = json.loads(job.with_name("out.json").read_bytes())
            values |= judge(rows, job.with_name("out.npz"), source.propensity)
        version = values.pop("version")
        return {"values": values} | ({"version": version} if version else {})

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


def _environment(peer: Peer) -> dict[str, str]:
    """Return the variables of a run: one thread, and no modules of ours for peers."""
    found = {name: text for name, text in os.environ.items() if name != "PYTHONPATH"}
    found |= {f"{library}_NUM_THREADS": "1" for library in THREADS}
    if peer.is_installed:
        found["PYTHONPATH"] = str(PACKAGE.parent)
    return found | {"PYTHONNOUSERSITE": "1"}
