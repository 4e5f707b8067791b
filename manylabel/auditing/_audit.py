"""What an audit finds: rows and labels where something was forgotten, or is wrong."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_scalar

from manylabel import _validation
from manylabel._typing import CSR, Floats, Ints, RandomState
from manylabel.auditing._files import csv_lines, jsonl_lines
from manylabel.auditing._page import page_parts
from manylabel.auditing._sampling import WorkSheet, draw_rows
from manylabel.auditing._suspicion import Suspicion, rank_unseen, suspect
from manylabel.base import check_learner, set_jobs
from manylabel.data.dataset import Dataset, best_first
from manylabel.data.source import suffix
from manylabel.data.writing import replacing_text
from manylabel.propensity import check_possible, find_least
from manylabel.text import choose, choose_vectorizer

LEAST = 0.05  # the probability of what is worth a look
MOST = 10  # suspects of a row that are listed
FEWEST_ROWS = 20
PAGE_ROWS = 200
NEUTRAL = 0.5  # the propensity of labels of which nothing is known
Suspects = list[tuple[str, float]]


class RowFinding(NamedTuple):
    """A row, what is recorded of it, and what is probably missing or wrong."""

    row: int
    id: str | None
    text: str | None
    labels: list[str]
    missing: Suspects
    wrong: Suspects
    gain: float  # labels that a look is expected to correct


class LabelFinding(NamedTuple):
    """A label: rows that have it, its propensity, and what is expected to be amiss."""

    label: str
    recorded: int
    propensity: float
    missing: float  # rows that should have it
    wrong: float  # rows that should not


@dataclass(frozen=True, eq=False, repr=False)
class Audit:
    """Labels that were probably forgotten, and some that are probably wrong.

    Made by :func:`manylabel.audit`.

    Parameters
    ----------
    data : Dataset
        What was audited.
    propensity : ndarray of shape (n_labels,)
        The probability that a true label is recorded, as it was believed.
    suspicion : Suspicion
        ``true``, ``missing`` and ``wrong``, sparse matrices of probabilities, and the
        ``bands`` of labels that are about as frequent.

    Examples
    --------
    >>> import manylabel as ml
    >>> corpus = ml.make_corpus(n_rows=500, n_labels=20, random_state=0)
    >>> found = ml.audit(corpus.X, corpus.Y)
    >>> found
    Audit(500 rows, 20 labels, about 692 missing and 6 wrong of 822 recorded)
    >>> first = [(each.row, int(each.missing[0][0])) for each in found.rows(20)]
    >>> sum(int(corpus.complete[row, label]) for row, label in first)
    15
    """

    data: Dataset
    propensity: Floats
    suspicion: Suspicion

    @cached_property
    def gains(self) -> Floats:
        """What a look at each row is expected to correct: its suspects, added up."""
        total = np.zeros(len(self.data))
        for matrix in self._suspects():
            rows = np.repeat(np.arange(len(total)), np.diff(matrix.indptr))
            total += np.bincount(rows, matrix.data, minlength=len(total))
        return total

    def rows(self, n: int | None = None) -> list[RowFinding]:
        """Return the ``n`` rows of the largest gains, the largest first; None for all.

        Rows in which nothing is suspected are left out.
        """
        order = np.argsort(-self.gains, kind="stable")
        order = order[self.gains[order] > 0]
        return [*self.describe(order[:n])]

    def describe(self, rows: Ints) -> Iterator[RowFinding]:
        """Yield what was found in some rows, in their order."""
        missing, wrong = (self._listed(each, rows) for each in self._suspects())
        recorded = self.data.labels.decode(self.data.Y[rows])
        for at, row in enumerate(rows.tolist()):
            yield RowFinding(
                row,
                None if self.data.ids is None else self.data.ids[row],
                None if self.data.texts is None else self.data.texts[row],
                recorded[at],
                missing[at],
                wrong[at],
                float(self.gains[row]),
            )

    def labels(self, n: int | None = None) -> list[LabelFinding]:
        """Return the ``n`` labels of which most is amiss, those first; None for all."""
        counts = np.bincount(self.data.Y.indices, minlength=self.data.n_labels)
        missing, wrong = (
            np.bincount(each.indices, each.data, minlength=self.data.n_labels)
            for each in (self.suspicion.missing, self.suspicion.wrong)
        )
        order = np.argsort(-(missing + wrong), kind="stable")[:n]
        columns = (counts, self.propensity, missing, wrong)
        return [
            LabelFinding(
                self.data.labels.names[label], *(each[label].item() for each in columns)
            )
            for label in order.tolist()
        ]

    def sample(self, n_rows: int, *, random_state: RandomState = 0) -> WorkSheet:
        """Draw rows whose complete labels teach most about propensities.

        A quarter of the sample is drawn at random, the rest by how many true labels of
        each band of frequency are expected, so that rare labels have their share.
        What is recorded of a row has no say: rows drawn for their labels would hide how
        often these are missing. Each row has the weight of the rows it stands for.

        Parameters
        ----------
        n_rows : int
            How many rows, at most those of the data.
        random_state : int, Generator, RandomState or None, default=0
            Seed of the draw.

        Returns
        -------
        WorkSheet
            ``rows`` and ``weights``; ``write`` makes a file of them.
        """
        check_scalar(n_rows, "n_rows", Integral, min_val=1)
        if n_rows > len(self.data):
            raise ValueError(
                f"n_rows must be at most the {len(self.data)} rows of the data. "
                f"Got {n_rows}."
            )
        rows, weights = draw_rows(self.suspicion, n_rows, random_state)
        return WorkSheet(rows, weights, list(self.describe(rows)))

    def write(
        self,
        path: str | os.PathLike[str],
        n: int | None = None,
        *,
        delimiter: str = ",",
    ) -> None:
        """Write the ``n`` worst rows for annotators, as the suffix says.

        Parameters
        ----------
        path : str or path-like
            ``.jsonl`` (an object a row), ``.csv`` (a line a suspect) or ``.html`` (a
            page for a browser, which also has the labels); ``.gz`` compresses.
        n : int or None, default=None
            How many rows; None for all in which something is suspected, and for 200
            on a page.
        delimiter : str, default=","
            What separates the cells of ``.csv``.
        """
        kind = suffix(Path(path))
        check_suffix(path)
        with replacing_text(path) as text:
            text.writelines(WRITERS[kind](self, n, delimiter))

    @property
    def summary(self) -> str:
        """How much there is, and how much is expected to be amiss."""
        counts = (
            f"{each.data.sum():,.0f}"
            for each in (self.suspicion.missing, self.suspicion.wrong)
        )
        return (
            f"{len(self.data):,} rows, {self.data.n_labels:,} labels, about "
            f"{' missing and '.join(counts)} wrong of {self.data.Y.nnz:,} recorded"
        )

    def __repr__(self) -> str:
        return f"Audit({self.summary})"

    def _suspects(self) -> tuple[CSR, CSR]:
        missing, wrong = self.suspicion.missing, self.suspicion.wrong
        return _above(missing, LEAST), _above(wrong, LEAST)

    def _listed(self, matrix: CSR, rows: Ints) -> list[Suspects]:
        """Return the suspects of rows, the most probable first."""
        chosen = matrix[rows]
        order = best_first(chosen)
        names = [self.data.labels.names[label] for label in chosen.indices[order]]
        pairs = list(zip(names, chosen.data[order].tolist(), strict=True))
        starts = chosen.indptr.tolist()
        return [pairs[starts[at] : starts[at + 1]][:MOST] for at in range(len(rows))]


def audit(
    items: Any,
    Y: Any = None,
    *,
    label_names: Sequence[str] | None = None,
    learner: Any = None,
    propensity: Any = None,
    n_jobs: int | None = None,
    random_state: RandomState = 0,
) -> Audit:
    """Find labels that were probably forgotten, and some that are probably wrong.

    Each row is judged by a learner that has not seen it (five-fold cross-validation).
    The scores become probabilities, and with the propensities probabilities that a
    label is true although it is not recorded.

    Parameters
    ----------
    items : Dataset, texts or array of shape (n_rows, n_features)
        A data set, which has its labels, or texts, or features.
    Y : array or sparse array of shape (n_rows, n_labels) or None, default=None
        Recorded labels, 0/1; None for a data set.
    label_names : sequence of str or None, default=None
        One name per column of ``Y``; None for their numbers.
    learner : multi-label classifier of this package or None, default=None
        What ranks the labels; None is what ``choose`` calls fast.
    propensity : Propensity, array of shape (n_labels,), float or None, default=None
        The probability that a true label is recorded. None is one half for all labels,
        which ranks suspects by how probable their scores make them; what it says of
        how many are missing is a guess, until an audited sample tells.
    n_jobs : int or None, default=None
        Threads of the learner; None is its own choice.
    random_state : int, Generator, RandomState or None, default=0
        Seed of the folds.

    Returns
    -------
    Audit
        ``rows`` and ``labels``, the worst first; ``write``, and ``sample``.

    Examples
    --------
    >>> texts = ["red wine", "white wine", "rye bread", "brown bread"] * 10
    >>> tags = [[1, 0], [1, 0], [0, 1], [0, 1]] * 10
    >>> tags[5] = [0, 0]  # somebody forgot that white wine is a drink
    >>> found = audit(texts, tags, label_names=["drink", "food"])
    >>> first = found.rows(1)[0]
    >>> first.row, first.missing[0][0]
    (5, 'drink')
    """
    data = _as_dataset(items, Y, label_names)
    if len(data) < FEWEST_ROWS:
        raise ValueError(
            f"items must have at least {FEWEST_ROWS} rows to be judged by others. "
            f"Got {len(data)}."
        )
    if not data.Y.nnz:
        raise ValueError("Y must hold at least one label. Got none.")
    values = _believe(propensity, data.Y)
    X = data.X
    if X is None:
        X = choose_vectorizer(len(data)).fit_transform(data.texts or ())
    if learner is None:
        learner = choose(len(data), X.shape[1], data.n_labels, "fast").learner
    check_learner(learner, "learner")
    judge = clone(learner)
    if n_jobs is not None:
        set_jobs(judge, n_jobs)
    ranked = rank_unseen(judge, X, data.Y, random_state)
    return Audit(data, values, suspect(ranked, data.Y, values))


def check_suffix(path: str | os.PathLike[str]) -> None:
    """Refuse a file whose suffix tells no way to write it."""
    if suffix(Path(path)) not in WRITERS:
        raise ValueError(
            f"path must end with one of {', '.join(WRITERS)}, perhaps with .gz. "
            f"Got {Path(path).name!r}."
        )


def _as_dataset(items: Any, Y: Any, names: Sequence[str] | None) -> Dataset:
    if isinstance(items, Dataset):
        if Y is not None or names is not None:
            raise ValueError("Y and label_names must be those of the data set.")
        return items
    if Y is None:
        raise ValueError(
            "Y must have the labels of items that are no Dataset: a file is read by "
            "audit(ml.read(path))."
        )
    called = None if names is None else tuple(names)
    is_list = isinstance(items, list | tuple) and len(items) > 0
    if getattr(items, "ndim", 2) == 1 or (is_list and isinstance(items[0], str)):
        return Dataset(None, Y, label_names=called, texts=tuple(items))
    return Dataset(items, Y, label_names=called)


def _believe(propensity: Any, Y: CSR) -> Floats:
    """Return propensities, neutral ones if none are given; refuse impossible ones."""
    counts = np.bincount(Y.indices, minlength=Y.shape[1])
    if propensity is None:
        return np.maximum(NEUTRAL, find_least(counts, Y.shape[0]))
    values = _validation.propensities(propensity, Y.shape[1])
    check_possible(values, counts, Y.shape[0])
    return values


def _above(matrix: CSR, least: float) -> CSR:
    kept = matrix.copy()
    kept.data[kept.data < least] = 0
    kept.eliminate_zeros()
    return kept


def _as_page(found: Audit, n: int | None, delimiter: str) -> Iterator[str]:
    return page_parts(found.summary, found.rows(n or PAGE_ROWS), found.labels())


Writer = Callable[[Audit, int | None, str], Iterator[str]]
WRITERS: Mapping[str, Writer] = {
    ".jsonl": lambda found, n, delimiter: jsonl_lines(found.rows(n)),
    ".csv": lambda found, n, delimiter: csv_lines(found.rows(n), delimiter),
    ".html": _as_page,
}
