"""``manylabel thresholds``: cut-offs, so that predict returns sets."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from manylabel.cli import options
from manylabel.cli.console import percent, print_json, say, working
from manylabel.cli.inputs import DataFile
from manylabel.cli.matching import MatchingFile
from manylabel.cli.models import is_textual, load_model

if TYPE_CHECKING:
    from manylabel.model_selection import Thresholds

# What fit keeps with a model of features.
KEPT = ("label_names_", "label_counts_", "n_rows_", "feature_names_")
Data = Annotated[
    Path,
    typer.Option(metavar="FILE", help="Rows that the model did not learn."),
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
    bool, typer.Option("--per-label", help="A cut-off for each label of its own.")
]


@options.reads()
def thresholds(
    model: options.Model,
    data: Data,
    target: Target = "f1",
    per_label: PerLabel = False,
    json: options.Json = False,
    *,
    reading: options.Reading,
) -> None:
    """Choose the scores above which labels are given, and keep them with the model.

    Then ``manylabel predict --sets`` prints the labels above them, and ``evaluate``
    judges these sets. Rankings stay as they are.

    Example: manylabel thresholds debtags/ --data valid.jsonl --for precision=0.9
    """
    import scipy.sparse as sp

    from manylabel._validation import widened
    from manylabel.model_selection import Thresholds

    learnt = load_model(model)
    with working(f"Reading {data}"):
        chunks = list(MatchingFile(learnt, DataFile(data, reading)).chunks())
    X = sp.vstack([chunk.X for chunk in chunks], format="csr")
    Y = sp.vstack(
        [widened(chunk.Y, len(learnt.classes_)) for chunk in chunks], format="csr"
    )
    inner = learnt.estimator_ if isinstance(learnt, Thresholds) else learnt
    cut = Thresholds(inner, **_goal(target), per_label=per_label).choose(inner, X, Y)
    given = cut.predict(X)
    hits = float(given.multiply(Y).sum())
    figures = {
        "rows": X.shape[0],
        "labels given": given.sum() / X.shape[0],
        "precision": hits / max(1.0, float(given.sum())),
        "recall": hits / max(1.0, float(Y.sum())),
    }
    _keep(cut, learnt).save(model)
    if json:
        print_json({"model": str(model), "target": target} | figures)
        return
    say(
        f"Cut-offs for {target} on {X.shape[0]:,} rows: "
        f"{figures['labels given']:.2f} labels a row, precision "
        f"{percent(figures['precision'])} %, recall {percent(figures['recall'])} %."
    )


def _goal(target: str) -> dict[str, Any]:
    name, equals, share = target.partition("=")
    return {f"min_{name}": float(share)} if equals else {"cost": target}


def _keep(cut: "Thresholds", learnt: Any) -> Any:
    """Return the model with its cut-offs, a tagger if it was one."""
    about = {name: vars(learnt).pop(name) for name in KEPT if hasattr(learnt, name)}
    if is_textual(learnt):
        learnt.tagger.learner_ = cut
        return learnt.tagger
    for name, value in about.items():
        setattr(cut, name, value)
    return cut
