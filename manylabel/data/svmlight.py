"""Headerless svmlight with comma-separated labels."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from manylabel._typing import Array
from manylabel.data.dataset import Dataset
from manylabel.data.options import MAX_COLUMNS, ReadOptions, read_names, width
from manylabel.data.reader import Reader
from manylabel.data.row_text import RowText, row_tokens
from manylabel.data.rows import Rows
from manylabel.data.source import Source


class SvmlightReader(Reader):
    """Read ``label,label feature:value ...  # comment``.

    Labels are whole numbers, columns counted from 0; ``1.0`` is 1. In a file with a
    label -1, or read with ``n_labels=1``, every label must be +1 or -1 and there is
    one column: +1 is relevant. Features count from 1 unless a feature 0 occurs
    (``zero_based="auto"``) or the caller says so. ``qid:`` is ignored, as are lines
    that are blank or hold a comment only.
    """

    OPTIONS = frozenset(
        {"label_names", "feature_names", "n_labels", "n_features", "zero_based"}
    )

    def __init__(self, source: Source, options: ReadOptions) -> None:
        super().__init__(source, options)
        zero_based = options.get("zero_based")
        if zero_based not in (True, False, "auto", None):
            raise ValueError(
                f"zero_based must be True, False or 'auto'. Got {zero_based!r}."
            )
        self._label_names = read_names(options.get("label_names"))
        self._feature_names = read_names(options.get("feature_names"))
        self._given_labels = width(
            options.get("n_labels"), self._label_names, "n_labels"
        )
        self._given_features = width(
            options.get("n_features"), self._feature_names, "n_features"
        )
        self._zero_based = None if zero_based == "auto" else zero_based
        widths = (self._given_labels, self._given_features)
        self.settled = None not in (self._zero_based, *widths)
        self._labels, self._features = Span(), Span()

    @property
    def _signed(self) -> bool:
        return self._given_labels == 1 or self._labels.low < 0

    @property
    def _first_feature(self) -> int:
        if self._zero_based is None:
            return int(self._features.low > 0)
        return int(not self._zero_based)

    def rows(self) -> Iterator[Rows]:
        """Parse the file, noting which columns occur."""
        labels = (-1, MAX_COLUMNS - 1)
        if self._given_labels is not None:
            labels = (-1, 1) if self._signed else (0, self._given_labels - 1)
        # While it is not known where features start, allow both ways of counting.
        most = MAX_COLUMNS - 1 if self._given_features is None else self._given_features
        features = (int(self._zero_based is False), most - (self._zero_based is True))
        grammar = RowText(labels, features, loose=True)
        for part in grammar.parse(self.source.blocks(), self.bad_lines, first_line=1):
            self._labels.widen(part.y_indices)
            self._features.widen(part.x_indices)
            yield part

    def dataset(self, rows: Rows) -> Dataset:
        """Give the rows the columns that occur in the file or that were asked for."""
        n_features = self._features.high + 1 - self._first_feature
        if self._given_features is not None:
            if n_features > self._given_features:
                raise self.fault(
                    f"expected {self._given_features} features counted from 0, "
                    f"found feature {self._features.high}."
                )
            n_features = self._given_features
        n_labels = self._labels.high + 1
        if self._signed:
            rows, n_labels = self._without_negatives(rows), 1
        elif self._given_labels is not None:
            n_labels = self._given_labels
        rows = replace(rows, x_indices=rows.x_indices - self._first_feature)
        return Dataset(
            rows.features(max(n_features, 0)),
            rows.labels(n_labels),
            self._feature_names,
            self._label_names,
        )

    def _without_negatives(self, rows: Rows) -> Rows:
        """Turn +1 into column 0 and leave -1 out."""
        other = rows.y_indices[abs(rows.y_indices) != 1]
        if len(other):
            raise self.fault(f"expected labels +1 and -1 only, found {other[0]}.")
        positive = rows.y_indices == 1
        places = np.concatenate([[0], np.cumsum(positive)])
        return replace(
            rows,
            y_indptr=places[rows.y_indptr],
            y_indices=np.zeros(places[-1], np.int32),
        )


class Span:
    """The lowest and the highest column that occurred."""

    def __init__(self) -> None:
        self.low, self.high = MAX_COLUMNS, -1

    def widen(self, columns: Array) -> None:
        """Take in some more columns."""
        self.low = min(self.low, int(columns.min(initial=MAX_COLUMNS)))
        self.high = max(self.high, int(columns.max(initial=-1)))


def lines(dataset: Dataset) -> Iterator[str]:
    """Write a data set as text: labels from 0, features from 1, as LIBSVM's sets do.

    A single label is written as +1 or -1. A row with nothing in it gets a feature of
    value 0, because readers skip blank lines.
    """
    for labels, features in row_tokens(dataset, first_feature=1):
        if dataset.n_labels == 1:
            labels = ["+1"] if labels else ["-1"]
        yield " ".join([",".join(labels), *(features or (() if labels else ["1:0"]))])
