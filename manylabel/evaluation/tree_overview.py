"""A tree at a glance: how large it is, and a map of its questions by rows."""

from collections.abc import Iterator, Mapping
from html import escape

from manylabel._markup import isolate
from manylabel.evaluation.tree_view import TreeView
from manylabel.explanation import Node, joined, named

LEVELS = 6  # of the map
LEAST = 0.004  # of all rows: a narrower box cannot be seen
Below = Mapping[int, list[Node]]
STYLE = """.map { position: relative; margin: .6rem 0 1.2rem; overflow: hidden }
.map a { position: absolute; box-sizing: border-box; height: 1.8rem;
 padding: .2rem .3rem; border: 1px solid var(--back); background: var(--faint);
 color: inherit;
 text-decoration: none; white-space: nowrap; overflow: hidden; text-overflow: ellipsis }
.map a { container-type: inline-size }
@container (max-width: 2rem) { .map bdi { display: none } }
.map a:hover, .map a:focus { background: var(--line) }
.map a.passed { background: var(--passed); color: var(--back) }
"""
HINT = """<p class="grey">A box is a question that was answered by yes, as wide as the
share of rows with that answer; what is asked after it stands beneath it.</p>
"""


def show_overview(view: TreeView, below: Below) -> Iterator[str]:
    """Yield the size of a tree, and a map whose boxes lead to its entries."""
    root = view.nodes[0]
    n_leaves = sum(node.is_leaf for node in view.nodes)
    deepest = max(node.level for node in view.nodes)
    size = {
        "rows": root.n_rows,
        "questions": len(view.nodes) - n_leaves,
        "leaves": n_leaves,
        "questions at most for a row": deepest,
    }
    shown = ", ".join(f"{count:,} {what}" for what, count in size.items())
    yield f"<p>{shown}.</p>\n"
    boxes = list(_boxes(root, below))
    if boxes:
        height = 1.8 * (1 + max(level for _, _, _, level in boxes))
        yield f'{HINT}<div class="map" style="height: {height:g}rem">\n'
        yield from (_box(view, *box, root.n_rows) for box in boxes)
        yield "</div>\n"


def _boxes(root: Node, below: Below) -> Iterator[tuple[Node, Node, int, int]]:
    """Yield a question, its yes, the row at which the box starts, and its level."""
    waiting = [(root, 0, 0)]
    while waiting:
        node, start, level = waiting.pop()
        if level >= LEVELS or not below[node.node]:
            continue
        first, second = below[node.node]
        if first.n_rows >= LEAST * root.n_rows:
            yield node, first, start, level
            waiting.append((first, start, level + 1))
        waiting.append((second, start + first.n_rows, level))


def _box(
    view: TreeView, node: Node, first: Node, start: int, level: int, n_rows: int
) -> str:
    """Return the box of a question."""
    words = named(node.asked, view.labels) if node.asked >= 0 else ""
    words = words or joined(first.fixed, view.labels) or "yes"
    left, width = (100 * rows / n_rows for rows in (start, first.n_rows))
    place = f"left: {left:.3f}%; width: {width:.3f}%; top: {1.8 * level:g}rem"
    mark = ' class="passed"' if first.node in view.way else ""
    told = escape(f"{words}: {first.rows}")
    return (
        f'<a href="#node-{node.node}" style="{place}"{mark} title="{told}">'
        f"{isolate(words)}</a>\n"
    )
