"""Texts as rows of numbers, the same for all entrants."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from manylabel import TextVectorizer
from manylabel.data import Dataset

WORDS: dict[str, Any] = {"ngram_range": (1, 1), "min_df": 3}


def vectorize(train: Dataset, test: Dataset) -> dict[str, Dataset]:
    """Return texts as TF-IDF of their words, rows of unit length.

    Words and their weights are those of the training rows, and so are the labels that
    can be learnt. Labels that only test rows have are further columns of these: nobody
    can find them, but they were to be found.

    Examples
    --------
    >>> train = Dataset(None, [[1]] * 3, label_names=["a"], texts=["red wine"] * 3)
    >>> test = Dataset(None, [[1, 1]], label_names=["A", "a"], texts=["red bread"])
    >>> rows = vectorize(train, test)
    >>> rows["train"], rows["test"]
    (Dataset(3 rows, 2 features, 1 labels), Dataset(1 rows, 2 features, 2 labels))
    >>> rows["test"].label_names
    ('a', 'A')
    """
    words = TextVectorizer(**WORDS)
    X = words.fit_transform(train.texts)
    seen = train.labels
    names = (*seen, *(name for name in test.labels if name not in seen))
    return {
        "train": Dataset(X, train.Y, label_names=train.label_names),
        "test": Dataset(
            words.transform(test.texts), _reorder(test, names), label_names=names
        ),
    }


def _reorder(rows: Dataset, names: tuple[str, ...]) -> sp.csr_array:
    """Return labels with a column for each name."""
    place = {name: column for column, name in enumerate(names)}
    columns = np.array([place[name] for name in rows.labels], np.int32)
    shape = len(rows), len(names)
    Y = sp.csr_array((rows.Y.data, columns[rows.Y.indices], rows.Y.indptr), shape)
    Y.sort_indices()
    return Y
