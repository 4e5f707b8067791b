"""The figures of the papers, drawn from the lines of finished runs."""

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.catalogue import Catalogue
from benchmarks.ledger import Record
from benchmarks.reproduce.figure import Figure, Panel
from benchmarks.reproduce.table import Entrant
from manylabel.evaluation import Run
from manylabel.evaluation.plots import (
    COLOURS,
    draw_curve,
    draw_ranked,
    draw_rows,
    write_figure,
)
from manylabel.evaluation.profile import Profile

PANEL_SIZE = 4.6, 3.4
N_COLUMNS = 3
MARKERS = "os^Dv"
Records = Mapping[str, Record]


def draw(
    figure: Figure, records: Records, catalogue: Catalogue, path: Path
) -> Path | None:
    """Draw what there is of a figure; return the file, or None if there is nothing."""
    panels = [
        each for each in figure.panels if _is_ready(figure, each, records, catalogue)
    ]
    if not panels:
        return None
    n_columns = min(N_COLUMNS, len(panels))
    n_rows = math.ceil(len(panels) / n_columns)

    def draw_panels(canvas: Any) -> None:
        grid = canvas.subplots(n_rows, n_columns, squeeze=False).ravel()
        for axes in grid[len(panels) :]:
            axes.set_visible(False)
        for axes, panel in zip(grid, panels, strict=False):
            DRAWN[figure.kind](axes, panel, records, catalogue)
            axes.set_title(panel.title or _sole(panel.data), fontsize=12)
            axes.grid(True, alpha=0.3)

    width, height = PANEL_SIZE
    size = max(6, width * n_columns), height * n_rows + 0.4
    path.parent.mkdir(parents=True, exist_ok=True)
    write_figure(path, size, figure.title, draw_panels)
    return path


def _sole(names: tuple[str, ...]) -> str:
    """Return the name of a panel's data set, if it shows a single one."""
    return names[0] if len(names) == 1 else ""


def _is_ready(
    figure: Figure, panel: Panel, records: Records, catalogue: Catalogue
) -> bool:
    """Return whether all that a panel shows is at hand."""
    if figure.kind == "frequencies":
        return not any(catalogue[name].missing for name in panel.data)
    return any(
        _of(panel, data, entrant, records)
        for data in panel.data
        for entrant in panel.table.entrants
    )


def _of(panel: Panel, data: str, entrant: Entrant, records: Records) -> list[Record]:
    """Return the finished runs of a cell."""
    keys = [each.key for each in panel.table.trials(data, entrant, panel.metric)]
    return [records[key] for key in keys if key in records]


def _curves(axes: Any, panel: Panel, records: Records, catalogue: Catalogue) -> None:
    """Draw running means with bands of one standard error."""
    for number, (name, (entrant, *_)) in enumerate(panel.lines().items()):
        runs = _of(panel, panel.data[0], entrant, records)
        if not runs:
            continue
        curves = np.array([run["curves"][panel.metric] for run in runs])[:, :, None]
        rows = np.array(runs[0]["curves"]["rows"])
        run = Run((panel.metric,), rows, curves, curves, seconds=1.0)
        draw_curve(axes, run, panel.metric, name, number)
    axes.set_xlabel("rows")
    axes.set_ylabel(f"mean {panel.metric} loss so far")
    axes.xaxis.set_major_formatter("{x:,g}")
    axes.legend(fontsize=8)


def _mean(runs: list[Record], metric: str) -> float:
    return float(np.mean([run["values"][metric] for run in runs]))


def _points(axes: Any, panel: Panel, records: Records, catalogue: Catalogue) -> None:
    """Draw one metric against another, a line through the points of a sweep."""
    for number, (name, entrants) in enumerate(panel.lines().items()):
        found = [_of(panel, panel.data[0], entrant, records) for entrant in entrants]
        points = [
            (_mean(runs, panel.x), _mean(runs, panel.metric)) for runs in found if runs
        ]
        if points:
            _line(axes, sorted(points), name, number)
    _caption(axes, panel.x, panel.metric)


def _sizes(axes: Any, panel: Panel, records: Records, catalogue: Catalogue) -> None:
    """Draw a metric against the number of noisy features of generated sets."""
    for number, (name, (entrant, *_)) in enumerate(panel.lines().items()):
        found = {data: _of(panel, data, entrant, records) for data in panel.data}
        points = [
            (catalogue[data].noisy, _mean(runs, panel.metric))
            for data, runs in found.items()
            if runs
        ]
        if points:
            _line(axes, sorted(points), name, number)
    _caption(axes, "noisy features", panel.metric)
    axes.set_xticks([catalogue[data].noisy for data in panel.data])


def _line(axes: Any, points: list[Any], name: str, number: int) -> None:
    look = {"marker": MARKERS[number % len(MARKERS)], "color": COLOURS[number]}
    axes.plot(*np.transpose(points), label=name, linewidth=1.8, **look)


def _caption(axes: Any, x: str, y: str) -> None:
    axes.set(xscale="log", xlabel=x, ylabel=f"test {y} (%)")
    axes.set_ylim(bottom=0)
    axes.xaxis.set_major_formatter("{x:,g}")
    axes.xaxis.set_minor_formatter("")
    axes.legend(fontsize=8)


def _bars(axes: Any, panel: Panel, records: Records, catalogue: Catalogue) -> None:
    """Draw a metric of each learner, in groups of data sets, on a logarithmic axis."""
    lines = panel.lines()
    width = 0.8 / len(lines)
    shown = [
        data
        for data in panel.data
        if any(_of(panel, data, entrant, records) for entrant in panel.table.entrants)
    ]
    for number, (name, (entrant, *_)) in enumerate(lines.items()):
        found = {data: _of(panel, data, entrant, records) for data in shown}
        bars = [
            (place + (number - (len(lines) - 1) / 2) * width, _mean(runs, panel.metric))
            for place, runs in enumerate(found.values())
            if runs
        ]
        if bars:
            colour = COLOURS[number % len(COLOURS)]
            axes.bar(*np.transpose(bars), width, label=name, color=colour)
    axes.set_xticks(range(len(shown)), shown)
    axes.set(yscale="log", ylabel=panel.metric.replace("_", " "))
    axes.set_axisbelow(True)
    axes.legend(fontsize=8)


def _frequencies(
    axes: Any, panel: Panel, records: Records, catalogue: Catalogue
) -> None:
    """Draw how often labels or sets of labels occur, or how many labels rows have."""
    profile = Profile(catalogue[panel.data[0]].parts.values())
    if panel.metric == "rows":
        draw_rows(axes, profile)
    elif panel.metric == "labelsets":
        draw_ranked(axes, profile.labelset_counts, "set of labels")
    else:
        draw_ranked(axes, profile.label_counts, "label")


DRAWN: dict[str, Callable[[Any, Panel, Records, Catalogue], None]] = {
    "curves": _curves,
    "points": _points,
    "sizes": _sizes,
    "bars": _bars,
    "frequencies": _frequencies,
}
