"""The rows of a data set in one form: sparse, a part to learn and a part to judge."""

from pathlib import Path

import numpy as np
import scipy.sparse as sp

from benchmarks.ledger import digest
from benchmarks.peers.texts import WORDS, vectorize
from benchmarks.source import Source
from manylabel.data import Dataset

PARTS = ("train", "test")
SPLIT_SEED = 0  # of a set that has no test rows of its own: one row in five


def stamp_of(source: Source, *, scaled: bool) -> str:
    """Return what changes when the rows of a set do."""
    files = [(path.name, path.stat().st_size) for path in source.paths.values()]
    return digest(sorted(files), {"words": WORDS, "scaled": scaled})


def write_rows(source: Source, folder: Path, *, scaled: bool) -> None:
    """Write X and Y of both parts as ``.npz`` of SciPy into a new folder."""
    rows = split(source)
    X = {part: sp.csr_array(rows[part].X, dtype=np.float32) for part in PARTS}
    if scaled:
        X = scale(X)
    folder.mkdir(parents=True)
    for part in PARTS:
        Y = sp.csr_array(rows[part].Y)
        sp.save_npz(folder / f"{part}_X.npz", X[part], compressed=False)
        sp.save_npz(folder / f"{part}_Y.npz", Y, compressed=False)


def split(source: Source) -> dict[str, Dataset]:
    """Return the rows by part: texts as words, a set in one part drawn apart."""
    parts = source.parts
    if "all" in parts:
        rows = parts["all"]
        held = np.random.default_rng(SPLIT_SEED).permutation(len(rows)) % 5 == 0
        return {
            "train": rows[np.flatnonzero(~held)],
            "test": rows[np.flatnonzero(held)],
        }
    return vectorize(**parts) if parts["train"].X is None else parts


def scale(X: dict[str, sp.csr_array]) -> dict[str, sp.csr_array]:
    """Return features brought to [0, 1] by the training rows.

    Examples
    --------
    >>> X = {"train": sp.csr_array([[2.0], [4.0]]), "test": sp.csr_array([[5.0]])}
    >>> scale(X)["test"].toarray()
    array([[1.5]], dtype=float32)
    """
    train = X["train"].toarray()
    low, high = train.min(axis=0), train.max(axis=0)
    width = np.where(high > low, high - low, 1)
    return {
        part: sp.csr_array(((each.toarray() - low) / width).astype(np.float32))
        for part, each in X.items()
    }
