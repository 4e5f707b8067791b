"""Runs every learner on every set; what is finished is not run again."""

import json
import os
import secrets
import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.catalogue import Catalogue
from benchmarks.growth.curves import ONE_THREAD
from benchmarks.learners.programme import Learner, Programme, Run
from benchmarks.learners.rows import stamp_of, write_rows
from benchmarks.ledger import Ledger, Record
from benchmarks.limits import run_limited
from benchmarks.runner import Failure, Watch, run
from benchmarks.source import Source


@dataclass
class Comparison:
    """The learners and sets of a programme, on the data of a folder.

    Parameters
    ----------
    programme : Programme
        What is to be run.
    catalogue : Catalogue
        The data sets.
    ledger : Ledger
        The finished runs.
    minutes : float
        CPU time of a run.
    """

    programme: Programme
    catalogue: Catalogue
    ledger: Ledger
    minutes: float

    @cached_property
    def missing(self) -> list[Source]:
        """The sets that were not found."""
        sets = (self.catalogue[name] for name in self.programme.sets)
        return [source for source in sets if source.missing]

    def runs(self, sets: Collection[str], learners: Collection[str]) -> list[Run]:
        """Return the runs of some learners on some sets that are there."""
        return [
            self._run(data, learner)
            for data in self.programme.sets
            if data in sets and not self.catalogue[data].missing
            for learner in self.programme.learners
            if learner.name in learners and learner.is_run_on(data)
        ]

    def _run(self, data: str, learner: Learner) -> Run:
        scaled = data in self.programme.scaled
        stamp = stamp_of(self.catalogue[data], scaled=scaled)
        parameters = {**learner.parameters, **self._wide(data, learner)}
        about = data, stamp, learner.name, learner.kind, parameters
        return Run(*about, learner.order)

    def _wide(self, data: str, learner: Learner) -> dict[str, object]:
        if not learner.wide or self._n_features(data) <= self.programme.wide_features:
            return {}
        return dict(learner.wide)

    def _n_features(self, data: str) -> int:
        """Return how many features a set has; texts have thousands."""
        X = next(iter(self.catalogue[data].parts.values())).X
        return sys.maxsize if X is None else int(X.shape[1])

    def measure(
        self, runs: Sequence[Run], *, n_jobs: int = 1, watch: Watch | None = None
    ) -> list[Record]:
        """Run what is not finished; return the lines of all runs that have one.

        A run without figures has the ``failure`` why.
        """
        with TemporaryDirectory() as folder:
            for data in dict.fromkeys(each.data for each in self._open(runs)):
                scaled = data in self.programme.scaled
                write_rows(self.catalogue[data], Path(folder, data), scaled=scaled)
            failed = [
                line
                for data in dict.fromkeys(each.data for each in runs)
                for line in run(
                    [each for each in runs if each.data == data],
                    self._task(data, Path(folder)),
                    self.ledger,
                    limit=self._limit,
                    n_jobs=n_jobs,
                    watch=watch,
                )
            ]
        lines = {line["key"]: line for line in failed} | self.ledger.records
        every = {learner.name for learner in self.programme.learners}
        wanted = [each.key for each in self.runs(self.programme.sets, every)]
        return [lines[key] for key in wanted if key in lines]

    def _task(self, data: str, folder: Path) -> partial[Record]:
        """Return what performs a run on a set."""
        return partial(
            perform,
            folder=folder,
            limit=self._limit,
            gigabytes=self.programme.gigabytes,
            slow=self._slow_on(self.programme.smaller.get(data, ())),
        )

    def _slow_on(self, sets: Collection[str]) -> dict[str, str]:
        """Return the learners that exceeded the time on a set of some, and on which."""
        return {
            line["learner"]: line["data"]
            for line in self.ledger.records.values()
            if line.get("data") in sets and line.get("limit", -1) >= self._limit
        }

    @property
    def _limit(self) -> float:
        return 60 * self.minutes

    def _open(self, runs: Sequence[Run]) -> list[Run]:
        return [
            each
            for each in runs
            if "values" not in self.ledger.records.get(each.key, {})
        ]


def perform(
    job: Run, folder: Path, limit: float, gigabytes: float, slow: Mapping[str, str]
) -> Record:
    """Return what a process of its own found within its limits.

    A learner that is too slow for a smaller set is not tried.
    """
    if job.learner in slow:
        smaller = slow[job.learner]
        raise Failure(f"not tried: too slow on {smaller}, which is smaller", limit)
    figures = folder / f"{secrets.token_hex(8)}.json"
    told = json.dumps(job.about | {"gigabytes": gigabytes})
    program = [sys.executable, "-m", "benchmarks.learners.process"]
    command = [*program, told, str(folder / job.data), str(figures)]
    run_limited(command, limit, os.environ | ONE_THREAD)
    return {"values": json.loads(figures.read_text())}
