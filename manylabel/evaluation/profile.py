"""What the rows and labels of a data set look like, counted chunk by chunk."""

from collections.abc import Iterable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manylabel._typing import CSR, Array, Ints
from manylabel.data import Dataset

RARE = 5  # most rows of a label that is called rare
N_TOP = 10
QUANTILES = {"min": 0.0, "q1": 0.25, "median": 0.5, "q3": 0.75, "max": 1.0}


class Profile:
    """Counts over the rows of a data set.

    Memory grows with the rows, eight bytes each, and with the labels that occur, not
    with the columns that a header promises.

    Parameters
    ----------
    chunks : iterable of Dataset
        The rows; all chunks have the same columns.

    Attributes
    ----------
    n_rows, n_labels : int
        Sizes.
    n_features : int or None
        Number of features; None for texts.
    labels : ndarray of shape (n_occurring,)
        The labels that occur.
    label_counts : ndarray of shape (n_occurring,)
        Number of rows of each of them.
    row_counts : ndarray
        Number of rows with 0, 1, 2 ... labels.

    Examples
    --------
    >>> profile = Profile([Dataset([[1.0]] * 3, [[1, 1], [1, 1], [0, 1]])])
    >>> profile.label_counts, profile.labelset_counts
    (array([2, 3]), array([2, 1]))
    >>> profile.figures()["labels_per_row"]["mean"].__round__(2)
    1.67
    """

    def __init__(self, chunks: Iterable[Dataset]) -> None:
        self.n_rows = self.n_labels = self._n_values = self._n_bare_rows = 0
        self.n_features: int | None = None
        self.labels = self.label_counts = self.row_counts = np.zeros(0, np.int64)
        self._names: tuple[str, ...] | None = None
        self._labelsets: list[NDArray[np.uint64]] = []
        self._characters: list[Ints] = []
        for chunk in chunks:
            self._add(chunk)

    @cached_property
    def labelset_counts(self) -> Ints:
        """Number of rows of each distinct set of labels, the most frequent first."""
        keys = np.concatenate([np.zeros(0, np.uint64), *self._labelsets])
        return np.sort(np.unique(keys, return_counts=True)[1])[::-1]

    def figures(self) -> dict[str, Any]:
        """Return all figures, ready for JSON."""
        sizes: dict[str, Any] = {"rows": self.n_rows, "labels": self.n_labels}
        if self.n_features is not None:
            sizes["features"] = self.n_features
            sizes["features_per_row"] = _share(self._n_values, self.n_rows)
            cells = self.n_rows * self.n_features
            sizes["feature_density"] = _share(self._n_values, cells)
            sizes["rows_without_features"] = self._n_bare_rows
        if self._characters:
            lengths = np.bincount(np.concatenate(self._characters))
            sizes["characters_per_text"] = _spread(lengths)
        return sizes | self._label_figures() | self._labelset_figures()

    def _label_figures(self) -> dict[str, Any]:
        counts = self.label_counts
        n_absent = self.n_labels - len(counts)
        rows_per_label = _padded_sum(np.bincount(counts), np.array([n_absent]))
        return {
            "rows_without_labels": int(self.row_counts[:1].sum()),
            "labels_per_row": _spread(self.row_counts),
            "label_density": _share(counts.sum(), self.n_rows * self.n_labels),
            "rows_per_label": _spread(rows_per_label),
            "labels_without_rows": n_absent,
            f"share_of_labels_in_at_most_{RARE}_rows": _share(
                rows_per_label[: RARE + 1].sum(), self.n_labels
            ),
            "gini_of_labels": _gini(counts, n_absent),
            "most_frequent_labels": self._top_labels(),
        }

    def _top_labels(self) -> dict[str, int]:
        top = np.argsort(-self.label_counts, kind="stable")[:N_TOP]
        labels, counts = self.labels[top].tolist(), self.label_counts[top].tolist()
        names = [
            str(label) if not self._names else self._names[label] for label in labels
        ]
        return dict(zip(names, counts, strict=True))

    def _labelset_figures(self) -> dict[str, Any]:
        counts = self.labelset_counts
        n_once = np.count_nonzero(counts == 1)
        return {
            "labelsets": len(counts),
            "share_of_labelsets_seen_once": _share(n_once, len(counts)),
            "rows_of_most_frequent_labelset": int(counts[:1].sum()),
        }

    def _add(self, chunk: Dataset) -> None:
        Y, X = chunk.Y, chunk.X
        self.n_rows += len(chunk)
        self.n_labels, self.n_features = chunk.n_labels, chunk.n_features
        self._names = chunk.label_names
        self._add_labels(*np.unique(Y.indices, return_counts=True))
        sizes = np.bincount(np.diff(Y.indptr))
        self.row_counts = _padded_sum(self.row_counts, sizes)
        self._labelsets.append(_labelset_keys(Y))
        if X is not None:
            self._n_values += X.nnz
            self._n_bare_rows += int(np.count_nonzero(np.diff(X.indptr) == 0))
        if chunk.texts is not None:
            lengths = [len(text) for text in chunk.texts]
            self._characters.append(np.array(lengths, np.int64))

    def _add_labels(self, labels: Array, counts: Ints) -> None:
        both = np.concatenate([self.labels, labels])
        self.labels, place = np.unique(both, return_inverse=True)
        weights = np.concatenate([self.label_counts, counts])
        self.label_counts = np.zeros(len(self.labels), np.int64)
        np.add.at(self.label_counts, place, weights)


def _labelset_keys(Y: CSR) -> NDArray[np.uint64]:
    """Return a number for each row that tells its set of labels from all others.

    The sum of a random-looking number for each label. That two of n sets share theirs
    has a probability below n^2 / 2^65, so eight bytes stand for a whole set.
    """
    z = Y.indices.astype(np.uint64) + np.uint64(1)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        z *= np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(shift))) * np.uint64(factor)
    sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(z ^ (z >> np.uint64(31)))])
    return np.asarray(sums[Y.indptr[1:]] - sums[Y.indptr[:-1]])


def _spread(histogram: Ints) -> dict[str, float]:
    """Return mean and quantiles of values given by how often 0, 1, 2 ... occur."""
    total, reached = int(histogram.sum()), np.cumsum(histogram)
    if not total:
        return {"mean": 0.0}
    mean = float(histogram @ np.arange(len(histogram)) / total)
    return {"mean": mean} | {
        name: int(np.searchsorted(reached, max(1, np.ceil(share * total))))
        for name, share in QUANTILES.items()
    }


def _gini(counts: Ints, n_absent: int) -> float:
    """Return the Gini coefficient: 0 if all labels are equal, near 1 if one rules."""
    n, total = len(counts) + n_absent, counts.sum()
    if not total:
        return 0.0
    ranks = np.arange(n_absent + 1, n + 1)
    return float(2 * (ranks @ np.sort(counts)) / (n * total) - (n + 1) / n)


def _padded_sum(one: Ints, other: Ints) -> Ints:
    """Add two vectors; the shorter is taken to go on with zeros."""
    result = np.zeros(max(len(one), len(other)), np.int64)
    result[: len(one)] += one
    result[: len(other)] += other
    return result


def _share(part: Any, whole: Any) -> float:
    return float(part / whole) if whole else 0.0
