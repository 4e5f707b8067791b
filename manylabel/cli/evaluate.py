"""``manylabel evaluate``: how good models are on a data file."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from manylabel._plural import counted
from manylabel.cli import options
from manylabel.cli.console import note, print_json, status, track
from manylabel.cli.figures import (
    card_figures,
    figures_of,
    show_comparison,
    show_report,
    write_labels,
    write_page,
)
from manylabel.cli.inputs import DataFile, is_sharded
from manylabel.cli.on import On, check_on, evaluate_on, is_model
from manylabel.cli.propensities import (
    PropensityLaw,
    count_law,
    describe_law,
    parse_law,
    say_law,
)
from manylabel.exceptions import ArchiveError

if TYPE_CHECKING:
    from manylabel.evaluation import Examination, Report
    from manylabel.text import Tagger

N_RESAMPLES = 1000
CHEAP = 20_000  # rows whose intervals take less than a second

Models = Annotated[
    list[Path],
    typer.Argument(
        metavar="MODEL... FILE",
        help="Folders of models, of which all are compared to the first; then the file "
        "of the rows to judge by, - for stdin.",
    ),
]
Data = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="FILE, if all arguments are models."),
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
Html = Annotated[
    Path | None,
    typer.Option(metavar="OUT", help="Write a page for a browser: one model's report."),
]
Intervals = Annotated[
    bool | None,
    typer.Option(
        "--intervals/--no-intervals",
        help="Draw the rows again for intervals of the figures; by default up to "
        f"{CHEAP:,} rows.",
        show_default=False,
    ),
]
Annotate = Annotated[
    bool,
    typer.Option(help="Keep the figures with the model, in its card; see describe."),
]


@options.reads()
def evaluate(
    models: Models,
    data: Data = None,
    k: Annotated[
        str, typer.Option("-k", metavar="K,K,...", help="Ranking depths.")
    ] = "1,3,5",
    propensity: PropensityLaw = "0.55,1.5",
    train: TrainingFile = None,
    labels: Labels = None,
    html: Html = None,
    intervals: Intervals = None,
    annotate: Annotate = False,
    on: On = None,
    seed: options.Seed = 0,
    jobs: options.Jobs = None,
    json: options.Json = False,
    *,
    reading: options.Reading,
) -> None:
    """Judge models by ranking, propensity-scored and set metrics.

    Scores, of which more is better, stand apart from losses. A model that has
    probabilities is also judged by these. Several models are shown side by side, with
    the difference of each to the first and a 95 % interval of it: a paired bootstrap of
    the rows. With --on, workers of a cluster read FILE, or the files of a folder, by
    its path; figures then have no intervals.

    Example: manylabel evaluate a/ b/ test.txt.gz --labels worst.tsv
    """
    models, data = _divide(models, data, on)
    if on is not None:
        files = {"--train": train, "--labels": labels, "--html": html}
        ways = {"--intervals": intervals, "--annotate": annotate}
        check_on(models, data, files | ways)
        ask = {"k": _depths(k), "n_jobs": jobs or 1}
        return evaluate_on(on, models[0], data, reading, propensity, ask, json)
    _check_alone(models, html, annotate)
    depths, law, learnt = _depths(k), parse_law(propensity), _load(models, jobs)
    rows = DataFile(data, reading).as_fitted(first := learnt[str(models[0])])
    names = _names(first, rows)
    training = None if train is None else DataFile(train, reading)
    values, source = count_law(law, first, names, rows, training)
    most = None if intervals or len(learnt) > 1 else CHEAP * (intervals is None)
    asked = {"k": depths, "propensity": values, "max_rows": most}
    found = {
        name: _judge(tagger, rows, asked, for_page=html is not None)
        for name, tagger in learnt.items()
    }
    if labels is not None:
        write_labels(labels, {name: it.labels for name, it in found.items()}, names)
    about = _describe(data, found, first, (law, propensity, source))
    if len(found) > 1:
        return _tell_all(found, about, seed, json)
    report = _tell(found, about, seed, json)
    if html is not None:
        title, (examined,) = f"{models[0]} on {data}", found.values()
        write_page(html, labels, first, names, examined, report, title)
    if annotate:
        _keep(models[0], first, about, report)


def _divide(
    given: list[Path], data: Path | None, on: str | None
) -> tuple[list[Path], Path]:
    """Return the models, and the rows: ``--data``, or else the last argument."""
    if data is not None:
        return given, data
    *models, file = given
    is_taken = is_sharded(file) or (on is not None and not is_model(file))
    if not models or (file.is_dir() and not is_taken):
        found = " ".join(map(str, given))
        raise ValueError(
            f"FILE, rows to judge by, must follow MODEL. Got {found} only."
        )
    return models, file


def _check_alone(models: list[Path], html: Path | None, annotate: bool) -> None:
    for option, given in (("--html", html is not None), ("--annotate", annotate)):
        if given and len(models) > 1:
            raise ValueError(f"{option} must be of one model. Got {len(models)}.")


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
            raise ArchiveError(
                name,
                f"expected the same labels as {first} has; fit both on one file, or "
                "evaluate each alone.",
            )
    return taggers


def _names(tagger: "Tagger", rows: DataFile) -> tuple[str, ...]:
    """Return the labels of a model, then those of a file that it never learnt."""
    chunk = next(rows.chunks_for(tagger))  # a file without rows is one chunk, too
    rows.check_rows(chunk)
    return tagger.align(chunk).space.names


def _judge(
    tagger: "Tagger", rows: DataFile, asked: dict[str, Any], *, for_page: bool
) -> "Examination":
    """Return what is found on all rows; only a page shows mistakes."""
    from manylabel.evaluation import Examination

    found, n_unlabelled, n_unlearnt = Examination(**asked), 0, 0
    n_learnt = len(tagger.label_names_)
    for chunk in track(rows.chunks_for(tagger), "Judging"):
        space, Y, scores, sets, proba = tagger.judge(chunk, k=found.evaluation.depth)
        if for_page:
            found.update(Y, scores, sets, proba, chunk.texts or chunk.ids)
        else:
            found.evaluation.update(Y, scores, sets, proba)
            found.labels.update(Y, scores, sets)
        n_unlabelled += int((Y.sum(axis=1) == 0).sum())
        n_unlearnt += int((Y[:, n_learnt:].sum(axis=1) > 0).sum())
    rows.tell_unlabelled(chunk, n_unlabelled, found.evaluation.n_rows)
    rows.tell_unlearnt(space.names[n_learnt:], n_unlearnt, found.evaluation.n_rows)
    return found


def _tell(
    found: "dict[str, Examination]", about: dict[str, Any], seed: int, json: bool
) -> "Report":
    """Print the figures of one model, and return them."""
    ((name, examined),) = found.items()
    with status("Drawing rows again"):
        report = examined.evaluation.report_with_intervals(N_RESAMPLES, seed)
    if json:
        print_json({"model": name} | about | report.details())
        return report
    show_report(report, f"{name} on {_title(about)}", N_RESAMPLES)
    _say_law(about)
    return report


def _tell_all(
    found: "dict[str, Examination]", about: dict[str, Any], seed: int, json: bool
) -> None:
    """Print the figures of several models side by side."""
    from manylabel.evaluation import Comparison

    evaluations = {name: each.evaluation for name, each in found.items()}
    with status("Drawing rows again"):
        compared = Comparison.of(
            evaluations, n_resamples=N_RESAMPLES, random_state=seed
        )
    if json:
        draws = {"resamples": N_RESAMPLES, "seed": seed}
        print_json(about | draws | {"models": figures_of(compared)})
        return
    show_comparison(compared, _title(about), N_RESAMPLES)
    _say_law(about)


def _describe(
    data: Path, found: "dict[str, Examination]", first: "Tagger", law: tuple[Any, ...]
) -> dict[str, Any]:
    """Return what figures are of, for other programs."""
    n_rows = next(iter(found.values())).evaluation.n_rows
    about = {"data": str(data), "rows": n_rows, "labels": len(first.label_names_)}
    return about | {"propensity": law[0] and describe_law(*law)}


def _title(about: dict[str, Any]) -> str:
    return f"{counted(about['rows'], 'row')} of {about['data']}"


def _say_law(about: dict[str, Any]) -> None:
    if law := about["propensity"]:
        say_law(law)


def _keep(
    model: Path, tagger: "Tagger", about: dict[str, Any], report: "Report"
) -> None:
    """Write the figures into the model's card."""
    tagger.annotate(
        judged_on=about["data"], judged_by=about["rows"], **card_figures(report)
    )
    tagger.save(model)
    note(f"note: kept the figures with {model}.")
