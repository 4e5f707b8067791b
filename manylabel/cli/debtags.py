"""``manylabel demo --data debtags``: a tagger of the packages of this machine."""

import time
from itertools import pairwise
from pathlib import Path
from textwrap import shorten
from typing import TYPE_CHECKING, Any, NamedTuple

from manylabel.cli.console import (
    fitting,
    note,
    percent,
    print_json,
    print_table,
    say,
    working,
)

if TYPE_CHECKING:
    from manylabel.data import Dataset
    from manylabel.evaluation import Report
    from manylabel.text import Reason, Tagger

FEWEST = 100  # packages, of which one can learn and hold some out
ROWS = {"debtags": "packages", "corpus": "made-up documents"}
DEPTHS = (1, 3, 5)
SHOWN = ("P", "PSP")
MOST_SHOWN = 400  # characters of a text


class Example(NamedTuple):
    """A row that was held out, and what the tagger makes of it."""

    name: str
    text: str
    recorded: list[str]
    tags: list[tuple[str, float]]
    reason: "Reason"  # of the first tag


class Story(NamedTuple):
    """What the demo found out."""

    tagger: "Tagger"
    report: "Report"
    example: Example
    seconds: float


def tag_packages(lists: Path | None, *, seed: int, json: bool) -> None:
    """Learn the tags of packages; print how well, and why one package gets its tags."""
    source, data = _packages(lists, seed)
    story = _story(data, seed)
    if json:
        print_json(_figures(source, data, story))
        return
    _show_report(source, data, story)
    _show_example(story.example)
    say(f"That took {story.seconds:.1f} s.")


def _packages(lists: Path | None, seed: int) -> tuple[str, "Dataset"]:
    """Return packages, or if there are none a made-up corpus, and which of them."""
    from manylabel.data import read_debtags
    from manylabel.data.debtags import LISTS
    from manylabel.exceptions import DataError

    folder = LISTS if lists is None else lists
    try:
        with working(f"Reading {folder}"):
            data = read_debtags(folder)
        if len(data) < FEWEST:
            reason = f"expected {FEWEST} packages with tags, found {len(data)}."
            raise DataError(folder, reason)
    except DataError as error:
        note(f"note: {str(error).rstrip('.')}, so a made-up corpus is used.")
        return "corpus", _made_up(seed)
    return "debtags", data


def _made_up(seed: int) -> "Dataset":
    """Return a corpus in words, without the rows of which all labels are hidden."""
    from manylabel.data import Dataset, make_corpus

    corpus = make_corpus(random_state=seed)
    words = [f"word{column}" for column in corpus.X.indices.tolist()]
    data = Dataset(
        None,
        corpus.Y,
        label_names=tuple(f"label{i}" for i in range(corpus.Y.shape[1])),
        ids=tuple(f"document{i}" for i in range(corpus.Y.shape[0])),
        texts=tuple(
            " ".join(words[start:stop])
            for start, stop in pairwise(corpus.X.indptr.tolist())
        ),
    )
    return data[corpus.Y.sum(axis=1) > 0]


def _story(data: "Dataset", seed: int) -> Story:
    """Fit a tagger to most rows, judge it on others, and let it explain one of them."""
    import numpy as np

    from manylabel.baselines import OneVsRest
    from manylabel.data.debtags import is_held_out
    from manylabel.text import Tagger

    start = time.perf_counter()
    held_out = np.array([is_held_out(name) for name in data.ids or ()])
    train, test = data[~held_out], data[held_out]
    what = f"Fitting a tagger to {len(train):,} texts, {data.n_labels:,} tags"
    with fitting(what):
        tagger = Tagger(OneVsRest(n_jobs=-1)).fit(train.texts or (), _tags(train))
    with working("Judging it"):
        report = tagger.evaluate(test.texts or (), _tags(test), k=DEPTHS)
    row = int(np.random.default_rng(seed).integers(len(test)))
    example = _example(tagger, test[row])
    return Story(tagger, report, example, time.perf_counter() - start)


def _example(tagger: "Tagger", row: "Dataset") -> Example:
    (name,), (text,), (recorded,) = row.ids or (), row.texts or (), _tags(row)
    (reason,) = tagger.explain(text, k=1).reasons
    return Example(name, text, recorded, tagger.tag(text), reason)


def _tags(data: "Dataset") -> list[list[str]]:
    return data.labels.decode(data.Y)


def _figures(source: str, data: "Dataset", story: Story) -> dict[str, Any]:
    """Return all of it for JSON."""
    tagger, report, example, seconds = story
    return {
        "data": source,
        "train": tagger.n_rows_,
        "test": len(data) - tagger.n_rows_,
        "labels": data.n_labels,
        "learner": type(tagger.learner_).__name__,
        "figures": report.to_dict(),
        "example": example._asdict() | {"reason": example.reason._asdict()},
        "seconds": round(seconds, 3),
    }


def _show_report(source: str, data: "Dataset", story: Story) -> None:
    n_train, report = story.tagger.n_rows_, story.report
    columns = [f"@{depth}" for depth in DEPTHS]
    print_table(
        ["percent", *columns],
        ([name, *(percent(report[name + c]) for c in columns)] for name in SHOWN),
        title=f"{n_train:,} {ROWS[source]} to learn from, {len(data) - n_train:,} to "
        f"judge by, {data.n_labels:,} tags",
        numbers=columns,
    )
    for name in SHOWN:
        key = f"{name}@{DEPTHS[-1]}"
        say(f"{key}: {report.meaning(key)}")


def _show_example(example: Example) -> None:
    """Print the tags of a text, and why it gets the first."""
    text = shorten(example.text, MOST_SHOWN, placeholder=" ...")
    print_table(
        ["tag", "score", "recorded"],
        (
            [tag, f"{score:.3f}", "yes" if tag in example.recorded else ""]
            for tag, score in example.tags
        ),
        title=f"\n{example.name}, which was held out: {text}",
        numbers=["score"],
    )
    say(f"Why {example.reason.tag}: what the score loses without a word.")
    say("\n".join(example.reason.lines()))
