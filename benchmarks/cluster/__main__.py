"""The entry point: ``python -m benchmarks.cluster VERB``; each prints JSON."""

import json
from pathlib import Path
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
Trees = Annotated[int, typer.Option(min=1, help="Of FastXML.")]


@app.command()
def fit(
    name: Annotated[str, typer.Argument(help="depends or yso-finna-en.")] = "depends",
    learner: Annotated[str, typer.Option(help="FastXML or LabelTree.")] = "FastXML",
    trees: Trees = 50,
    data: Data = FOLDER,
) -> None:
    """Fit by dask on two processes beside two threads, with a worker killed too."""
    from benchmarks.cluster.fits import measure_fit

    if learner not in LEARNERS:
        raise typer.BadParameter(f"learner must be one of {', '.join(LEARNERS)}.")
    _print({"set": name, **measure_fit(learner, read(name, data), trees)})


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
    name: str = "npm-deps",
    data: Data = FOLDER,
) -> None:
    """Predict by Spark and by Ray beside the command line, with a process killed too.

    Rows are those of the test part, again and again. Stopped, it goes on with the
    engine that was at work.
    """
    from benchmarks.cluster.predictions import measure_predictions

    work.mkdir(parents=True, exist_ok=True)
    parts = (read(name, data, part) for part in ("train", "test"))
    _print({"set": name, **measure_predictions(*parts, rows, work)})


def _print(found: Any) -> None:
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    app()
