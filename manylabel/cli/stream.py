"""``manylabel stream``: predict each row of a file, then learn it."""

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from manylabel._plural import counted
from manylabel.cli import options
from manylabel.cli.console import note, percent, print_json, print_table, status
from manylabel.cli.inputs import DataFile
from manylabel.cli.learners import make
from manylabel.learners import ONLINE

if TYPE_CHECKING:
    from manylabel.data import Dataset
    from manylabel.evaluation import Run
    from manylabel.evaluation.progression import Progression

OF_TEXTS = "'manylabel fit' learns texts, and 'manylabel serve' corrections of them"
COSTS = ("hamming", "f1", "accuracy", "rank")

Learner = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help=f"One of {', '.join(ONLINE)}.",
        autocompletion=lambda: list(ONLINE),
    ),
]
Cost = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="What to optimise, where a learner can, to watch and to draw: hamming, "
        "f1, accuracy, rank or subset.",
    ),
]
Compare = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME", help="Another learner; repeatable."),
]
Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="A parameter of each learner that has it; repeatable.",
    ),
]
Permute = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        min=1,
        help="Run so many random orders of the rows, which are all read into memory, "
        "for means and standard errors.",
    ),
]
Hide = Annotated[
    float,
    typer.Option(
        min=0,
        max=1,
        help="Hide each positive label from the learners with this probability; rows "
        "are judged by all of their labels.",
    ),
]
Batch = Annotated[
    int,
    typer.Option(min=1, help="Rows to predict before they are learnt; 1 is exact."),
]
Plot = Annotated[
    Path | None,
    typer.Option(
        metavar="OUT", help="Draw the running cost to a .png, .pdf or .svg file."
    ),
]


@options.reads(*options.OF_TEXTS)
def stream(
    file: options.File,
    learner: Learner = "csdpp",
    cost: Cost = "f1",
    compare: Compare = None,
    set_: Set = None,
    permute: Permute = None,
    seed: options.Seed = 0,
    jobs: Annotated[
        int | None, typer.Option(help="Orders of the rows at a time; -1 for all cores.")
    ] = None,
    hide: Hide = 0.0,
    batch: Batch = 1,
    plot: Plot = None,
    json: options.Json = False,
    *,
    reading: options.Reading,
) -> None:
    """Predict each row, charge what it costs, then learn it: honest without a test set.

    Example: manylabel stream train.txt.gz --cost f1 --compare online-br
    """
    from manylabel.evaluation.plots import check_format, plot_runs
    from manylabel.losses import as_cost

    as_cost(cost)
    if plot is not None:
        check_format(plot)
    data = DataFile(file, reading)
    data.refuse_texts(OF_TEXTS)
    learners = _make([learner, *(compare or [])], set_, cost, seed)
    whole = data.read() if permute else None
    settings = {
        "costs": tuple(dict.fromkeys([cost, *COSTS])),
        "permutations": permute,
        "random_state": seed,
        "hide": hide,
        "batch": batch,
    }
    runs = {
        name: _run(name, estimator, whole or _chunks(data), settings | {"n_jobs": jobs})
        for name, estimator in learners.items()
    }
    if json:
        print_json({"file": str(file)} | settings | _figures(runs))
    else:
        _show(runs, f"{file}, each predicted before it was learnt")
    if plot is not None:
        plot_runs(runs, plot, cost=cost, title=file.name)
        note(f"note: wrote {plot}.")


def _make(
    names: list[str], settings: list[str] | None, cost: str, seed: int
) -> dict[str, Any]:
    """Return the learners by name, their parameters checked."""
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"--compare must name other learners. Got {name!r} twice.")
    common = {"cost": cost, "random_state": seed}
    estimators = make(names, settings, common, among=ONLINE)
    for estimator in estimators:
        try:
            estimator._check_parameters()
        except TypeError as error:  # a wrong word on the command line is bad input
            raise ValueError(str(error)) from None
    return dict(zip(names, estimators, strict=True))


def _chunks(data: DataFile) -> "Iterator[Dataset]":
    for chunk in data.chunks():
        data.check_rows(chunk)
        yield chunk


def _run(name: str, learner: Any, rows: Any, settings: Mapping[str, Any]) -> "Run":
    """Return the run of one learner, shown as it goes."""
    from manylabel.evaluation import progressive

    with status(name) as show:
        watch = partial(_tell, show, settings["costs"][0])
        return progressive(learner, rows, watch=watch, **settings)


def _tell(show: Any, cost: str, now: "Progression") -> None:
    show(
        f"{counted(now.n_rows, 'row')}, {now.n_rows / now.seconds:,.0f} rows/s, "
        f"{cost} loss {percent(now.mean[cost])} %"
    )


def _figures(runs: "Mapping[str, Run]") -> dict[str, Any]:
    return {
        "rows": max(run.n_rows for run in runs.values()),
        "learners": {
            name: {
                "mean": run.mean,
                "stderr": run.stderr if run.n_permutations > 1 else None,
                "seconds": round(run.seconds, 3),
                "rows_per_second": round(run.rows_per_second, 1),
            }
            for name, run in runs.items()
        },
    }


def _show(runs: "Mapping[str, Run]", title: str) -> None:
    """Print a table with a line for each learner."""
    first = next(iter(runs.values()))
    orders = f" in {first.n_permutations} orders" if first.n_permutations > 1 else ""
    print_table(
        ["percent", *first.costs, "rows/s"],
        (
            [name, *_cells(run), f"{run.rows_per_second:,.0f}"]
            for name, run in runs.items()
        ),
        title=f"Losses on {counted(first.n_rows, 'row')}{orders} of {title}",
        numbers=[*first.costs, "rows/s"],
    )


def _cells(run: "Run") -> Iterator[str]:
    for cost, mean in run.mean.items():
        error = f"±{percent(run.stderr[cost])}" if run.n_permutations > 1 else ""
        yield percent(mean) + error
