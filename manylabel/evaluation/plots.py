"""Figures drawn to files; they need matplotlib."""

import io
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from manylabel._docstrings import described_like
from manylabel._escapes import escape_line
from manylabel.data.writing import replacing
from manylabel.evaluation.profile import Profile
from manylabel.exceptions import MissingExtra

if TYPE_CHECKING:
    from manylabel.evaluation.run import Run

FORMATS = (".png", ".pdf", ".svg")
# Of Okabe and Ito, told apart by everyone; the second round is dashed.
COLOURS = (
    *("#0072b2", "#d55e00", "#009e73", "#cc79a7"),
    *("#e69f00", "#56b4e9", "#000000"),
)
DASHES = ("-", "--", ":", "-.")
UNDER_AXES = 38  # points that the words of an axis take


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
        What stands above the figure.

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

    def draw(figure: Any) -> None:
        labels, labelsets, rows = figure.subplots(1, 3)
        draw_ranked(labels, profile.label_counts, "label")
        draw_ranked(labelsets, profile.labelset_counts, "set of labels")
        draw_rows(rows, profile)

    write_figure(path, (13, 4.2), title, draw)


@described_like(plot_profile)
def plot_runs(
    runs: "Mapping[str, Run]",
    path: str | os.PathLike[str],
    *,
    cost: str,
    title: str = "",
) -> None:
    """Draw the running mean of a cost, a line for each learner.

    A band shows one standard error on either side, where a learner was run in several
    orders.

    Parameters
    ----------
    runs : mapping of str to Run
        Names of learners and what they were charged.
    cost : str
        The name of the cost.

    Raises
    ------
    MissingExtra
        If matplotlib is not installed.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from manylabel.evaluation import Run
    >>> means = np.full((1, 2, 1), 0.5)
    >>> run = Run(("f1",), np.array([1, 2]), means, means, seconds=1.0)
    >>> with TemporaryDirectory() as folder:
    ...     plot_runs({"csdpp": run}, f"{folder}/curve.svg", cost="f1")
    """
    for name, run in runs.items():
        if cost not in run.costs:
            known = ", ".join(run.costs)
            raise ValueError(
                f"cost must be one that {name!r} was charged: {known}. Got {cost!r}."
            )

    def draw(figure: Any) -> None:
        axes = figure.subplots()
        for number, (name, run) in enumerate(runs.items()):
            draw_curve(axes, run, cost, name, number)
        _caption_curves(axes, f"mean {cost} loss so far")

    write_figure(path, (8, 5), title, draw)


def plot_costs(run: "Run", path: str | os.PathLike[str], title: str = "") -> None:
    """Draw the running mean of each cost of one run; see :meth:`Run.plot`."""

    def draw(figure: Any) -> None:
        axes = figure.subplots()
        for number, cost in enumerate(run.costs):
            draw_curve(axes, run, cost, cost, number)
            colour = COLOURS[number % len(COLOURS)]
            axes.plot(run.rows, run.windowed[cost], color=colour, lw=0.8, alpha=0.4)
        _caption_curves(axes, "mean cost so far; thin: of the last rows")

    write_figure(path, (8, 5), title, draw)


def check_format(path: str | os.PathLike[str]) -> str:
    """Return the format that the name of a figure's file asks for; check its folder."""
    suffix = Path(path).suffix.lower()
    if suffix not in FORMATS:
        raise ValueError(
            f"path must end with one of {', '.join(FORMATS)}. Got {os.fspath(path)!r}."
        )
    if not Path(path).parent.is_dir():
        raise ValueError(
            f"path must lie in a folder that is there. Got {os.fspath(path)!r}."
        )
    return suffix[1:]


def check_matplotlib() -> None:
    """Refuse to draw without it."""
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError:
        raise MissingExtra("A plot", "matplotlib", "plot") from None


def write_figure(
    path: str | os.PathLike[str],
    size: tuple[float, float],
    title: str,
    draw: Callable[[Any], None],
) -> None:
    """Write a figure to a file, whole or not at all."""
    format = check_format(path)
    check_matplotlib()
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained")
    FigureCanvasAgg(figure)
    draw(figure)
    figure.suptitle(escape_line(title), fontsize=15, parse_math=False)
    drawn = io.BytesIO()
    figure.savefig(drawn, format=format, dpi=150)
    with replacing(path) as file:
        file.write(drawn.getvalue())


def draw_curve(axes: Any, run: "Run", cost: str, name: str, number: int) -> None:
    """Draw a running mean, and a band of one standard error on either side."""
    colour = COLOURS[number % len(COLOURS)]
    dashes = DASHES[number // len(COLOURS) % len(DASHES)]
    curve, error = run.curve[cost], run.curve_stderr[cost]
    label = f"{name}: {curve[-1]:.4f}"
    if run.n_permutations > 1:
        label += f" ± {error[-1]:.4f}"
        band = curve - error, curve + error
        axes.fill_between(run.rows, *band, color=colour, alpha=0.2, linewidth=0)
    axes.plot(run.rows, curve, dashes, color=colour, linewidth=2, label=label)


def _caption_curves(axes: Any, y: str) -> None:
    axes.set_xlabel("rows", fontsize=12)
    axes.set_ylabel(y, fontsize=12)
    axes.set_ylim(bottom=0)
    axes.margins(x=0.01)
    axes.xaxis.set_major_formatter("{x:,g}")
    axes.tick_params(labelsize=11)
    axes.grid(True, alpha=0.3)
    draw_legend(axes, 11)


def draw_legend(axes: Any, size: int, title: str | None = None) -> None:
    """Draw the legend beneath the axes and their words, where it covers nothing."""
    place = {"loc": "upper center", "bbox_to_anchor": (0.5, 0), "ncols": 2}
    axes.legend(
        **place,
        fontsize=size,
        title=title,
        borderaxespad=UNDER_AXES / size,
        frameon=False,
    )


def draw_ranked(axes: Any, counts: Any, what: str) -> None:
    """Draw counts by rank, the largest first; zeros have no place on a log axis."""
    ranked = np.sort(counts[counts > 0])[::-1]
    axes.plot(np.arange(1, len(ranked) + 1), ranked, color="#1f5fa8", linewidth=2.5)
    axes.set_xscale("log")
    axes.set_xlim(0.8, max(12.0, 1.3 * len(ranked)))
    _caption(axes, f"Frequency of each {what}", f"rank of the {what}", "rows")


def draw_rows(axes: Any, profile: Profile) -> None:
    """Draw how many rows have how many labels; bars have no foot on a log axis."""
    counts = profile.row_counts
    axes.plot(np.arange(len(counts)), counts, "o-", color="#1f5fa8", linewidth=1)
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
