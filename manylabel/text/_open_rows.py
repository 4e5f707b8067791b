"""Rows of items to learn corrections by: words that a model never saw count too."""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from manylabel._kernels.corrections.candidates import Rows
from manylabel._kernels.text import vocabulary, words
from manylabel._typing import CSR
from manylabel.data import Dataset
from manylabel.text._grams import count, iter_grams
from manylabel.text._items import vectorize
from manylabel.text._vectorizer import TextVectorizer

N_SPARE = 1 << 24  # columns of words that the vectorizer does not know


class Items(NamedTuple):
    """Items as a learner takes them, and as corrections are learnt by."""

    X: CSR
    rows: Rows


def read_items(vectorizer: Any, items: Any) -> Items:
    """Return the features of items, and beside them those of unknown words.

    A vectorizer that has a vocabulary gives its columns and weights; a single word that
    is not in it has a column by its hash, and the weight of the rarest that is.
    """
    if not isinstance(vectorizer, TextVectorizer) or vectorizer.n_features is not None:
        X = vectorize(vectorizer, items, "transform")
        return Items(X, _rows(X))
    counts = _count(vectorizer, items.texts if isinstance(items, Dataset) else items)
    n_known = vectorizer.n_features_out_
    is_known = counts.indices < n_known
    indptr = np.concatenate([[0], np.cumsum(is_known)])[counts.indptr]
    known = (counts.data[is_known], counts.indices[is_known], indptr)
    X = vectorizer._weigh([sp.csr_array(known, shape=(counts.shape[0], n_known))])
    idf = vectorizer.idf_
    weights = np.full(counts.nnz, idf.max(), np.float32)
    weights[is_known] = idf[counts.indices[is_known]]
    data = np.empty(counts.nnz, np.float32)
    vocabulary.weigh(counts.indptr, counts.data, weights, data)
    parts = (data, counts.indices, counts.indptr)
    return Items(X, _rows(sp.csr_array(parts, shape=counts.shape)))


def _count(vectorizer: TextVectorizer, texts: Any) -> CSR:
    """Return how often each known run and each other word is in each text."""
    if texts is None:
        raise ValueError(
            "items must have texts, not features, as the model was fitted on."
        )
    n_known, parts = vectorizer.n_features_out_, []
    for grams in iter_grams(texts, vectorizer.analyzer, vectorizer._sizes()):
        columns = vectorizer._look_up(grams.hashes)
        spare = n_known + (grams.hashes % np.uint64(N_SPARE)).astype(np.int32)
        is_new = (columns < 0) & (grams.hashes >> words.REST == 0)
        columns = np.where(is_new, spare, columns).astype(np.int32)
        parts.append(count(grams.indptr, columns, n_known + N_SPARE))
    return parts[0] if len(parts) == 1 else sp.vstack(parts, format="csr")


def _rows(X: CSR) -> Rows:
    data = np.ascontiguousarray(X.data, np.float32)
    indptr, indices = X.indptr.astype(np.int64), X.indices.astype(np.int32, copy=False)
    return Rows(indptr, indices, data, data.view(np.uint32))
