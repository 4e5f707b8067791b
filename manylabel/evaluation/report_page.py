"""How good a model is, as a page for a browser."""

import os
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
import scipy.sparse as sp

from manylabel import _validation
from manylabel._typing import CSR, Ints, MatrixLike, RandomState
from manylabel.evaluation import charts
from manylabel.evaluation import report_sections as sections
from manylabel.evaluation.examination import Examination
from manylabel.evaluation.html_page import TABLES, write_page
from manylabel.evaluation.report import Report
from manylabel.explanation import Names
from manylabel.losses.ranked import Ranked

STYLE = """main { max-width: 62rem; margin: auto }
h2 { font-size: 1.15rem; margin: 2rem 0 .4rem }
h3 { font-size: 1rem; margin: 1rem 0 .4rem }
.pair { display: flex; flex-wrap: wrap; gap: .5rem 2rem }
.pair svg { flex: 1 1 18rem }
.pair .wide { flex: 0 1 auto; max-width: 100% }
.cards { display: flex; flex-wrap: wrap; gap: .7rem; margin: 1rem 0; padding: 0;
 list-style: none }
.cards li { background: var(--faint); border-radius: .5rem; padding: .6rem .9rem;
 box-sizing: border-box; flex: 1 1 8.5rem; max-width: 12rem }
.cards b { display: block; font-size: 1.5rem; font-variant-numeric: tabular-nums }
.cards span { display: block }
blockquote { margin: .3rem 0; padding: .1rem 0 .1rem .8rem;
 border-left: 3px solid var(--line) }
li.row { margin: .9rem 0 }
dt { font-weight: 600; margin-top: .5rem }
dd { margin: 0 }
th button { font: inherit; color: inherit; background: none; border: 0; padding: 0;
 cursor: pointer; text-decoration: underline dotted }
input { font: inherit; color: inherit; background: var(--faint); padding: .3rem .5rem;
 border: 1px solid var(--line); border-radius: .3rem; max-width: 100% }
@media (max-width: 30rem) { body { margin: .8rem } }
"""
# Sorts and searches the table of labels, which is whole without it.
SCRIPT = """(() => {
const table = document.getElementById("labels");
if (!table) return;
const body = table.tBodies[0], rows = [...body.rows];
const names = rows.map(row => row.cells[0].textContent.toLowerCase());
const search = document.createElement("input"), said = document.createElement("span");
search.type = "search";
said.setAttribute("role", "status");
const label = document.createElement("label");
label.append("Search labels ", search);
table.parentNode.before(label, " ", said);
search.addEventListener("input", () => {
  const words = search.value.toLowerCase();
  let shown = 0;
  rows.forEach((row, at) => { shown += !(row.hidden = !names[at].includes(words)); });
  said.textContent = shown + " of " + rows.length;
});
const heads = [...table.tHead.rows[0].cells];
const value = (row, at) => {
  const text = row.cells[at].textContent;
  return at ? parseFloat(text.replace(/,/g, "")) || 0 : text;
};
heads.forEach((head, at) => {
  const button = document.createElement("button");
  button.append(...head.childNodes);
  head.append(button);
  button.addEventListener("click", () => {
    const down = head.getAttribute("aria-sort") === "ascending";
    heads.forEach(each => each.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const keyed = rows.map(row => [value(row, at), row]);
    keyed.sort((a, b) => at ? a[0] - b[0] : a[0].localeCompare(b[0]));
    if (down) keyed.reverse();
    body.append(...keyed.map(pair => pair[1]));
  });
});
})();
"""


def write_report_html(
    path: str | os.PathLike[str],
    Y: MatrixLike,
    scores: MatrixLike,
    *,
    predictions: MatrixLike | None = None,
    proba: MatrixLike | None = None,
    k: int | tuple[int, ...] = (1, 3, 5),
    propensity: Any = None,
    label_names: Names = None,
    label_counts: Ints | None = None,
    items: Sequence[Any] | None = None,
    title: str = "",
    n_resamples: int = 1000,
    random_state: RandomState = 0,
) -> Report:
    """Judge predictions, and write what is found as a page for a browser.

    It has the figures with intervals and what they mean, a reliability diagram where
    there are probabilities, precision and recall of rare and of frequent labels, a line
    for each label, labels that are taken for others, and the rows that went worst. The
    page needs nothing else and follows the reader's choice of light or dark; its script
    only sorts and searches.

    Parameters
    ----------
    path : str or path-like
        The file to write; it appears whole or, after an error, not at all.
    Y : array or sparse array of shape (n_rows, n_labels)
        True labels, 0/1.
    scores : array or sparse array of shape (n_rows, n_labels)
        Scores; see :func:`manylabel.evaluate`.
    predictions : array or sparse array or None, default=None
        0/1 predictions; None gives each row the labels of its deepest ranking.
    proba : array or sparse array or None, default=None
        Probabilities of the labels, 0 where a sparse one has none.
    k : int or tuple of int, default=(1, 3, 5)
        Ranking depths.
    propensity : Propensity, array of shape (n_labels,), float or None, default=None
        Probability that a true label is recorded.
    label_names : sequence of str or None, default=None
        Names of the labels; None shows their numbers.
    label_counts : array of shape (n_labels,) or None, default=None
        Training rows of each label, by which labels are rare; None counts in ``Y``.
    items : sequence or None, default=None
        What rows are, such as texts, for the worst of them; None shows their numbers.
    title : str, default=""
        What stands above.
    n_resamples : int, default=1000
        How often rows are drawn again for the intervals.
    random_state : int, Generator, RandomState or None, default=0
        Seed of the draws.

    Returns
    -------
    Report
        As :func:`manylabel.evaluate` returns it.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> Y, scores = [[1, 0], [0, 1]], [[0.9, 0.1], [0.8, 0.2]]
    >>> with TemporaryDirectory() as folder:
    ...     page = Path(folder, "report.html")
    ...     report = write_report_html(page, Y, scores, k=1, label_names=["a", "<b>"])
    ...     "&lt;b&gt;" in page.read_text(), report["P@1"]
    (True, 0.5)
    """
    n_rows, n_labels = _validation.labels(Y).shape
    _check_length(label_names, "label_names", n_labels, "label")
    _check_length(label_counts, "label_counts", n_labels, "label")
    _check_length(items, "items", n_rows, "row")
    found = Examination(k=k, propensity=propensity)
    depth = found.evaluation.depth
    sets = _best_sets(Y, scores, depth) if predictions is None else predictions
    found.update(Y, scores, sets, proba, items)
    report = found.evaluation.report_with_intervals(n_resamples, random_state)
    write_examination(
        *(path, found, report), names=label_names, counts=label_counts, title=title
    )
    return report


def write_examination(
    path: str | os.PathLike[str],
    found: Examination,
    report: Report,
    *,
    names: Names = None,
    counts: Ints | None = None,
    title: str = "",
    facts: Mapping[str, str] | None = None,
    table: str | None = None,
) -> None:
    """Write an examination as a page.

    ``facts`` are what is known of the model, by name; ``table`` is the file that has
    all labels, as the page links to it.
    """
    n_rows = found.evaluation.n_rows
    parts = chain(
        [f'<p class="grey">Judged on {n_rows:,} rows.</p>\n'],
        sections.show_headlines(report),
        sections.show_figures(report),
        sections.show_reliability(report),
        sections.show_bands(found, counts),
        sections.show_labels(found, names, table),
        sections.show_confusions(found, names),
        sections.show_worst_rows(found, names),
        sections.show_facts(facts or {}),
        sections.show_meanings(report),
    )
    style = TABLES + charts.STYLE + STYLE
    write_page(path, title or "Evaluation", parts, style=style, script=SCRIPT)


def _check_length(values: Any, name: str, n: int, each: str) -> None:
    """Refuse values of which there are not as many as of what they are about."""
    if values is not None and len(values) != n:
        raise ValueError(
            f"{name} must have {n} values, one per {each}. Got {len(values)}."
        )


def _best_sets(Y: MatrixLike, scores: MatrixLike, depth: int) -> CSR:
    """Return the labels of the deepest ranking as 0/1 predictions."""
    columns = Ranked.of(Y, scores, depth).columns
    is_given = columns >= 0
    indptr = np.concatenate([[0], np.cumsum(is_given.sum(axis=1))])
    ones = np.ones(int(indptr[-1]), np.int64)
    width = _validation.labels(Y).shape[1]
    return sp.csr_array((ones, columns[is_given], indptr), (len(columns), width))
