"""``manylabel audit``: labels that were forgotten or are wrong, and what they teach."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from manylabel._plural import counted
from manylabel.cli import options
from manylabel.cli.audit_tables import (
    figures_of,
    lesson_of,
    show_audit,
    show_lesson,
)
from manylabel.cli.console import (
    STANDARD,
    fitting,
    note,
    print_json,
    say,
    status,
)
from manylabel.cli.console import output as open_output
from manylabel.cli.inputs import DataFile
from manylabel.cli.learners import make
from manylabel.cli.propensities import KnownPropensity, tell_law
from manylabel.learners import LEARNERS

if TYPE_CHECKING:
    from manylabel.auditing import Answers, Audit, Estimate
    from manylabel.data import Dataset

SHOWN = 10  # rows, and labels, of a table
Output = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        metavar="OUT",
        help="Write the rows to a .jsonl, .csv or .html file; with --sample a work "
        "sheet, .csv for a spreadsheet or .jsonl; with --learn the propensities, "
        ".json.",
    ),
]
Number = Annotated[
    int | None,
    typer.Option(
        "-n",
        min=1,
        help=f"How many rows and labels, the worst first; {SHOWN} in tables, all in "
        "files and 200 on a page if not given.",
    ),
]
Sample = Annotated[
    int | None,
    typer.Option(
        metavar="ROWS",
        min=1,
        help="Draw rows to be labelled completely, of which most is to be learnt.",
    ),
]
Learn = Annotated[
    Path | None,
    typer.Option(
        metavar="ANSWERS", help="Learn from a work sheet that people have filled in."
    ),
]
Judged = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR", help="With --learn: a model to judge by the complete labels."
    ),
]
Learner = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="What judges rows that it has not seen, as of fit; a quick one if not "
        "given.",
        autocompletion=lambda: list(LEARNERS),
        show_default=False,
    ),
]


@options.reads()
def audit(
    file: options.File,
    output: Output = None,
    n: Number = None,
    sample: Sample = None,
    learn: Learn = None,
    model: Judged = None,
    learner: Learner = None,
    propensity: KnownPropensity = None,
    seed: options.Seed = 0,
    jobs: options.Jobs = None,
    json: options.Json = False,
    *,
    reading: options.Reading,
) -> None:
    """Find labels that were probably forgotten, and some that are probably wrong.

    Each row is judged by a learner that has not seen it. --sample draws rows of which
    people write down all labels, in the column 'complete'; --learn turns their answers
    into propensities, for --propensity of fit, evaluate and audit, and into figures
    that are right although labels are missing.

    Example: manylabel audit train.csv --output look.html
    """
    _check_options(output, sample, learn, model)
    judge = None
    if learner is not None:
        (judge,) = make([learner], None, {"n_jobs": jobs, "random_state": seed})
    with status(f"Reading {file}"):
        source = DataFile(file, reading)
        data, delimiter = source.read(), source.delimiter()
    if learn is not None:
        _learn(data, learn, output, model, n or SHOWN, json)
        return
    from manylabel.auditing import audit as find

    told = tell_law(propensity, data)
    with fitting(f"Judging {counted(len(data), 'row')}"):
        found = find(data, learner=judge, n_jobs=jobs, random_state=seed, **told)
    if sample is not None:
        _draw(found, sample, output, seed, delimiter)
        return
    if output is not None:
        found.write(output, n, delimiter=delimiter)
        note(f"note: wrote {output}.")
    if json:
        print_json({"file": str(file)} | figures_of(found, n or SHOWN))
    else:
        show_audit(found, n or SHOWN, str(file))
        if propensity is None:
            say(
                "How much is missing is a guess: that every second true label is "
                "recorded. --sample finds out."
            )


def _check_options(
    output: Path | None, sample: int | None, learn: Path | None, model: Path | None
) -> None:
    """Refuse, before anything is read, what cannot be done together."""
    if sample is not None and learn is not None:
        raise ValueError("--sample and --learn must be two runs.")
    if model is not None and learn is None:
        raise ValueError("--model must come with --learn.")
    if output is None:
        return
    from manylabel.auditing import check_suffix

    if sample is None and learn is None:
        check_suffix(output)
        return
    wanted = (".csv", ".jsonl") if learn is None else (".json",)
    if output.suffix not in wanted:
        raise ValueError(
            f"--output must end with {' or '.join(wanted)} here. Got {output.name!r}."
        )


def _draw(
    found: "Audit", n_rows: int, output: Path | None, seed: int, delimiter: str
) -> None:
    """Write a work sheet, or print it."""
    sheet = found.sample(n_rows, random_state=seed)
    if output is None:
        with open_output(STANDARD, as_file=True) as text:
            text.writelines(f"{line}\n" for line in sheet.lines())
        return
    sheet.write(output, delimiter=delimiter)
    how = " (with | between them, - for none)" * (output.suffix == ".csv")
    say(
        f"{output}: {counted(n_rows, 'row')}. Put the names of all true labels of a "
        f"row in 'complete'{how}, recorded ones that are wrong in 'wrong', and run "
        "--learn."
    )


def _learn(
    data: "Dataset",
    path: Path,
    output: Path | None,
    model: Path | None,
    n: int,
    json: bool,
) -> None:
    """Turn answers into propensities and into figures."""
    from manylabel.auditing import Answers, write_propensities

    answers = Answers.read(path, data)
    propensity = answers.propensity()
    judged = {} if model is None else _judge(answers, model)
    if output is not None:
        write_propensities(output, propensity, data.labels.names)
        note(f"note: wrote {output}.")
    if json:
        about = {"answers": str(path), "rows": len(answers.rows)}
        print_json(about | lesson_of(answers, propensity, judged))
    else:
        show_lesson(answers, propensity, judged, n, counted(len(answers.rows), "row"))


def _judge(answers: "Answers", model: Path) -> "dict[str, Estimate]":
    from manylabel.text import Tagger

    tagger = Tagger.load(model)
    if tagger.n_rows_ == len(answers.data):
        note(
            "note: if the model has learnt these rows, its figures are flattered: "
            "audit rows that it has not seen."
        )
    return answers.judge(tagger)
