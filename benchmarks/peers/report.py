"""The page of the peers: how it was measured, all figures, and where we lose."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

from benchmarks import page, plots
from benchmarks.peers.contest import DEPTH, SINGLES
from benchmarks.peers.programme import Entrant, Peer
from benchmarks.peers.ratios import (
    EQUAL,
    SLOWER,
    TIMES,
    Result,
    losses,
    short,
    write_table,
)
from benchmarks.peers.texts import WORDS

QUALITIES = ("P@1", "PSP@5")
AXES = {
    "train": ("CPU seconds of training", 1),
    "batch": ("CPU microseconds of a row in a batch", 1e6),
}
SIZES = {
    "given_rows": "training rows",
    "test_rows": "test rows",
    "features": "features",
    "labels": "labels",
}
INTRODUCTION = """\
The peers beside us: the same rows, one run after another on one machine. This page is
written by the command below from one line of JSON for each run; what is finished is not
run again."""
MEANING = """\
## How it is measured

- Each peer is installed into an environment of its own. Its file in
  `benchmarks/peers/programs` says how it is called; `benchmarks/peers/peers.toml` has
  its packages and parameters. What is not said there is the peer's default.
- All entrants take turns, and a data set is run as often as the table of data sets
  says. Figures are medians over the runs, which differ by their seed where the peer
  has one.
- Times are **CPU seconds** of all threads: the machine has other work on it, which
  makes the clock slower but hardly these. Reading files and bringing rows into the form
  that a peer's call takes are not counted, but for omikuji, which trains from a file
  only. Kernels of ours are loaded before the time starts, as compiled libraries are.
- *train s* is for all training rows, *batch* for all test rows in one call (or one call
  each, where a peer takes one row a call), *one row* the median of {singles} calls with
  one row each. The best {depth} labels are asked for.
- *ratio* is the peer's time over that of the entrant of ours named with it: **above 1,
  ours is quicker**.
- *model MB* is what the peer's own way to save takes on disk; where that is pickle, its
  weights as arrays. *peak MB* is how much larger the process was at its largest moment
  in training than just before, with the library and the rows loaded.
- P@k and PSP@k are in percent, by our own code for all, from the best {depth} labels;
  PSP@k is over the best attainable, with propensities by the counts of the training
  rows.
- A run has {limit} minutes of CPU time, from reading its rows to its last prediction;
  who needs more is ended, and named beneath the table.
- Texts become the same rows for all: TF-IDF of the single words that at least
  {min_df} training rows have, of unit length. Only labels of training rows are learnt.
  A label that only test rows have is found by nobody, and missed by all: P@k divides by
  k, whatever labels there are, and the best attainable PSP@k has it, with the
  propensity of a label that is in 0 training rows, the lowest there is."""


@dataclass(frozen=True)
class Contents:
    """What is on the page.

    Parameters
    ----------
    command : str
        What was typed.
    results : dict of str to list of Result
        The figures of each data set.
    peers : sequence of Peer
        Who took part.
    missing : dict of str to str
        Data sets that were not found, and why they were not.
    limit : int
        Minutes of CPU time that a run had.
    remarks : str
        What is known of where we lose.
    """

    command: str
    results: Mapping[str, Sequence[Result]]
    peers: Sequence[Peer]
    missing: Mapping[str, str]
    limit: int
    remarks: str = ""


def write_pages(contents: Contents, path: Path, *, ours: str) -> Path:
    """Write the page and a plot for each data set; return the page.

    Parameters
    ----------
    contents : Contents
        What is on the page.
    path : Path
        Where it goes, and beside it the plots; the folder is made if it is not there.
    ours : str
        The peer whose points are filled.
    """
    pictures = {
        data: draw(group, path.with_name(f"{path.stem}-{data}.png"), ours=ours).name
        for data, group in contents.results.items()
        if any(each.runs for each in group)
    }
    title = path.stem.replace("-", " ").capitalize()
    return page.write(path, write_page(contents, pictures, title))


def draw(results: Sequence[Result], path: Path, *, ours: str) -> Path:
    """Draw P@1 and PSP@5 against the time to train and to predict."""
    shown = [result for result in results if result.runs]
    filled = [result.name for result in shown if result.peer == ours]

    def draw_panel(quality: str, kind: str, axes: Any) -> None:
        label, unit = AXES[kind]
        points = {
            each.name: (unit * each.times[kind], 100 * each[quality]) for each in shown
        }
        plots.draw_points(axes, points, filled)
        if quality == QUALITIES[-1]:
            axes.set_xlabel(label)
        if kind == next(iter(AXES)):
            axes.set_ylabel(f"{quality} (%)")

    panels = [
        plots.Panel("", partial(draw_panel, quality, kind))
        for quality, kind in product(QUALITIES, AXES)
    ]
    title = f"{shown[0].data}: quality against time"
    return plots.write(path, title, panels, n_columns=2, size=(5.5, 3.8), shared=True)


def write_page(
    contents: Contents, pictures: Mapping[str, str], title: str = "Peers"
) -> str:
    """Return the page as Markdown; pictures are those of the data sets, by name."""
    results = [each for group in contents.results.values() for each in group]
    parts = [
        _meaning(contents.limit),
        "## Who takes part\n\n" + _peers(contents.peers, results),
        _sets(contents),
    ]
    for data, group in contents.results.items():
        parts += [f"## {data}", write_table(group)]
        if data in pictures:
            parts.append(page.picture(f"{data}: quality against time", pictures[data]))
    parts += [_lost(contents.results), contents.remarks]
    runs = [run for result in results for run in result.runs]
    return page.compose(title, INTRODUCTION, contents.command, runs, parts)


def _meaning(limit: int) -> str:
    known = {"singles": SINGLES, "depth": DEPTH, "min_df": WORDS["min_df"]}
    return MEANING.format(limit=limit, **known)


def _peers(peers: Sequence[Peer], results: Iterable[Result]) -> str:
    versions = {
        result.peer: str(result.runs[0]["version"]) for result in results if result.runs
    }
    head = ("entrant", "version", "parameters", "rows", "ratio to", "one thread")
    return page.table(
        head,
        (
            [*_about(entrant, versions.get(peer.name, "")), peer.threads]
            for peer in peers
            for entrant in peer.entrants
        ),
    )


def _about(entrant: Entrant, version: str) -> list[str]:
    given = [f"{name} = {value}" for name, value in entrant.parameters.items()]
    rows = "as given" if entrant.rows == "given" else "of unit length"
    return [entrant.name, version, ", ".join(given), rows, entrant.beside or ""]


def _sets(contents: Contents) -> str:
    rows = []
    for data, group in contents.results.items():
        done = next((each for each in group if each.runs), None)
        if done is not None:
            counts = (done[name] for name in SIZES)
            repeats = max(len(each.runs) for each in group)
            rows.append([data, *(f"{count:,.0f}" for count in counts), str(repeats)])
    head = ("data", *SIZES.values(), "runs of each entrant")
    lost = [f"{data} was skipped: {why}." for data, why in contents.missing.items()]
    return page.join("## Data sets", page.table(head, rows), *lost)


def _lost(results: Mapping[str, Sequence[Result]]) -> str:
    """Say where a peer is much quicker at no less quality."""
    rows = [
        [data, result.name, TIMES[kind], short(by)]
        for data, group in results.items()
        for result, kind, by in losses(group)
    ]
    told = (
        f"Where a peer takes less than 1 / {SLOWER} of our time, and its P@1 and PSP@5 "
        f"are at most {100 * EQUAL:g} point below ours."
    )
    head = ("data", "entrant", "in", "times as quick as ours")
    table = page.table(head, rows) if rows else "Nowhere."
    return page.join("## Where we lose", told, table)
