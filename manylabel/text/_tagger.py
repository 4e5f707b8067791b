"""The model object: items in, names of labels out."""

from collections.abc import Callable, Collection, Iterable
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from manylabel import _validation, persistence
from manylabel._typing import CSR, Array, Ints, RandomState
from manylabel._version import __version__
from manylabel.base import MultiLabelClassifier, set_jobs
from manylabel.data.dataset import Dataset, LabelSpace, best_first
from manylabel.exceptions import ArchiveError
from manylabel.model_selection import Thresholds
from manylabel.model_selection.search import search
from manylabel.persistence.records import Field, Finite, Number, Values
from manylabel.persistence.saved import Saved
from manylabel.sharing import reading
from manylabel.text import _default
from manylabel.text._card import Card, write_card
from manylabel.text._explanation import TagExplanation, explain_text
from manylabel.text._items import (
    PASSTHROUGH,
    Labelled,
    check_count,
    check_names,
    vectorize,
    widen,
)
from manylabel.text._judging import Judging
from manylabel.text._vectorizer import TextVectorizer

DEEPEST = 1000  # labels of a row among which those that are given are looked for
Tagged = list[tuple[str, float]]


class Tagger(Judging, Saved, BaseEstimator):  # type: ignore[misc]
    """The model: a vectorizer, a learner, the names of labels, and how they are given.

    Items are texts (a list, an array, or a pandas or Polars column of strings), or rows
    of features (a list of rows, a 2-D array, sparse or not, or a data frame), or a
    :class:`Dataset` of either. Tags are a list of names for each item, which may be
    empty; a data set brings its own.

    Parameters
    ----------
    learner : multi-label classifier of this package or None, default=None
        What ranks the labels; None chooses by ``quality`` and the size of the data.
    vectorizer : TextVectorizer, "passthrough" or None, default=None
        What turns texts into numbers; ``"passthrough"`` takes rows of features as they
        are. None is one or the other, as the items of ``fit`` are.
    quality : {"fast", "balanced", "best"}, default="balanced"
        How long to learn, where no learner is named: see :func:`choose`.

    Attributes
    ----------
    vectorizer_ : TextVectorizer or "passthrough"
        The fitted vectorizer.
    learner_ : multi-label classifier
        The fitted learner; :class:`Thresholds` around it once they were chosen.
    label_names_ : ndarray of shape (n_labels,)
        Names of the labels: sorted, as the data set has them, or in a stream those that
        came later last.
    label_counts_ : ndarray of shape (n_labels,)
        How many items had each label.
    n_rows_ : int
        How many items were learnt.
    feature_names_ : ndarray of shape (n_features,) or None
        Names of features that are passed through, if the data set had any.
    choice_ : str
        Which learner was chosen and why, as one sentence; empty if it was named.
    provenance_ : dict
        The version of the library, and what :meth:`annotate` was told.

    Examples
    --------
    >>> texts = ["red wine", "white wine", "brown bread", "rye bread and wine"]
    >>> tags = [["drink"], ["drink"], ["food"], ["drink", "food"]]
    >>> tagger = Tagger().fit(texts, tags)
    >>> [name for name, score in tagger.tag("a glass of wine", k=1)]
    ['drink']
    >>> tagger.predict(["bread", "wine"])
    [['food'], ['drink']]
    >>> tagger.choice_
    'OneVsRest, because 4 rows are too few to weigh several learners.'
    >>> Tagger().fit([[0.0, 1.0], [1.0, 0.0]], [["a"], ["b"]]).predict([[1.0, 0.0]])
    [['b']]
    """

    _written = ("learner_",)
    vectorizer_: TextVectorizer | str
    learner_: MultiLabelClassifier
    label_names_: Annotated[Array, Values("n_labels", "O")]
    label_counts_: Annotated[Ints, Field("int64", "n_labels", Finite(least=0))]
    n_rows_: Annotated[int, Number(least=0, whole=True)]
    feature_names_: Array | None
    choice_: str
    provenance_: dict[str, Any]

    def __init__(
        self,
        learner: MultiLabelClassifier | None = None,
        *,
        vectorizer: TextVectorizer | str | None = None,
        quality: str = "balanced",
    ) -> None:
        self.learner = learner
        self.vectorizer = vectorizer
        self.quality = quality

    def fit(
        self,
        items: Any,
        tags: Iterable[Iterable[str]] | None = None,
        sample_weight: Any = None,
    ) -> Self:
        """Learn from labelled items.

        Parameters
        ----------
        items : iterable of str, matrix of features, or Dataset
            Texts or rows.
        tags : iterable of iterables of str or None, default=None
            The names of the labels of each item; None for a data set, which has them.
        sample_weight : array of shape (n_rows,) or None, default=None
            How much each item counts for the learner, which may refuse it; words are
            counted without.

        Returns
        -------
        Tagger
            Itself.
        """
        _default.check_parts(self.learner, self.vectorizer, self.quality)
        space, Y = Labelled.of(items, tags)
        if not len(space):
            raise ValueError("tags must name at least one tag. Got none.")
        vectorizer = _default.new_vectorizer(self.vectorizer, items, Y.shape[0])
        X = vectorize(vectorizer, items, "fit_transform")
        check_count(Y.shape[0], X.shape[0])
        learner, reason = _default.new_learner(self.learner, X, space, self.quality)
        _default.fit_learner(learner, X, Y, sample_weight)
        with self._learning() as tagger:
            tagger._begin(vectorizer, learner, reason, items)._count(space, Y)
        return self

    def partial_fit(
        self,
        items: Any,
        tags: Iterable[Iterable[str]],
        classes: Iterable[str] | None = None,
    ) -> Self:
        """Learn more labelled items, on top of what is known.

        Takes a learner of streams, such as ``CSDPP(regressor="gradient")``, and rows of
        features or a vectorizer that hashes.

        Parameters
        ----------
        items : iterable of str or matrix of features
            Texts or rows.
        tags : iterable of iterables of str
            The names of the labels of each item.
        classes : iterable of str or None, default=None
            In the first call, all the names to come; None is those of this call. Later
            ones are refused unless the learner has ``grow=True``.

        Returns
        -------
        Tagger
            Itself.
        """
        _default.check_parts(self.learner, self.vectorizer, self.quality)
        rows = check_names(tags)
        with self._learning() as tagger:
            learner, vectorizer = tagger._streaming(items)
            X = vectorize(vectorizer, items, "transform")
            check_count(len(rows), X.shape[0])
            known = list(getattr(tagger, "label_names_", ()))
            grows = getattr(self.learner, "grow", False)
            space = widen(rows, known, [] if classes is None else list(classes), grows)
            Y = space.encode(rows)
            learner.partial_fit(X, Y)
            if not known:
                tagger._begin(vectorizer, learner, "", items)
            tagger._count(space, Y)
        return self

    def tag(self, item: Any, k: int | None = 5) -> Tagged:
        """Return the ``k`` best labels of an item with their scores, the best first.

        Parameters
        ----------
        item : str or row of features
            The text, or a row of shape (n_features,) or (1, n_features).
        k : int or None, default=5
            How many labels; None returns those that ``predict`` gives.

        Returns
        -------
        list of (str, float)
            Names and scores.
        """
        return self.tag_many(self._one(item), k)[0]

    @reading
    def tag_many(self, items: Any, k: int | None = 5) -> list[Tagged]:
        """Return for each item what ``tag`` returns, a list of lists."""
        best = self.predict_topk(items, k)
        order = best_first(best)
        names = self.label_names_[best.indices[order]].tolist()
        pairs = list(zip(names, best.data[order].tolist(), strict=True))
        return [pairs[start:stop] for start, stop in pairwise(best.indptr.tolist())]

    @reading
    def predict_topk(self, items: Any, k: int | None = 5) -> CSR:
        """Return the labels and scores of ``tag_many`` as a CSR array, by column."""
        X = self.transform(items)
        if k is not None:
            return self.learner_.predict_topk(X, k)
        ranked = self.learner_.predict_topk(X, DEEPEST)
        given = sp.csr_array(self.learner_.predict(X))
        rows = np.repeat(np.arange(X.shape[0]), np.diff(ranked.indptr))
        kept = np.asarray(given[rows, ranked.indices]).ravel() > 0
        parts = (ranked.data[kept], (rows[kept], ranked.indices[kept]))
        return sp.csr_array(parts, shape=ranked.shape)

    @reading
    def predict(self, items: Any) -> list[list[str]]:
        """Return the names of the labels that each item is given, by column."""
        X = self.transform(items)
        return LabelSpace(self.label_names_).decode(self.learner_.predict(X))

    def choose_thresholds(
        self,
        items: Any,
        tags: Iterable[Iterable[str]] | None = None,
        *,
        cost: Any = "f1",
        min_precision: float | None = None,
        min_recall: float | None = None,
        per_label: bool = False,
    ) -> Self:
        """Choose the scores above which labels are given, on a validation set.

        Rankings stay as they are. What to choose for is told as to :class:`Thresholds`.
        """
        X, (_, Y) = self.transform(items), self.align(items, tags)
        check_count(Y.shape[0], X.shape[0])
        rule = Thresholds(
            self.ranker_,
            cost=cost,
            min_precision=min_precision,
            min_recall=min_recall,
            per_label=per_label,
        )
        self.learner_ = rule.choose(self.ranker_, X, Y[:, : len(self.label_names_)])
        return self

    def explain(
        self, text: str, tags: Iterable[str] | None = None, k: int = 5
    ) -> TagExplanation:
        """Return why a text gets its tags, or does not get others: words with weights.

        A word's weight for a tag is what the tag's score loses when the word is left
        out of the text. So it is what the learner does, whichever learner it is. Of a
        long text, the 200 words that weigh most are tried. None is the ``k`` best
        tags. There are ``reasons``, with ``tag``, ``score``, ``rank`` and ``words``.

        Examples
        --------
        >>> texts = ["red wine", "white wine", "brown bread", "rye bread"]
        >>> tags = [["drink"], ["drink"], ["food"], ["food"]]
        >>> tagger = Tagger().fit(texts, tags)
        >>> (reason,) = tagger.explain("red wine and bread", tags=["food"]).reasons
        >>> [word for word, weight in reason.words if weight > 0]
        ['bread']
        """
        check_is_fitted(self)
        if not self.reads_texts_:
            raise TypeError("text must be explained by a model of texts.")
        (depth,), (words,) = _validation.depths(k), self._one(text)
        columns = None
        if tags is not None:
            (names,), space = check_names([tags]), LabelSpace(self.label_names_)
            columns = np.array([space.column(name) for name in names], np.int64)
        return explain_text(words, self, columns, depth)

    def search(
        self,
        items: Any,
        tags: Iterable[Iterable[str]] | None = None,
        *,
        metric: str,
        fixed: Collection[str] = (),
        random_state: RandomState = 0,
        watch: Callable[[dict[str, Any], float], None] | None = None,
    ) -> Self:
        """Return a tagger, not fitted, with the best hyperparameters by a metric.

        A few settings of the learner, but for what is ``fixed``, are tried on a
        validation set. Words are counted in all texts, labels only in those that are
        not held out. ``watch`` is called with each setting tried and its value.
        """
        _default.check_parts(self.learner, self.vectorizer, self.quality)
        space, Y = Labelled.of(items, tags)
        vectorizer = _default.new_vectorizer(self.vectorizer, items, Y.shape[0])
        X = vectorize(vectorizer, items, "fit_transform")
        learner, _ = _default.new_learner(self.learner, X, space, self.quality)
        best = search(learner, X, Y, metric, fixed, random_state, watch)
        learner.set_params(**best)
        return type(self)(learner, vectorizer=self.vectorizer, quality=self.quality)

    def annotate(self, **facts: Any) -> Self:
        """Keep facts with the model: where it comes from, and how good it is.

        Each is text, a number or a dict of these, such as ``source="train.jsonl"`` or
        ``figures=dict(report)``; None forgets one.
        """
        check_is_fitted(self)
        persistence.flatten(facts)  # refuses what cannot be saved
        known = (self.provenance_ | facts).items()
        self.provenance_ = {name: it for name, it in known if it is not None}
        return self

    def card(self) -> Card:
        """Return what the model is: a mapping ready for JSON; printed, a model card.

        Examples
        --------
        >>> tagger = Tagger().fit(["red wine", "rye bread"], [["drink"], ["food"]])
        >>> tagger.annotate(source="menu.csv").card()["labels"]
        2
        """
        check_is_fitted(self)
        return write_card(self)

    @property
    def ranker_(self) -> Any:
        """The learner without thresholds around it."""
        learner = self.learner_
        return learner.estimator_ if isinstance(learner, Thresholds) else learner

    @property
    def reads_texts_(self) -> bool:
        """Whether items are texts, not rows of features."""
        return not isinstance(self.vectorizer_, str)

    @property
    def n_features_(self) -> int:
        """How many features the learner has."""
        return self.learner_.n_features_in_

    def get_feature_names_out(self) -> Array | None:
        """Return the names of the learner's features, None if they have none."""
        check_is_fitted(self)
        if isinstance(self.vectorizer_, str):  # features are passed through
            return self.feature_names_
        hashes = self.vectorizer_.n_features is not None
        return None if hashes else self.vectorizer_.get_feature_names_out()

    @classmethod
    def load(
        cls, path: str | Path, *, mmap: bool = False, n_jobs: int | None = None
    ) -> "Tagger":
        """Read a tagger from a folder, to run on so many threads; as saved by default.

        A classifier that was saved by itself becomes a tagger of features, whose labels
        are called by their columns.
        """
        found = persistence.load(path, mmap=mmap)
        if isinstance(found, MultiLabelClassifier):
            check_is_fitted(found)
            nothing = Dataset(None, np.zeros((0, len(found.classes_))))
            alone = cls(found, vectorizer=PASSTHROUGH)
            found = alone._begin(PASSTHROUGH, found, "", nothing)
            found._count(nothing.labels, nothing.Y)
        if not isinstance(found, cls):
            what = f"a tagger or a classifier, found a {type(found).__name__}"
            raise ArchiveError(path, f"expected {what}.")
        if n_jobs is not None:
            set_jobs(found.learner_, n_jobs)
        return found

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "n_rows_")

    def transform(self, items: Any) -> CSR:
        """Return the features of items, as the learner takes them."""
        check_is_fitted(self)
        return vectorize(self.vectorizer_, items, "transform")

    def align(
        self, items: Any, tags: Iterable[Iterable[str]] | None = None
    ) -> Labelled:
        """Return the labels of items by the model's columns, then those never learnt.

        Columns of a data set that have no names are the model's, in their order.
        """
        check_is_fitted(self)
        return Labelled.of(items, tags).aligned(LabelSpace(self.label_names_), items)

    def _one(self, item: Any) -> Any:
        check_is_fitted(self)
        if not self.reads_texts_:
            return item if sp.issparse(item) else np.atleast_2d(item)
        if not isinstance(item, str):
            raise TypeError(f"text must be a string. Got {item!r:.40}.")
        return [item]

    def _begin(self, vectorizer: Any, learner: Any, reason: str, items: Any) -> Self:
        """Take over parts that have learnt, with nothing counted."""
        self.vectorizer_, self.learner_, self.choice_ = vectorizer, learner, reason
        self.label_counts_, self.n_rows_ = np.zeros(0, np.int64), 0
        names = items.feature_names if isinstance(items, Dataset) else None
        self.feature_names_ = None if names is None else np.array(names, dtype=object)
        self.provenance_ = {"version": __version__}
        return self

    def _count(self, space: LabelSpace, Y: CSR) -> None:
        """Note how often each label came."""
        self.label_names_ = np.array(space.names, dtype=object)
        counts = np.bincount(Y.indices, minlength=len(space)).astype(np.int64)
        counts[: len(self.label_counts_)] += self.label_counts_
        self.label_counts_, self.n_rows_ = counts, self.n_rows_ + Y.shape[0]

    def _streaming(self, items: Any) -> tuple[Any, Any]:
        """Return the learner and the vectorizer of a stream, new ones at first."""
        if self.__sklearn_is_fitted__():
            learner, vectorizer = self.learner_, self.vectorizer_
        elif self.learner is None:
            raise ValueError("learner must be named to learn a stream. Got None.")
        else:
            learner = clone(self.learner)
            vectorizer = _default.new_vectorizer(self.vectorizer, items, 0)
        _default.check_streaming(learner, vectorizer)
        return learner, vectorizer

    def _check_state(self) -> None:
        super()._check_state()
        if len(self.learner_.classes_) != len(LabelSpace(self.label_names_)):
            raise ValueError("label_names_ and learner_ must agree")
        width = getattr(self.vectorizer_, "n_features_out_", None)
        if self.vectorizer_ != PASSTHROUGH and self.learner_.n_features_in_ != width:
            raise ValueError("vectorizer_ and learner_ must agree")
