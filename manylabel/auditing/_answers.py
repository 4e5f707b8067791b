"""What annotators answered: complete labels of some rows, and what they teach."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from manylabel import _validation
from manylabel._typing import CSR, Floats, Ints, RandomState
from manylabel.auditing._sampling import AT_RANDOM
from manylabel.auditing._sheets import read_sheet
from manylabel.data.dataset import Dataset
from manylabel.exceptions import DataError
from manylabel.losses.ranked import Ranked
from manylabel.metrics import as_metric
from manylabel.metrics.resampling import resampled_sums
from manylabel.parallel import spawn_seeds
from manylabel.propensity import Propensity, estimate_share

FIGURES = ("P", "nDCG", "recall")  # means over rows, so that weights make sense
TAILS = (0.025, 0.975)
N_RESAMPLES = 1000


class Estimate(NamedTuple):
    """A figure with an interval of 95 %."""

    value: float
    low: float
    high: float


class Answers:
    """Complete labels of audited rows.

    Parameters
    ----------
    data : Dataset
        The data that the rows are of, labels as they were recorded.
    rows : ndarray of shape (n_answered,)
        Numbers of the audited rows.
    complete : array or sparse array of shape (n_answered, n_labels)
        All true labels of these rows, 0/1. Recorded labels that are not among them
        were wrong.
    weights : array of shape (n_answered,) or None, default=None
        How many rows of the data each stands for.

    Examples
    --------
    >>> import numpy as np
    >>> import manylabel as ml
    >>> corpus = ml.make_corpus(n_rows=1000, n_labels=30, random_state=0)
    >>> rows = np.arange(200)  # of which somebody has noted all labels
    >>> answers = ml.Answers(corpus.dataset, rows, corpus.complete[rows])
    >>> values = answers.propensity().values_
    >>> bool(abs(values - corpus.propensity).mean() < 0.05)
    True
    >>> answers.recorded()["recall"]
    Estimate(value=0.55..., low=0.51..., high=0.58...)
    """

    def __init__(
        self, data: Dataset, rows: Any, complete: Any, weights: Any = None
    ) -> None:
        self.data, self.rows = data, np.asarray(rows, np.int64)
        _check_rows(self.rows, len(data))
        n_rows = len(self.rows)
        self.complete: CSR = _validation.labels(
            complete, n_rows=n_rows, n_labels=data.n_labels, name="complete"
        )
        self.weights: Floats = _validation.row_weights(weights, n_rows)

    @classmethod
    def read(cls, path: str | os.PathLike[str], data: Dataset) -> "Answers":
        """Read a work sheet that was filled in.

        Parameters
        ----------
        path : str or path-like
            JSON lines or a table (``.csv``, ``.tsv``) as ``WorkSheet.write`` makes
            them, ``complete`` being a list of names now, in a table with ``|`` between
            them or ``-`` for none; where it is still null, or empty, the row was not
            answered. A recorded
            label that is neither in ``complete`` nor in ``wrong`` was overlooked, and
            is refused.
        data : Dataset
            The data that the rows were drawn from. Rows are found by ``id`` where the
            data have any, else by ``row``.

        Returns
        -------
        Answers
            The rows that were answered.
        """
        place = _Place(data)
        rows, columns, weights = list[int](), list[list[str]](), list[float]()
        for number, record in read_sheet(path := Path(path)):
            try:
                if not _is_answered(record):
                    continue
                row = place.find(record)
                if row in rows:
                    raise ValueError(f"expected each row once, found row {row} again.")
                columns.append(place.labels(record, row))
                rows.append(row)
                weights.append(_weight(record, len(data)))
            except ValueError as error:
                raise DataError(path, str(error), line=number) from None
        if not rows:
            raise DataError(path, "expected answers in 'complete', found none.")
        return cls(data, rows, data.labels.encode(columns), weights)

    @property
    def right(self) -> CSR:
        """The recorded labels of the rows that are true."""
        return sp.csr_array(self.data.Y[self.rows].multiply(self.complete))

    @property
    def dataset(self) -> Dataset:
        """The audited rows with their complete labels."""
        part = self.data[self.rows]
        names = part.feature_names, part.label_names, part.ids, part.texts
        return Dataset(part.X, self.complete, *names)

    def propensity(self) -> Propensity:
        """Return how often true labels are recorded, with intervals."""
        return Propensity.from_audit(
            self.right, self.complete, Y=self.data.Y, sample_weight=self.weights
        )

    def recorded(self) -> dict[str, Estimate]:
        """Return precision and recall of the recorded labels themselves."""
        right, there, true = (
            np.diff(each.indptr)
            for each in (self.right, self.data.Y[self.rows], self.complete)
        )
        shares = {"precision": there, "recall": true}
        return {
            name: Estimate(*estimate_share(right, whole, self.weights).tolist())
            for name, whole in shares.items()
            if whole.any()
        }

    def judge(
        self, model: Any, k: int | tuple[int, ...] = (1, 3, 5), *, seed: RandomState = 0
    ) -> dict[str, Estimate]:
        """Return P@k, nDCG@k and recall@k by the complete labels, for all the data.

        Rows are drawn again for the intervals (a bootstrap). A model that has learnt
        the audited rows is flattered.

        Parameters
        ----------
        model : Tagger, or scores of shape (n_answered, n_labels)
            What to judge.
        k : int or tuple of int, default=(1, 3, 5)
            Ranking depths.
        seed : int, Generator, RandomState or None, default=0
            Seed of the bootstrap.

        Returns
        -------
        dict of str to Estimate
            By the name of the figure.
        """
        Y, scores = self.complete, model
        if hasattr(model, "judge"):
            found = model.judge(self.dataset, k=max(_validation.depths(k)))
            Y, scores = found.Y, found.scores
        return weigh(Y, scores, self.weights, k, seed)


def weigh(
    Y: Any, scores: Any, weights: Floats, k: int | tuple[int, ...], seed: RandomState
) -> dict[str, Estimate]:
    """Return weighted means over rows of ranking figures, with intervals."""
    depths = _validation.depths(k)
    view = Ranked.of(Y, scores, max(depths))
    kinds = [as_metric(f"{name}@{depth}") for name in FIGURES for depth in depths]
    terms = [metric.terms(view)[:, :1] for metric in kinds]
    columns = np.hstack([*terms, np.ones((len(weights), 1))]) * weights[:, None]
    drawn = resampled_sums(columns, N_RESAMPLES, spawn_seeds(seed, 1))
    sums = np.vstack([columns.sum(axis=0), drawn])
    sums *= len(weights) / sums[:, -1:]  # as if each row had the weight 1
    found = {}
    for at, (metric, part) in enumerate(zip(kinds, terms, strict=True)):
        value, *others = metric.take(part, view).resampled(sums[:, at : at + 1])
        found[metric.key] = Estimate(*map(float, (value, *np.quantile(others, TAILS))))
    return found


class _Place:
    """Where the rows of a work sheet are in the data."""

    def __init__(self, data: Dataset) -> None:
        self.data = data
        self.rows = {name: row for row, name in enumerate(data.ids or ())}
        if len(self.rows) < len(data.ids or ()):
            self.rows = {}  # ids that are not unique name no row

    def find(self, record: Mapping[str, Any]) -> int:
        """Return the row of a record, or raise ValueError."""
        row = record.get("row")
        if self.rows and "id" in record:
            row = self.rows.get(str(record["id"]))
            if row is None:
                found = f"found {record['id']!r:.60}"
                raise ValueError(f"expected the id of a row of the data, {found}.")
        last = len(self.data) - 1
        if isinstance(row, bool) or not isinstance(row, int) or not 0 <= row <= last:
            raise ValueError(
                f"expected a row of the data, from 0 to {last}, found {row!r:.60}."
            )
        text = record.get("text")
        if text is not None and self.data.texts and self.data.texts[row] != text:
            raise ValueError(
                f"expected the text of row {row} of the data, found other."
            )
        return row

    def labels(self, record: Mapping[str, Any], row: int) -> list[str]:
        """Return the complete labels of a record, or raise ValueError."""
        complete, wrong = (_names(record, each) for each in ("complete", "wrong"))
        for name in (*complete, *wrong):
            if name not in self.data.labels:
                raise ValueError(
                    f"expected labels of the data, found {name!r:.60} in row {row}."
                )
        recorded = self.data.labels.decode(self.data.Y[[row]])[0]
        for name in recorded:
            if (name in complete) == (name in wrong):
                raise ValueError(
                    f"expected the recorded label {name!r:.60} of row {row} either in "
                    f"'complete' or in 'wrong', found it in "
                    f"{'both' if name in complete else 'neither'}."
                )
        return complete


def _names(record: Mapping[str, Any], field: str) -> list[str]:
    names = record.get(field) or []
    if not isinstance(names, list) or not all(isinstance(n, str) for n in names):
        raise ValueError(f"expected a list of names in {field!r}, found {names!r:.60}.")
    return names


def _is_answered(record: Mapping[str, Any]) -> bool:
    if record.get("complete") is not None:
        return True
    if record.get("wrong"):
        raise ValueError(
            "expected all true labels in 'complete', found only those in 'wrong'."
        )
    return False


def _weight(record: Mapping[str, Any], n_rows: int) -> float:
    weight = record.get("weight", 1.0)
    if isinstance(weight, bool) or not isinstance(weight, int | float):
        raise ValueError(f"expected a number in 'weight', found {weight!r:.60}.")
    if not 0 < weight < np.inf:
        raise ValueError(f"expected a weight above 0, found {weight:g}.")
    most = n_rows / AT_RANDOM  # of a sample of one row
    if weight > most:
        raise ValueError(
            f"expected a weight of at most {most:g}, found {weight:g}: a spreadsheet "
            "may have dropped its decimal point."
        )
    return float(weight)


def _check_rows(rows: Ints, n_rows: int) -> None:
    wrong = rows[(rows < 0) | (rows >= n_rows)]
    if len(wrong):
        raise ValueError(
            f"rows must be of the {n_rows} rows of the data. Got {wrong[0]}."
        )
    if len(np.unique(rows)) < len(rows):
        raise ValueError("rows must differ.")
    if not len(rows):
        raise ValueError("rows must be at least one. Got none.")
