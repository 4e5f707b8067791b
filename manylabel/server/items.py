"""Items and feedback as requests bring them, and as a model takes them."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from manylabel.server.errors import BadItem
from manylabel.text import Tagger

Item = Mapping[str, Any]
LARGEST = float(np.finfo(np.float32).max)


class FeedbackIn(NamedTuple):
    """What somebody says of an item, or of a prediction and so of its item.

    Labels that are neither accepted nor rejected are unknown, unless it is complete:
    then they are absent. ``at`` is when it was said, if that was earlier.
    """

    accepted: Sequence[str] = ()
    rejected: Sequence[str] = ()
    complete: bool = False
    item: Item | None = None
    prediction_id: str | None = None
    at: str | None = None


class Feedback(NamedTuple):
    """Feedback as the log has it."""

    sequence: int
    item: Item
    accepted: list[str]
    rejected: list[str]
    complete: bool


def check_labels(given: FeedbackIn) -> FeedbackIn:
    """Return feedback with the names of labels as they are kept, without blanks around.

    Names that contradict each other, or are none, are refused.
    """
    for name in (*given.accepted, *given.rejected):
        if not isinstance(name, str) or not name.strip():
            raise BadItem(f"labels must be strings, not blank. Got {name!r:.40}.")
    given = given._replace(
        accepted=list(dict.fromkeys(map(str.strip, given.accepted))),
        rejected=list(dict.fromkeys(map(str.strip, given.rejected))),
    )
    both = sorted(set(given.accepted) & set(given.rejected))
    if both:
        what = "accepted and rejected must have no label in common"
        raise BadItem(f"{what}. Got {both[0]!r:.60}.")
    if not (given.accepted or given.rejected or given.complete):
        raise BadItem("feedback must accept or reject a label, or be complete.")
    return given


def is_blank(item: Item) -> bool:
    """Tell whether an item is a text without a letter: there is nothing to learn from.

    Examples
    --------
    >>> is_blank({"text": " "}), is_blank({"text": "a"}), is_blank({"features": {}})
    (True, False, False)
    """
    text = item.get("text")
    return isinstance(text, str) and not text.strip()


def as_body(given: FeedbackIn, item: Item, who: str) -> dict[str, Any]:
    """Return feedback on an item as the log keeps it."""
    body = {
        "item": dict(item),
        "accepted": list(given.accepted),
        "rejected": list(given.rejected),
        "complete": given.complete,
        "who": who,
    }
    optional = {"prediction": given.prediction_id, "at": given.at}
    return body | {name: it for name, it in optional.items() if it is not None}


def as_rows(tagger: Tagger, items: Sequence[Item]) -> Any:
    """Return items as the tagger takes them: a list of texts, or rows of features."""
    wanted = "text" if tagger.reads_texts_ else "features"
    for item in items:
        if wanted not in item:
            keys = ", ".join(map(str, item)) or "nothing"
            raise BadItem(
                f"item must have {wanted}, as the model reads. Got {keys:.80}."
            )
    if tagger.reads_texts_:
        return [_text(item["text"]) for item in items]
    columns = _columns(tagger)
    parts = [_row(item["features"], columns, tagger.n_features_) for item in items]
    indptr = np.concatenate([[0], np.cumsum([len(part) for part in parts])])
    indices = np.array([column for part in parts for column in part], np.int32)
    data = np.array([value for part in parts for value in part.values()], np.float32)
    return sp.csr_array((data, indices, indptr), shape=(len(items), tagger.n_features_))


def _text(text: Any) -> str:
    if not isinstance(text, str):
        raise BadItem(f"text must be a string. Got {type(text).__name__}.")
    return text


def _columns(tagger: Tagger) -> dict[str, int]:
    names = tagger.feature_names_
    return {} if names is None else {str(name): at for at, name in enumerate(names)}


def _row(features: Any, columns: Mapping[str, int], width: int) -> dict[int, float]:
    """Return the values of features by column, in the order of columns."""
    if not isinstance(features, Mapping):
        kind = type(features).__name__
        raise BadItem(f"features must be values by name or column. Got {kind}.")
    row = {}
    for name, value in features.items():
        column = columns.get(str(name))
        if column is None and str(name).isdecimal():
            column = int(name)
        if column is None or column >= width:
            rule = f"names of the model's features or columns below {width}"
            raise BadItem(f"features must be {rule}. Got {name!r:.60}.")
        if isinstance(value, bool) or not isinstance(value, int | float):
            kind = type(value).__name__
            raise BadItem(f"features must be numbers. Got {kind} for {name!r:.60}.")
        if not abs(value) <= LARGEST:
            raise BadItem(
                f"features must be finite numbers. Got {value} for {name!r:.60}."
            )
        row[column] = float(value)
    return dict(sorted(row.items()))
