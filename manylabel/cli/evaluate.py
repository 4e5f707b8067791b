"""``manylabel evaluate``: how good models are on a data file."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from manylabel.cli import options
from manylabel.cli.console import print_json, say, status, track
from manylabel.cli.figures import (
    figures_of,
    show_comparison,
    show_report,
    write_labels,
)
from manylabel.cli.inputs import DataFile
from manylabel.cli.propensities import (
    PropensityLaw,
    count_law,
    describe_law,
    parse_law,
)
from manylabel.exceptions import ArchiveError

if TYPE_CHECKING:
    from manylabel.evaluation import Evaluation, LabelFigures
    from manylabel.text import Tagger

N_RESAMPLES = 1000

Models = Annotated[
    list[Path],
    typer.Argument(
        metavar="MODEL...", help="Folders of models; all are compared to the first."
    ),
]
Data = Annotated[
    Path, typer.Option(metavar="FILE", help="The rows to judge by; - for stdin.")
]
TrainingFile = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Training rows to count labels in for the propensities. Not needed for a "
        "model that 'manylabel fit' made: it keeps those counts.",
    ),
]
Labels = Annotated[
    Path | None,
    typer.Option(
        metavar="OUT",
        help="Write a line for each label, the worst first, to a TSV file.",
    ),
]


@options.reads()
def evaluate(
    models: Models,
    data: Data,
    k: Annotated[
        str, typer.Option("-k", metavar="K,K,...", help="Ranking depths.")
    ] = "1,3,5",
    propensity: PropensityLaw = "0.55,1.5",
    train: TrainingFile = None,
    labels: Labels = None,
    seed: options.Seed = 0,
    jobs: options.Jobs = None,
    json: options.Json = False,
    *,
    reading: options.Reading,
) -> None:
    """Judge models by ranking, propensity-scored and set metrics.

    Several models are shown side by side, with the difference of each to the first and
    a 95 % interval of it: a paired bootstrap of the rows.

    Example: manylabel evaluate a/ b/ --data test.txt.gz --labels worst.tsv
    """
    from manylabel.evaluation import Evaluation, LabelFigures, RowwiseEvaluation

    depths, law = _depths(k), parse_law(propensity)
    learnt = _load(models, jobs)
    rows, (name, first) = DataFile(data, reading), next(iter(learnt.items()))
    names = _names(first, rows)
    values = counted = None
    if law is not None:
        training = DataFile(train, reading) if train else None
        values, counted = count_law(law, first, names, rows, training)
    by_label = {name: LabelFigures(max(depths)) for name in learnt if labels}
    kind = Evaluation if len(learnt) == 1 else RowwiseEvaluation
    evaluations = {
        name: _judge(
            tagger, rows, kind(k=depths, propensity=values), by_label.get(name)
        )
        for name, tagger in learnt.items()
    }
    if labels is not None:
        write_labels(labels, by_label, names)
    about = {
        "data": str(data),
        "rows": evaluations[name].n_rows,
        "labels": len(first.label_names_),
        "propensity": law and describe_law(law, propensity, counted),
    }
    _tell(evaluations, about, seed, json)


def _depths(k: str) -> tuple[int, ...]:
    try:
        return tuple(dict.fromkeys(int(depth) for depth in k.split(",")))
    except ValueError:
        raise ValueError(f"-k must be integers such as 1,3,5. Got {k!r}.") from None


def _load(paths: list[Path], jobs: int | None) -> "dict[str, Tagger]":
    """Return the models by the names of their folders, which know the same labels."""
    from manylabel.text import Tagger

    for path in paths:
        if paths.count(path) > 1:
            raise ValueError(f"MODEL must be different folders. Got {path} twice.")
    taggers = {str(path): Tagger.load(path, n_jobs=jobs) for path in paths}
    first = str(paths[0])
    for name, tagger in taggers.items():
        if tagger.label_names_.tolist() != taggers[first].label_names_.tolist():
            raise ArchiveError(name, f"expected the same labels as {first} has.")
    return taggers


def _names(tagger: "Tagger", rows: DataFile) -> tuple[str, ...]:
    """Return the labels of a model, then those of a file that it never learnt."""
    chunk = next(rows.chunks_for(tagger))  # a file without rows is one chunk, too
    rows.check_rows(chunk)
    return tagger.align(chunk).space.names


def _judge(
    tagger: "Tagger",
    rows: DataFile,
    evaluation: "Evaluation",
    by_label: "LabelFigures | None",
) -> "Evaluation":
    """Take all rows into the figures; return them."""
    for chunk in track(rows.chunks_for(tagger), "Judging"):
        _, Y, scores, sets = tagger.judge(chunk, k=evaluation.depth)
        evaluation.update(Y, scores, sets)
        if by_label is not None:
            by_label.update(Y, scores, sets)
    return evaluation


def _tell(
    evaluations: dict[str, Any],
    about: dict[str, Any],
    seed: int,
    json: bool,
) -> None:
    """Print the figures of one model, or of several side by side."""
    from manylabel.evaluation import Comparison

    first, *others = evaluations
    title = f"{about['rows']:,} rows of {about['data']}"
    if others:
        with status("Drawing rows again"):
            found = Comparison.of(
                evaluations, n_resamples=N_RESAMPLES, random_state=seed
            )
        if json:
            draws = {"resamples": N_RESAMPLES, "seed": seed}
            print_json(about | draws | {"models": figures_of(found)})
            return
        show_comparison(found, title, N_RESAMPLES)
    else:
        report = evaluations[first].report()
        if json:
            print_json({"model": first} | about | {"figures": report.to_dict()})
            return
        show_report(report, f"{first} on {title}")
    if law := about["propensity"]:
        say(
            f"Propensities: a = {law['a']:g}, b = {law['b']:g}, labels counted in "
            f"{law['counted_in']}. PSP and PSnDCG are normalised by the best "
            "attainable."
        )
