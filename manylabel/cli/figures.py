"""How the figures of models are shown: tables, what they mean, lines for each label."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from manylabel._escapes import escape_cell
from manylabel.cli.console import output, percent, print_table, say

if TYPE_CHECKING:
    from manylabel.evaluation import Comparison, LabelFigures, Report

DEPTH = re.compile(r"\b(the|at) \d+\b")


def show_report(report: "Report", title: str) -> None:
    """Print a table of rankings, a column for each depth, and one of sets."""
    head, *rows = report.ranking_table()
    print_table(head, rows, title=title, numbers=head[1:])
    sets = [key for key in report if "@" not in key]
    print_table(
        ["percent", "value"],
        ([key, percent(report[key])] for key in sets),
        title="Predicted sets of labels",
        numbers=["value"],
    )
    _say_meanings(report)


def show_comparison(found: "Comparison", title: str, n_resamples: int) -> None:
    """Print a line for each figure, with a column for each model and difference."""
    report = next(iter(found.reports.values()))
    names = _short(list(found.reports))
    head, *rows = found.table(names)
    print_table(head, rows, title=title, numbers=head[1:])
    _say_meanings(report)
    say(
        f"... - {head[1]}: the difference, and the interval that holds 95 % of it when "
        f"the rows are drawn again {n_resamples:,} times, the same for both models. "
        "Figures over labels, coverage and macro-F1, have none."
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


def figures_of(found: "Comparison") -> dict[str, dict[str, Any]]:
    """Return the figures of each model, and differences to the first, for JSON."""
    return {
        name: {
            "figures": report.to_dict(),
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
    meanings = {}
    for key in report:
        symbol, at, _ = key.partition("@")
        sentence = DEPTH.sub(r"\1 k", report.meaning(key))
        meanings[f"{symbol}@k" if at else symbol] = sentence
    for name, meaning in meanings.items():
        say(f"{name}: {meaning}")


def _cell(value: object) -> str:
    return f"{value:.4f}" if isinstance(value, float) else str(value)
