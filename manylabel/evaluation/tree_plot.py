"""A tree drawn to a file, from left to right; it needs matplotlib."""

import os
import warnings
from typing import Any

from manylabel._docstrings import described_like
from manylabel._escapes import escape_line
from manylabel.evaluation.plots import check_format, check_matplotlib, write_figure
from manylabel.evaluation.tree_layout import (
    GAP,
    GREY,
    INK,
    LINE,
    MARGIN,
    PAD,
    SIZE,
    Box,
    Line,
    measure,
    place_boxes,
    shorten,
)
from manylabel.evaluation.tree_page import write_tree_html
from manylabel.evaluation.tree_view import TreeView
from manylabel.explanation import Names

TITLE_SIZE = 14  # of letters, in points
NARROWEST = 5.2  # paper, in inches
MOST_INCHES = 2000.0  # by the square: 45 million pixels
LINES, PLUS, MINUS = "#9a9a9a", "#0062a3", "#a83f00"
INNER, LEAF, PASSED = "#f5f7fa", "#edf5ec", "#d55e00"
RULE = (
    "yes if the features times their weights, and the constant, add up to more than 0"
)


@described_like(write_tree_html)
def plot_tree(
    tree: Any,
    path: str | os.PathLike[str],
    *,
    X: Any = None,
    depth: int | None = 3,
    feature_names: Names = None,
    label_names: Names = None,
    title: str = "",
) -> None:
    """Draw the upper nodes of a tree.

    A box has what is asked, the training rows, the labels that they get here and the
    largest weights; a line to the right leads to the child for yes, above, or for no.
    Dots say that there is more to the right. Letters that matplotlib's font does not
    have are empty squares: its setting ``font.family`` chooses another.

    Parameters
    ----------
    path : str or path-like
        The file to write: .png, .pdf or .svg.
    depth : int or None, default=3
        Levels below the root to draw; None for all.
    title : str, default=""
        What stands above the tree.

    Raises
    ------
    MissingExtra
        If matplotlib is not installed.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> import manylabel as ml
    >>> tree = ml.AnnotationTree().fit([[0, 1], [1, 0]], [[0, 1], [1, 1]])
    >>> with TemporaryDirectory() as folder:
    ...     ml.plot_tree(tree, f"{folder}/tree.svg", label_names=["calm", "song"])
    """
    check_format(path)
    check_matplotlib()
    view = TreeView.of(tree, X, depth, feature_names, label_names)
    with warnings.catch_warnings():
        # Once for every time that a letter is measured or drawn is too often.
        warnings.filterwarnings("ignore", "Glyph .* missing from", UserWarning)
        _write(view, path, depth, title)


def _write(
    view: TreeView, path: str | os.PathLike[str], depth: int | None, title: str
) -> None:
    boxes, height = place_boxes(view)
    right = max(box.right for box in boxes.values()) + GAP / 2 + MARGIN
    width = max(right, NARROWEST)
    if width * height > MOST_INCHES:
        raise ValueError(
            "depth must be such that the tree fits on paper. "
            f"Got {depth}, which takes {width:,.0f} by {height:,.0f} inches."
        )

    def draw(figure: Any) -> None:
        figure.set_layout_engine("none")
        axes = figure.add_axes((0, 0, 1, 1))  # a unit is an inch
        axes.set(xlim=(0, width), ylim=(height, 0))
        axes.set_axis_off()
        for box in boxes.values():
            is_passed = box.node.node in view.way
            _draw_box(axes, box, is_passed)
            if box.node.parent >= 0:
                _draw_line(axes, boxes[box.node.parent], box, is_passed)
            if not box.node.is_leaf and box.node.level == depth:
                axes.text(box.right + PAD, box.middle, "…", color=GREY)
        _draw_head(axes, title, width - 2 * MARGIN)

    write_figure(path, (width, height), "", draw)


def _draw_head(axes: Any, title: str, room: float) -> None:
    words = shorten(escape_line(title), room * SIZE / TITLE_SIZE, False)
    axes.text(MARGIN, 0.3, words, color=INK, size=TITLE_SIZE, parse_math=False)
    axes.text(MARGIN, 0.5, RULE, color=GREY, size=SIZE - 1)


def _draw_box(axes: Any, box: Box, is_passed: bool) -> None:
    from matplotlib.patches import FancyBboxPatch

    corner = box.left, box.middle - box.height / 2
    axes.add_patch(
        FancyBboxPatch(
            *(corner, box.width, box.height),
            boxstyle="round,pad=0,rounding_size=0.08",
            facecolor=LEAF if box.node.is_leaf else INNER,
            edgecolor=PASSED if is_passed else LINES,
            linewidth=2.5 if is_passed else 1,
        )
    )
    for number, line in enumerate(box.lines):
        _draw_words(axes, line, box, corner[1] + PAD + LINE * (number + 0.5))


def _draw_words(axes: Any, line: Line, box: Box, middle: float) -> None:
    room = box.width - 2 * PAD
    style = {"size": SIZE, "va": "center_baseline", "parse_math": False}
    if line.weight is not None:
        colour, number = MINUS if line.weight < 0 else PLUS, f"{line.weight:+.3f}"
        axes.text(box.right - PAD, middle, number, color=colour, ha="right", **style)
        room -= measure(number) + 2 * PAD
    words = shorten(line.words, room, line.is_bold)
    weight = "bold" if line.is_bold else "normal"
    axes.text(box.left + PAD, middle, words, color=line.colour, weight=weight, **style)


def _draw_line(axes: Any, parent: Box, child: Box, is_passed: bool) -> None:
    """Draw the way from a node to its child."""
    start, middle = parent.right, parent.right + GAP * 0.4
    style = {"color": PASSED if is_passed else LINES, "lw": 2.5 if is_passed else 1}
    ends = [parent.middle, parent.middle, child.middle, child.middle]
    axes.plot([start, middle, middle, child.left], ends, zorder=is_passed / 2, **style)
    answer = "yes" if child.node.is_first else "no"
    colour = PASSED if is_passed else GREY
    place = (middle + child.left) / 2, child.middle - 0.04
    axes.text(*place, answer, color=colour, size=SIZE, ha="center", va="bottom")
