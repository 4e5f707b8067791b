"""How cost grows, in words and figures, from the lines that ``curves`` measured."""

import math
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.growth.curves import FEWER_ROWS, USUAL
from benchmarks.growth.point import LEARNERS, N_TEST
from benchmarks.ledger import Record
from benchmarks.peers.report import tell_runs
from manylabel.data.writing import replacing_text
from manylabel.evaluation.plots import COLOURS, write_figure

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
LINEAR = ("OneVsRest", "FastXML", "AnnotationTree")
LOGARITHMIC = ("FastXML", "PfastreXML", "AnnotationTree", "PowersetTree")
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


def publish(lines: Sequence[Record], out: Path, *, quick: bool) -> Path:
    """Write ``growth.md`` and a plot for each size that grows; return the page."""
    out.mkdir(parents=True, exist_ok=True)
    page, pictures = out / "growth.md", draw(lines, out)
    with replacing_text(page) as text:
        text.write(write_page(lines, [path.name for path in pictures], quick=quick))
    return page


def write_page(
    lines: Sequence[Record], pictures: Sequence[str] = (), *, quick: bool = False
) -> str:
    """Return the page as Markdown: targets, and a table for each size that grows.

    Parameters
    ----------
    lines : sequence of dict
        What ``curves.measure`` returned.
    pictures : sequence of str, default=()
        The files of the plots.
    quick : bool, default=False
        Whether the sizes are those of a hurry.
    """
    fewer = " and ".join(f"{name} has {n:,} rows" for name, n in FEWER_ROWS.items())
    introduction = INTRODUCTION.format(
        words=21,
        usual=", ".join(f"{size:,} {name}" for name, size in USUAL.items()),
        fewer=fewer,
        n_test=N_TEST,
    )
    command = f"python -m benchmarks growth{' --quick' if quick else ''}"
    parts = ["# How cost grows", introduction, f"```console\n$ {command}\n```"]
    parts += [tell_runs(lines), "## Targets", write_targets(lines), REASONS]
    for grows in USUAL:
        parts += [f"## With {grows}", _table(lines, grows)]
        parts += [
            f"![growth with {grows}]({name})" for name in pictures if grows in name
        ]
    return "\n\n".join(parts) + "\n"


def draw(lines: Iterable[Record], folder: Path) -> list[Path]:
    """Draw a figure for each size that grows; return the files.

    Parameters
    ----------
    lines : iterable of dict
        What ``curves.measure`` returned.
    folder : Path
        Where ``growth-rows.png`` and the like are written.

    Returns
    -------
    list of Path
        The files.
    """
    lines, paths = list(lines), []
    for grows in USUAL:
        curves = {name: _curve(lines, name, grows) for name in LEARNERS}
        if not any(curves.values()):  # not measured yet
            continue
        paths.append(folder / f"growth-{grows}.png")
        panels = partial(_draw, curves=curves, grows=grows)
        write_figure(paths[-1], (19, 9), f"How cost grows with {grows}", panels)
    return paths


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


def _power(curve: Sequence[Record], grows: str, measure: str) -> float:
    done = [line for line in curve if "reason" not in line]
    return exponent([d[grows] for d in done], [d[measure] for d in done])


def _table(lines: Sequence[Record], grows: str) -> str:
    """Return the figures of all learners, and how they grow."""
    sizes = sorted({line[grows] for line in lines if line["grows"] == grows})
    heads = ["learner", "", *(f"{size:,}" for size in sizes), "exponent"]
    rows = [heads, ["---", "---", *["---:"] * (len(sizes) + 1)]]
    for learner in LEARNERS:
        curve = {line[grows]: line for line in _curve(lines, learner, grows)}
        for measure, words in MEASURES.items() if curve else ():
            cells = [_cell(curve.get(size, {}), measure) for size in sizes]
            power = _power(list(curve.values()), grows, measure)
            rows.append([learner, words, *cells, f"{power:.2f}"])
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _cell(line: Record, measure: str) -> str:
    return _short(line[measure]) if measure in line else line.get("reason", "")


def _short(value: float) -> str:
    """Return three digits that count, and never a power of ten."""
    return f"{float(f'{value:.3g}'):,.10g}"


def write_targets(lines: Sequence[Record]) -> str:
    """Return what was to be reached, and what was."""
    rows = ["| target | learner | found | |", "| --- | --- | ---: | --- |"]
    for target, learner, found, limit in _found(lines):
        if not math.isnan(found):
            verdict = "held" if found <= limit else f"missed: {_short(limit)} at most"
            rows.append(f"| {target} | {learner} | {_short(found)} | {verdict} |")
    return "\n".join(rows)


def _found(lines: Sequence[Record]) -> Iterator[tuple[str, str, float, float]]:
    """Return each target, its learner, what was found and what was the limit."""
    for grows in ("rows", "labels"):
        for learner in LINEAR:
            power = _power(_curve(lines, learner, grows), grows, "fit_seconds")
            yield f"power of {grows} in training time", learner, power, MOST_POWER
    for learner in LOGARITHMIC:
        curve = _curve(lines, learner, "labels")
        done = [line for line in curve if "reason" not in line] or [{}]
        first, last = done[0], done[-1]
        for verb, measure in VERBS.items() if first is not last else ():
            times = last[measure] / first[measure]
            limit = math.log(last["labels"]) / math.log(first["labels"])
            target = f"`{verb}`: times from {first['labels']:,} to {last['labels']:,}"
            yield f"{target} labels; log grows {limit:.1f} times", learner, times, limit
    for learner in LEARNERS:
        done = [d for d in _curve(lines, learner, "labels") if "reason" not in d]
        if done:
            line = done[-1]
            peak = max(line["fit_megabytes"], line["predict_megabytes"])
            target = f"MB at {line['labels']:,} labels, all of the process"
            yield target, learner, peak + line["idle_megabytes"], MOST_MEGABYTES


def _draw(figure: Any, curves: dict[str, list[Record]], grows: str) -> None:
    panels = figure.subplots(2, 3).flat
    panels[len(MEASURES)].axis("off")
    for axes, (measure, words) in zip(panels, MEASURES.items(), strict=False):
        for (learner, curve), colour in zip(curves.items(), COLOURS, strict=False):
            done = [line for line in curve if "reason" not in line]
            points = [line[grows] for line in done], [line[measure] for line in done]
            label = f"{learner}: {exponent(*points):.2f}"
            axes.plot(*points, "o-", color=colour, linewidth=2, label=label)
        axes.set(xscale="log", yscale="log", xlabel=grows, title=words)
        axes.grid(True, alpha=0.3)
        axes.legend(title="exponent", fontsize=9)
