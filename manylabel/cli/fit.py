"""``manylabel fit``: train a model and save it."""

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from manylabel.cli import options
from manylabel.cli.console import print_json, print_table, status, working
from manylabel.cli.inputs import DataFile
from manylabel.cli.learners import LEARNERS, make
from manylabel.exceptions import ArchiveError

if TYPE_CHECKING:
    from manylabel.data import Dataset


ModelToBe = Annotated[
    Path,
    typer.Option(metavar="DIR", help="The folder to save to; a model is replaced."),
]
Learner = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help=f"One of {', '.join(LEARNERS)}.",
        autocompletion=lambda: list(LEARNERS),
    ),
]
Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="NAME=VALUE", help="A parameter of the learner; repeatable."
    ),
]


@options.reads()
def fit(
    file: options.File,
    model: ModelToBe,
    learner: Learner = "one-vs-rest",
    set_: Set = None,
    jobs: options.Jobs = None,
    seed: options.Seed = 0,
    json: options.Json = False,
    *,
    reading: options.Reading,
) -> None:
    """Train a model on a data file with features and save it to a folder.

    Example: manylabel fit train.txt.gz --model bibtex/ --set C=0.5 --jobs 2
    """
    from manylabel import parallel

    (estimator,) = make([learner], set_, {"n_jobs": jobs, "random_state": seed})
    _check_place(model)
    with working(f"Reading {file}"):
        data = DataFile(file, reading).read()
    start = time.perf_counter()
    what = f"Fitting {learner} to {len(data):,} rows, {data.n_labels:,} labels"
    with status(what) as show, parallel.watched(lambda *done: show(_news(*done))):
        estimator.fit(data.X, data.Y)
    seconds = time.perf_counter() - start
    _remember(estimator, data)
    estimator.save(model)
    figures = {
        "model": str(model),
        "learner": learner,
        "rows": len(data),
        "features": data.n_features,
        "labels": data.n_labels,
        "seconds": round(seconds, 3),
        "megabytes": round(sum(f.stat().st_size for f in model.iterdir()) / 1e6, 3),
    }
    print_json(figures) if json else _print_figures(figures, f"Fitted on {file}")


def _print_figures(figures: dict[str, Any], title: str) -> None:
    cells = ((k, v if isinstance(v, str) else f"{v:,}") for k, v in figures.items())
    print_table(["", "value"], cells, title=title)


def _news(done: int, total: int | None) -> str:
    return f"{done} of {total} parts" if total else f"{done} parts"


def _check_place(model: Path) -> None:
    """Refuse, before hours of training, a folder that cannot be written."""
    from manylabel.persistence.folder import MANIFEST

    if model.exists() and not model.is_dir():
        raise ArchiveError(model, "expected a folder or nothing, found a file.")
    place = model if model.exists() else model.absolute().parent
    if not place.is_dir():
        raise ArchiveError(model, f"there is no folder {place} to make it in.")
    if place == model and any(place.iterdir()) and not (place / MANIFEST).exists():
        raise ArchiveError(model, "this folder holds other files than a model's.")
    if not os.access(place, os.W_OK):
        raise ArchiveError(model, f"the folder {place} cannot be written.")


def _remember(estimator: Any, data: "Dataset") -> None:
    """Keep with the model what other verbs will ask about its data."""
    estimator.label_counts_ = data.Y.sum(axis=0).astype("int64")
    estimator.n_rows_ = len(data)
    if data.label_names is not None:
        estimator.label_names_ = data.label_names
    if data.feature_names is not None and hasattr(estimator, "explain"):
        estimator.feature_names_ = data.feature_names
