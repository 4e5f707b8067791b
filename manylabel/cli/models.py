"""The models that verbs load, and what they know of their data."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from manylabel.exceptions import ArchiveError


def load_model(path: Path, jobs: int | None = None) -> Any:
    """Return a fitted classifier from its folder, to run on so many threads.

    That of a tagger has the tagger as ``tagger``, and its names and counts as those
    have that were fitted on features.
    """
    from sklearn.utils.validation import check_is_fitted

    from manylabel.persistence import load

    model = load(path)
    if type(model).__name__ == "Tagger":
        model = _opened(model)
    if not hasattr(model, "predict_topk"):
        kind = type(model).__name__
        raise ArchiveError(path, f"expected a classifier, found a {kind}.")
    check_is_fitted(model)
    if jobs is not None:
        for part in _parts(model):
            part.n_jobs = jobs
    return model


def is_textual(model: Any) -> bool:
    """Return whether a model reads texts."""
    return hasattr(model, "tagger")


def _opened(tagger: Any) -> Any:
    learner = tagger.learner_
    learner.tagger = tagger  # without an underscore, so no part of what is saved
    learner.label_names_ = tuple(tagger.label_names_)
    learner.label_counts_, learner.n_rows_ = tagger.label_counts_, tagger.n_rows_
    return learner


def _parts(model: Any) -> Iterator[Any]:
    """Yield a model and those that it is made of, where they have threads."""
    if hasattr(model, "n_jobs"):
        yield model
    inner = getattr(model, "learner_", None)
    for part in (*getattr(model, "estimators_", ()), *([inner] if inner else ())):
        yield from _parts(part)
