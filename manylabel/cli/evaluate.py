"""``manylabel evaluate``: how good a model is on a data file."""

import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from manylabel.cli import options
from manylabel.cli.console import note, percent, print_json, print_table, say, track
from manylabel.cli.inputs import DataFile, load_model

if TYPE_CHECKING:
    from manylabel.data import Dataset
    from manylabel.evaluation import Report
    from manylabel.propensity import Propensity

DEPTH = re.compile(r"\b(the|at) \d+\b")


PropensityLaw = Annotated[
    str,
    typer.Option(
        metavar="A,B",
        help="Constants of the propensity law, the name of a data set of the Extreme "
        "Classification Repository that has its own, or none.",
    ),
]
TrainingFile = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Training rows to count labels in for the propensities. Not needed for a "
        "model that 'manylabel fit' made: it keeps those counts.",
    ),
]


def evaluate(
    model: options.Model,
    data: Annotated[
        Path, typer.Option(metavar="FILE", help="The rows to judge by; - for stdin.")
    ],
    k: Annotated[
        str, typer.Option("-k", metavar="K,K,...", help="Ranking depths.")
    ] = "1,3,5",
    propensity: PropensityLaw = "0.55,1.5",
    train: TrainingFile = None,
    from_: options.From = None,
    label_names: options.LabelNames = None,
    zero_based: options.ZeroBased = None,
    skip_bad_lines: options.SkipBadLines = False,
    json: options.Json = False,
) -> None:
    """Judge a model by ranking, propensity-scored and set metrics.

    Example: manylabel evaluate bibtex/ --data test.txt.gz -k 1,3,5
    """
    depths, law = _depths(k), _law(propensity)
    learnt = load_model(model)
    reading = (from_, label_names, zero_based, skip_bad_lines)
    rows = MatchingFile(learnt, DataFile(data, *reading))
    training = MatchingFile(learnt, DataFile(train, *reading)) if train else None
    counted = _fit(law, learnt, rows, training) if law else None
    report, n_rows = _judge(learnt, rows, depths, law)
    if json:
        figures = {
            "model": str(model),
            "data": str(data),
            "rows": n_rows,
            "labels": len(learnt.classes_),
            "propensity": law and {"a": law.a, "b": law.b, "counted_in": counted},
            "figures": report.to_dict(),
        }
        print_json(figures)
        return
    _show(report, depths, title=f"{model} on {n_rows:,} rows of {data}")
    if law is not None:
        say(
            f"Propensities: a = {law.a:g}, b = {law.b:g}, labels counted in {counted}. "
            "PSP and PSnDCG are normalised by the best attainable."
        )


class MatchingFile:
    """A file whose rows must have the columns of a model."""

    def __init__(self, model: Any, file: DataFile) -> None:
        self._model, self._file = model, file

    def chunks(self) -> Iterator["Dataset"]:
        """Yield the rows, of which there must be some, in chunks."""
        n_labels = len(self._model.classes_)
        names = getattr(self._model, "label_names_", None)
        for chunk in self._file.chunks_for(self._model, n_labels=n_labels):
            self._file.check_rows(chunk)
            if chunk.n_labels != n_labels:
                raise self._file.fault(
                    f"expected {n_labels} labels, as the model was fitted on, "
                    f"found {chunk.n_labels}."
                )
            if names is not None and chunk.label_names not in (None, names):
                raise self._file.fault(
                    "expected the labels that the model was fitted on, in their "
                    "order, found other names."
                )
            yield chunk

    def count_labels(self) -> tuple[Any, int]:
        """Return the number of rows of each label, and of all."""
        counts, n_rows = 0, 0
        for chunk in track(self.chunks(), "Counting labels"):
            counts, n_rows = counts + chunk.Y.sum(axis=0), n_rows + len(chunk)
        return counts, n_rows


def _depths(k: str) -> tuple[int, ...]:
    try:
        return tuple(dict.fromkeys(int(depth) for depth in k.split(",")))
    except ValueError:
        raise ValueError(f"-k must be integers such as 1,3,5. Got {k!r}.") from None


def _law(propensity: str) -> "Propensity | None":
    """Return the propensity law that was asked for, its values still to be set."""
    from manylabel.propensity import PRESETS, Propensity

    if propensity.lower() == "none":
        return None
    try:
        if "," not in propensity:
            return Propensity.preset(propensity)
        a, b = map(float, propensity.split(","))
        if 0 <= a < math.inf and 0 < b < math.inf:
            return Propensity(a=a, b=b)
    except ValueError:
        pass
    raise ValueError(
        "--propensity must be none, A,B with A >= 0 and B > 0, or one of "
        f"{', '.join(PRESETS)}. Got {propensity!r}."
    )


def _fit(
    law: "Propensity", model: Any, judged: MatchingFile, training: MatchingFile | None
) -> str:
    """Set the values of the law by counts of training labels; return whose."""
    from manylabel.propensity import recorded_law

    if training is not None:
        (counts, n_rows), counted = training.count_labels(), "the training rows given"
    elif hasattr(model, "label_counts_"):
        counts, n_rows = model.label_counts_, model.n_rows_
        counted = "the rows that the model was fitted on"
    else:
        (counts, n_rows), counted = judged.count_labels(), "the judged rows"
        note(
            "note: the model does not hold its training labels, so the propensities "
            "come from the judged rows; --train FILE follows the usual convention."
        )
    law.values_ = recorded_law(counts, n_rows, law.a, law.b)
    return counted


def _judge(
    model: Any, rows: MatchingFile, depths: tuple[int, ...], law: "Propensity | None"
) -> tuple["Report", int]:
    """Return the figures over all rows, and how many there are."""
    from manylabel.evaluation import Evaluation

    evaluation, n_rows = Evaluation(k=depths, propensity=law), 0
    for chunk in track(rows.chunks(), "Judging"):
        scores = model.predict_topk(chunk.X, max(depths))
        evaluation.update(chunk.Y, scores, model.predict(chunk.X))
        n_rows += len(chunk)
    return evaluation.report(), n_rows


def _show(report: "Report", depths: tuple[int, ...], title: str) -> None:
    """Print a table of rankings, a column for each depth, and one of sets."""
    ranked = dict.fromkeys(key.partition("@")[0] for key in report if "@" in key)
    columns = [f"@{depth}" for depth in depths]
    print_table(
        ["percent", *columns, "meaning"],
        (
            [
                name,
                *(percent(report[name + column]) for column in columns),
                DEPTH.sub(r"\1 k", report.meaning(name + columns[-1])),
            ]
            for name in ranked
        ),
        title=title,
        numbers=columns,
    )
    sets = [key for key in report if "@" not in key]
    print_table(
        ["percent", "value", "meaning"],
        ([key, percent(report[key]), report.meaning(key)] for key in sets),
        title="Predicted sets of labels",
        numbers=["value"],
    )
