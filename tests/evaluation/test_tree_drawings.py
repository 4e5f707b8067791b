"""Trees on paper and on a page show what the tree has, whatever the names."""

import re
import sys
from html.parser import HTMLParser
from itertools import combinations
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from manylabel import (
    AnnotationTree,
    BudgetedTree,
    FastXML,
    PowersetTree,
    plot_tree,
    write_tree_html,
)
from manylabel.evaluation.tree_layout import measure, place_boxes, shorten
from manylabel.evaluation.tree_plot import INNER, LEAF, PASSED
from manylabel.evaluation.tree_view import TreeView
from manylabel.exceptions import MissingExtra

EXAMPLE = np.repeat(
    [[1, 1, 0, 0], [1, 0, 1, 0], [0, 0, 0, 1], [0, 0, 1, 0]], [3, 1, 3, 1], 0
)
X = np.repeat(np.eye(4), [3, 1, 3, 1], 0)
WORDS = ["sea", "wood", "street", "sand"]
HOSTILE = [
    "<script>alert(1)</script>",
    "--> $\\frac{$",
    "a\n\x00\x1bb\u202e",
    "\"' onload=x &amp;" + 40 * "long ",
]
each_tree = pytest.mark.parametrize("kind", [AnnotationTree, PowersetTree])


class Nameless:
    """Has no text to show."""

    def __str__(self):
        return 0


class Page(HTMLParser):
    """What a browser would find."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.entries, self.names = [], [], []
        self.is_open, self.depth, self.deepest = [], 0, 0
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        """Count it."""
        self.tags.append(tag)
        if tag == "li":
            self.entries.append(dict(attributes).get("class"))
        if tag == "bdi":
            self.names.append("")
        if tag == "details":
            self.is_open.append("open" in dict(attributes))
        if tag in ("ul", "li", "details"):
            self.depth += 1
            self.deepest = max(self.deepest, self.depth)

    def handle_endtag(self, tag):
        """Leave it."""
        self.depth -= tag in ("ul", "li", "details")

    def handle_data(self, data):
        """Keep names."""
        if self.tags and self.tags[-1] == "bdi" and not self.names[-1]:
            self.names[-1] = data


def page(tree, folder, **options):
    write_tree_html(tree, folder / "tree.html", **options)
    return Page((folder / "tree.html").read_text())


def picture(tree, folder, **options):
    plot_tree(tree, folder / "tree.svg", **options)
    text = (folder / "tree.svg").read_text()
    ElementTree.fromstring(text)  # well-formed
    return text


@pytest.fixture
def tree():
    return AnnotationTree(C=100).fit(X, EXAMPLE)


@each_tree
def test_a_picture_has_a_box_for_every_node(kind, tmp_path):
    model = kind(C=100).fit(X, EXAMPLE)
    for depth in (0, 1, 3):
        text = picture(model, tmp_path, depth=depth)
        nodes = model.nodes(depth)
        assert text.count(f"fill: {LEAF}") == sum(node.is_leaf for node in nodes)
        assert text.count(f"fill: {INNER}") == sum(not node.is_leaf for node in nodes)


def test_a_picture_has_labels_features_and_rows(tree, tmp_path):
    text = picture(tree, tmp_path, feature_names=WORDS, label_names="abce", title="Sea")
    for words in ("a?", "8 rows", "gets b", "sea", "Sea", "yes", "no"):
        assert f"<!-- {words} -->" in text


def test_a_tree_of_two_classes_is_drawn_by_their_names(tmp_path):
    rows = np.random.default_rng(0).normal(size=(400, 2))
    y = (rows[:, 0] > 0) != (rows[:, 1] > 0)
    model = BudgetedTree(budget=1, max_planes=1, C=1).fit(rows, y)
    names = {"feature_names": ["width", "height"], "label_names": ["ham", "spam"]}
    text = picture(model, tmp_path, **names)
    for words in ("spam?", "400 rows", "gets ham", "gets spam", "width", "height"):
        assert f"<!-- {words} -->" in text
    assert len(page(model, tmp_path, **names).entries) == len(model.tree_.children)
    with pytest.raises(TypeError, match="X must be None for a BudgetedTree"):
        picture(model, tmp_path, X=rows[:1])


def test_a_picture_marks_the_way_of_a_row(tree, tmp_path):
    assert PASSED not in picture(tree, tmp_path)
    (path,) = tree.explain(X[:1]).paths
    text = picture(tree, tmp_path, X=X[:1])
    boxes, lines = len(path.decisions) + 1, len(path.decisions)
    assert text.count(f"stroke: {PASSED}; stroke-width: 2.5") == boxes + lines


@given(arrays(np.int8, (12, 5), elements=st.integers(0, 1)), st.integers(0, 8))
def test_boxes_do_not_overlap(Y, depth):
    model = AnnotationTree().fit(np.eye(12), Y)
    boxes, height = place_boxes(TreeView.of(model, None, depth, None, None))
    for box in boxes.values():
        assert 0 <= box.middle - box.height / 2 <= box.middle + box.height / 2 <= height
    for one, other in combinations(boxes.values(), 2):
        if one.left == other.left:
            assert abs(one.middle - other.middle) > (one.height + other.height) / 2
        else:
            assert abs(one.left - other.left) > one.width


@given(st.text("Wil_3", min_size=1, max_size=150), st.booleans())
def test_words_fit_in_their_room(words, is_bold):
    found = shorten(words, 1.5, is_bold)
    assert measure(found, is_bold) <= 1.5
    assert found == words or measure(words, is_bold) > 1.5


def test_a_picture_that_is_too_large_is_refused(tmp_path):
    model = AnnotationTree().fit(np.eye(60), np.eye(60))
    with pytest.raises(
        ValueError, match=r"fits on paper. Got None, which takes 145 by"
    ):
        plot_tree(model, tmp_path / "tree.png", depth=None)
    assert not list(tmp_path.iterdir())


@each_tree
def test_a_page_has_an_entry_for_every_node(kind, tmp_path):
    model = kind(C=100).fit(X, EXAMPLE)
    for depth in (0, 1, None):
        found = page(model, tmp_path, depth=depth)
        assert len(found.entries) == len(model.nodes(depth))
        assert found.depth == 0


def test_a_page_marks_the_way_of_a_row(tree, tmp_path):
    assert set(page(tree, tmp_path).entries) == {None}
    (path,) = tree.explain(X[:1]).paths
    found = page(tree, tmp_path, X=X[:1])
    assert found.entries.count("passed") == len(path.decisions) + 1
    text = (tmp_path / "tree.html").read_text()
    assert text.count("the row: yes") == sum(d.score > 0 for d in path.decisions)
    assert text.count("the row ends here") == 1


@each_tree
def test_a_map_has_a_box_for_every_yes(kind, tmp_path):
    model = kind(C=100).fit(X, EXAMPLE)
    write_tree_html(model, tmp_path / "tree.html")
    text = (tmp_path / "tree.html").read_text()
    below = {node.parent for node in model.nodes()}
    found = re.findall(
        r'href="#node-(\d+)" style="left: ([\d.]+)%; width: ([\d.]+)%', text
    )
    assert {int(node) for node, _, _ in found} == below - {-1}
    assert all(float(left) + float(width) <= 100.001 for _, left, width in found)
    assert all(f"<li id=node-{node}" in text for node, _, _ in found)


def test_a_map_shows_shares_of_rows(tree, tmp_path):
    write_tree_html(tree, tmp_path / "tree.html", label_names="abce")
    text = (tmp_path / "tree.html").read_text()
    first = tree.nodes()[0]
    n_yes = next(n.n_rows for n in tree.nodes() if n.parent == 0 and n.is_first)
    assert f"width: {100 * n_yes / first.n_rows:.3f}%" in text
    assert "8 rows, 3 questions, 4 leaves" in text


def test_deep_trees_are_pages_that_browsers_can_nest(tmp_path):
    model = AnnotationTree(C=100).fit(np.eye(120), np.eye(120))
    assert model.diagnostics().depth > 100
    found = page(model, tmp_path, X=np.eye(120)[-1:])
    assert len(found.entries) == 239
    assert found.deepest < 10
    assert 1 >= sum(found.is_open)


def test_names_are_never_markup(tree, tmp_path):
    options = {"feature_names": HOSTILE, "label_names": HOSTILE, "title": HOSTILE[0]}
    found = page(tree, tmp_path, **options)
    plain = page(tree, tmp_path, feature_names=WORDS, label_names="abce", title="t")
    assert found.tags == plain.tags
    assert found.tags.count("script") == 1
    assert f"{HOSTILE[0]}?" in found.names
    picture(tree, tmp_path, **options)


def test_letters_that_the_font_lacks_are_no_obstacle(tree, tmp_path):
    names = "\u65e5\u672c\u8a9e\u00e9"
    text = picture(tree, tmp_path, label_names=names)
    assert all(f"<!-- gets {letter} -->" in text for letter in names)
    plot_tree(tree, tmp_path / "tree.png", label_names=names)
    assert (tmp_path / "tree.png").read_bytes().startswith(b"\x89PNG")


def test_half_a_character_is_no_obstacle(tree, tmp_path):
    names = ["half \ud800", "b", "c", "d"]
    assert "half \\ud800?" in page(tree, tmp_path, label_names=names).names
    text = picture(tree, tmp_path, label_names=names)
    shown = ("half \\ud800", "b", "c", "d")
    assert all(f"<!-- gets {name} -->" in text for name in shown)


def test_a_page_asks_for_nothing_from_elsewhere(tree, tmp_path):
    write_tree_html(tree, tmp_path / "tree.html")
    text = (tmp_path / "tree.html").read_text()
    assert not any(word in text for word in ("http:", "https:", "src=", "url("))
    assert text.count("href=") == text.count('href="#node-')


@pytest.mark.parametrize("show", [plot_tree, write_tree_html])
def test_refusals_leave_what_was_there(show, tree, tmp_path):
    path = tmp_path / "tree.png"
    path.write_text("old")
    with pytest.raises(TypeError, match=r"tree must be a PowersetTree.* Got FastXML"):
        show(FastXML(n_estimators=1).fit(X, EXAMPLE), path)
    with pytest.raises(ValueError, match=r"feature_names must be 4.* Got 2"):
        show(tree, path, feature_names=["a", "b"])
    with pytest.raises(ValueError, match=r"label_names must be 4.* Got 1"):
        show(tree, path, label_names=["a"])
    with pytest.raises(ValueError, match="X must be one row to explain"):
        show(tree, path, X=X)
    with pytest.raises(ValueError, match="depth == -1"):
        show(tree, path, depth=-1)
    assert [p.read_text() for p in tmp_path.iterdir()] == ["old"]
    show(tree, path)
    assert [p.name for p in tmp_path.iterdir()] == ["tree.png"]


@pytest.mark.parametrize("show", [plot_tree, write_tree_html])
def test_an_error_on_the_way_leaves_what_was_there(show, tree, tmp_path):
    path = tmp_path / "tree.png"
    path.write_text("old")
    with pytest.raises(TypeError, match="__str__ returned non-string"):
        show(tree, path, label_names=["a", "b", "c", Nameless()])
    assert [p.read_text() for p in tmp_path.iterdir()] == ["old"]


def test_pictures_need_matplotlib_and_a_known_suffix(tree, tmp_path, monkeypatch):
    with pytest.raises(ValueError, match=r"path must end with one of \.png"):
        plot_tree(tree, tmp_path / "tree.gif")
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtra, match=r"pip install 'manylabel\[plot\]'"):
        plot_tree(tree, tmp_path / "tree.png")
    write_tree_html(tree, tmp_path / "tree.html")
