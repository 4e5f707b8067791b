"""The page of the learners: which one for which data, a picture, and all figures."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks import page, plots
from benchmarks.learners.process import DEPTHS
from benchmarks.learners.programme import Programme
from benchmarks.learners.results import (
    JUDGED,
    NEAR,
    by_set,
    choices,
    complete,
    quickest,
)
from benchmarks.ledger import Record
from benchmarks.peers.texts import WORDS
from benchmarks.source import Source

STEM = "which-learner"
FEW_ROWS = 1_000  # to judge by, below which a point of P@1 says little
TITLE = "Which learner for which data"
INTRODUCTION = """\
Every learner of the library on data sets of four kinds, as it comes. This page is
written by the command below from one line of JSON for each run; what is finished is not
run again. Larger sets are on pages of their own, with the learners that have the time
for them: tate, npm-deps and yso-finna-en among [label trees](../results/label-trees.md)
and [blends](../results/blends.md), cve with [names of
labels](../how-to/vocabularies.md)."""
HOW = """\
## How it is measured

- Each run is a process of its own with one thread, {minutes:g} CPU minutes and
  {gigabytes:g} GB from reading its rows to its last prediction; one that needs more, or
  fails, has a row that says so, and is not tried on a set that is larger, as depends
  is beside debtags. Kernels are compiled before anything is timed.
- Learners have their defaults; *{variants}* are variants.{few} With more than
  {wide_features:,} features, online learners descend by gradients in place of ridge
  regression, whose state is quadratic in them. They read the training rows once, in an
  order drawn at random: the files of some sets are sorted. {left_out}
- P@k and PSP@k are in percent, of the test rows; PSP@k is over the best attainable,
  with the propensities of the training rows. F1 is the mean over rows of what `predict`
  returns.
- *train s* is CPU seconds of `fit`, *us a row* CPU microseconds of `predict_topk` in
  one batch, *peak MB* the memory at the largest moment beyond that of a process with
  the rows, *model MB* what `save` writes.
- Texts are TF-IDF of the words that at least {min_df} training rows have. {scaled} are
  scaled to [0, 1] by their training rows; CAL500 has no test rows, so one row in five
  is drawn."""
HEAD = (
    *("learner", "P@1 / 3 / 5", "PSP@1 / 3 / 5", "F1"),
    *("train s", "us a row", "peak MB", "model MB"),
)
SIZES = {
    "rows": "training rows",
    "test_rows": "test rows",
    "features": "features",
    "labels": "labels",
}


def write_pages(
    lines: Sequence[Record],
    programme: Programme,
    missing: Sequence[Source],
    folder: Path,
    *,
    command: str,
    minutes: float,
) -> Path:
    """Write the page and its picture into a folder; return the page.

    Parameters
    ----------
    lines : sequence of dict
        What ``Comparison.measure`` returned.
    programme : Programme
        What was to be run.
    missing : sequence of Source
        Sets that were not found.
    folder : Path
        Where to.
    command : str
        What to type for the same page.
    minutes : float
        CPU minutes that a run had.
    """
    groups = by_set(lines)
    picture = draw(groups, programme, folder / f"{STEM}.png")
    parts = [
        write_choices(groups, programme),
        page.picture("quality against time, by data set", picture.name)
        if picture
        else "",
        HOW.format(**_conditions(programme), minutes=minutes),
        _sets(groups, missing),
        *(f"## {data}\n\n{write_set(group)}" for data, group in groups.items()),
    ]
    done = [line for line in lines if "values" in line]
    text = page.compose(TITLE, INTRODUCTION, command, done, parts)
    return page.write(folder / f"{STEM}.md", text)


def write_choices(groups: Mapping[str, Sequence[Record]], programme: Programme) -> str:
    """Return which learner is best for each kind of data, and which is quick and near.

    Sets on which a learner is still to be run are left out, and so are learners without
    figures on one of the other sets of a kind.
    """
    rows, sentences = [], []
    whole = complete(groups, programme.learners)
    for kind, sets in programme.kinds.items():
        at_hand = [data for data in sets if data in whole]
        told = []
        for metric, words in JUDGED.items():
            found = choices(groups, at_hand, metric)
            if not found:
                continue
            best, near = found[0], quickest(found)
            rows.append(
                [
                    *(kind, f"{words} ({metric})", best.learner),
                    *(f"{best.quality:.1f}", _short(best.seconds), near.learner),
                    *(f"{near.quality:.1f}", _short(near.seconds)),
                ]
            )
            told.append(_advice(words, best.learner, near.learner))
        if told:
            sentences.append(f"- **{kind}** ({', '.join(at_hand)}): {'; '.join(told)}.")
    if not rows:
        return ""
    head = ["data", "judged by", "best", "%", "train s", "quickest near it", "%"]
    note = (
        "Means over the sets of a kind, of *train s* too; *near* is at most "
        f"{NEAR:g} point below the best. Learners that did not finish on one of the "
        "sets are left out, and so are sets on which not all learners were run yet."
    )
    table = page.table([*head, "train s"], rows)
    doubt = _doubt([groups[data] for data in whole])
    return page.join("## In short", "\n".join(sentences), note, doubt, table)


def _doubt(groups: Sequence[Sequence[Record]]) -> str:
    """Say by how much chance alone moves P@1 where rows to judge by are few."""
    told = []
    for group in groups:
        values = [line["values"] for line in group if "values" in line]
        if values and values[0]["test_rows"] < FEW_ROWS:
            best = max(values, key=lambda each: each["P@1"])
            share = best["P@1"] / 100
            error = 100 * (share * (1 - share) / best["test_rows"]) ** 0.5
            told.append(f"{error:.1f} points on {group[0]['data']}")
    if not told:
        return ""
    few = "Where rows to judge by are few, what is near the best is level with it: "
    return f"{few}the standard error of the best P@1 is {', '.join(told)}."


def _advice(words: str, best: str, near: str) -> str:
    if best == near:
        return f"for {words} {best}, and nothing near it is quicker"
    return f"for {words} {best}, or {near} for less time"


def draw(
    groups: Mapping[str, Sequence[Record]], programme: Programme, path: Path
) -> Path | None:
    """Draw P@1 against the time of training, a panel a set; nothing if nothing ran."""
    families = {each.name: each.family for each in programme.learners}

    def draw_panel(group: Sequence[Record], axes: Any) -> None:
        points = {
            line["learner"]: (_seconds(line), line["values"]["P@1"])
            for line in group
            if "values" in line
        }
        plots.draw_families(axes, points, families)
        axes.set(xlabel="CPU seconds of training", ylabel="P@1 (%)")

    panels = [
        plots.Panel(data, partial(draw_panel, group))
        for data, group in groups.items()
        if any("values" in line for line in group)
    ]
    title = "Quality against time: a colour is an engine, a mark a learner"
    if not panels:
        return None
    return plots.write(path, title, panels, size=(4.6, 3.6), legend=True)


def _seconds(line: Record) -> float:
    """Return a time that a logarithmic axis can show."""
    return float(max(line["values"]["fit_seconds"], 1e-4))


def write_set(group: Sequence[Record]) -> str:
    """Return the figures of all learners on a set, the best P@1 first."""
    done = [line for line in group if "values" in line]
    rows = [_row(line) for line in sorted(done, key=lambda e: -e["values"]["P@1"])]
    for line in group:
        if "values" not in line:
            rows.append([line["learner"], line["failure"], *[""] * (len(HEAD) - 2)])
    return page.join(page.table(HEAD, rows, n_words=1), _processors(done))


def _processors(done: Sequence[Record]) -> str:
    """Say whose times cannot be compared, where not all are of one processor."""
    found: dict[str, list[str]] = {}
    for line in done:
        found.setdefault(line["machine"]["processor"], []).append(line["learner"])
    most, *others = sorted(found, key=lambda name: -len(found[name]))
    told = [f"of {', '.join(sorted(found[name]))} on {name}" for name in others]
    return f"Times are {'; '.join(told)}; the others on {most}." if others else ""


def _row(line: Record) -> list[str]:
    values = line["values"]
    ranks = [
        " / ".join(f"{values[f'{metric}@{k}']:.1f}" for k in DEPTHS)
        for metric in ("P", "PSP")
    ]
    micros = 1e6 * values["rank_seconds"] / values["test_rows"]
    costs = values["fit_seconds"], micros
    sizes = values["peak_megabytes"], values["model_megabytes"]
    told = [_short(each) for each in (*costs, *sizes)]
    return [line["learner"], *ranks, f"{values['F1']:.1f}", *told]


def _sets(groups: Mapping[str, Sequence[Record]], missing: Sequence[Source]) -> str:
    rows = []
    for data, group in groups.items():
        done = next((line["values"] for line in group if "values" in line), None)
        if done is not None:
            rows.append([data, *(f"{done[name]:,.0f}" for name in SIZES)])
    lost = [
        f"{source.name} was skipped: no {' and '.join(source.missing)} "
        f"({source.publisher})."
        for source in missing
    ]
    table = page.table(["data", *SIZES.values()], rows, n_words=1) if rows else ""
    return page.join("## Data sets", table, *lost)


def _conditions(programme: Programme) -> dict[str, Any]:
    variants = [e.name for e in programme.learners if e.name != e.kind]
    few = [
        f" *{e.name}* is run on {', '.join(e.sets)} only."
        for e in programme.learners
        if e.sets is not None
    ]
    left_out = [f"{name} {why}." for name, why in programme.left_out.items()]
    return {
        "gigabytes": programme.gigabytes,
        "wide_features": programme.wide_features,
        "variants": "; ".join(variants),
        "few": "".join(few),
        "left_out": " ".join(left_out),
        "scaled": ", ".join(programme.scaled),
        "min_df": WORDS["min_df"],
    }


def _short(value: float) -> str:
    """Return three digits that count, at most two behind the point."""
    return f"{float(f'{value:.3g}'):,.10g}" if value >= 1 else f"{value:.2f}"
