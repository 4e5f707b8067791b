"""``manylabel thresholds``: scores above which labels are given."""

from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

import typer

from manylabel._plural import counted
from manylabel.cli import options
from manylabel.cli.console import percent, print_json, say, status
from manylabel.cli.inputs import DataFile

File = Annotated[
    Path | None,
    typer.Argument(
        metavar="FILE",
        help="Rows that the model did not learn; - for stdin.",
        show_default=False,
    ),
]
Data = Annotated[
    Path | None, typer.Option(metavar="FILE", help="FILE, if it is no argument.")
]
Target = Annotated[
    str,
    typer.Option(
        "--for",
        metavar="TARGET",
        help="f1, accuracy, hamming, precision=P or recall=R.",
    ),
]
PerLabel = Annotated[
    bool, typer.Option("--per-label", help="A threshold for each label of its own.")
]


@options.reads()
def thresholds(
    model: options.Model,
    file: File = None,
    data: Data = None,
    target: Target = "f1",
    per_label: PerLabel = False,
    json: options.Json = False,
    *,
    reading: options.Reading,
) -> None:
    """Choose the scores above which labels are given, and keep them with the model.

    Then manylabel predict --sets prints the labels above them, and evaluate
    judges these sets. Rankings and scores stay as they are. A precision or recall that
    so many rows cannot promise, with 95 % confidence, is said to be so.

    Example: manylabel thresholds debtags/ valid.csv --for recall=0.9
    """
    from manylabel.text import Tagger

    given = file or data
    if given is None:
        raise ValueError("FILE, rows to choose by, must follow MODEL.")
    tagger = Tagger.load(model)
    with status(f"Reading {given}"):
        rows = DataFile(given, reading).as_fitted(tagger).read_for(tagger)
    tagger.choose_thresholds(rows, per_label=per_label, **_goal(target))
    found = tagger.judge(rows)
    Y, sets = found.Y, found.sets
    hits = float(sets.multiply(Y).sum())
    figures = {
        "rows": len(rows),
        "labels given": float(sets.sum()) / len(rows),
        "precision": hits / max(1.0, float(sets.sum())),
        "recall": hits / max(1.0, float(Y.sum())),
        "promised": bool(tagger.learner_.promised_.all()),
    }
    tagger.save(model)
    if json:
        print_json({"model": str(model), "target": target} | figures)
        return
    say(
        f"Thresholds for {target} on {counted(len(rows), 'row')}: "
        f"{figures['labels given']:.2f} labels a row, precision "
        f"{percent(figures['precision'])} %, recall {percent(figures['recall'])} %."
    )


def _goal(target: str) -> dict[str, Any]:
    """Return what thresholds are chosen for, as the tagger calls it."""
    from manylabel.losses import NAMED

    name, _, share = target.partition("=")
    if target in NAMED:
        return {"cost": target}
    with suppress(ValueError):
        if name in ("precision", "recall") and 0 <= float(share) <= 1:
            return {f"min_{name}": float(share)}
    raise ValueError(
        "--for must be a cost, such as f1, or precision= or recall= with a share from "
        f"0 to 1. Got {target!r}."
    )
