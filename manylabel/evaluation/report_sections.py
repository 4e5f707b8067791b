"""What a page says about a model, section by section."""

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from itertools import islice
from math import isnan
from typing import Any

from manylabel._markup import isolate, lay_table
from manylabel._typing import Ints
from manylabel.evaluation import charts
from manylabel.evaluation.examination import Examination
from manylabel.evaluation.report import Report
from manylabel.explanation import Names, named

MOST_LABELS = 2000  # lines of the table of labels, so that a browser sorts it at once
MOST_PAIRS = 30
MOST_LETTERS = 400  # of a text
MOST_NAMED = 12  # labels of a row
HEADLINES = ("P@1", "nDCG", "PSP", "micro-F1", "macro-F1", "ECE")


def show_headlines(report: Report) -> Iterator[str]:
    """Yield the figures that people ask for first; of rankings, at their last k."""
    last = {key.partition("@")[0]: key for key in report if "@" in key}
    sets = {key: key for key in report if "@" not in key}
    keys = [(last | sets).get(name, name) for name in HEADLINES]
    yield '<ul class="cards">\n'
    for key in [key for key in keys if key in report]:
        yield f"<li>{isolate(key)}<b>{_percent(report[key])}</b>"
        yield f'<span class="grey">{_interval(report, key) or "&nbsp;"}</span>'
        yield f'<span class="grey">{_way(report.is_loss(key))}</span></li>\n'
    yield "</ul>\n"


def show_figures(report: Report) -> Iterator[str]:
    """Yield all scores, then all losses, with their intervals."""
    yield "<h2>All figures</h2>\n"
    for losses in (False, True):
        keys = report.keys_of(losses=losses)
        depths = list(dict.fromkeys(key.partition("@")[2] for key in keys))
        names = dict.fromkeys(key.partition("@")[0] for key in keys)
        rows = (
            [isolate(name), *(_figure(report, name, depth) for depth in depths)]
            for name in names
        )
        if keys:
            kind = "Losses" if losses else "Scores"
            caption = f"{kind}, in percent: {_way(losses)}"
            head = [f"@{depth}" if depth else "sets" for depth in depths]
            yield from lay_table(caption, ["figure", *head], rows)
    yield (
        '<p class="grey">Below a figure stands the interval that holds 95 % of it when '
        "the rows are drawn again, as many, with replacement. Figures over labels and "
        "calibration errors have none. @k is of the k best-ranked labels; sets are the "
        "labels that are given.</p>\n"
    )


def show_reliability(report: Report) -> Iterator[str]:
    """Yield whether probabilities are right, if there are any."""
    if not report.reliability:
        return
    yield "<h2>Are the probabilities right?</h2>\n"
    yield (
        '<p class="grey">On the dashed line, what is said to be probable is as often '
        "there. Larger dots stand for more predictions.</p>\n"
    )
    for key, bins in report.reliability.items():
        what = "true" if key.startswith("PS") else "recorded"
        yield f"<h3>{isolate(key)} {_percent(report[key])} %: {what} labels</h3>\n"
        yield '<div class="pair">'
        yield from charts.draw_reliability(bins, what)
        rows = (
            [
                f"{100 * each.low:.0f} to {100 * each.high:.0f}",
                *(_percent(each.proba), _percent(each.share), f"{each.n_pairs:,}"),
            ]
            for each in bins
        )
        head = ["probability, percent", "mean", f"share {what}", "predictions"]
        yield from lay_table("The best-ranked labels by probability", head, rows)
        yield "</div>\n"


def show_bands(found: Examination, counts: Ints | None) -> Iterator[str]:
    """Yield how well rare and frequent labels are found."""
    bands = found.labels.bands(counts)
    if not bands:
        return
    where = "the rows judged by" if counts is None else "the training rows"
    yield "<h2>Rare and frequent labels</h2>\n"
    yield f'<p class="grey">Labels by how often they are in {where}.</p>\n'
    yield '<div class="pair">'
    yield from charts.draw_bands(bands)
    rows = (
        [
            band.name,
            *(f"{n:,}" for n in (band.n_labels, band.n_true, band.n_predicted)),
            *(_percent(share) for share in (band.precision, band.recall, band.found)),
        ]
        for band in bands
    )
    head = ["rows of a label", "labels", "recorded", "given", "precision", "recall"]
    head.append(f"found@{found.labels.k}")
    yield from lay_table("The sets of labels given, in percent", head, rows)
    yield "</div>\n"


def show_labels(found: Examination, names: Names, table: str | None) -> Iterator[str]:
    """Yield a line for each label; of many, the worst, and where the others are."""
    lines = found.labels.worst_first(names)
    shown = list(islice(lines, MOST_LABELS))
    n_more = sum(1 for _ in lines)
    yield "<h2>Each label</h2>\n"
    whole = f'<a href="{escape(table)}">{isolate(table)}</a> has all' if table else ""
    if n_more:
        yield (
            f'<p class="grey">The worst {len(shown):,} of {len(shown) + n_more:,} '
            f"labels by F1. {whole or 'The option --labels writes all'}.</p>\n"
        )
    elif whole:
        yield f'<p class="grey">{whole}, too.</p>\n'
    _, *head = found.labels.columns
    rows = ([isolate(name), *map(_cell, values)] for name, *values in shown)
    caption = "Labels of the lowest F1 first, shares in percent"
    yield from lay_table(caption, ["label", *head], rows, name="labels")


def show_confusions(found: Examination, names: Names) -> Iterator[str]:
    """Yield which labels are given where others were recorded."""
    pairs = found.mistakes.pairs(MOST_PAIRS)
    if not pairs:
        return
    yield "<h2>Labels taken for others</h2>\n"
    rows = (
        [f"{_name(given, names)} where {_name(true, names)} was recorded", f"{n:,}"]
        for given, true, n in pairs
    )
    yield from lay_table(
        "A label given in vain, and one missed in the same row",
        *(["given", "rows"], rows),
    )


def show_worst_rows(found: Examination, names: Names) -> Iterator[str]:
    """Yield the rows that went worst, with their labels."""
    if not found.mistakes.worst:
        return
    yield "<h2>The worst rows</h2>\n"
    yield (
        f'<p class="grey">Least nDCG@{found.mistakes.k} first; of rows that are as '
        "bad, those of the highest score. A mistake may be one of the data.</p>\n<ol>\n"
    )
    for row in found.mistakes.worst:
        yield f'<li class="row">Row {row.row:,}, nDCG {_percent(row.ndcg)} %\n'
        if row.item is not None:
            yield f"<blockquote>{isolate(_shorten(str(row.item)))}</blockquote>\n"
        yield f"<p>recorded: {_listed(row.recorded, names)}</p>\n"
        yield f"<p>given: {_listed(row.given, names)}</p>\n"
        yield f"<p>ranked first: {_listed(row.ranked, names)}</p></li>\n"
    yield "</ol>\n"


def show_facts(facts: Mapping[str, str]) -> Iterator[str]:
    """Yield what is known of the model."""
    if not facts:
        return
    yield "<h2>The model</h2>\n<dl>\n"
    for name, words in facts.items():
        yield f"<dt>{isolate(name)}</dt><dd>{isolate(words)}</dd>\n"
    yield "</dl>\n"


def show_meanings(report: Report) -> Iterator[str]:
    """Yield one sentence for each kind of figure."""
    yield "<h2>What the figures mean</h2>\n<dl>\n"
    for name, sentence in report.meanings().items():
        yield f"<dt>{isolate(name)}</dt><dd>{isolate(sentence)}</dd>\n"
    yield "</dl>\n"


def _name(column: int, names: Names) -> str:
    return isolate(named(column, names))


def _listed(columns: Sequence[int], names: Names) -> str:
    shown = [_name(column, names) for column in columns[:MOST_NAMED]]
    more = len(columns) - len(shown)
    return ", ".join([*shown, *([f"{more} more"] if more else [])]) or "none"


def _shorten(text: str) -> str:
    return text if len(text) <= MOST_LETTERS else f"{text[:MOST_LETTERS]}…"


def _way(losses: bool) -> str:
    return "less is better" if losses else "more is better"


def _figure(report: Report, name: str, depth: str) -> str:
    key = f"{name}@{depth}" if depth else name
    if key not in report:
        return ""
    interval = _interval(report, key)
    below = f'<br><small class="grey">{interval}</small>' if interval else ""
    return f"{_percent(report[key])}{below}"


def _interval(report: Report, key: str) -> str:
    found = report.interval(key)
    return f"{_percent(found[0])} to {_percent(found[1])}" if found else ""


def _percent(fraction: float) -> str:
    return "-" if isnan(fraction) else f"{100 * fraction:.1f}"


def _cell(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) else _percent(value)
