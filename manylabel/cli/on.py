"""``fit --on`` and ``predict --on``: by parts, on a cluster."""

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from manylabel.cli.console import STANDARD, fitting, note

if TYPE_CHECKING:
    from manylabel.data import Dataset
    from manylabel.text import Tagger

On = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="Work by parts on a cluster: dask://host:port, ray, ray://host:port, "
        "spark://host:port or spark-local.",
        autocompletion=lambda: ["dask://", "ray", "ray://", "spark://", "spark-local"],
        show_default=False,
    ),
]
Work = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        help="With --on: a folder that all machines see, for rows and parts, where a "
        "run that broke goes on; MODEL.parts, removed in the end, if not given.",
        show_default=False,
    ),
]


def fit_on(
    address: str | None,
    tagger: "Tagger",
    data: "Dataset",
    model: Path,
    work: Path | None,
) -> "Tagger":
    """Return a fitted tagger; parts that were learnt stay until it is saved."""
    model.parent.mkdir(parents=True, exist_ok=True)
    if address is None:
        return tagger.fit(data)
    from manylabel import distributed
    from manylabel.distributed.plan import check_divisible

    try:
        check_divisible(tagger.learner)
    except TypeError as error:
        raise ValueError(f"--on: {error}") from None
    out = _parts(model) if work is None else work
    fitted: Tagger = distributed.fit(tagger, data, out=out, client=address)
    return fitted


def save_fitted(
    address: str | None, tagger: "Tagger", model: Path, work: Path | None
) -> None:
    """Save a model, and then remove the parts of which it is made."""
    tagger.save(model)
    if address is not None and work is None:
        try:
            shutil.rmtree(_parts(model))
        except OSError as error:  # the model is there all the same
            reason = error.strerror or error
            note(f"note: {_parts(model)} cannot be removed: {reason}.")


def _parts(model: Path) -> Path:
    return model.with_name(f"{model.name}.parts")


def predict_on(
    address: str, model: Path, file: Path, out: Path, ask: dict[str, Any]
) -> None:
    """Write a folder of answers; those that are there are not made again."""
    if file == STANDARD:
        raise ValueError("FILE must be a path that all machines see. Got '-'.")
    if out == STANDARD:
        raise ValueError("--output must name a folder with --on. Got '-'.")
    from manylabel.distributed import predict_paths

    with fitting(f"Predicting {file}"):
        predict_paths(file, model, out=out, client=address, **ask)
