"""All that is drawn: panels in a grid, and lines and points in them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import ceil
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from manylabel.data import Dataset
from manylabel.evaluation import Run
from manylabel.evaluation.plots import (
    COLOURS,
    check_matplotlib,
    draw_curve,
    draw_legend,
    draw_ranked,
    draw_rows,
    write_figure,
)
from manylabel.evaluation.profile import Profile

__all__ = ["Panel", "check_matplotlib", "write"]

MARKERS = "os^Dv"
KINDS = "os^DvP*X<>phd8"
FILLED, HOLLOW = "ov", "^sDP"  # when colours have been used up, the next
Point = tuple[float, float]


class Panel(NamedTuple):
    """A part of a figure: its title, and what draws on its axes."""

    title: str
    draw: Callable[[Any], None]


def write(
    path: Path,
    title: str,
    panels: Sequence[Panel],
    *,
    n_columns: int = 3,
    size: tuple[float, float] = (4.6, 3.4),
    shared: bool = False,
    legend: bool = False,
) -> Path:
    """Draw panels in rows; return the file.

    Parameters
    ----------
    path : Path
        The file to write.
    title : str
        What stands above all panels.
    panels : sequence of Panel
        The panels, row by row.
    n_columns : int, default=3
        How many stand beside each other at most.
    size : tuple of float, default=(4.6, 3.4)
        Inches of a panel.
    shared : bool, default=False
        Whether panels beside and above each other share their axes, and all panels one
        legend beneath.
    legend : bool, default=False
        Whether all panels share one legend beneath, though not their axes.
    """
    n_columns = min(n_columns, len(panels))
    n_rows = ceil(len(panels) / n_columns)
    sharing = {"sharex": "col", "sharey": "row"} if shared else {}

    def fill(figure: Any) -> None:
        grid = figure.subplots(n_rows, n_columns, squeeze=False, **sharing).ravel()
        for axes in grid[len(panels) :]:
            axes.set_visible(False)
        for axes, panel in zip(grid, panels, strict=False):
            panel.draw(axes)
            axes.set_title(panel.title, fontsize=12)
            axes.grid(True, alpha=0.3)
        if shared or legend:
            _draw_legend(figure, grid[: len(panels)])

    path.parent.mkdir(parents=True, exist_ok=True)
    across, down = size
    write_figure(path, (max(6, across * n_columns), down * n_rows + 0.4), title, fill)
    return path


def _draw_legend(figure: Any, grid: Iterable[Any]) -> None:
    """Draw one legend of all panels, beneath them: a name stands in it once."""
    known: dict[str, Any] = {}
    for axes in grid:
        for handle, name in zip(*axes.get_legend_handles_labels(), strict=True):
            known.setdefault(name, handle)
    place = {"loc": "outside lower center", "ncols": 4, "fontsize": 9}
    figure.legend(list(known.values()), list(known), **place)


def draw_means(axes: Any, lines: Mapping[str, Sequence[Any]], metric: str) -> None:
    """Draw running means of several runs, with bands of one standard error.

    Parameters
    ----------
    axes : matplotlib axes
        Where.
    lines : mapping of str to sequence of dict
        By name, the curves of each run: ``rows``, and means up to these by metric.
    metric : str
        Which of them.
    """
    for number, (name, runs) in enumerate(lines.items()):
        if runs:
            means = np.array([curves[metric] for curves in runs])[:, :, None]
            rows = np.array(runs[0]["rows"])
            run = Run((metric,), rows, means, means, seconds=1.0)
            draw_curve(axes, run, metric, name, number)
    axes.set(xlabel="rows", ylabel=f"mean {metric} loss so far")
    axes.xaxis.set_major_formatter("{x:,.10g}")
    draw_legend(axes, 8)


def draw_lines(
    axes: Any, lines: Mapping[str, Sequence[Point]], legend: str | None = None
) -> None:
    """Draw a line through the points of each name, over a logarithmic axis."""
    for number, (name, points) in enumerate(lines.items()):
        if points:
            look = {"marker": MARKERS[number % len(MARKERS)], "color": _colour(number)}
            axes.plot(*np.transpose(points), label=name, linewidth=1.8, **look)
    axes.set(xscale="log")
    axes.xaxis.set_major_formatter("{x:,.10g}")
    axes.xaxis.set_minor_formatter("")
    draw_legend(axes, 8, legend)


def draw_points(
    axes: Any, points: Mapping[str, Point], filled: Iterable[str] = ()
) -> None:
    """Draw a point for each name, ours filled, over a logarithmic axis."""
    ours = set(filled)
    for markers, is_ours in ((FILLED, True), (HOLLOW, False)):
        team = [name for name in points if (name in ours) is is_ours]
        for number, name in enumerate(team):
            colour = _colour(number)
            axes.plot(
                *points[name],
                label=name,
                linestyle="",
                marker=markers[number // len(COLOURS)],
                markersize=9,
                color=colour,
                markerfacecolor=colour if is_ours else "white",
                markeredgewidth=1.8,
            )
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter("{x:,.10g}")


def draw_families(
    axes: Any, points: Mapping[str, Point], families: Mapping[str, str]
) -> None:
    """Draw a point for each name, over a logarithmic axis: a family has its colour.

    A family with more names than there are marks has hollow ones, too.

    Parameters
    ----------
    axes : matplotlib axes
        Where.
    points : mapping of str to tuple of float
        By name, where it stands; what has no point is left out.
    families : mapping of str to str
        The families by name, of all names, so that each looks the same everywhere.
    """
    colours = list(dict.fromkeys(families.values()))
    for number, family in enumerate(colours):
        members = [name for name in families if families[name] == family]
        for at, name in enumerate(members):
            if name in points:
                colour = _colour(number)
                look = {"marker": KINDS[at % len(KINDS)], "color": colour}
                face = colour if at < len(KINDS) else "white"
                look |= {"linestyle": "", "markerfacecolor": face}
                axes.plot(*points[name], label=name, markersize=8, **look)
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter("{x:,.10g}")


def draw_groups(
    axes: Any, values: Mapping[str, Mapping[str, float]], label: str
) -> None:
    """Draw, by name, a point in each group, on a logarithmic axis."""
    groups = list(dict.fromkeys(group for each in values.values() for group in each))
    step = 0.8 / len(values)
    for number, (name, heights) in enumerate(values.items()):
        offset = (number - (len(values) - 1) / 2) * step
        places = [groups.index(group) + offset for group in heights]
        look = {"marker": KINDS[number % len(KINDS)], "color": _colour(number)}
        axes.plot(places, list(heights.values()), linestyle="", label=name, **look)
    axes.set_xticks(range(len(groups)), groups)
    axes.set_xlim(-0.5, len(groups) - 0.5)
    axes.set(yscale="log", ylabel=label)
    axes.yaxis.set_major_formatter("{x:,.10g}")
    draw_legend(axes, 8)


def draw_frequencies(axes: Any, parts: Iterable[Dataset], what: str) -> None:
    """Draw how often labels or sets of labels occur, or how many labels rows have."""
    profile = Profile(parts)
    if what == "rows":
        draw_rows(axes, profile)
    elif what == "labelsets":
        draw_ranked(axes, profile.labelset_counts, "set of labels")
    else:
        draw_ranked(axes, profile.label_counts, "label")


def _colour(number: int) -> str:
    return COLOURS[number % len(COLOURS)]
