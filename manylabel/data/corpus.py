"""A generated corpus whose complete labels are known.

Real data never shows the labels that its annotators left out, so the claim that a
measure or a learner is unbiased under missing labels can be checked here only.
"""

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.sparsefuncs_fast import inplace_csr_row_normalize_l2

from manylabel import _validation
from manylabel._typing import CSR, Array, Floats, Ints, RandomState
from manylabel.data.dataset import Dataset
from manylabel.parallel import spawn_seeds
from manylabel.propensity import recorded_law

SIGNATURE = 5  # words that speak for one label
BLOCK = 1 << 14  # rows drawn at once: bounds the memory, and is part of the seed's law
LIMITS: dict[str, tuple[Any, int, int]] = {
    "n_rows": (Integral, 1, 2**31 - 1),
    "n_features": (Integral, 1, 2**31 - 1),
    "n_labels": (Integral, 1, 2**31 - 1),
    "n_words": (Real, 1, 10**6),
    "n_labels_per_row": (Real, 1, 10**6),
    "skew": (Real, 0, 10),
    "correlation": (Real, 0, 1),
    "noise": (Real, 0, 1),
}


@dataclass(frozen=True, eq=False)
class Corpus:
    """Documents, the labels recorded for them and the labels that are true.

    Parameters
    ----------
    X : csr_array of shape (n_rows, n_features)
        Word frequencies, float32, rows of unit length.
    Y : csr_array of shape (n_rows, n_labels)
        Recorded labels, float32 ones: ``complete`` without the hidden entries.
    complete : csr_array of shape (n_rows, n_labels)
        All true labels, float32 ones; at least one per row.
    propensity : ndarray of shape (n_labels,)
        Probability that a true label was recorded.

    Examples
    --------
    >>> corpus = make_corpus(n_rows=100, n_features=50, n_labels=10)
    >>> bool(corpus.Y.nnz < corpus.complete.nnz)
    True
    """

    X: CSR
    Y: CSR
    complete: CSR
    propensity: Floats

    @property
    def dataset(self) -> Dataset:
        """The documents and what was recorded of them, as one reads from a file."""
        return Dataset(self.X, self.Y)


def make_corpus(
    n_rows: int = 2000,
    n_features: int = 1000,
    n_labels: int = 200,
    *,
    n_words: float = 30,
    n_labels_per_row: float = 5,
    skew: float = 1.0,
    correlation: float = 0.5,
    noise: float = 0.3,
    propensity: Any = (0.55, 1.5),
    random_state: RandomState = 0,
) -> Corpus:
    """Draw Zipfian documents with correlated power-law labels, then hide labels.

    Labels and words are numbered by frequency: label 0 and word 0 are drawn most often.
    The labels fall into about ``sqrt(n_labels)`` topics, each with frequent and rare
    ones. A row draws its first label by a power law and each further one from the topic
    of the first or from all. A word of the row comes from the signature of one of its
    labels, a few words drawn once, or from a Zipfian background. At last each true
    label of each row is recorded with the probability ``propensity``, independently.

    Parameters
    ----------
    n_rows, n_features, n_labels : int, default=2000, 1000, 200
        Sizes; nothing dense is made, so 1e6 of each is fine.
    n_words : float, default=30
        Mean number of words in a row (Poisson, at least one).
    n_labels_per_row : float, default=5
        Mean number of labels drawn for a row (one plus Poisson). A label drawn twice
        counts once.
    skew : float, default=1.0
        The r-th label is drawn with probability proportional to ``1 / r**skew``.
    correlation : float, default=0.5
        Probability that a further label comes from the topic of the first. The label
        frequencies do not depend on it.
    noise : float, default=0.3
        Probability that a word comes from the background.
    propensity : tuple (a, b), float or array of shape (n_labels,), default=(0.55, 1.5)
        Probability that a true label is recorded: values in (0, 1], or the constants of
        the law of Jain et al. (2016). A smaller ``a`` hides more.
    random_state : int, Generator, RandomState or None, default=0
        The same seed gives the same bits.

    Returns
    -------
    Corpus
        ``X``, ``Y`` (recorded), ``complete`` and the true ``propensity``.

    Notes
    -----
    The law of Jain et al. takes the number of rows *recorded* with a label, which is
    known only once labels are hidden. The truth here is its fixed point: with ``n_l``
    the number of rows that truly have label l, ``p_l`` solves
    ``p_l = law(p_l * n_l)``, the law at the expected number of recorded rows. So
    ``Propensity(a, b).fit(corpus.Y)`` estimates ``corpus.propensity``.

    Examples
    --------
    >>> corpus = make_corpus(n_rows=300, n_features=100, n_labels=20)
    >>> corpus.X.shape, corpus.Y.shape
    ((300, 100), (300, 20))
    >>> hidden = 1 - corpus.Y.sum() / corpus.complete.sum()
    >>> bool(0.2 < hidden < 0.8)
    True
    """
    _check_arguments(
        n_rows=n_rows,
        n_features=n_features,
        n_labels=n_labels,
        n_words=n_words,
        n_labels_per_row=n_labels_per_row,
        skew=skew,
        correlation=correlation,
        noise=noise,
    )
    rng = np.random.default_rng(spawn_seeds(random_state, 1))
    complete = _draw_labels(rng, n_rows, n_labels, n_labels_per_row, skew, correlation)
    values = _true_propensities(propensity, complete)
    signatures = rng.integers(n_features, size=(n_labels, SIGNATURE), dtype=np.int32)
    X = _draw_words(rng, complete, signatures, n_features, n_words, noise)
    return Corpus(X, _hide(rng, complete, values), complete, values)


def _draw_labels(
    rng: np.random.Generator,
    n_rows: int,
    n_labels: int,
    n_labels_per_row: float,
    skew: float,
    correlation: float,
) -> CSR:
    """Return the complete labels, as ones.

    A topic has a stretch of the unit interval and each label a stretch of its topic's.
    The first label is where a uniform point falls. A label of the same topic is where
    one falls in that topic's stretch; as the topic itself came by the power law, so
    does the label.
    """
    topic = np.arange(n_labels) % int(np.ceil(np.sqrt(n_labels)))
    order = np.argsort(topic, kind="stable")
    edges = _edges((1.0 + order) ** -skew)
    begin = edges[np.searchsorted(topic[order], topic)]
    end = edges[np.searchsorted(topic[order], topic, side="right")]

    counts = 1 + rng.poisson(n_labels_per_row - 1, n_rows)
    starts = np.cumsum(counts) - counts
    points = rng.random(counts.sum())
    labels = order[_locate(edges, points)]
    same = rng.random(len(labels)) < correlation
    same[starts] = False
    first = np.repeat(labels[starts], counts)[same]
    points = begin[first] + (end - begin)[first] * points[same]
    labels[same] = order[_locate(edges, points)]

    complete = _count(labels, counts, n_labels)
    complete.data[:] = 1
    return complete


def _draw_words(
    rng: np.random.Generator,
    complete: CSR,
    signatures: Array,
    n_features: int,
    n_words: float,
    noise: float,
) -> CSR:
    """Return word frequencies, rows of unit length, drawn block by block."""
    edges = _edges(1 / (1.0 + np.arange(n_features)))
    blocks = []
    for start in range(0, complete.shape[0], BLOCK):
        block = complete[start : start + BLOCK]
        counts = np.maximum(1, rng.poisson(n_words, block.shape[0]))
        row = np.repeat(np.arange(len(counts)), counts)
        points = rng.random(len(row))
        background = rng.random(len(row)) < noise
        spoken = ~background

        words = np.empty(len(row), np.int32)
        words[background] = _locate(edges, points[background])
        n_choices = np.diff(block.indptr)[row[spoken]]
        choice = (points[spoken] * n_choices).astype(np.int64)
        labels = block.indices[block.indptr[row[spoken]] + choice]
        words[spoken] = signatures[labels, rng.integers(SIGNATURE, size=len(labels))]
        blocks.append(_count(words, counts, n_features))
    X = sp.vstack(blocks, format="csr")
    inplace_csr_row_normalize_l2(X)
    return X


def _true_propensities(propensity: Any, complete: CSR) -> Floats:
    """Return the given values, or the fixed point of the law of Jain et al."""
    n_rows, n_labels = complete.shape
    if not isinstance(propensity, tuple):
        return _validation.propensities(propensity, n_labels)
    a, b = _law_constants(propensity)
    n_true = np.bincount(complete.indices, minlength=n_labels)
    n_true, label = np.unique(n_true, return_inverse=True)
    values = np.ones(len(n_true))
    # From above the iteration falls to the fixed point; a round shrinks the distance
    # by the law's elasticity, a * (1 - p), or more.
    for _ in range(256):
        values = recorded_law(values * n_true, n_rows, a, b)
    return values[label]


def _law_constants(propensity: tuple[Any, ...]) -> tuple[float, float]:
    """Return (a, b), or raise ValueError."""
    numbers = [isinstance(c, Real) and 0 < float(c) < np.inf for c in propensity]
    if numbers != [True, True]:
        raise ValueError(
            "propensity must be values in (0, 1] or a tuple (a, b) of positive numbers."
            f" Got {propensity!r}."
        )
    return float(propensity[0]), float(propensity[1])


def _hide(rng: np.random.Generator, complete: CSR, propensity: Floats) -> CSR:
    """Return the recorded labels: each true one is kept with its propensity."""
    kept = rng.random(complete.nnz) < propensity[complete.indices]
    counts = np.diff(np.concatenate([[0], np.cumsum(kept)])[complete.indptr])
    return _rows(complete.indices[kept], counts, complete.shape[1])


def _edges(weights: Array) -> Floats:
    """Cut the unit interval into stretches proportional to ``weights``."""
    edges = np.concatenate([[0.0], np.cumsum(weights)])
    return np.asarray(edges / edges[-1])


def _locate(edges: Floats, points: Floats) -> Ints:
    """Return the number of the stretch in which each point falls."""
    return np.searchsorted(edges[1:-1], points, side="right")


def _count(columns: Array, counts: Ints, n_columns: int) -> CSR:
    """Return how often each row drew each column."""
    result = _rows(columns, counts, n_columns)
    result.sum_duplicates()
    return result


def _rows(columns: Array, counts: Ints, n_columns: int) -> CSR:
    """Return ones at ``columns``, cut into rows of ``counts`` entries each."""
    is_wide = max(len(columns), n_columns) > np.iinfo(np.int32).max
    index = np.int64 if is_wide else np.int32
    indptr = np.concatenate([[0], np.cumsum(counts)], dtype=index, casting="unsafe")
    ones = np.ones(len(columns), np.float32)
    return sp.csr_array(
        (ones, columns.astype(index), indptr), shape=(len(counts), n_columns)
    )


def _check_arguments(**arguments: Any) -> None:
    """Refuse what the laws do not allow; NaN fails every comparison."""
    for name, value in arguments.items():
        kind, low, high = LIMITS[name]
        if not isinstance(value, kind) or isinstance(value, bool):
            what = "an integer" if kind is Integral else "a number"
            raise TypeError(f"{name} must be {what}. Got {value!r}.")
        if not low <= value <= high:
            raise ValueError(
                f"{name} must lie between {low} and {high}. Got {value!r}."
            )
