"""Which rows to label completely: drawn with known chances, rare labels too."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from manylabel._typing import CSR, Floats, Ints, RandomState
from manylabel.auditing._sheets import jsonl_sheet, table_sheet
from manylabel.auditing._suspicion import Suspicion
from manylabel.data.source import suffix
from manylabel.data.writing import replacing_text
from manylabel.parallel import spawn_seeds

AT_RANDOM = 0.25  # of the sample, so that no weight is above four times the mean


class WorkSheet:
    """Rows to be labelled completely by people, and what each stands for.

    Made by ``Audit.sample``. A line of the file has ``row``, ``id`` and ``text`` where
    there are any, the recorded ``labels``, ``suggestions``, the ``weight``, and
    ``complete``, which is null: it is to become the list of all true labels. Recorded
    labels that are wrong go to a list ``wrong``. A table for a spreadsheet has the same
    columns: in ``complete`` and ``wrong`` ``|`` separates labels, and ``-`` is none.

    Parameters
    ----------
    rows : ndarray of shape (n_drawn,)
        Numbers of the rows, ascending.
    weights : ndarray of shape (n_drawn,)
        How many rows of the data each stands for.
    findings : sequence of RowFinding
        What was found in them.

    Examples
    --------
    >>> import manylabel as ml
    >>> corpus = ml.make_corpus(n_rows=100, n_labels=10, random_state=0)
    >>> sheet = ml.audit(corpus.X, corpus.Y).sample(20)
    >>> len(sheet.rows)
    20
    """

    def __init__(self, rows: Ints, weights: Floats, findings: Sequence[Any]) -> None:
        self.rows, self.weights, self.findings = rows, weights, findings

    def write(self, path: str | os.PathLike[str], *, delimiter: str = ",") -> None:
        """Write the rows; the file appears whole or not at all.

        Parameters
        ----------
        path : str or path-like
            ``.csv`` is a table, anything else JSON lines.
        delimiter : str, default=","
            What separates the cells of a table.
        """
        lines = self.lines()
        if suffix(Path(path)) == ".csv":
            lines = table_sheet(self.findings, self.weights.tolist(), delimiter)
        with replacing_text(path) as text:
            text.writelines(f"{line}\n" for line in lines)

    def lines(self) -> Iterator[str]:
        """Return the lines of a file, an object a row."""
        return jsonl_sheet(self.findings, self.weights.tolist())


def draw_rows(
    suspicion: Suspicion, n_drawn: int, random_state: RandomState
) -> tuple[Ints, Floats]:
    """Return rows, ascending, and the inverse of the chance that each had.

    A quarter of a row's chance is the same for all; of the rest each band of frequency
    has an equal share, given to rows by how many true labels of the band they are
    expected to have. The draw is systematic, in random order: exactly so many rows,
    each with exactly its chance.
    """
    rng = np.random.default_rng(spawn_seeds(random_state, 1))
    n_rows = suspicion.true.shape[0]
    expected = count_by_band(suspicion.true, suspicion.bands)
    totals = expected.sum(axis=0)
    shares = (expected / np.where(totals > 0, totals, 1)).mean(axis=1)
    size = AT_RANDOM / n_rows + (1 - AT_RANDOM) * shares / max(shares.sum(), 1e-12)
    chance = _scale(size, n_drawn)
    order = rng.permutation(n_rows)
    ends = np.cumsum(chance[order])
    ends[-1] = n_drawn  # but for rounding
    points = rng.random() + np.arange(n_drawn)
    rows = np.sort(order[np.searchsorted(ends, points, side="right")])
    return rows, 1 / chance[rows]


def count_by_band(true: CSR, bands: Ints) -> Floats:
    """Return how many true labels of each band a row is expected to have."""
    ones = np.ones(len(bands))
    member = sp.csr_array((ones, (np.arange(len(bands)), bands)))
    return np.asarray((true @ member).toarray())


def _scale(size: Floats, n_drawn: int) -> Floats:
    """Return chances in proportion to sizes that add up to a number, none above 1."""
    chance = np.zeros(len(size))
    is_open = np.ones(len(size), np.bool_)
    while True:
        left = n_drawn - np.count_nonzero(~is_open)
        chance[is_open] = left * size[is_open] / max(size[is_open].sum(), 1e-300)
        over = is_open & (chance >= 1)
        if not over.any():
            return chance
        chance[over], is_open[over] = 1.0, False
