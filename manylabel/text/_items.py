"""The items of a tagger, texts or rows of features, and the names of their labels."""

from collections.abc import Iterable, Mapping
from itertools import chain
from math import isnan
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from manylabel import _validation, parallel
from manylabel._plural import counted
from manylabel._typing import CSR
from manylabel._warning import warn
from manylabel.data import Dataset, LabelSpace, Vocabulary
from manylabel.data.separators import strip_names
from manylabel.exceptions import DoubtfulLabels
from manylabel.model_selection import Thresholds
from manylabel.text._embeddings import Hybrid
from manylabel.text._vectorizer import TextVectorizer

TAGS = "tags"  # the argument that has the names of each row's labels
PASSTHROUGH = "passthrough"  # in place of a vectorizer: rows of features
VECTORISING = 0.05  # of the time of a fit, about


def are_features(items: Any) -> bool:
    """Tell rows of features, in two dimensions, from a column of texts."""
    if isinstance(items, Dataset):
        return items.X is not None
    if isinstance(items, list | tuple):
        return bool(items) and not isinstance(items[0], str) and np.ndim(items[0]) == 1
    return _is_matrix(items)


class Named(NamedTuple):
    """The labels of data and of a vocabulary, and the words of their names."""

    space: LabelSpace
    names: list[str]
    owners: list[int]  # the label, a column, of each name

    @classmethod
    def of(cls, space: LabelSpace, vocabulary: Vocabulary | None) -> "Named":
        """Return the labels that data has, then those of the vocabulary alone."""
        known = Vocabulary({}) if vocabulary is None else vocabulary
        labels = [*space, *(label for label in known if label not in space)]
        pairs = [
            (name.replace("_", " "), column)
            for column, label in enumerate(labels)
            for name in known.names(label)
        ]
        names, owners = map(list, zip(*pairs, strict=True))
        return cls(LabelSpace(labels), names, owners)

    def tell(self, learner: Any, vectorizer: Any) -> None:
        """Give a learner the features of the names."""
        rows = vectorize(vectorizer, self.names, "transform")
        learner.set_params(names=rows, owners=np.array(self.owners))


def vectorize(
    vectorizer: Any, items: Any, verb: str, named: Named | None = None
) -> Any:
    """Return the features of items by a verb of the vectorizer.

    Words of names get columns too, where there is a vocabulary of words.
    """
    passes = isinstance(vectorizer, str)
    if isinstance(items, Dataset):
        items = items.X if passes else items.texts
        if items is None:
            wanted = "features, not texts" if passes else "texts, not features"
            raise ValueError(f"items must have {wanted}, as the model was fitted on.")
    if passes:
        return _validation.feature_matrix(items)
    options: Any = {}
    if named is not None and isinstance(vectorizer, TextVectorizer | Hybrid):
        options["names"] = named.names
    with parallel.stage("vectorising", VECTORISING):
        rows = getattr(vectorizer, verb)(items, **options)
    return rows if isinstance(vectorizer, TextVectorizer) else _check_rows(rows)


def _check_rows(rows: Any) -> CSR:
    """Return the rows of any transformer as learners take them."""
    return _validation.feature_matrix(rows, name="rows of vectorizer")


class Labelled(NamedTuple):
    """0/1 labels, and the names of their columns."""

    space: LabelSpace
    Y: CSR

    @classmethod
    def of(cls, items: Any, tags: Any) -> "Labelled":
        """Return the labels of a data set, or encode names, or raise."""
        if tags is None and isinstance(items, Dataset):
            return cls(items.labels, items.Y)
        refuse_matrix(tags, "X" if are_features(items) else "texts")
        rows = check_names(tags)
        _check_order(items, tags)
        space = LabelSpace.from_labels(rows)
        return cls(space, space.encode(rows))

    def aligned(self, known: LabelSpace, items: Any) -> "Labelled":
        """Return the labels in the columns that are known, then those that are new.

        Columns of a data set that have no names are the known ones, in their order.
        """
        if getattr(items, "label_names", ()) is None and len(self.space):
            if len(self.space) != len(known):
                raise ValueError(
                    f"items must have {len(known)} labels, as the model was fitted on. "
                    f"Got {len(self.space)}."
                )
            return Labelled(known, self.Y)
        place = {name: column for column, name in enumerate(known)}
        columns = [place.setdefault(name, len(place)) for name in self.space]
        moved = np.array(columns, np.int32)[self.Y.indices]
        parts = (self.Y.data, moved, self.Y.indptr)
        Y = sp.csr_array(parts, shape=(self.Y.shape[0], len(place)))
        Y.sort_indices()
        return Labelled(LabelSpace(place), Y)


class Judged(NamedTuple):
    """The labels of some rows beside the predictions; labels never learnt come last.

    ``proba`` has the probabilities of the labels that have scores, if the model tells.
    """

    space: LabelSpace
    Y: CSR
    scores: CSR
    sets: CSR
    proba: CSR | None = None

    @classmethod
    def of(
        cls, labelled: Labelled, learner: Any, X: CSR, k: int, sets: CSR
    ) -> "Judged":
        """Return what a learner says of rows, and their sets, beside their labels.

        Thresholds around a learner do not change its probabilities.
        """
        space, Y = labelled
        scores, proba = learner.predict_topk(X, k), None
        scorer = learner.estimator_ if isinstance(learner, Thresholds) else learner
        if getattr(scorer, "calibrate", None) is not None:
            proba = _validation.widened(scorer.to_proba(scores), len(space))
        scores, sets = (_validation.widened(m, len(space)) for m in (scores, sets))
        return cls(space, Y, scores, sets, proba)


def check_names(tags: Any, argument: str = TAGS) -> list[list[str]]:
    """Return the names of each row's tags, or raise TypeError or ValueError.

    None, NaN and blanks, for a row or among its names, are no tags, and spaces around a
    name do not count. Where ``tags`` have None or such for rows, at which nobody may
    have looked, ``DoubtfulLabels`` is warned.
    """
    if isinstance(tags, (str, bytes, Mapping)) or not isinstance(tags, Iterable):
        raise TypeError(
            f"{argument} must be a list that has a list of names for each text. "
            f"Got {tags!r:.40}."
        )
    rows = list(tags)
    n_missing = sum(map(_is_missing, rows))
    if n_missing and argument == TAGS:
        missing = f"{counted(n_missing, 'row')} of {len(rows):,}"
        reason = f"{TAGS} are missing for {missing}, as if no label belonged there."
        warn(DoubtfulLabels(None, reason))
    return [_check_row(names, row, argument) for row, names in enumerate(rows)]


def _check_order(items: Any, tags: Any) -> None:
    """Warn where data of pandas have the same index in another order."""
    if not (hasattr(items, "iloc") and hasattr(tags, "iloc")):
        return
    ours, theirs = items.index, tags.index
    if not ours.equals(theirs) and sorted(map(str, ours)) == sorted(map(str, theirs)):
        reason = (
            f"{TAGS} have the index of the items in another order, and are taken as "
            f"they stand: {TAGS}.loc[items.index] has the order of the items."
        )
        warn(DoubtfulLabels(None, reason))


def refuse_matrix(tags: Any, items: str) -> None:
    """Refuse a matrix of 0 and 1 in place of names, and say how it is fitted."""
    if _is_matrix(tags):
        parts = "X, Y" if items == "X" else "None, Y, texts=texts"
        raise TypeError(
            "tags must be lists of names. Got a matrix: rows of 0 and 1 are fitted as "
            f"Dataset({parts}), with label_names= if they have any."
        )


def check_count(n_tagged: int, n_rows: int, argument: str = "tags") -> None:
    """Raise ValueError unless each text has its tags."""
    if n_tagged != n_rows:
        raise ValueError(
            f"{argument} must have {n_rows} rows, one per text. Got {n_tagged}."
        )


def widen(
    rows: list[list[str]], known: list[str], given: list[str], grows: bool
) -> LabelSpace:
    """Return the labels after some rows of a stream, those that are known first.

    Raises ValueError at the first that is neither known nor given, unless it grows.
    """
    given = strip_names(given)
    allowed = set(known or given)
    is_bound = allowed and not grows and not allowed.issuperset(chain(*rows))
    for row, names in enumerate(rows) if is_bound else ():
        for name in names:
            if name not in allowed:
                raise ValueError(
                    f"tags must be among the {len(allowed)} of the first call or of "
                    f"its classes. Got {name!r:.60} at row {row}."
                )
    new = set(() if known else given).union(*rows).difference(known)
    return LabelSpace([*known, *sorted(new)])


def _is_matrix(items: Any) -> bool:
    """Tell two dimensions by the shape: frames of Polars have no ``ndim``."""
    return len(getattr(items, "shape", ())) > 1


def _check_row(names: Any, row: int, argument: str) -> list[str]:
    if _is_missing(names):
        return []
    if not isinstance(names, list | tuple) and (
        isinstance(names, str | bytes | Mapping) or not isinstance(names, Iterable)
    ):
        raise TypeError(
            f"{argument} must have a list of names for each text. "
            f"Got {names!r:.40} at row {row}."
        )
    found = [name for name in names if not _is_missing(name)]
    for name in found:
        if not isinstance(name, str):
            raise TypeError(
                f"{argument} must be strings, as str() makes them. "
                f"Got {name!r:.40} at row {row}."
            )
    return strip_names(map(str, found))  # those of an array are strings of NumPy


def _is_missing(value: Any) -> bool:
    """Tell what stands for nothing: blanks, and None and NaN, as in data frames."""
    if isinstance(value, str):
        return not value.strip()
    is_nan = isinstance(value, float) and isnan(value)
    return value is None or is_nan or type(value).__name__ == "NAType"  # of pandas
