"""The entry point: ``python -m benchmarks.cluster VERB``; each prints JSON."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import typer

from benchmarks.cluster.data import FOLDER, LEARNERS, read

app = typer.Typer(
    help="Measure fits and predictions on a cluster.",
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
Data = Annotated[Path, typer.Option(help="The folder of data sets.")]
Work = Annotated[Path | None, typer.Option(help="A folder, which stays.")]
Trees = Annotated[int, typer.Option(min=1, help="Of FastXML.")]


@app.command()
def fit(
    name: Annotated[str, typer.Argument(help="depends or yso-finna-en.")] = "depends",
    learner: Annotated[str, typer.Option(help="FastXML or LabelTree.")] = "FastXML",
    trees: Trees = 50,
    data: Data = FOLDER,
    work: Work = None,
) -> None:
    """Fit by dask on two processes beside two threads, with a worker killed too.

    With --work, a run that was stopped goes on with what it was at.
    """
    from benchmarks.cluster.fits import measure_fit

    if learner not in LEARNERS:
        raise typer.BadParameter(f"learner must be one of {', '.join(LEARNERS)}.")
    with _folder(work) as place:
        n_trees = f"-{trees}" if learner == "FastXML" else ""
        place = place / f"{name}-{learner}{n_trees}"
        _print({"set": name, **measure_fit(learner, read(name, data), trees, place)})


@app.command()
def shards(
    name: Annotated[str, typer.Argument()] = "depends",
    trees: Trees = 20,
    data: Data = FOLDER,
) -> None:
    """Grow each tree from a part of the rows: what P@k and PSP@k lose."""
    from benchmarks.cluster.row_shards import measure_loss

    _print(measure_loss(name, data, trees, [2, 4, 8]))


@app.command()
def simulate(name: str = "depends", data: Data = FOLDER) -> None:
    """Measure constants on one core, and simulate 1,000 machines at Ads-9M's size."""
    from benchmarks.cluster.paper import plan_on_paper

    _print(plan_on_paper(read(name, data)))


@app.command()
def predict(
    work: Annotated[Path, typer.Argument(help="A folder, which stays.")],
    rows: Annotated[int, typer.Option(min=1, help="How many.")] = 10_000_000,
    engine: Annotated[
        list[str] | None,
        typer.Option(
            help="local, spark, ray or dask by path, spark-frame or ray-frame; may be "
            "repeated. None is all."
        ),
    ] = None,
    name: str = "npm-deps",
    data: Data = FOLDER,
) -> None:
    """Predict on a cluster beside the command line, with a process killed too.

    Rows are those of the test part, again and again. Stopped, it goes on with the
    run that was at work.
    """
    from benchmarks.cluster.predictions import ENGINES, measure_predictions

    known = ["local", *ENGINES]
    for each in engine or []:
        if each not in known:
            raise typer.BadParameter(f"engine must be one of {', '.join(known)}.")
    found = measure_predictions(
        lambda part: read(name, data, part), rows, work, engine or known
    )
    _print({"set": name, **found})


@contextmanager
def _folder(work: Path | None) -> Iterator[Path]:
    """Yield a folder that stays, or one that goes."""
    if work is None:
        with TemporaryDirectory() as place:
            yield Path(place)
    else:
        yield work


def _print(found: Any) -> None:
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    app()
