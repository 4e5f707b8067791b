"""The data sets of the papers: where they are looked for, and who publishes them."""

import os
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import load_svmlight_file
from sklearn.preprocessing import scale

from manylabel._typing import Array, Floats
from manylabel.data import Dataset
from manylabel.data import read as read_data
from manylabel.exceptions import DataError
from manylabel.experiments import files

SUFFIXES = ("", ".gz")
KNOWN: dict[str, Any] = {
    "publisher": "",
    "train": [],
    "test": [],
    "all": [],
    "propensity": [0.55, 1.5],
    "scaling": None,
    "test_rows": 0.2,
    "noisy_features": None,
}
N_TRAIN, N_TEST = 10_000, 2_000  # of generated rows


@dataclass(frozen=True)
class Source:
    """A data set: its files, if they were found, and what is known of it.

    Parameters
    ----------
    name : str
        What the experiments call it.
    publisher : str
        Where it can be had.
    paths : dict of str to Path
        The files found, by part: train and test, or all.
    missing : tuple of str
        The names of files that were looked for in vain.
    propensity : tuple of float
        The constants of its propensities.
    scaling : {"rows", "columns"} or None
        What is brought to one scale before anything else.
    test_rows : int or float
        How many rows, or which share, are for testing if the files do not tell.
    noisy_features : int or None
        Of a generated set: the features that say nothing.
    """

    name: str
    publisher: str
    paths: dict[str, Path]
    missing: tuple[str, ...]
    propensity: tuple[float, float]
    scaling: str | None
    test_rows: float
    noisy_features: int | None

    @cached_property
    def parts(self) -> dict[str, Dataset]:
        """The rows by part."""
        return {part: read_data(path) for part, path in self.paths.items()}

    @cached_property
    def whole(self) -> tuple[sp.csr_array, sp.csr_array]:
        """All rows, training rows first."""
        parts = self.parts.values()
        X = sp.vstack([part.X for part in parts], format="csr")
        if self.scaling == "columns":
            largest = abs(X).max(axis=0).toarray().ravel()
            X = (X / np.where(largest > 0, largest, 1)).tocsr()
        return X, sp.vstack([part.Y for part in parts], format="csr")

    @cached_property
    def spread(self) -> tuple[Floats, sp.csr_array]:
        """All rows, dense, each feature scaled to [0, 1]."""
        X, Y = self.whole
        dense: Array = X.toarray().astype(float)
        low, high = dense.min(axis=0), dense.max(axis=0)
        spread: Floats = (dense - low) / np.where(high > low, high - low, 1)
        return spread, Y

    def binary(self, seed: int) -> tuple[Any, Any, Any, Any] | tuple[Any, Any]:
        """Return training and test rows of two classes, or all rows and classes."""
        if self.noisy_features is not None:
            return crossed(self.noisy_features, seed)
        if "train" in self.paths:
            X, y = load_svmlight_file(str(self.paths["train"]))
            path = str(self.paths["test"])
            test_X, test_y = load_svmlight_file(path, n_features=X.shape[1])
            return X, test_X, y, test_y
        X, y = load_svmlight_file(str(self.paths["all"]))
        return (scale(X.toarray(), axis=1) if self.scaling == "rows" else X), y


def crossed(n_noisy: int, seed: int) -> tuple[Any, Any, Any, Any]:
    """Return the XOR of the signs of two normal features, among uniform noise.

    Training rows and test rows, then the classes of both (Liu & Tsang 2017, 8.1.1).
    """
    rng, parts = np.random.default_rng(seed), []
    for n_rows in (N_TRAIN, N_TEST):
        X = np.hstack([rng.normal(size=(n_rows, 2)), rng.random((n_rows, n_noisy))])
        parts.append((X.astype(np.float32), (X[:, 0] > 0) == (X[:, 1] > 0)))
    (X, y), (test_X, test_y) = parts
    return X, test_X, y, test_y


class Catalogue:
    """The data sets of ``data.toml`` and their files in a user's folder.

    Parameters
    ----------
    folder : Path
        Where files are looked for, in it and in its subfolders.
    path : Path
        The file of the data sets.
    """

    def __init__(self, folder: Path, path: Path = files.HOME / "data.toml") -> None:
        self.folder, self.path = folder, path
        self._entries = files.read(path)
        self._sources: dict[str, Source] = {}

    @cached_property
    def _files(self) -> list[Path]:
        return sorted(
            Path(place, name)
            for place, _, names in os.walk(self.folder)
            for name in names
        )

    def __getitem__(self, name: str) -> Source:
        if name not in self._sources:
            self._sources[name] = self._look_for(name)
        return self._sources[name]

    def _look_for(self, name: str) -> Source:
        if name not in self._entries:
            raise DataError(self.path, f"expected the data set {name!r}, found none.")
        entry = files.take(self.path, self._entries[name], KNOWN)
        parts = {part: entry[part] for part in ("train", "test", "all") if entry[part]}
        found = {part: self._find(names) for part, names in parts.items()}
        return Source(
            name,
            entry["publisher"],
            {part: path for part, path in found.items() if path},
            tuple(parts[part][0] for part, path in found.items() if path is None),
            tuple(entry["propensity"]),
            entry["scaling"],
            entry["test_rows"],
            entry["noisy_features"],
        )

    def _find(self, names: list[str]) -> Path | None:
        """Return the first file that has one of the names, in the order of the names.

        A name may begin with folders: ``bibtex/train.txt``.
        """
        for name in names:
            for suffix in SUFFIXES:
                end = Path(name + suffix).parts
                for path in self._files:
                    if path.parts[-len(end) :] == end:
                        return path
        return None


@lru_cache(maxsize=2)
def source(folder: Path, path: Path, name: str) -> Source:
    """Return a data set, whose rows stay in memory while the next runs need them."""
    return Catalogue(folder, path)[name]
