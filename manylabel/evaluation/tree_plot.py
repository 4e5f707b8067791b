"""A tree drawn to a file, from left to right; it needs matplotlib."""

import os
import warnings
from collections.abc import Iterator
from heapq import nlargest
from itertools import chain
from typing import Any, NamedTuple

from manylabel.evaluation.plots import check_format, check_matplotlib, write_figure
from manylabel.evaluation.tree_view import TreeView
from manylabel.explanation import MOST_NAMED, Names, Node, named

# Inches: of a box at most, between boxes, of a line of text, and around all.
WIDEST, GAP, ABOVE, LINE, PAD, MARGIN, HEAD = 3.6, 0.75, 0.16, 0.17, 0.08, 0.2, 0.65
NARROWEST = 5.2  # paper
MOST_LETTERS = 100  # of a name, that might fit in a box
LINES_MEASURED = 100  # to know the width of a box
MOST_INCHES = 2000.0  # by the square: 45 million pixels
SIZE, TITLE_SIZE = 9, 14  # of letters, in points
INK, GREY, LINES, PLUS, MINUS = "#222222", "#5f5f5f", "#9a9a9a", "#0062a3", "#a83f00"
INNER, LEAF, PASSED = "#f5f7fa", "#edf5ec", "#d55e00"
RULE = (
    "yes if the features times their weights, and the constant, add up to more than 0"
)


class Line(NamedTuple):
    """A line in a box: words on the left, a weight on the right."""

    words: str
    weight: float | None = None
    colour: str = INK
    is_bold: bool = False


class Box(NamedTuple):
    """A node on paper, in inches from the upper left corner."""

    node: Node
    lines: list[Line]
    left: float
    width: float
    middle: float

    @property
    def right(self) -> float:
        """Right side."""
        return self.left + self.width

    @property
    def height(self) -> float:
        """Height for all lines."""
        return _height(self.lines)


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
    tree : PowersetTree, AnnotationTree or BudgetedTree
        A fitted tree.
    path : str or path-like
        The file to write: .png, .pdf or .svg.
    X : array or sparse array of shape (1, n_features) or None, default=None
        A row whose way is marked; not in a BudgetedTree.
    depth : int or None, default=3
        Levels below the root to draw; None for all.
    feature_names, label_names : sequence of str or None, default=None
        Names of the columns; None shows their numbers. The labels of a BudgetedTree
        are its two classes.
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
    boxes, height = _boxes(view)
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


def _boxes(view: TreeView) -> tuple[dict[int, Box], float]:
    """Return boxes that do not overlap, and the height of the paper."""
    lines = {node.node: list(_lines(node, view)) for node in view.nodes}
    children: dict[int, list[int]] = {node.node: [] for node in view.nodes}
    room: dict[int, float] = {}  # height that a node and all below it need
    for node in reversed(view.nodes):
        below = sum(room[child] for child in children[node.node])
        room[node.node] = max(_height(lines[node.node]) + ABOVE, below)
        if node.parent >= 0:
            children[node.parent].insert(0, node.node)
    # The widest line is among the longest; if it is not, it is shortened.
    longest = nlargest(LINES_MEASURED, chain.from_iterable(lines.values()), _letters)
    width = min(WIDEST, max(map(_needed, longest)))
    boxes, top = {}, {0: HEAD}
    for node in view.nodes:
        left = MARGIN + node.level * (width + GAP)
        middle = top[node.node] + room[node.node] / 2
        boxes[node.node] = Box(node, lines[node.node], left, width, middle)
        start = middle - sum(room[child] for child in children[node.node]) / 2
        for child in children[node.node]:
            top[child], start = start, start + room[child]
    return boxes, HEAD + room[0] + MARGIN


def _height(lines: list[Line]) -> float:
    return len(lines) * LINE + 2 * PAD


def _lines(node: Node, view: TreeView) -> Iterator[Line]:
    """Yield what stands in a box."""
    if not node.is_leaf:
        yield Line(_plain(node.question(view.labels)), is_bold=True)
    yield Line(f"{node.n_rows:,} row{'s' * (node.n_rows != 1)}", colour=GREY)
    for label in node.fixed[:MOST_NAMED]:
        yield Line(_plain(f"gets {named(label, view.labels)}"), is_bold=node.is_leaf)
    if len(node.fixed) > MOST_NAMED:
        yield Line(f"and {len(node.fixed) - MOST_NAMED} more labels", colour=GREY)
    if node.is_leaf:
        if not node.fixed:
            yield Line("no more labels", is_bold=True)
        return
    for column, weight in node.features[:MOST_NAMED]:
        yield Line(_plain(named(column, view.features)), weight)
    if len(node.features) > MOST_NAMED:
        yield Line(f"and {len(node.features) - MOST_NAMED} more features", colour=GREY)
    yield Line("constant", node.intercept, colour=GREY)


def _draw_head(axes: Any, title: str, room: float) -> None:
    words = _fitted(_plain(title), room * SIZE / TITLE_SIZE, False)
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
        room -= _width(number) + 2 * PAD
    words = _fitted(line.words, room, line.is_bold)
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


def _letters(line: Line) -> int:
    return len(line.words) + (0 if line.weight is None else len(f"{line.weight:+.3f}"))


def _needed(line: Line) -> float:
    """Return the width of a box in which a line is not shortened."""
    number = "" if line.weight is None else f"{line.weight:+.3f}"
    return _width(line.words, line.is_bold) + _width(number) + 4 * PAD


def _fitted(words: str, room: float, is_bold: bool) -> str:
    """Return words on one line, shortened if there is no room."""
    if _width(words, is_bold) <= room:
        return words
    fits, over = 1, min(len(words), MOST_LETTERS)
    while over - fits > 1:
        half = (fits + over) // 2
        if _width(_shortened(words, half), is_bold) <= room:
            fits = half
        else:
            over = half
    return _shortened(words, fits)


def _plain(name: str) -> str:
    """Return a name as one line of letters that can be drawn."""
    return "".join(c if c.isprintable() else " " for c in name).strip()


def _shortened(words: str, n_letters: int) -> str:
    """Return so many letters, an eighth of them from the end, where numbers stand.

    Examples
    --------
    >>> _shortened("Mean_Centroid_3", 8)
    'Mean_Ce…3'
    """
    n_last = n_letters // 8
    return f"{words[: n_letters - n_last]}…{words[len(words) - n_last :]}"


def _width(words: str, is_bold: bool = False) -> float:
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    font = FontProperties(weight="bold" if is_bold else "normal", size=SIZE)
    width, _, _ = text_to_path.get_text_width_height_descent(words, font, False)
    return float(width) / 72  # points of an inch
