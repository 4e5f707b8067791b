"""``--on`` of ``fit``, ``predict`` and ``evaluate``: by parts, on a cluster."""

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from manylabel.cli.console import STANDARD, fitting, note, print_json, status
from manylabel.cli.figures import show_report
from manylabel.cli.inputs import DataFile, is_sharded
from manylabel.cli.options import Reading
from manylabel.cli.propensities import describe_law, parse_law, say_law

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


def check_on(models: list[Path], data: Path, others: Mapping[str, Any]) -> None:
    """Refuse what no cluster judges, before anything is read."""
    for option, given in others.items():
        if given:
            raise ValueError(f"{option} must come without --on.")
    if len(models) > 1:
        raise ValueError(f"--on must be asked of one model. Got {len(models)}.")
    if data == STANDARD:
        raise ValueError("FILE must be a path that all machines see. Got '-'.")


def is_model(path: Path) -> bool:
    """Tell whether a path is the folder of a model."""
    from manylabel.persistence.folder import MANIFEST

    return (path / MANIFEST).exists()


def evaluate_on(
    address: str,
    model: Path,
    data: Path,
    reading: Reading,
    propensity: str,
    ask: dict[str, Any],
    json: bool,
) -> None:
    """Print the figures of a model, which workers find by the paths of the files."""
    from manylabel.data.arrow import files_of
    from manylabel.distributed import evaluate
    from manylabel.propensity import Propensity
    from manylabel.text import Tagger

    law, tagger = parse_law(propensity), Tagger.load(model)
    if not isinstance(law, Propensity) or law.values is not None or not tagger.n_rows_:
        raise ValueError(
            "--on must come with propensities A,B, and a model that keeps how many "
            f"training rows have each label. Got --propensity {propensity}."
        )
    how: dict[str, Any] = {}
    if not is_sharded(data):
        how |= DataFile(files_of(data)[0], reading).as_fitted(tagger).options()
    with status(f"Judging {data}"):
        report = evaluate(model, data, client=address, propensity=law, **ask, **how)
    counted = "the rows that the model was fitted on"
    about: dict[str, Any] = {"data": str(data), "labels": len(tagger.label_names_)}
    about["propensity"] = describe_law(law, propensity, counted)
    if json:
        return print_json({"model": str(model)} | about | report.details())
    show_report(report, f"{model} on {data}", 0)
    say_law(about["propensity"])
