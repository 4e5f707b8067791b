"""A data set of the papers: its files, and its rows as each protocol takes them."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import load_svmlight_file
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import normalize, scale

from manylabel.data import Dataset, make_corpus, read


@dataclass(frozen=True)
class Source:
    """What is known of a data set.

    Parameters
    ----------
    name : str
        What the tables call it.
    publisher : str
        Where it can be had.
    paths : dict of str to Path
        The files found: ``train`` and ``test``, or ``all``, and with it maybe
        ``train_rows`` and ``test_rows``, whose first columns number rows from 1.
    missing : tuple of str
        The names of files that were looked for in vain; empty if all rows are there.
    split : tuple of int or None
        Rows to draw for training and for testing; of two classes, from both parts.
    scaling : {"rows", "columns"} or None
        ``rows`` are brought to mean 0 and variance 1, ``columns`` to at most 1.
    propensity : dict of str to float
        The constants of its propensities.
    noisy : int or None
        Of generated rows: the features that say nothing.
    words : int or None
        Of generated rows of words: how many words there are.
    """

    name: str
    publisher: str
    paths: dict[str, Path]
    missing: tuple[str, ...]
    split: tuple[int, int] | None
    scaling: str | None
    propensity: dict[str, float]
    noisy: int | None
    words: int | None = None

    @cached_property
    def parts(self) -> dict[str, Dataset]:
        """The rows by part: ``train`` and ``test``, or ``all``."""
        if "train" in self.paths:
            return {part: read(self.paths[part]) for part in ("train", "test")}
        rows = read(self.paths["all"])
        if "train_rows" not in self.paths:
            return {"all": rows}
        return {
            part: rows[_first_column(self.paths[f"{part}_rows"]) - 1]
            for part in ("train", "test")
        }

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
    def spread(self) -> tuple[np.ndarray, sp.csr_array]:
        """All rows, dense, each feature scaled to [0, 1]."""
        X, Y = self.whole
        dense: np.ndarray = X.toarray().astype(float)
        low, high = dense.min(axis=0), dense.max(axis=0)
        return (dense - low) / np.where(high > low, high - low, 1), Y

    def classes(self, seed: int) -> tuple[Any, Any, Any, Any]:
        """Return features for training and for testing, then the classes of both."""
        if self.noisy is not None and self.split is not None:
            return crossed(self.split, self.noisy, seed)
        if self.words is not None and self.split is not None:
            return worded(self.split, self.words, seed)
        if "train" in self.paths:
            X, y = load_svmlight_file(str(self.paths["train"]))
            path = str(self.paths["test"])
            test_X, test_y = load_svmlight_file(path, n_features=X.shape[1])
            if self.split is None:
                return _narrowed(X), _narrowed(test_X), y, test_y
            X, y = _narrowed(sp.vstack([X, test_X], format="csr")), np.r_[y, test_y]
        else:
            X, y = load_svmlight_file(str(self.paths["all"]))
        if self.scaling == "rows":
            X = scale(X.toarray(), axis=1)
        n_train, n_test = self.split or (None, None)
        drawn = train_test_split(
            *(X, y), train_size=n_train, test_size=n_test, random_state=seed, stratify=y
        )
        return tuple(drawn)


def few_rows() -> Source:
    """Return a small set that is made up, with labels and with classes."""
    few = Source(
        *("few rows", "", {}, ()),
        split=(60, 40),
        scaling=None,
        propensity={},
        noisy=20,
    )
    corpus = make_corpus(n_rows=100, n_features=22, n_labels=30, random_state=0)
    rows = Dataset(corpus.X, corpus.Y)
    vars(few)["parts"] = {"train": rows[:60], "test": rows[60:]}
    return few


def crossed(
    split: tuple[int, int], n_noisy: int, seed: int
) -> tuple[Any, Any, Any, Any]:
    """Return the XOR of the signs of two normal features, among uniform noise.

    Features for training and for testing, then the classes of both (Liu & Tsang 2017,
    section 8.1.1).
    """
    rng = np.random.default_rng(seed)
    parts = [
        np.hstack([rng.normal(size=(n_rows, 2)), rng.random((n_rows, n_noisy))])
        for n_rows in split
    ]
    train, test = ((X[:, 0] > 0) == (X[:, 1] > 0) for X in parts)
    return parts[0].astype(np.float32), parts[1].astype(np.float32), train, test


N_TOPICS, TOPIC_WORDS = 4, 50  # of generated rows: two topics a class
WORDS, ON_TOPIC, OFF_TOPIC = 100, 8, 0.1  # of a row; and rows that are off their topic


def worded(
    split: tuple[int, int], n_words: int, seed: int
) -> tuple[Any, Any, Any, Any]:
    """Return rows of few of many words, of two classes of two topics each.

    A row has a hundred words, frequent ones first, and eight of its topic; one row in
    ten has those of any topic. Features for training and for testing, of unit length,
    then the classes of both.

    Examples
    --------
    >>> X, test_X, y, _ = worded((30, 10), 1_000, seed=0)
    >>> X.shape, test_X.shape, y.shape
    ((30, 1000), (10, 1000), (30,))
    """
    rng = np.random.default_rng(seed)
    n_rows = sum(split)
    topics = rng.integers(N_TOPICS, size=n_rows)
    spoken = np.where(
        rng.random(n_rows) < OFF_TOPIC, rng.integers(N_TOPICS, size=n_rows), topics
    )
    known = rng.integers(n_words, size=(N_TOPICS, TOPIC_WORDS))
    drawn = rng.integers(TOPIC_WORDS, size=(n_rows, ON_TOPIC))
    any_words = (n_words * rng.random((n_rows, WORDS)) ** 3).astype(np.int64)
    columns = np.hstack([any_words, known[spoken[:, None], drawn]]).astype(np.int32)
    starts = np.arange(0, columns.size + 1, columns.shape[1], dtype=np.int32)
    ones = np.ones(columns.size, np.float32)
    X = sp.csr_matrix((ones, columns.ravel(), starts), (n_rows, n_words))
    X.sum_duplicates()
    X, y = normalize(X), topics % 2 == 0
    n_train = split[0]
    return X[:n_train], X[n_train:], y[:n_train], y[n_train:]


def _narrowed(X: Any) -> Any:
    """Return a CSR matrix with indices of 32 bits, which scikit-learn's SVM wants."""
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return X


def _first_column(path: Path) -> np.ndarray:
    column: np.ndarray = np.loadtxt(path, dtype=np.int64, usecols=0, ndmin=1)
    return column
