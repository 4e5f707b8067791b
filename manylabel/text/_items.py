"""The items of a tagger, texts or rows of features, as its learner takes them."""

from typing import Any

import numpy as np

from manylabel import _validation
from manylabel.data import Dataset

PASSTHROUGH = "passthrough"  # in place of a vectorizer: rows of features


def are_features(items: Any) -> bool:
    """Tell rows of features, in two dimensions, from a column of texts."""
    if isinstance(items, Dataset):
        return items.X is not None
    if isinstance(items, list | tuple):
        return bool(items) and not isinstance(items[0], str) and np.ndim(items[0]) == 1
    return bool(getattr(items, "ndim", 1) > 1)


def vectorize(vectorizer: Any, items: Any, verb: str) -> Any:
    """Return the features of items by a verb of the vectorizer."""
    passes = isinstance(vectorizer, str)
    if isinstance(items, Dataset):
        items = items.X if passes else items.texts
        if items is None:
            wanted = "features, not texts" if passes else "texts, not features"
            raise ValueError(f"items must have {wanted}, as the model was fitted on.")
    if passes:
        return _validation.feature_matrix(items)
    return getattr(vectorizer, verb)(items)
