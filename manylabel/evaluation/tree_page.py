"""A tree as a page for a browser, with nothing to load from elsewhere."""

import os
from collections.abc import Iterator
from typing import Any

from manylabel._markup import isolate
from manylabel.evaluation import tree_overview
from manylabel.evaluation.html_page import write_page
from manylabel.evaluation.tree_view import TreeView
from manylabel.explanation import MOST_NAMED, Names, Node, named

FEW = 64  # nodes of a page on which all is open
STYLE = """:root { --passed: #c04f00 }
@media (prefers-color-scheme: dark) { :root { --passed: #ff9a52 } }
ul { list-style: none; margin: 0; padding: 0 }
details > ul { margin-left: 1rem }
li { border-left: 3px solid var(--line); padding: .2rem 0 .2rem .8rem;
 margin: .5rem 0 }
li.passed { border-color: var(--passed) }
li:target > p, li.hit > p { background: var(--faint) }
mark { background: none; color: var(--passed); font-weight: bold }
.tools { display: flex; flex-wrap: wrap; gap: .4rem .8rem; align-items: center;
 position: sticky; top: 0; background: var(--back); padding: .4rem 0 }
.tools input, .tools button { font: inherit; color: inherit; background: var(--faint);
 padding: .3rem .5rem; border: 1px solid var(--line); border-radius: .3rem }
.tools button { cursor: pointer }
@media (max-width: 30rem) { body { margin: .8rem } details > ul { margin-left: .2rem }
 li { padding-left: .5rem } }
"""
# Searches, opens and closes the entries, which are whole without it.
SCRIPT = """(() => {
const tree = document.getElementById("tree");
const entries = [...tree.querySelectorAll("li")];
const folds = [...tree.querySelectorAll("details")];
const words = entries.map(entry =>
  [...entry.children].filter(part => part.tagName === "P")
    .map(part => part.textContent).join(" ").toLowerCase());
const above = entry => {
  const found = [];
  for (let at = entry.parentNode; at !== tree; at = at.parentNode) found.push(at);
  return found;
};
const openAbove = entry => above(entry).forEach(at => {
  if (at.tagName === "DETAILS") at.open = true;
});
const make = (tag, text) => {
  const made = document.createElement(tag);
  made.append(text);
  return made;
};
const tools = make("div", ""), label = make("label", "Search ");
const said = make("span", ""), search = make("input", "");
tools.className = "tools";
search.type = "search";
said.setAttribute("role", "status");
label.append(search);
const fold = (text, open) => {
  const button = make("button", text);
  button.type = "button";
  button.addEventListener("click", () => folds.forEach(each => { each.open = open; }));
  return button;
};
tools.append(label, fold("Open all", true), fold("Close all", false), said);
tree.before(tools);
search.addEventListener("input", () => {
  const sought = search.value.trim().toLowerCase();
  const hits = new Set(entries.filter((_, at) => sought && words[at].includes(sought)));
  const shown = new Set([...hits].flatMap(entry => [entry, ...above(entry)]));
  entries.forEach(entry => {
    entry.hidden = sought && !shown.has(entry);
    entry.classList.toggle("hit", hits.has(entry));
  });
  folds.forEach(each => { if (shown.has(each)) each.open = true; });
  said.textContent = sought ? hits.size + " of " + entries.length + " entries" : "";
});
const follow = () => {
  const entry = document.getElementById(location.hash.slice(1));
  if (entry && tree.contains(entry)) { openAbove(entry); entry.scrollIntoView(); }
};
addEventListener("hashchange", follow);
follow();
})();
"""
RULE = """<p class="grey">Each entry asks a question; the answer is yes if the features
times their weights, and the constant, add up to more than 0. What is asked after a yes
is inside the entry, what is asked after a no is the entry below it.</p>
"""


def write_tree_html(
    tree: Any,
    path: str | os.PathLike[str],
    *,
    X: Any = None,
    depth: int | None = None,
    feature_names: Names = None,
    label_names: Names = None,
    title: str = "",
) -> None:
    """Write a tree as a page for a browser.

    It has a map of the questions by the share of rows, and an entry for each node. The
    page needs nothing else, follows the reader's choice of light or dark and can be
    read aloud; its script only searches, opens and closes. It appears whole or, after
    an error, not at all.

    Parameters
    ----------
    tree : PowersetTree, AnnotationTree or BudgetedTree
        A fitted tree.
    path : str or path-like
        The file to write.
    X : array or sparse array of shape (1, n_features) or None, default=None
        A row whose way is marked; not in a BudgetedTree.
    depth : int or None, default=None
        Levels below the root to show; None for all.
    feature_names, label_names : sequence of str or None, default=None
        Names of the columns; None shows their numbers. The labels of a BudgetedTree
        are its two classes.
    title : str, default=""
        What stands above the tree; its kind if nothing is given.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import manylabel as ml
    >>> tree = ml.AnnotationTree().fit([[0, 1], [1, 0]], [[0, 1], [1, 1]])
    >>> with TemporaryDirectory() as folder:
    ...     page = Path(folder, "tree.html")
    ...     ml.write_tree_html(tree, page, label_names=["calm", "<song>"])
    ...     "&lt;song&gt;" in page.read_text()
    True
    """
    view = TreeView.of(tree, X, depth, feature_names, label_names)
    style = STYLE + tree_overview.STYLE
    title = title or type(tree).__name__
    write_page(path, title, _parts(view), style=style, script=SCRIPT)


def _parts(view: TreeView) -> Iterator[str]:
    """Yield the entries.

    Only answers of yes are nested: a row has few labels, but trees of hundreds of
    levels, nearly all of them by no, are common, and too deep for browsers.
    """
    children: dict[int, list[Node]] = {node.node: [] for node in view.nodes}
    for node in view.nodes[1:]:
        children[node.parent].append(node)
    yield from tree_overview.show_overview(view, children)
    yield f'{RULE}<ul id="tree">\n'
    waiting: list[Node | str] = [view.nodes[0]]
    while waiting:
        now = waiting.pop()
        if isinstance(now, str):
            yield now
            continue
        below = children[now.node]
        yield _entry(now, below, view)
        if below:
            first, second = below
            is_open = first.node in view.way or len(view.nodes) <= FEW
            yield f"<details{' open' * is_open}><summary>yes, {first.rows}</summary>"
            yield "<ul>\n"
            waiting += [second, "</ul></details></li>\n", first]
        else:
            yield "</li>\n"
    yield "</ul>\n"


def _entry(node: Node, below: list[Node], view: TreeView) -> str:
    """Return a node without what is below it."""
    is_passed = node.node in view.way
    after_no = "no: " if node.parent >= 0 and not node.is_first else ""
    mark = is_passed * " class=passed"
    parts = [f"<li id=node-{node.node}{mark}><p>{after_no}{node.rows}"]
    if node.fixed:
        parts.append(f" given {_names(node.fixed, view.labels)}")
    elif node.is_leaf:
        parts.append(", no more labels")
    if is_passed:
        parts.append(f" <mark>{_answer(node, below, view)}</mark>")
    if not node.is_leaf:
        parts.append(f"</p><p><b>{isolate(node.question(view.labels))}</b> ")
        parts.append(_weights(node, view.features))
        if not below:
            parts.append(" <span class=grey>(more below)</span>")
    return "".join([*parts, "</p>"])


def _answer(node: Node, below: list[Node], view: TreeView) -> str:
    if node.is_leaf:
        return "the row ends here"
    if not below:
        return "the row comes by"
    return f"the row: {'yes' if below[0].node in view.way else 'no'}"


def _weights(node: Node, features: Names) -> str:
    shown = [
        f"{isolate(named(column, features))} {_signed(weight)}"
        for column, weight in node.features[:MOST_NAMED]
    ]
    if len(node.features) > MOST_NAMED:
        shown.append(f"{len(node.features) - MOST_NAMED} more")
    return ", ".join([*shown, f"constant {_signed(node.intercept)}"])


def _names(labels: list[int], names: Names) -> str:
    return ", ".join(isolate(named(label, names)) for label in labels)


def _signed(weight: float) -> str:
    return f"<span class={'minus' if weight < 0 else 'plus'}>{weight:+.3f}</span>"
