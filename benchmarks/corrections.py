"""What an online learner of corrections gains beside a batch model.

    python -m benchmarks.corrections debtags

A tagger is fitted to the first half of the training rows. The rows after it come in
order, a chunk at a time: each is predicted, then corrected. Feedback is *complete* (all
labels of the row), *partial* (one right label of those shown, or else the first of the
row, is accepted, and the first wrong one rejected), or *shuffled* (complete, but that
of another row, so it says nothing about this one). *Refitted* is the tagger fitted anew
to all complete rows so far, four times on the way. Figures are those of the second half
of the stream, before each row was learnt.

``--speed`` measures corrections a second, without the tagger's own scores.
"""

import argparse
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import manylabel as ml
from manylabel.text._open_rows import read_items, weigh_unknown

FOLDER = Path(__file__).parents[1] / "../shared/data"
CHUNK, N_FITS, SHOWN = 50, 4, 5
KINDS = ("complete", "partial", "shuffled")
HEAD = f"{'':22}{'P@1':>7}{'P@5':>7}{'F1':>7}{'weight':>8}"
Feedback = tuple[list[str], list[str], bool]


def read_halves(name: str, folder: Path, n: int) -> tuple[ml.Dataset, ml.Dataset]:
    """Return the rows to fit, and those of the stream."""
    data = ml.read(folder / "text" / name / "train.jsonl.gz")
    half = len(data) // 2
    return data[:half], data[half : half + n]


def judge(shown: Any, given: list[str], true: list[str]) -> tuple[float, float, float]:
    """Return P@1, P@5 and F1 of one row."""
    names, relevant = [name for name, _ in shown], set(true)
    hits = [name in relevant for name in names]
    total = len(given) + len(relevant)
    f1 = 2 * len(relevant & set(given)) / total if total else 1.0
    return float(hits[0]), sum(hits) / SHOWN, f1


def give(kind: str, shown: Any, true: list[str], other: list[str]) -> Feedback:
    """Return what is said of a row: accepted, rejected, and whether that is all."""
    if kind != "partial":
        return (true if kind == "complete" else other), [], True
    names = [name for name, _ in shown]
    right = [name for name in names if name in true] or true
    return right[:1], [name for name in names if name not in true][:1], False


def chunks(stream: ml.Dataset) -> Iterator[tuple[list[str], list[list[str]], Any]]:
    """Yield texts, their labels, and labels of other rows."""
    texts, true = list(stream.texts), stream.labels.decode(stream.Y)
    other = [true[row] for row in np.random.default_rng(0).permutation(len(true))]
    for at in range(0, len(texts), CHUNK):
        part = slice(at, at + CHUNK)
        yield texts[part], true[part], other[part]


def follow(model: Any, stream: ml.Dataset, learn: Callable[..., Any]) -> Any:
    """Return the figures of each row, predicted before it is learnt."""
    figures = []
    for texts, true, other in chunks(stream):
        shown, given = model.tag_many(texts, SHOWN), model.predict(texts)
        figures += [judge(*row) for row in zip(shown, given, true, strict=True)]
        model = learn(model, texts, zip(shown, true, other, strict=True)) or model
    return np.array(figures)[len(figures) // 2 :].mean(axis=0)


def correct(kind: str) -> Callable[..., Any]:
    """Return how a model learns feedback of one kind."""

    def learn(model: ml.Corrected, texts: list[str], rows: Any) -> None:
        said = [give(kind, *row) for row in rows]
        model.correct(texts, *map(list, zip(*said, strict=True)))

    return learn


def refit(first: ml.Dataset, n_stream: int) -> Callable[..., Any]:
    """Return how a tagger is fitted anew, a few times."""
    texts, tags = list(first.texts), first.labels.decode(first.Y)
    every, n_first = n_stream // N_FITS, len(first)

    def learn(tagger: Any, new: list[str], rows: Any) -> Any:
        before = (len(texts) - n_first) // every
        texts.extend(new)
        tags.extend(true for _, true, _ in rows)
        if (len(texts) - n_first) // every == before:
            return tagger
        return ml.Tagger(quality="fast").fit(texts, tags)

    return learn


def print_row(name: str, figures: Any, weight: str = "") -> None:
    """Print one line of the table."""
    print(f"{name:22}" + "".join(f"{100 * v:7.1f}" for v in figures) + f"{weight:>8}")


def compare(name: str, folder: Path, n: int) -> None:
    """Print the table of one data set."""
    first, stream = read_halves(name, folder, n)
    tagger = ml.Tagger(quality="fast").fit(first)
    print(f"{name}: {len(first):,} rows fitted, {len(stream):,} rows of feedback")
    print(HEAD)
    print_row("tagger alone", follow(tagger, stream, lambda *_: None))
    for kind in KINDS:
        model = ml.Corrected(tagger)
        figures = follow(model, stream, correct(kind))
        print_row(f"corrected, {kind}", figures, f"{model.weight_:g}")
    print_row("refitted", follow(tagger, stream, refit(first, len(stream))))


def measure(name: str, folder: Path, n: int) -> None:
    """Print how many corrections a second are learnt, and what it takes to read."""
    first, stream = read_halves(name, folder, n)
    tagger = ml.Tagger(quality="fast").fit(first)
    texts, true = list(stream.texts), stream.labels.decode(stream.Y)
    shown = tagger.tag_many(texts, SHOWN)
    items = read_items(tagger.vectorizer_, texts, weigh_unknown(tagger.vectorizer_))
    for kind in ("complete", "partial"):
        rows = zip(shown, true, true, strict=True)
        yes, no, closed = zip(*(give(kind, *row) for row in rows), strict=True)
        best = 0.0
        for _ in range(3):
            model = ml.Corrected(tagger)
            lists = model._list(items.X, ml.text._corrected.N_LISTED).lists
            start = time.process_time()
            mentions = model._mention(list(yes), list(no), np.array(closed, np.uint8))
            model._learn(items.rows, lists, mentions)
            best = max(best, len(texts) / (time.process_time() - start))
        print(f"{name}, {kind}: {best:,.0f} corrections a second")
    for who, what in (("tagger", tagger), ("corrected", model)):
        start = time.process_time()
        what.tag_many(texts)
        rate = len(texts) / (time.process_time() - start)
        print(f"{name}, {who}: {rate:,.0f} texts a second")
    start = time.process_time()
    model.copy()
    print(f"{name}: a copy takes {1e3 * (time.process_time() - start):.1f} ms")


def main() -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("sets", nargs="*", default=["debtags", "reuters90"])
    parser.add_argument("--data", type=Path, default=FOLDER)
    parser.add_argument("--rows", type=int, default=4000, help="of feedback")
    parser.add_argument("--speed", action="store_true")
    asked = parser.parse_args()
    for name in asked.sets:
        (measure if asked.speed else compare)(name, asked.data, asked.rows)


if __name__ == "__main__":
    main()
