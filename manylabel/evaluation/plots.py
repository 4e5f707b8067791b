"""Figures drawn to files; they need matplotlib."""

import io
import os
from pathlib import Path
from typing import Any

import numpy as np

from manylabel.data.writing import replacing
from manylabel.evaluation.profile import Profile
from manylabel.exceptions import MissingExtra

FORMATS = (".png", ".pdf", ".svg")


def plot_profile(
    profile: Profile, path: str | os.PathLike[str], title: str = ""
) -> None:
    """Draw how labels are spread: over rows, over sets of labels, within rows.

    The three panels of Liu & Tsang (2017, Figure 1): the frequency of each
    label and of each set of labels, ranked, and the number of rows by their number of
    labels. Rows are counted on a logarithmic axis, ranks too.

    Parameters
    ----------
    profile : Profile
        What to draw.
    path : str or path-like
        The file to write: .png, .pdf or .svg.
    title : str, default=""
        What stands above the panels.

    Raises
    ------
    MissingExtra
        If matplotlib is not installed.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from manylabel.data import Dataset
    >>> with TemporaryDirectory() as folder:
    ...     plot_profile(Profile([Dataset([[1.0]], [[1, 0]])]), f"{folder}/labels.svg")
    """
    suffix = Path(path).suffix.lower()
    if suffix not in FORMATS:
        raise ValueError(
            f"path must end with one of {', '.join(FORMATS)}. Got {os.fspath(path)!r}."
        )
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtra("A plot", "matplotlib", "plot") from None
    figure = Figure(figsize=(13, 4.2), layout="constrained")
    FigureCanvasAgg(figure)
    labels, labelsets, rows = figure.subplots(1, 3)
    _draw_ranked(labels, profile.label_counts, "label")
    _draw_ranked(labelsets, profile.labelset_counts, "set of labels")
    _draw_rows(rows, profile)
    figure.suptitle(title, fontsize=15)
    drawn = io.BytesIO()
    figure.savefig(drawn, format=suffix[1:], dpi=150)
    with replacing(path) as file:
        file.write(drawn.getvalue())


def _draw_ranked(axes: Any, counts: Any, what: str) -> None:
    """Draw counts by rank, the largest first; zeros have no place on a log axis."""
    ranked = np.sort(counts[counts > 0])[::-1]
    axes.plot(np.arange(1, len(ranked) + 1), ranked, color="#1f5fa8", linewidth=2.5)
    axes.set_xscale("log")
    axes.set_xlim(0.8, max(12.0, 1.3 * len(ranked)))
    _caption(axes, f"Frequency of each {what}", f"rank of the {what}", "rows")


def _draw_rows(axes: Any, profile: Profile) -> None:
    counts = profile.row_counts
    axes.bar(np.arange(len(counts)), counts, width=0.9, color="#1f5fa8")
    axes.set_xlim(-0.6, max(len(counts), 1) - 0.4)
    axes.xaxis.get_major_locator().set_params(integer=True)
    _caption(axes, "Rows by number of labels", "labels of a row", "rows")


def _caption(axes: Any, title: str, x: str, y: str) -> None:
    axes.set_yscale("log")
    axes.set_ylim(bottom=0.7)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter("{x:,g}")
        axis.set_minor_formatter("")
    axes.set_title(title, fontsize=13)
    axes.set_xlabel(x, fontsize=12)
    axes.set_ylabel(y, fontsize=12)
    axes.tick_params(labelsize=11)
    axes.grid(True, which="major", alpha=0.3)
    axes.set_axisbelow(True)
