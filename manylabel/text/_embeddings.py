"""Texts as dense rows, by a model of sentences, and rows side by side."""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from numbers import Integral
from typing import Annotated, Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    clone,
)
from sklearn.utils import check_scalar
from sklearn.utils.validation import check_is_fitted

from manylabel import _validation
from manylabel._typing import CSR, Array, Floats, Singles
from manylabel.exceptions import MissingExtra
from manylabel.persistence.records import Field, Finite, Number
from manylabel.persistence.saved import Saved
from manylabel.text._grams import check_text
from manylabel.text._vectorizer import TextVectorizer

N_LOADED = 2  # models that are held in memory


class Embeddings(
    Saved,
    ClassNamePrefixFeaturesOutMixin,  # type: ignore[misc]
    TransformerMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
):
    """Dense rows of unit length, by a model of sentence-transformers.

    Texts that mean the same are near each other, whatever their words. Nothing is
    downloaded: the model is a folder, or one that was downloaded before, unless
    ``download`` says otherwise. A saved tagger holds the name of the model, not the
    model.

    Parameters
    ----------
    model : str
        A folder of a model of sentence-transformers, or the name of one in the cache of
        Hugging Face. Only weights in safetensors are read, which hold no code.
    batch_size : int, default=32
        Texts that are read at a time.
    download : bool, default=False
        Whether a model that is not there may be fetched from the network.

    Attributes
    ----------
    n_features_out_ : int
        How many columns a row has.

    Examples
    --------
    >>> Embeddings("path/to/all-MiniLM-L6-v2")
    Embeddings(model='path/to/all-MiniLM-L6-v2')
    """

    n_features_out_: Annotated[int, Number(least=1, whole=True)]

    def __init__(
        self, model: str, *, batch_size: int = 32, download: bool = False
    ) -> None:
        self.model = model
        self.batch_size = batch_size
        self.download = download

    def fit(self, texts: Iterable[str], y: Any = None) -> Self:
        """Load the model; nothing is learnt from texts.

        Parameters
        ----------
        texts : ignored
            Accepted for scikit-learn.
        y : ignored
            Accepted for scikit-learn.

        Returns
        -------
        Embeddings
            Itself.
        """
        self._check_parameters()
        self.n_features_out_ = self._encode(["a"]).shape[1]
        return self

    def transform(self, texts: Iterable[str]) -> Singles:
        """Return the rows of texts.

        Parameters
        ----------
        texts : iterable of str
            Texts.

        Returns
        -------
        ndarray of shape (n_texts, n_features)
            Rows of unit length, float32.
        """
        check_is_fitted(self)
        held = list(texts)
        for row, text in enumerate(held):
            check_text(text, row)
        if not held:
            return np.empty((0, self.n_features_out_), np.float32)
        return self._encode(held)

    @property
    def _n_features_out(self) -> int:  # by which scikit-learn names the columns
        return self.n_features_out_

    def _encode(self, texts: list[str]) -> Singles:
        found = _load(self.model, self.download).encode(
            texts,
            batch_size=self.batch_size,
            normalize_embeddings=True,
            show_progress_bar=False,
        )
        return np.ascontiguousarray(found, np.float32)

    def _check_parameters(self) -> None:
        if not isinstance(self.model, str):
            raise TypeError(f"model must be a path or a name. Got {self.model!r:.40}.")
        check_scalar(self.batch_size, "batch_size", Integral, min_val=1)


class Hybrid(Saved, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Rows of several vectorizers side by side, such as words and embeddings.

    Parameters
    ----------
    vectorizers : sequence of transformers
        What turns texts into rows; a tagger of vectorizers of this package is saved.
    weights : sequence of float or None, default=None
        What the rows of each are multiplied by; None is 1.

    Attributes
    ----------
    vectorizers_ : list of transformers
        The fitted vectorizers.
    widths_ : ndarray of shape (n_vectorizers,)
        How many columns each has.

    Examples
    --------
    >>> from manylabel import Hybrid, TextVectorizer
    >>> words, letters = TextVectorizer(min_df=1), TextVectorizer(analyzer="char")
    >>> both = Hybrid([words, letters], weights=[1.0, 0.5]).fit(["red wine", "wine"])
    >>> both.transform(["wines"]).shape[1] == both.n_features_out_
    True
    """

    vectorizers_: list[BaseEstimator]
    widths_: Annotated[Array, Field("int64", "n_vectorizers", Finite(least=0))]

    def __init__(
        self, vectorizers: Sequence[Any], *, weights: Sequence[float] | None = None
    ) -> None:
        self.vectorizers = vectorizers
        self.weights = weights

    @property
    def n_features_out_(self) -> int:
        """How many columns a row has."""
        return int(self.widths_.sum())

    def fit(self, texts: Iterable[str], y: Any = None) -> Self:
        """Fit each vectorizer to texts.

        Parameters
        ----------
        texts : iterable of str
            Texts.
        y : ignored
            Accepted for scikit-learn.

        Returns
        -------
        Hybrid
            Itself.
        """
        self.fit_transform(texts)
        return self

    def fit_transform(
        self, texts: Iterable[str], y: Any = None, names: Iterable[str] = ()
    ) -> CSR:
        """Fit each vectorizer to texts, and return their rows.

        Parameters
        ----------
        texts : iterable of str
            Texts.
        y : ignored
            Accepted for scikit-learn.
        names : iterable of str, default=()
            Names whose words get columns too; see :class:`TextVectorizer`.

        Returns
        -------
        csr_array of shape (n_texts, n_features)
            The rows side by side, float32.
        """
        self._check_parameters()
        held, kept = list(texts), list(names)
        fitted, blocks = [], []
        for each in map(clone, self.vectorizers):
            has_words = isinstance(each, TextVectorizer)
            blocks.append(
                each.fit_transform(held, names=kept)
                if has_words
                else each.fit_transform(held)
            )
            fitted.append(each)
        self.vectorizers_ = fitted
        self.widths_ = np.array([block.shape[1] for block in blocks], np.int64)
        return self._join(blocks)

    def transform(self, texts: Iterable[str]) -> CSR:
        """Return the rows of texts.

        Parameters
        ----------
        texts : iterable of str
            Texts.

        Returns
        -------
        csr_array of shape (n_texts, n_features)
            The rows side by side, float32.
        """
        check_is_fitted(self)
        held = list(texts)
        return self._join([each.transform(held) for each in self.vectorizers_])

    def _join(self, blocks: list[Any]) -> CSR:
        weights = self._weights()
        rows = [
            _validation.feature_matrix(block, name="rows of vectorizers") * weight
            for block, weight in zip(blocks, weights, strict=True)
        ]
        return sp.csr_array(sp.hstack(rows, format="csr"))

    def _weights(self) -> Floats:
        given = np.ones(len(self.vectorizers)) if self.weights is None else self.weights
        return np.asarray(given, np.float32)

    def _check_state(self) -> None:
        super()._check_state()
        if len(self.vectorizers_) != len(self.widths_):
            raise ValueError("vectorizers_ and widths_ must agree.")

    def _check_parameters(self) -> None:
        if isinstance(self.vectorizers, str) or not len(self.vectorizers):
            raise ValueError("vectorizers must have at least one. Got none.")
        weights = self._weights()
        is_fit = weights.shape == (len(self.vectorizers),)
        if not is_fit or not (np.isfinite(weights) & (weights > 0)).all():
            raise ValueError(
                f"weights must be {len(self.vectorizers)} numbers above 0. "
                f"Got {self.weights!r:.60}."
            )


@lru_cache(N_LOADED)
def _load(model: str, download: bool) -> Any:
    try:
        from sentence_transformers import SentenceTransformer
    except ImportError:
        what = "Embedding texts"
        raise MissingExtra(what, "sentence-transformers", "embeddings") from None
    return SentenceTransformer(
        model,
        device="cpu",
        local_files_only=not download,
        model_kwargs={"use_safetensors": True},
    )
