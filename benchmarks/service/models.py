"""Models and feedback that are drawn, so that a benchmark needs no data."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import manylabel as ml
from manylabel.server.events import Draft
from manylabel.server.log import Log
from manylabel.server.store import Store

NAME = "drawn"
N_WORDS, N_FEATURES, WORDS, LABELS = 20_000, 2**16, 12, 4
N_FITTED = 2_000  # items that a model has learnt before it is served


def draw(
    rng: np.random.Generator, n: int, n_labels: int
) -> Iterator[tuple[str, list[str]]]:
    """Yield texts and labels; each label has words of its own, rare ones are rare."""
    odds = 1 / np.arange(1, n_labels + 1)
    labels = rng.choice(n_labels, (n, LABELS), p=odds / odds.sum())
    noise = rng.integers(N_WORDS, size=(n, WORDS - LABELS))
    for some, rest in zip(labels, noise, strict=True):
        words = [f"word{label}" for label in some] + [f"w{word}" for word in rest]
        yield " ".join(words), sorted({f"label{label}" for label in some})


def make_tagger(learner: str, n_labels: int) -> ml.Tagger:
    """Return a fitted model: two that learn streams, one that does not."""
    known = {
        "online-label-tree": ml.OnlineLabelTree(propensity="running"),
        "csdpp": ml.CSDPP(regressor="gradient", n_components=10),
        "one-vs-rest": ml.OneVsRest(),
    }
    if learner not in known:
        raise ValueError(
            f"--learner must be one of {', '.join(known)}. Got {learner!r}."
        )
    pairs = list(draw(np.random.default_rng(0), N_FITTED, n_labels))
    texts, tags = [text for text, _ in pairs], [tags for _, tags in pairs]
    vectorizer = ml.TextVectorizer(n_features=N_FEATURES)
    tagger = ml.Tagger(known[learner], vectorizer=vectorizer)
    if not hasattr(known[learner], "partial_fit"):
        return tagger.fit(texts, tags)
    names = [f"label{label}" for label in range(n_labels)]
    return tagger.partial_fit(texts, tags, classes=names)


def serve_model(folder: Path, log: Log, tagger: ml.Tagger) -> Store:
    """Save a model below a folder and make it the active version of the log."""
    store = Store(folder / "models")
    store.models.mkdir()
    tagger.save(store.models / NAME)
    version = store.adopt(NAME)
    about = {"version": version, "contains": 0, "who": "benchmark"}
    active = {"version": version, "who": "benchmark"}
    drafts = [Draft(NAME, "version", about, f"version {version}")]
    log.append([*drafts, Draft(NAME, "activate", active)])
    store.note_seen(NAME, version)
    return store


def make_body(text: str, labels: list[str]) -> dict[str, Any]:
    """Return feedback that says all of an item, as the service logs it."""
    return {
        "item": {"text": text},
        "accepted": labels,
        "rejected": [],
        "complete": True,
        "who": "benchmark",
        "predicted": {"version": "", "best": labels[:1], "given": labels[:2]},
    }


def fill(log: Log, n: int, n_labels: int, seed: int = 1) -> None:
    """Append so much feedback to a log."""
    drafts = [
        Draft(NAME, "feedback", make_body(*pair))
        for pair in draw(np.random.default_rng(seed), n, n_labels)
    ]
    for at in range(0, n, 1000):
        log.append(drafts[at : at + 1000])
