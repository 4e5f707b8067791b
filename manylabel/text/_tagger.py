"""A tagger: texts in, names of tags out."""

from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from manylabel import _validation, persistence
from manylabel._typing import CSR, Array, Ints
from manylabel.base import MultiLabelClassifier
from manylabel.data import LabelSpace
from manylabel.data.dataset import best_first
from manylabel.evaluation import Report, evaluate
from manylabel.propensity import Propensity, recorded_law
from manylabel.text import _tags
from manylabel.text._explanation import TagExplanation, reasons
from manylabel.text._vectorizer import TextVectorizer
from manylabel.text.choice import choose

Tagged = list[tuple[str, float]]


class Tagger(BaseEstimator):  # type: ignore[misc]
    """Suggest tags for texts: a vectorizer, a learner, and the names of the tags.

    Texts are a list, an array, or a pandas or Polars column of strings; tags are a list
    of names for each text, which may be empty.

    Parameters
    ----------
    learner : multi-label classifier of this package or None, default=None
        What ranks the tags; None chooses by the size of the data.
    vectorizer : TextVectorizer or None, default=None
        What turns texts into numbers; None is ``TextVectorizer()``.

    Attributes
    ----------
    vectorizer_ : TextVectorizer
        The fitted vectorizer.
    learner_ : multi-label classifier
        The fitted learner.
    label_names_ : ndarray of shape (n_tags,)
        Names of the tags: sorted, or in a stream those that came later last.
    choice_ : str
        Which learner was chosen and why, as one sentence; empty if it was named.
    label_counts_ : ndarray of shape (n_tags,)
        How many texts had each tag.
    n_rows_ : int
        How many texts were learnt.

    Examples
    --------
    >>> texts = ["red wine", "white wine", "brown bread", "rye bread and wine"]
    >>> tags = [["drink"], ["drink"], ["food"], ["drink", "food"]]
    >>> tagger = Tagger(vectorizer=TextVectorizer(min_df=1)).fit(texts, tags)
    >>> [name for name, score in tagger.tag("a glass of wine", k=1)]
    ['drink']
    >>> tagger.predict(["bread", "wine"])
    [['food'], ['drink']]
    >>> tagger.choice_
    'OneVsRest, because 4 rows are too few to weigh several learners.'
    """

    vectorizer_: TextVectorizer
    learner_: MultiLabelClassifier
    label_names_: Array
    choice_: str
    label_counts_: Ints
    n_rows_: int

    def __init__(
        self,
        learner: MultiLabelClassifier | None = None,
        *,
        vectorizer: TextVectorizer | None = None,
    ) -> None:
        self.learner = learner
        self.vectorizer = vectorizer

    def fit(self, texts: Iterable[str], tags: Iterable[Iterable[str]]) -> Self:
        """Learn from tagged texts.

        Parameters
        ----------
        texts : iterable of str
            Texts.
        tags : iterable of iterables of str
            The tags of each text.

        Returns
        -------
        Tagger
            Itself.
        """
        self._check_parameters()
        vectorizer = self._new_vectorizer()
        X = vectorizer.fit_transform(texts)
        space, Y = _encoded(_tags.checked(tags, X.shape[0]))
        learner, reason = self._new_learner(X.shape[0], X.shape[1], len(space))
        learner.fit(X, Y)
        self.vectorizer_, self.learner_, self.choice_ = vectorizer, learner, reason
        self.label_counts_, self.n_rows_ = np.zeros(len(space), np.int64), 0
        return self._count(space.names, Y)

    def partial_fit(
        self,
        texts: Iterable[str],
        tags: Iterable[Iterable[str]],
        classes: Iterable[str] | None = None,
    ) -> Self:
        """Learn more tagged texts, on top of what is known.

        Takes a learner of streams, such as ``CSDPP(regressor="gradient")``, and a
        vectorizer that hashes.

        Parameters
        ----------
        texts : iterable of str
            Texts.
        tags : iterable of iterables of str
            The tags of each text.
        classes : iterable of str or None, default=None
            In the first call, all the tags to come, where they are known; None is those
            of this call. Later tags are refused unless the learner has ``grow=True``.

        Returns
        -------
        Tagger
            Itself.
        """
        self._check_parameters()
        learner, vectorizer = self._streaming()
        X = vectorizer.transform(texts)
        rows = _tags.checked(tags, X.shape[0])
        known = list(self.label_names_) if self.__sklearn_is_fitted__() else []
        space = self._widened(rows, known, [] if classes is None else list(classes))
        Y = space.encode(rows)
        learner.partial_fit(X, Y)
        if not known:
            self.vectorizer_, self.learner_, self.choice_ = vectorizer, learner, ""
            self.label_counts_, self.n_rows_ = np.zeros(0, np.int64), 0
        return self._count(space.names, Y)

    def tag(self, text: str, k: int = 5) -> Tagged:
        """Return the ``k`` best tags of a text with their scores, the best first.

        Parameters
        ----------
        text : str
            The text.
        k : int, default=5
            How many tags; all of them when there are fewer.

        Returns
        -------
        list of (str, float)
            Names and scores.
        """
        return self.tag_many([_one(text)], k)[0]

    def tag_many(self, texts: Iterable[str], k: int = 5) -> list[Tagged]:
        """Return the ``k`` best tags of each text with their scores, the best first.

        Parameters
        ----------
        texts : iterable of str
            Texts.
        k : int, default=5
            How many tags; all of them when there are fewer.

        Returns
        -------
        list of lists of (str, float)
            Names and scores, a list for each text.
        """
        X = self._rows(texts)
        best = self.learner_.predict_topk(X, k)
        order = best_first(best)
        names = self.label_names_[best.indices[order]].tolist()
        pairs = list(zip(names, best.data[order].tolist(), strict=True))
        return [pairs[start:stop] for start, stop in pairwise(best.indptr.tolist())]

    def predict(self, texts: Iterable[str]) -> list[list[str]]:
        """Return the tags that the learner gives each text, in the order of columns.

        Parameters
        ----------
        texts : iterable of str
            Texts.

        Returns
        -------
        list of lists of str
            Names, none where no tag is likely enough.
        """
        X = self._rows(texts)
        return self._space().decode(self.learner_.predict(X))

    def evaluate(
        self,
        texts: Iterable[str],
        tags: Iterable[Iterable[str]],
        *,
        k: int | tuple[int, ...] = (1, 3, 5),
        propensity: Propensity | None = None,
    ) -> Report:
        """Judge the tagger on tagged texts that it has not seen.

        Tags that it never learnt count as tags that it misses.

        Parameters
        ----------
        texts : iterable of str
            Texts.
        tags : iterable of iterables of str
            The tags of each text.
        k : int or tuple of int, default=(1, 3, 5)
            Ranking depths.
        propensity : Propensity or None, default=None
            The law, ``a`` and ``b``, by which a tag's count in training tells how often
            it is forgotten; None is ``Propensity()``.

        Returns
        -------
        Report
            See :func:`manylabel.evaluate`.
        """
        X = self._rows(texts)
        rows = _tags.checked(tags, X.shape[0])
        new = {name for names in rows for name in names} - set(self.label_names_)
        Y = LabelSpace([*self.label_names_, *sorted(new)]).encode(rows)
        law = Propensity() if propensity is None else propensity
        counts = np.concatenate([self.label_counts_, np.zeros(len(new), np.int64)])
        (*_, deepest) = sorted(_validation.depths(k))
        return evaluate(
            Y,
            _validation.widened(self.learner_.predict_topk(X, deepest), Y.shape[1]),
            k=k,
            propensity=recorded_law(counts, self.n_rows_, law.a, law.b),
            predictions=_validation.widened(self.learner_.predict(X), Y.shape[1]),
        )

    def explain(
        self, text: str, tags: Iterable[str] | None = None, k: int = 5
    ) -> TagExplanation:
        """Return why a text gets its tags, or does not get others: words with weights.

        A word's weight for a tag is what the tag's score loses when the word is left
        out of the text. So it is what the learner does, whichever learner it is.

        Parameters
        ----------
        text : str
            The text. Of a long one, the 200 words that weigh most are tried.
        tags : iterable of str or None, default=None
            Names of tags; None is the ``k`` best ones.
        k : int, default=5
            How many tags.

        Returns
        -------
        TagExplanation
            Has ``reasons``, each with ``tag``, ``score``, ``rank`` and ``words``;
            printed, it is in words.

        Examples
        --------
        >>> texts = ["red wine", "white wine", "brown bread", "rye bread"]
        >>> tags = [["drink"], ["drink"], ["food"], ["food"]]
        >>> tagger = Tagger(vectorizer=TextVectorizer(min_df=1)).fit(texts, tags)
        >>> (reason,) = tagger.explain("red wine and bread", tags=["food"]).reasons
        >>> [word for word, weight in reason.words if weight > 0]
        ['bread']
        """
        check_is_fitted(self)
        (depth,) = _validation.depths(k)
        columns = None if tags is None else self._columns(tags)
        names = self.label_names_
        return reasons(
            _one(text), self.vectorizer_, self.learner_, names, columns, depth
        )

    def save(self, path: str | Path) -> None:
        """Write the fitted tagger to the folder ``path``, replacing a model there."""
        check_is_fitted(self)
        persistence.save(self, path)

    @classmethod
    def load(cls, path: str | Path, *, mmap: bool = False) -> "Tagger":
        """Read a tagger from a folder; see :func:`manylabel.load`."""
        found = persistence.load(path, mmap=mmap)
        if not isinstance(found, cls):
            raise TypeError(f"{path} must hold a Tagger. Got a {type(found).__name__}.")
        return found

    def get_state(self) -> dict[str, Any]:
        """Return what was learnt: a flat dict of arrays and JSON scalars."""
        return persistence.flatten(
            {name: v for name, v in vars(self).items() if name.endswith("_")}
        )

    def set_state(self, state: dict[str, Any]) -> Self:
        """Take over what another tagger learnt, if it fits together."""
        other = persistence.unflatten(state)
        n_labels = len(other["learner_"].classes_)
        if not len(other["label_names_"]) == len(other["label_counts_"]) == n_labels:
            raise ValueError("label_names_, label_counts_ and learner_ must agree")
        if other["learner_"].n_features_in_ != other["vectorizer_"].n_features_out_:
            raise ValueError("vectorizer_ and learner_ must agree")
        self.__dict__.update(other)
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "n_rows_")

    def _rows(self, texts: Iterable[str]) -> CSR:
        check_is_fitted(self)
        return self.vectorizer_.transform(texts)

    def _space(self) -> LabelSpace:
        return LabelSpace(self.label_names_)

    def _columns(self, tags: Iterable[str]) -> Ints:
        (names,), space = _tags.checked([tags], 1), self._space()
        return np.array([space.column(name) for name in names], np.int64)

    def _count(self, names: tuple[str, ...], Y: CSR) -> Self:
        """Note how often each tag came."""
        self.label_names_ = np.array(names, dtype=object)
        counts = np.bincount(Y.indices, minlength=len(names))
        counts[: len(self.label_counts_)] += self.label_counts_
        self.label_counts_, self.n_rows_ = counts, self.n_rows_ + Y.shape[0]
        return self

    def _new_vectorizer(self) -> TextVectorizer:
        return TextVectorizer() if self.vectorizer is None else clone(self.vectorizer)

    def _new_learner(self, n_rows: int, n_features: int, n_labels: int) -> Any:
        if self.learner is not None:
            return clone(self.learner), ""
        return choose(n_rows, n_features, n_labels)

    def _streaming(self) -> tuple[Any, TextVectorizer]:
        """Return the learner and the vectorizer of a stream, new ones at first."""
        if self.__sklearn_is_fitted__():
            learner, vectorizer = self.learner_, self.vectorizer_
        elif self.learner is None:
            raise ValueError("learner must be named to learn a stream. Got None.")
        else:
            learner, vectorizer = clone(self.learner), self._new_vectorizer()
        if not hasattr(learner, "partial_fit"):
            kind = type(learner).__name__
            raise TypeError(f"learner must have partial_fit. {kind} has not.")
        if vectorizer.n_features is None:
            raise ValueError(
                "vectorizer must hash to learn a stream, as TextVectorizer("
                "n_features=2**18) does."
            )
        return learner, vectorizer

    def _widened(
        self, rows: list[list[str]], known: list[str], given: list[str]
    ) -> LabelSpace:
        """Return the tags after some rows: known ones first, new ones if they may."""
        grows = getattr(self.learner, "grow", False)
        allowed = set(known or given)
        if allowed and not grows:
            _tags.check_known(rows, allowed)
        new = {name for names in rows for name in names}
        new |= set() if known else set(given)
        return LabelSpace([*known, *sorted(new - set(known))])

    def _check_parameters(self) -> None:
        kinds = {"learner": MultiLabelClassifier, "vectorizer": TextVectorizer}
        for name, kind in kinds.items():
            value = getattr(self, name)
            if value is not None and not isinstance(value, kind):
                raise TypeError(
                    f"{name} must be a {kind.__name__} or None. Got {value!r:.60}."
                )


def _encoded(rows: list[list[str]]) -> tuple[LabelSpace, CSR]:
    space = LabelSpace.from_labels(rows)
    if not len(space):
        raise ValueError("tags must name at least one tag. Got none.")
    return space, space.encode(rows)


def _one(text: Any) -> str:
    if not isinstance(text, str):
        raise TypeError(f"text must be a string. Got {text!r:.40}.")
    return text
