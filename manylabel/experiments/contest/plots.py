"""Quality against time, a point for each entrant."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from manylabel.evaluation.plots import COLOURS, write_figure
from manylabel.experiments.contest.ratios import Result

QUALITIES = ("P@1", "PSP@5")
TIMES = {"train": "CPU seconds of training", "batch": "CPU seconds of a row in a batch"}
SIZE = 11, 8
OURS, THEIRS = "o", "^"


def draw(results: Sequence[Result], path: Path, *, ours: str) -> None:
    """Draw P@1 and PSP@5 against the time to train and to predict.

    Parameters
    ----------
    results : sequence of Result
        The figures of a data set.
    path : Path
        The file to write.
    ours : str
        The peer whose points are round.
    """
    shown = [result for result in results if result.runs]

    def fill(figure: Any) -> None:
        panels = figure.subplots(len(QUALITIES), len(TIMES), sharey="row", sharex="col")
        for row, quality in zip(panels, QUALITIES, strict=True):
            for axes, kind in zip(row, TIMES, strict=True):
                for number, result in enumerate(shown):
                    point = result.times[kind], 100 * result[quality]
                    _point(axes, point, result, number, is_ours=result.peer == ours)
                axes.set_xscale("log")
                axes.grid(True, alpha=0.3)
            row[0].set_ylabel(f"{quality} (%)")
        for axes, label in zip(panels[-1], TIMES.values(), strict=True):
            axes.set_xlabel(label)
        handles, labels = panels[0][0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=4, fontsize=9)

    write_figure(path, SIZE, f"{shown[0].data}: quality against time", fill)


def _point(
    axes: Any, point: tuple[float, float], result: Result, number: int, *, is_ours: bool
) -> None:
    # Colours are few: round points and triangles use them once each.
    axes.plot(
        *point,
        OURS if is_ours else THEIRS,
        color=COLOURS[number % len(COLOURS)],
        markersize=9,
        markerfacecolor=COLOURS[number % len(COLOURS)] if is_ours else "white",
        markeredgewidth=1.8,
        label=result.name,
    )
