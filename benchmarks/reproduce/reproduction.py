"""From names of tables to finished runs, and from these to the page of results."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path

from benchmarks import page, runner, toml_files
from benchmarks.catalogue import Catalogue
from benchmarks.ledger import KEPT, Ledger, Record
from benchmarks.reproduce.claim import Claim, Topic, read_claims
from benchmarks.reproduce.drawing import draw
from benchmarks.reproduce.figure import Figure, is_figure, read_figure
from benchmarks.reproduce.finding import Finding, find
from benchmarks.reproduce.papers_page import write_page
from benchmarks.reproduce.performing import perform
from benchmarks.reproduce.report import Section
from benchmarks.reproduce.table import Table, read_table
from benchmarks.reproduce.trial import Trial
from benchmarks.reproduce.verdict import Where, find_repeats, judge
from benchmarks.source import Source


@dataclass
class Reproduction:
    """The tables and figures of the papers on the data of a folder.

    Parameters
    ----------
    data : Path
        Where data sets are looked for.
    out : Path
        The folder of the runs.
    pages : Path
        The folder of ``papers.md`` and the figures.
    quick : bool, default=False
        Run the reduced version of everything.
    home : Path
        The tables of the papers, and the data sets.
    kept : Path
        The finished runs that the published page was made from.
    """

    data: Path
    out: Path
    pages: Path
    quick: bool = False
    home: Path = field(default=toml_files.HOME)
    kept: Path = KEPT / "papers.jsonl.gz"

    @cached_property
    def catalogue(self) -> Catalogue:
        """The data sets."""
        return Catalogue(self.data, self.home / "data.toml")

    @cached_property
    def ledger(self) -> Ledger:
        """The finished runs; to publish, those of the page that is published, too."""
        return Ledger(self.out / "runs.jsonl", self.kept if self._publishes else None)

    @property
    def _publishes(self) -> bool:
        return self.pages == page.PUBLISHED

    @cached_property
    def specs(self) -> list[Table | Figure]:
        """All tables and figures, paper by paper."""
        return [
            self._read(paper, name)
            for paper, names in toml_files.papers(self.home).items()
            for name in names
        ]

    @cached_property
    def repeats(self) -> dict[Where, str]:
        """Where cells that repeat others are judged."""
        return find_repeats(spec for spec in self.specs if isinstance(spec, Table))

    @cached_property
    def claims(self) -> dict[str, tuple[dict[str, Topic], list[Claim]]]:
        """The topics and claims of each paper."""
        return {
            paper: read_claims(paper, quick=self.quick, home=self.home)
            for paper in dict.fromkeys(spec.paper for spec in self.specs)
        }

    def findings(self) -> list[Finding]:
        """Return the claims of all papers, decided by the finished runs."""
        claims = (claim for _, found in self.claims.values() for claim in found)
        return [find(claim, self.ledger.records) for claim in claims]

    def _read(self, paper: str, name: str) -> Table | Figure:
        read = read_figure if is_figure(paper, name, home=self.home) else read_table
        return read(paper, name, quick=self.quick, home=self.home)

    def select(self, paper: str | None, name: str | None) -> list[Table | Figure]:
        """Return the tables and figures of a paper, or one of them, or all."""
        return [
            spec
            for spec in self.specs
            if paper in (None, spec.paper) and name in (None, spec.name)
        ]

    def trials(self, specs: Sequence[Table | Figure]) -> list[Trial]:
        """Return the runs that tables and figures need, where their data is at hand."""
        return list(
            {each.key: each for spec in specs for each in self._of(spec)}.values()
        )

    def _of(self, spec: Table | Figure) -> Iterator[Trial]:
        for table, data, entrant, metric in spec.cells():
            if not self.catalogue[data].missing:
                yield from table.trials(data, entrant, metric)

    def missing(self, specs: Sequence[Table | Figure]) -> list[Source]:
        """Return the data sets of tables that were not found."""
        tables = [spec for spec in specs if isinstance(spec, Table)]
        names = dict.fromkeys(name for table in tables for name in table.data)
        return [self.catalogue[name] for name in names if self.catalogue[name].missing]

    def run(
        self,
        trials: Sequence[Trial],
        *,
        n_jobs: int | None,
        watch: runner.Watch | None = None,
    ) -> list[Record]:
        """Run what is not finished; return the runs that failed."""
        # One data set after the other, so that each worker reads it once.
        order = sorted(trials, key=lambda trial: trial.data)
        place = {"folder": self.catalogue.folder, "path": self.catalogue.path}
        task = partial(perform, **place)
        return runner.run(order, task, self.ledger, n_jobs=n_jobs, watch=watch)

    def section(self, spec: Table | Figure) -> Section:
        """Return a table with its verdicts, or a figure, drawn."""
        records = self.ledger.records
        if isinstance(spec, Table):
            return Section(spec, judge(spec, records, self.catalogue, self.repeats))
        place = self.pages / f"{spec.paper}-{spec.name}.png"
        drawn = draw(spec, records, self.catalogue, place)
        return Section(spec, [], drawn.name if drawn else None)

    def write(self) -> Path:
        """Write the page of the papers from all finished runs; return its file."""
        sections = [self.section(spec) for spec in self.specs]
        wanted = {trial.key: trial for trial in self.trials(self.specs)}
        runs = [run for key, run in self.ledger.records.items() if key in wanted]
        finished, lost = self.ledger.records, self.missing(self.specs)
        if self._publishes:
            away = {source.name for source in lost}  # whose runs cannot be made again
            others = [key for key, run in finished.items() if run["data"] in away]
            self.ledger.keep(self.kept, [*wanted, *others])
        n_open = Counter(t.data for key, t in wanted.items() if key not in finished)
        topics = {paper: found for paper, (found, _) in self.claims.items()}
        text = write_page(
            *(sections, topics, self.findings(), runs, lost, n_open), quick=self.quick
        )
        return page.write(self.pages / "papers.md", text)
