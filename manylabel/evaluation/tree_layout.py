"""Where the boxes of a tree stand on paper, and what is written in them."""

from collections.abc import Iterator
from heapq import nlargest
from itertools import chain
from typing import NamedTuple

from manylabel.evaluation.tree_view import TreeView
from manylabel.explanation import MOST_NAMED, Node, named

# Inches: of a box at most, between boxes, of a line of text, and around all.
WIDEST, GAP, ABOVE, LINE, PAD, MARGIN, HEAD = 3.6, 0.75, 0.16, 0.17, 0.08, 0.2, 0.65
MOST_LETTERS = 100  # of a name, that might fit in a box
LINES_MEASURED = 100  # to know the width of a box
SIZE = 9  # of letters, in points
INK, GREY = "#222222", "#5f5f5f"


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


def place_boxes(view: TreeView) -> tuple[dict[int, Box], float]:
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
        yield Line(node.question(view.labels), is_bold=True)
    yield Line(node.rows, colour=GREY)
    for label in node.fixed[:MOST_NAMED]:
        yield Line(f"gets {named(label, view.labels)}", is_bold=node.is_leaf)
    if len(node.fixed) > MOST_NAMED:
        yield Line(f"and {len(node.fixed) - MOST_NAMED} more labels", colour=GREY)
    if node.is_leaf:
        if not node.fixed:
            yield Line("no more labels", is_bold=True)
        return
    for column, weight in node.features[:MOST_NAMED]:
        yield Line(named(column, view.features), weight)
    if len(node.features) > MOST_NAMED:
        yield Line(f"and {len(node.features) - MOST_NAMED} more features", colour=GREY)
    yield Line("constant", node.intercept, colour=GREY)


def _letters(line: Line) -> int:
    return len(line.words) + (0 if line.weight is None else len(f"{line.weight:+.3f}"))


def _needed(line: Line) -> float:
    """Return the width of a box in which a line is not shortened."""
    number = "" if line.weight is None else f"{line.weight:+.3f}"
    return measure(line.words, line.is_bold) + measure(number) + 4 * PAD


def shorten(words: str, room: float, is_bold: bool) -> str:
    """Return words on one line, shortened if there is no room."""
    if measure(words, is_bold) <= room:
        return words
    fits, over = 1, min(len(words), MOST_LETTERS)
    while over - fits > 1:
        half = (fits + over) // 2
        if measure(_shortened(words, half), is_bold) <= room:
            fits = half
        else:
            over = half
    return _shortened(words, fits)


def _shortened(words: str, n_letters: int) -> str:
    """Return so many letters, an eighth of them from the end, where numbers stand.

    Examples
    --------
    >>> _shortened("Mean_Centroid_3", 8)
    'Mean_Ce…3'
    """
    n_last = n_letters // 8
    return f"{words[: n_letters - n_last]}…{words[len(words) - n_last :]}"


def measure(words: str, is_bold: bool = False) -> float:
    """Return the width of words, in inches."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    font = FontProperties(weight="bold" if is_bold else "normal", size=SIZE)
    width, _, _ = text_to_path.get_text_width_height_descent(words, font, False)
    return float(width) / 72  # points of an inch
