"""Report pages: well-formed, whole, and whatever labels and texts hold stays text."""

import re
from collections import Counter
from html.parser import HTMLParser

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from manylabel import evaluate, write_report_html
from manylabel.evaluation import LabelFigures, report_sections
from manylabel.evaluation.html_page import write_page
from manylabel.evaluation.mistakes import Mistakes


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {"label_names": ["a"]},
            "label_names must have 2 values, one per label. Got 1",
        ),
        ({"label_counts": [1] * 3}, "label_counts must have 2 values, one per lab"),
        ({"items": ["only one"]}, "items must have 3 values, one per row. Got 1"),
    ],
)
def test_names_and_items_of_another_number_are_refused(tmp_path, given, message):
    Y, scores = [[1, 0], [0, 1], [1, 0]], [[0.9, 0.1], [0.2, 0.8], [0.3, 0.4]]
    with pytest.raises(ValueError, match=message):
        write_report_html(tmp_path / "r.html", Y, scores, k=1, **given)
    assert not (tmp_path / "r.html").exists()


VOID = {"meta", "br", "input"}
SHAPES = {"rect", "path", "circle"}
HOSTILE = [
    "<script>alert(1)</script>",
    "</td></table><img src=x onerror=alert(1)>",
    "\"' onload=x &amp; </style>",
    "a\n\x00\x1bb\u202e",
    "javascript:alert(1)",
]


class Page(HTMLParser):
    """What a browser would find; refuses what is not closed in turn."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.links, self.text = [], Counter(), [], []
        self.attributes = []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attributes):
        """Note it."""
        self.tags[tag] += 1
        self.attributes += attributes
        self.links += [v for k, v in attributes if k in ("href", "src", "action")]
        if tag not in VOID | SHAPES:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        """Note what closes itself."""
        self.tags[tag] += 1
        self.attributes += attributes

    def handle_endtag(self, tag):
        """Close what was opened last."""
        assert self.open.pop() == tag

    def handle_data(self, data):
        """Keep what is read."""
        if "script" not in self.open and "style" not in self.open:
            self.text.append(data)


def problem(seed=0, n_rows=30, n_labels=5):
    rng = np.random.default_rng(seed)
    Y = rng.random((n_rows, n_labels)) < 0.3
    scores = rng.random(Y.shape)
    return Y, scores, {"predictions": scores > 0.6, "proba": scores, "propensity": 0.5}


def written(folder, Y, scores, **options):
    path = folder / "report.html"
    report = write_report_html(path, Y, scores, n_resamples=20, **options)
    return report, Page(path.read_text())


def words(page):
    return " ".join("".join(page.text).split())


def test_a_page_is_well_formed_and_loads_nothing(tmp_path):
    Y, scores, options = problem()
    _, page = written(tmp_path, Y, scores, **options)
    assert page.links == []
    assert page.tags["h1"] == 1
    assert page.tags["svg"] == 3  # two of reliability, one of bands
    assert page.tags["svg"] == page.tags["desc"]
    assert page.tags["table"] == page.tags["caption"]
    text = (tmp_path / "report.html").read_text()
    assert not re.search(r"https?:|url\(|@import", text)
    assert "default-src 'none'" in text
    names = [value for name, value in page.attributes if name == "id"]
    assert len(set(names)) == len(names)


def test_a_page_has_the_figures_of_the_report(tmp_path):
    Y, scores, options = problem()
    report, page = written(tmp_path, Y, scores, **options)
    assert report == evaluate(Y, scores, **options)
    text = words(page)
    for key in report:
        assert f"{100 * report[key]:.1f}" in text
    for sentence in report.meanings().values():
        assert sentence in text
    low, high = report.interval("P@1")
    assert f"{100 * low:.1f} to {100 * high:.1f}" in text
    assert "more is better" in text
    assert "less is better" in text


def test_hostile_names_and_texts_stay_text(tmp_path):
    Y, scores, options = problem()
    rows = [HOSTILE[row % 5] for row in range(len(Y))]
    plain = written(tmp_path, Y, scores, label_names="abcde", items="v" * 30, **options)
    hostile = {"label_names": HOSTILE, "items": rows, "title": HOSTILE[0]}
    _, page = written(tmp_path, Y, scores, **hostile, **options)
    assert page.tags == plain[1].tags
    assert not [name for name, _ in page.attributes if name.startswith("on")]
    assert HOSTILE[0] in words(page)
    text = (tmp_path / "report.html").read_text()
    assert not set("\x00\x1b\u202e") & set(text)


@given(st.lists(st.text(), min_size=5, max_size=5), st.text())
def test_any_name_is_escaped(tmp_path_factory, names, title):
    Y, scores, options = problem()
    folder = tmp_path_factory.mktemp("any")
    _, page = written(folder, Y, scores, label_names=names, title=title, **options)
    assert page.tags["script"] == 1
    assert page.tags["table"] == page.tags["caption"]


def test_the_script_is_the_one_that_may_run(tmp_path):
    write_page(tmp_path / "a.html", "a", ["<p>b</p>"])
    assert "script" not in (tmp_path / "a.html").read_text()
    write_page(tmp_path / "b.html", "b", [], script="1")
    assert (
        "script-src 'sha256-a4ayc/80/OGda4BO/1o/V0etpOqiLx1JwB5S3beHW0s='"
        in (tmp_path / "b.html").read_text()
    )


def test_without_sets_and_probabilities_there_is_a_page_too(tmp_path):
    Y, scores, _ = problem()
    report, page = written(tmp_path, Y, sp.csr_array(scores), k=2)
    assert page.tags["svg"] == 1
    assert (
        report["micro-F1"]
        == evaluate(Y, (scores >= np.sort(scores, axis=1)[:, [-2]]).astype(int))[
            "micro-F1"
        ]
    )


def test_many_labels_are_cut_with_a_note(tmp_path, monkeypatch):
    monkeypatch.setattr(report_sections, "MOST_LABELS", 3)
    Y, scores, options = problem()
    _, page = written(tmp_path, Y, scores, **options)
    assert "The worst 3 of 5 labels by F1." in words(page)


def test_no_rows_are_a_page_too(tmp_path):
    _, page = written(tmp_path, np.zeros((0, 2)), np.zeros((0, 2)))
    assert "Judged on 0 rows." in words(page)


def test_confused_labels_are_those_given_in_vain_and_missed():
    Y = [[1, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]]
    sets = [[0, 1, 0], [0, 1, 0], [0, 1, 0], [0, 1, 1]]
    found = Mistakes(k=1).update(Y, np.array(sets, float), sets)
    assert found.pairs() == [(1, 0, 2), (2, 0, 1)]
    assert found.pairs(most=1) == [(1, 0, 2)]


@given(st.integers(0, 2**32 - 1))
def test_confusions_are_those_of_a_slow_count(seed):
    rng = np.random.default_rng(seed)
    Y, sets = rng.random((2, 9, 5)) < 0.4
    counts = Counter(
        (x, y)
        for true, given_labels in zip(Y, sets, strict=True)
        for x in np.flatnonzero(given_labels & ~true).tolist()
        for y in np.flatnonzero(true & ~given_labels).tolist()
    )
    found = Mistakes().update(Y, rng.random(Y.shape), sets).pairs(most=100)
    assert {(x, y): n for x, y, n in found} == dict(counts)
    assert [n for _, _, n in found] == sorted(counts.values(), reverse=True)


def test_the_worst_rows_come_first_and_chunks_do_not_matter():
    Y, scores, _ = problem(n_rows=60)
    whole, parts = Mistakes(k=2), Mistakes(k=2)
    whole.update(Y, scores, scores > 0.6, list(range(60)))
    for rows in (slice(17), slice(17, None)):
        items = list(range(60))[rows]
        parts.update(Y[rows], scores[rows], scores[rows] > 0.6, items)
    assert whole.worst == parts.worst
    assert [row.item for row in whole.worst] == [row.row for row in whole.worst]
    ndcg = [row.ndcg for row in whole.worst]
    assert ndcg == sorted(ndcg)
    assert all(row.recorded for row in whole.worst)


def test_bands_hold_every_label_once():
    Y, scores, options = problem(n_rows=60)
    figures = LabelFigures(k=2).update(Y, scores, options["predictions"])
    bands = figures.bands([0, 1, 5, 6, 2000])
    names = ["no row", "1 row", "2 to 5 rows", "6 to 20 rows", "over 1,000 rows"]
    assert [band.name for band in bands] == names
    assert sum(band.n_true for band in bands) == Y.sum()
    assert sum(band.n_predicted for band in bands) == options["predictions"].sum()
    (one,) = figures.bands(np.full(5, 50))
    assert one.precision == pytest.approx(
        (Y & options["predictions"]).sum() / options["predictions"].sum()
    )
    assert LabelFigures().bands() == []
