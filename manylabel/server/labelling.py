"""What to label next: items that the model is unsure of, with labels often missed."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit

from manylabel.propensity import Propensity
from manylabel.server.errors import BadItem
from manylabel.server.events import Remembered, digest_item
from manylabel.server.items import Item, is_blank
from manylabel.server.models import Model, Tagged, Wish

DEPTH = 10  # labels of an item that may be unsure


class Candidate(NamedTuple):
    """An item to label, with the labels that the model now suggests.

    ``prediction_id`` is that of the prediction that remembered it, if one did.
    """

    item: dict[str, Any]
    prediction_id: str | None
    labels: Tagged
    priority: float


def choose_items(model: Model, found: Sequence[Remembered], n: int) -> list[Candidate]:
    """Return the items of most use, the best first; one that came twice counts once.

    The priority is the sum over labels of p (1 - p), how unsure the model is, times the
    inverse propensity, how often the label is missed where it belongs.
    """
    unique = {digest_item(each.item): each for each in reversed(found)}
    readable = [each for each in unique.values() if _is_readable(model, each.item)]
    if not readable:
        return []
    rows = suggest(model, [each.item for each in readable])
    weights = _inverse_propensities(model)
    last = weights.get("", 1.0)
    ranked = [
        Candidate(
            each.item,
            each.id or None,
            row,
            float(sum(p * (1 - p) * weights.get(name, last) for name, p in row)),
        )
        for each, row in zip(readable, rows, strict=True)
    ]
    return sorted(ranked, key=lambda each: -each.priority)[:n]


def suggest(model: Model, items: Sequence[Item]) -> list[Tagged]:
    """Return labels with probabilities, or what goes from 0 to 1 with the score."""
    try:
        return model.tag_many(items, Wish(DEPTH, proba=True))
    except BadItem:
        rows = model.tag_many(items, Wish(DEPTH))
        return [[(name, float(expit(score))) for name, score in row] for row in rows]


def _inverse_propensities(model: Model) -> dict[str, float]:
    """Return 1 / propensity by label; that of a label without a row has no name."""
    tagger = model.tagger
    if not tagger.n_rows_:
        return {}
    names = [*tagger.label_names_.tolist(), ""]
    inverse = 1 / tagger.propensities(Propensity(), len(names))
    return dict(zip(names, np.asarray(inverse).tolist(), strict=True))


def _is_readable(model: Model, item: Item) -> bool:
    """Tell whether a model, and a person, can read an item: a text is not blank."""
    wanted = "text" if model.tagger.reads_texts_ else "features"
    return wanted in item and not is_blank(item)
