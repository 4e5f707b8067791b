"""How cost grows, in words and figures, from the lines that ``curves`` measured."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import page, plots
from benchmarks.growth.curves import FEWER_ROWS, USUAL
from benchmarks.growth.point import LEARNERS, N_TEST
from benchmarks.ledger import Record

MEASURES = {
    "fit_seconds": "training, CPU seconds",
    "rank_microseconds": "the best 5 labels, CPU microseconds a row",
    "predict_microseconds": "all labels that apply, CPU microseconds a row",
    "fit_megabytes": "peak of training, MB",
    "predict_megabytes": "peak of prediction, MB",
}
MOST_POWER = 1.1  # of rows and of labels, in the time of training
MOST_MEGABYTES = 8_000
VERBS = {"predict_topk": "rank_microseconds", "predict": "predict_microseconds"}
LINEAR = ("OneVsRest", "LabelTree", "FastXML", "AnnotationTree")
LOGARITHMIC = (
    *("LabelTree", "FastXML", "PfastreXML"),
    *("AnnotationTree", "PowersetTree"),
)
INTRODUCTION = """\
CPU time and memory against rows, features and labels, each grown alone on corpora of
`make_corpus` in which a row has about {words} words and 4 labels whatever their number;
the others are {usual}. Where labels grow, {fewer}. Forests have 2 trees, CS-DPP 10
components and gradient descent, the others are as they come; one thread. Prediction is
of {n_test:,} rows: the best 5 labels (`predict_topk`), or those that apply (`predict`).
Every point is a process of its own, and memory is its peak beyond that of a process
that has only imported and compiled. An exponent is the slope of the line that fits the
points best in logarithms."""
REASONS = """\
Two powers of rows lie in the algorithms. A FastXML tree over 64 times as many rows is
1.65 times as deep, and each level visits every row: that alone is a power of 1.12. An
annotation tree has a leaf for every set of labels that occurs, so a row takes part in
35 decisions on average at 4,000 rows of this corpus and in 116 at 256,000. Lopsided
decisions learn from some of their rows, which leaves 35 and 58: a power of 1.12.

The rarer the labels, the more of them are in the leaves that a row reaches (32 of
1,000, 70 of 1,000,000), and PfastreXML compares the row with each. An annotation tree
grows deeper with the labels: `predict` reads past decisions that the features of a row
do not touch; `predict_topk` follows ten paths through all of them."""


def write_pages(lines: Sequence[Record], folder: Path, *, quick: bool) -> Path:
    """Write ``growth.md`` and a plot for each size that grows; return the page."""
    pictures = {
        grows: draw(lines, grows, folder / f"growth-{grows}.png").name
        for grows in USUAL
        if any(line["grows"] == grows for line in lines)
    }
    text = write_page(lines, pictures, quick=quick)
    return page.write(folder / "growth.md", text)


def write_page(
    lines: Sequence[Record], pictures: Mapping[str, str], *, quick: bool = False
) -> str:
    """Return the page as Markdown: targets, and a table for each size that grows.

    Parameters
    ----------
    lines : sequence of dict
        What ``curves.measure`` returned.
    pictures : mapping of str to str
        The files of the plots, by what grows.
    quick : bool, default=False
        Whether the sizes are those of a hurry.
    """
    introduction = INTRODUCTION.format(
        words=21,
        usual=", ".join(f"{size:,} {name}" for name, size in USUAL.items()),
        fewer=" and ".join(f"{name} has {n:,} rows" for name, n in FEWER_ROWS.items()),
        n_test=N_TEST,
    )
    parts = ["## Targets", write_targets(lines), REASONS]
    for grows, picture in pictures.items():
        parts += [f"## With {grows}", _table(lines, grows)]
        parts.append(page.picture(f"growth with {grows}", picture))
    command = f"python -m benchmarks growth{' --quick' if quick else ''}"
    done = [line for line in lines if "values" in line]
    return page.compose("How cost grows", introduction, command, done, parts)


def draw(lines: Sequence[Record], grows: str, path: Path) -> Path:
    """Draw all measures against a size, a line for each learner; return the file."""

    def draw_panel(measure: str, axes: Any) -> None:
        found = {}
        for learner in LEARNERS:
            points = _points(_curve(lines, learner, grows), grows, measure)
            if points:
                found[f"{learner}: {exponent(*zip(*points, strict=True)):.2f}"] = points
        plots.draw_lines(axes, found, legend="exponent")
        axes.set(yscale="log", xlabel=grows)

    panels = [
        plots.Panel(words, partial(draw_panel, measure))
        for measure, words in MEASURES.items()
    ]
    return plots.write(path, f"How cost grows with {grows}", panels, size=(6.3, 4.3))


def exponent(sizes: Sequence[float], values: Sequence[float]) -> float:
    """Return the slope of the line that fits best in logarithms; NaN of one point.

    Examples
    --------
    >>> round(exponent([1, 10, 100], [3, 30, 300]), 6)
    1.0
    """
    if len(sizes) <= 1:
        return math.nan
    return float(np.polyfit(np.log(sizes), np.log(values), 1)[0])


def _curve(lines: Iterable[Record], learner: str, grows: str) -> list[Record]:
    """Return the points of a curve, smallest first, also those without figures."""
    found = (d for d in lines if (d["learner"], d["grows"]) == (learner, grows))
    return sorted(found, key=lambda line: line[grows])


def _points(
    curve: Iterable[Record], grows: str, measure: str
) -> list[tuple[float, float]]:
    """Return sizes and figures of the points that have any."""
    return [
        (line[grows], line["values"][measure]) for line in curve if "values" in line
    ]


def _power(curve: Iterable[Record], grows: str, measure: str) -> float:
    points = _points(curve, grows, measure)
    return exponent(*zip(*points, strict=True)) if points else math.nan


def _table(lines: Sequence[Record], grows: str) -> str:
    """Return the figures of all learners, and how they grow."""
    sizes = sorted({line[grows] for line in lines if line["grows"] == grows})
    rows = []
    for learner in LEARNERS:
        curve = {line[grows]: line for line in _curve(lines, learner, grows)}
        for measure, words in MEASURES.items() if curve else ():
            cells = [_cell(curve.get(size, {}), measure) for size in sizes]
            power = _power(curve.values(), grows, measure)
            rows.append([learner, words, *cells, f"{power:.2f}"])
    head = ["learner", "", *(f"{size:,}" for size in sizes), "exponent"]
    return page.table(head, rows, n_words=2)


def _cell(line: Record, measure: str) -> str:
    if "values" in line:
        return _short(line["values"][measure])
    return str(line.get("failure", ""))


def _short(value: float) -> str:
    """Return three digits that count, and never a power of ten."""
    return f"{float(f'{value:.3g}'):,.10g}"


def write_targets(lines: Sequence[Record]) -> str:
    """Return what was to be reached, and what was."""
    rows = []
    for target, learner, found, limit in _found(lines):
        if not math.isnan(found):
            verdict = "held" if found <= limit else f"missed: {_short(limit)} at most"
            rows.append([target, learner, _short(found), verdict])
    return page.table(["target", "learner", "found", "verdict"], rows)


def _found(lines: Sequence[Record]) -> Iterator[tuple[str, str, float, float]]:
    """Return each target, its learner, what was found and what was the limit."""
    for grows in ("rows", "labels"):
        for learner in LINEAR:
            power = _power(_curve(lines, learner, grows), grows, "fit_seconds")
            yield f"power of {grows} in training time", learner, power, MOST_POWER
    for learner in LOGARITHMIC:
        for verb, measure in VERBS.items():
            points = _points(_curve(lines, learner, "labels"), "labels", measure)
            if len(points) > 1:
                (few, first), (many, last) = points[0], points[-1]
                limit = math.log(many) / math.log(few)
                target = f"`{verb}`: times from {few:,} to {many:,} labels"
                told = f"{target}; log grows {limit:.1f} times"
                yield told, learner, last / first, limit
    for learner in LEARNERS:
        done = [each for each in _curve(lines, learner, "labels") if "values" in each]
        if done:
            values = done[-1]["values"]
            peak = max(values["fit_megabytes"], values["predict_megabytes"])
            target = f"MB at {done[-1]['labels']:,} labels, all of the process"
            yield target, learner, peak + values["idle_megabytes"], MOST_MEGABYTES
