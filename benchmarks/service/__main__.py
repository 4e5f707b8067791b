"""The entry point: ``python -m benchmarks.service VERB``.

Each ends by itself, prints JSON, and tells a row of the table in the docs.
"""

import json
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import typer

from benchmarks.annotations import FOLDER
from benchmarks.service.commits import measure_commits
from benchmarks.service.kills import kill_workers
from benchmarks.service.load import measure_load
from benchmarks.service.replays import measure_replay, measure_start
from benchmarks.service.rows import write_row
from benchmarks.service.soak import soak as measure_soak

app = typer.Typer(
    help="Measure the service, or try to break it.",
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
Log = Annotated[
    str | None,
    typer.Option(metavar="URL", help="An empty log; a file of SQLite if not given."),
]
Seed = Annotated[int, typer.Option(help="Of all that is drawn at random.")]
Learner = Annotated[
    str, typer.Option(metavar="NAME", help="online-label-tree, csdpp or one-vs-rest.")
]
Events = Annotated[int, typer.Option(min=1, help="How much feedback is in the log.")]


@app.command()
def kills(
    count: Annotated[int, typer.Option(min=1, help="How many processes die.")] = 1000,
    seconds: Annotated[float, typer.Option(min=1, help="When to stop.")] = 3600.0,
    log: Log = None,
    seed: Seed = 0,
) -> None:
    """Kill processes that append and learn, at random moments; nothing may be lost."""
    with TemporaryDirectory() as folder:
        _print("kills", kill_workers(Path(folder), count, seconds, log, seed))


@app.command()
def replay(learner: Learner = "online-label-tree", events: Events = 50_000) -> None:
    """Replay a log by a model of 1,000 labels: events a second."""
    with TemporaryDirectory() as folder:
        _print("replay", measure_replay(Path(folder), learner, events))


@app.command()
def start(learner: Learner = "online-label-tree", events: Events = 10_000) -> None:
    """Start a process with a snapshot and so much feedback after it: seconds."""
    with TemporaryDirectory() as folder:
        _print("start", measure_start(Path(folder), learner, events))


@app.command()
def commits(
    seconds: Annotated[float, typer.Option(min=1)] = 10.0,
    rate: Annotated[float, typer.Option(help="Feedbacks a second.")] = 200.0,
    workers: Annotated[int, typer.Option(min=1, help="Processes that write.")] = 2,
    log: Log = None,
) -> None:
    """Acknowledge feedback under load: milliseconds until it is on the disk."""
    with TemporaryDirectory() as folder:
        _print("commits", measure_commits(Path(folder), seconds, rate, workers, log))


@app.command()
def soak(
    minutes: Annotated[float, typer.Option(min=0.5, help="How long.")] = 30.0,
    rate: Annotated[float, typer.Option(help="Texts a second.")] = 50.0,
    feedback: Annotated[float, typer.Option(help="Feedbacks a second.")] = 5.0,
) -> None:
    """Serve for long at a modest rate: whether the memory of each process grows."""
    with TemporaryDirectory() as folder:
        _print("soak", measure_soak(Path(folder), minutes, rate, feedback))


@app.command()
def load(
    data: Annotated[Path, typer.Option(help="The folder of data sets.")] = FOLDER,
    models: Annotated[
        Path | None, typer.Option(help="A folder with debtags/ in it, or to put it.")
    ] = None,
    seconds: Annotated[float, typer.Option(min=1, help="Of each load.")] = 10.0,
    rate: Annotated[float, typer.Option(help="Texts a second.")] = 1000.0,
    feedback: Annotated[float, typer.Option(help="Feedbacks a second.")] = 50.0,
    workers: Annotated[int, typer.Option(min=1, help="Of the server.")] = 1,
) -> None:
    """Ask a server for labels of Debian packages, and teach it meanwhile."""
    with TemporaryDirectory() as folder:
        place = models or Path(folder)
        _print("load", measure_load(data, place, seconds, rate, feedback, workers))


def _print(verb: str, figures: dict[str, Any]) -> None:
    print(json.dumps(figures, indent=2))
    print(write_row(verb, sys.argv[2:], figures), file=sys.stderr)


if __name__ == "__main__":
    app()
