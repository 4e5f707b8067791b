"""Quality against time, a point for each entrant."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.peers.ratios import Result
from manylabel.evaluation.plots import COLOURS, write_figure

QUALITIES = ("P@1", "PSP@5")
TIMES = {
    "train": ("CPU seconds of training", 1),
    "batch": ("CPU microseconds of a row in a batch", 1e6),
}
SIZE = 11, 8
OURS, THEIRS = "ov", "^sDP"  # markers, when colours have been used up the next


def draw(results: Sequence[Result], path: Path, *, ours: str) -> None:
    """Draw P@1 and PSP@5 against the time to train and to predict.

    Parameters
    ----------
    results : sequence of Result
        The figures of a data set.
    path : Path
        The file to write.
    ours : str
        The peer whose points are filled.
    """
    shown = [result for result in results if result.runs]
    looks = _looks(shown, ours)

    def fill(figure: Any) -> None:
        panels = figure.subplots(len(QUALITIES), len(TIMES), sharey="row", sharex="col")
        for row, quality in zip(panels, QUALITIES, strict=True):
            for axes, (kind, (_, unit)) in zip(row, TIMES.items(), strict=True):
                for each in shown:
                    point = unit * each.times[kind], 100 * each[quality]
                    axes.plot(*point, label=each.name, **looks[each.name])
                axes.set_xscale("log")
                axes.grid(True, alpha=0.3)
            row[0].set_ylabel(f"{quality} (%)")
        for axes, (label, _) in zip(panels[-1], TIMES.values(), strict=True):
            axes.set_xlabel(label)
            axes.xaxis.set_major_formatter("{x:,g}")
        handles, labels = panels[0][0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=4, fontsize=9)

    write_figure(path, SIZE, f"{shown[0].data}: quality against time", fill)


def _looks(shown: Sequence[Result], ours: str) -> dict[str, dict[str, Any]]:
    """Return how each entrant's points look: ours are filled."""
    looks = {}
    for markers, is_ours in ((OURS, True), (THEIRS, False)):
        team = [each for each in shown if (each.peer == ours) is is_ours]
        for number, each in enumerate(team):
            colour = COLOURS[number % len(COLOURS)]
            looks[each.name] = {
                "linestyle": "",
                "marker": markers[number // len(COLOURS)],
                "markersize": 9,
                "color": colour,
                "markerfacecolor": colour if is_ours else "white",
                "markeredgewidth": 1.8,
            }
    return looks
