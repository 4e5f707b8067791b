"""The figures of the papers, drawn from the lines of finished runs."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import plots
from benchmarks.catalogue import Catalogue
from benchmarks.ledger import Record
from benchmarks.reproduce.figure import Figure, Panel
from benchmarks.reproduce.table import Entrant
from manylabel.evaluation import plot_tree

Records = Mapping[str, Record]
DEPTH = 3  # of a tree that is drawn


def draw(
    figure: Figure, records: Records, catalogue: Catalogue, path: Path
) -> Path | None:
    """Draw what there is of a figure; return the file, or None if there is nothing."""
    if figure.kind == "tree":
        return _draw_tree(figure, records, catalogue, path)
    panels = [
        plots.Panel(
            panel.title or (panel.data[0] if len(panel.data) == 1 else ""),
            partial(DRAWN[figure.kind], panel, records, catalogue),
        )
        for panel in figure.panels
        if _is_ready(figure, panel, records, catalogue)
    ]
    return plots.write(path, figure.title, panels) if panels else None


def _is_ready(
    figure: Figure, panel: Panel, records: Records, catalogue: Catalogue
) -> bool:
    """Return whether all that a panel shows is at hand."""
    if figure.kind == "frequencies":
        return not any(catalogue[name].missing for name in panel.data)
    return any(
        _runs(panel, data, entrant, records)
        for data in panel.data
        for entrant in panel.table.entrants
    )


def _draw_tree(
    figure: Figure, records: Records, catalogue: Catalogue, path: Path
) -> Path | None:
    """Draw the tree of the first run of a panel, which is learnt anew for it."""
    (panel,) = figure.panels
    (data,) = panel.data
    ((entrant, *_),) = panel.lines().values()
    trial = panel.table.trials(data, entrant, panel.metric)[0]
    if trial.key not in records:
        return None
    X, _, y, _ = catalogue[data].classes(trial.seed)
    path.parent.mkdir(parents=True, exist_ok=True)
    plot_tree(trial.make().fit(X, y), path, depth=DEPTH, title=figure.title)
    return path


def _runs(panel: Panel, data: str, entrant: Entrant, records: Records) -> list[Record]:
    """Return the finished runs of a cell."""
    keys = [each.key for each in panel.table.trials(data, entrant, panel.metric)]
    return [records[key] for key in keys if key in records]


def _mean(runs: Sequence[Record], metric: str) -> float:
    return float(np.mean([run["values"][metric] for run in runs]))


def _curves(panel: Panel, records: Records, catalogue: Catalogue, axes: Any) -> None:
    """Draw running means of the cost."""
    (data,) = panel.data
    lines = {
        name: [run["curves"] for run in _runs(panel, data, entrant, records)]
        for name, (entrant, *_) in panel.lines().items()
    }
    plots.draw_means(axes, lines, panel.metric)


def _points(panel: Panel, records: Records, catalogue: Catalogue, axes: Any) -> None:
    """Draw one metric against another, a line through the points of a sweep."""
    lines = {}
    for name, entrants in panel.lines().items():
        found = [_runs(panel, panel.data[0], entrant, records) for entrant in entrants]
        lines[name] = sorted(
            (_mean(runs, panel.x), _mean(runs, panel.metric)) for runs in found if runs
        )
    plots.draw_lines(axes, lines)
    _caption(axes, panel.x, panel.metric)


def _sizes(panel: Panel, records: Records, catalogue: Catalogue, axes: Any) -> None:
    """Draw a metric against the number of noisy features of generated sets."""
    sizes = {data: float(catalogue[data].noisy or 0) for data in panel.data}
    lines = {}
    for name, (entrant, *_) in panel.lines().items():
        found = {data: _runs(panel, data, entrant, records) for data in panel.data}
        lines[name] = sorted(
            (sizes[data], _mean(runs, panel.metric))
            for data, runs in found.items()
            if runs
        )
    plots.draw_lines(axes, lines)
    _caption(axes, "noisy features", panel.metric)
    axes.set_xticks(list(sizes.values()))


def _caption(axes: Any, x: str, y: str) -> None:
    axes.set(xlabel=x, ylabel=f"test {y} (%)")
    axes.set_ylim(bottom=0)


def _groups(panel: Panel, records: Records, catalogue: Catalogue, axes: Any) -> None:
    """Draw a metric of each learner, in groups of data sets."""
    values = {}
    for name, (entrant, *_) in panel.lines().items():
        found = {data: _runs(panel, data, entrant, records) for data in panel.data}
        values[name] = {
            data: _mean(runs, panel.metric) for data, runs in found.items() if runs
        }
    plots.draw_groups(axes, values, panel.metric.replace("_", " "))


def _frequencies(
    panel: Panel, records: Records, catalogue: Catalogue, axes: Any
) -> None:
    """Draw how labels are spread in a data set."""
    parts = catalogue[panel.data[0]].parts.values()
    plots.draw_frequencies(axes, parts, panel.metric)


DRAWN: dict[str, Callable[[Panel, Records, Catalogue, Any], None]] = {
    "curves": _curves,
    "points": _points,
    "sizes": _sizes,
    "groups": _groups,
    "frequencies": _frequencies,
}
