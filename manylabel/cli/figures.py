"""How the figures of models are shown: tables, what they mean, lines for each label."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from manylabel._escapes import escape_cell
from manylabel.cli.console import STANDARD, note, output, print_table, say

if TYPE_CHECKING:
    from manylabel.evaluation import Comparison, Examination, LabelFigures, Report
    from manylabel.text import Tagger


def show_report(report: "Report", title: str, n_resamples: int) -> None:
    """Print a table of scores and one of losses, a column for each ranking depth."""
    for losses in (False, True):
        head, *rows = report.table(losses=losses)
        head = head if len(head) > 1 else [*head, ""]
        rows = [[*row, *[""] * (len(head) - len(row))] for row in rows]
        kind = "Losses, less is better" if losses else f"{title}: more is better"
        if rows:
            print_table(head, rows, title=kind, numbers=head[1:])
    _say_meanings(report)
    if any(report.interval(key) for key in report):
        say(
            "±: half of the interval that holds 95 % of a figure when the rows are "
            f"drawn again {n_resamples:,} times. Figures over labels, coverage and "
            "macro-F1, and ECE have none."
        )


def show_comparison(found: "Comparison", title: str, n_resamples: int) -> None:
    """Print a line for each figure, with a column for each model and difference."""
    report = next(iter(found.reports.values()))
    names = _short(list(found.reports))
    for losses in (False, True):
        head, *rows = found.table(names, losses=losses)
        kind = "Losses, less is better" if losses else f"{title}: more is better"
        if rows:
            print_table(head, rows, title=kind, numbers=head[1:])
    _say_meanings(report)
    say(
        f"... - {head[1]}: the difference, and the interval that holds 95 % of it when "
        f"the rows are drawn again {n_resamples:,} times, the same for both models. "
        "Figures over labels, coverage and macro-F1, and ECE have none."
    )


def write_labels(path: Path, judged: Mapping[str, "LabelFigures"], names: Any) -> None:
    """Write a line for each label, the worst first, and the model if there are several.

    The file appears whole or not at all.
    """
    figures, several = next(iter(judged.values())), len(judged) > 1
    with output(path) as text:
        head = ["model", *figures.columns] if several else figures.columns
        text.write("\t".join(head) + "\n")
        for model, each in judged.items():
            for label, *values in each.worst_first(names):
                place = [model, str(label)] if several else [str(label)]
                cells = map(escape_cell, place)
                text.write("\t".join([*cells, *map(_cell, values)]) + "\n")


def write_page(
    path: Path,
    labels: Path | None,
    tagger: "Tagger",
    names: Any,
    found: "Examination",
    report: "Report",
    title: str,
) -> None:
    """Write what was found of a model as a page, with its card."""
    import numpy as np

    from manylabel.evaluation import write_examination

    counts = np.zeros(len(names), np.int64)
    counts[: len(tagger.label_counts_)] = tagger.label_counts_
    table = None
    if labels is not None and labels != STANDARD:
        table = Path(os.path.relpath(labels, path.parent)).as_posix()
    write_examination(
        *(path, found, report),
        names=names,
        counts=counts if tagger.n_rows_ else None,
        title=title,
        facts=tagger.card().words(),
        table=table,
    )
    note(f"note: wrote {path}.")


def card_figures(report: "Report") -> dict[str, dict[str, float | None]]:
    """Return the figures as a model card keeps them, losses apart."""
    figures = report.to_dict()
    kinds = {"figures": False, "losses": True}
    return {
        kind: {key: figures[key] for key in report.keys_of(losses=losses)}
        for kind, losses in kinds.items()
    }


def figures_of(found: "Comparison") -> dict[str, dict[str, Any]]:
    """Return the figures of each model, and differences to the first, for JSON."""
    return {
        name: {
            **report.details(),
            "differences": {
                key: each._asdict()
                for key, each in found.differences.get(name, {}).items()
            },
        }
        for name, report in found.reports.items()
    }


def _short(paths: list[str]) -> dict[str, str]:
    """Return the last names of folders, or whole paths where those are the same."""
    names = [Path(path).name for path in paths]
    unique = names if len(set(names)) == len(names) else paths
    return dict(zip(paths, unique, strict=True))


def _say_meanings(report: "Report") -> None:
    """Print one sentence for each kind of figure."""
    for name, meaning in report.meanings().items():
        say(f"{name}: {meaning}")


def _cell(value: object) -> str:
    return f"{value:.4f}" if isinstance(value, float) else str(value)
