"""The model object: items in, names of labels out."""

from collections.abc import Callable, Collection, Iterable
from pathlib import Path
from typing import Annotated, Any, NamedTuple, Self

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils import estimator_html_repr
from sklearn.utils.validation import check_is_fitted

from manylabel import _validation, persistence
from manylabel._typing import CSR, Array, Ints, RandomState
from manylabel._version import __version__
from manylabel.base import MultiLabelClassifier, set_jobs
from manylabel.blend import NameMatch
from manylabel.data import Dataset, LabelSpace, Vocabulary
from manylabel.exceptions import ArchiveError
from manylabel.model_selection.search import search
from manylabel.persistence.records import Field, Finite, Number, Values
from manylabel.persistence.saved import Saved
from manylabel.persistence.state import is_ours
from manylabel.text import _default
from manylabel.text._card import Card, write_card
from manylabel.text._embeddings import Embeddings, Hybrid
from manylabel.text._explanation import TagExplanation, explain_text
from manylabel.text._items import (
    PASSTHROUGH,
    Labelled,
    Named,
    are_features,
    check_count,
    check_names,
    vectorize,
    widen,
)
from manylabel.text._judging import Judging
from manylabel.text._predictions import Predictions
from manylabel.text._rules import Rules
from manylabel.text._vectorizer import TextVectorizer

# Of parts that may be None: they are chosen in fit, and have no parameters before.
EXAMPLES = {"learner": "ml.LabelTree()", "vectorizer": "ml.TextVectorizer()"}


class Prepared(NamedTuple):
    """A learner before its fit, why it was chosen, and what it learns."""

    vectorizer: Any
    learner: Any
    reason: str
    space: LabelSpace
    X: CSR
    Y: CSR


class Tagger(Predictions, Judging, Saved, BaseEstimator):  # type: ignore[misc]
    """The model: a vectorizer, a learner, the names of labels, and how they are given.

    Items are texts (a list, an array, or a pandas or Polars column of strings), or rows
    of features (a list of rows, a 2-D array, sparse or not, or a data frame), or a
    :class:`Dataset` of either. Tags are a list, tuple, set or array of names for each
    item, which may be empty, or None or NaN, as data frames have it; a data set brings
    its own.

    Parameters
    ----------
    learner : multi-label classifier of this package or None, default=None
        What ranks the labels; None chooses by ``quality`` and the size of the data.
    vectorizer : TextVectorizer, transformer, "passthrough" or None, default=None
        What turns texts into numbers: a TextVectorizer or any other transformer of
        scikit-learn's kind, which ``save`` refuses; ``"passthrough"`` takes rows of
        features as they are. None is TextVectorizer or that, as the items of ``fit``
        are.
    quality : {"fast", "balanced", "best"}, default="balanced"
        How long to learn, where no learner is named: see :func:`choose`.
    calibrate : {"auto", "sigmoid", "isotonic"} or None, default=None
        Make scores probabilities, for ``predict_proba`` and ``proba=True``; see
        :class:`Calibrated`. It takes about one more fit, four of fewer than 5,000 rows,
        and none where rows are held out anyway: of 2,000 rows and more, None has
        probabilities too, unless a learner is named or ``quality="fast"``.
    cost : str, object with ``from_counts`` or None, default=None
        What the sets of ``predict`` are to make small, by probabilities; see
        :class:`LeastCost`. None leaves sets to the learner, or is "f1" where
        ``calibrate`` is given.
    rules : Rules or None, default=None
        What sets must obey: at most one of some labels, parents that come along. It may
        be set later, too.
    language : str or None, default=None
        The language of texts, or "auto"; see :class:`TextVectorizer`, which is told it
        where a vectorizer is given.
    vocabulary : Vocabulary or None, default=None
        The names of labels. A :class:`NameMatch` learner then suggests all its labels,
        those too that no item has.

    Attributes
    ----------
    vectorizer_ : TextVectorizer, transformer or "passthrough"
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
    vectorizer_: TextVectorizer | Hybrid | Embeddings | str
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
        calibrate: str | None = None,
        cost: Any = None,
        rules: Rules | None = None,
        language: str | None = None,
        vocabulary: Vocabulary | None = None,
    ) -> None:
        self.learner = learner
        self.vectorizer = vectorizer
        self.quality = quality
        self.calibrate = calibrate
        self.cost = cost
        self.rules = rules
        self.language = language
        self.vocabulary = vocabulary

    def set_params(self, **params: Any) -> Self:
        """Set parameters, and those of a part as ``learner__C``, if it was named."""
        for name in params:
            part, _, inner = name.partition("__")
            given = params.get(part, getattr(self, part, None))
            if inner and part in EXAMPLES and not hasattr(given, "set_params"):
                raise ValueError(
                    f"{part} must be named before {name} is set, as "
                    f"{part}={EXAMPLES[part]}. Got {given!r:.60}."
                )
        found: Self = super().set_params(**params)
        return found

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
        vectorizer, learner, reason, space, X, Y = self._prepare(items, tags)
        _default.fit_learner(learner, X, Y, sample_weight)
        with self._learning() as tagger:
            tagger._begin(vectorizer, learner, reason, items)._count(space, Y)
        return self

    def _prepare(self, items: Any, tags: Iterable[Iterable[str]] | None) -> Prepared:
        """Return a learner that is not fitted, and the rows that it is to learn."""
        self._check_parameters()
        space, Y = Labelled.of(items, tags)
        if not len(space):
            raise ValueError("tags must name at least one tag. Got none.")
        if self.rules is not None:
            self.rules.resolve(space)
        named = self._name_labels(space, items)
        if named is not None:
            space, Y = named.space, _validation.widened(Y, len(named.space))
        vectorizer = self._new_vectorizer(items, Y.shape[0])
        X = vectorize(vectorizer, items, "fit_transform", named)
        check_count(Y.shape[0], X.shape[0])
        learner, reason = _default.new_learner(self.learner, X, space, self.quality)
        if named is not None:
            named.tell(learner, vectorizer)
        learner = _default.calibrated(learner, self._method())
        return Prepared(vectorizer, learner, reason, space, X, Y)

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
        self._check_parameters()
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
        self._check_parameters()
        space, Y = Labelled.of(items, tags)
        vectorizer = self._new_vectorizer(items, Y.shape[0])
        X = vectorize(vectorizer, items, "fit_transform")
        learner, _ = _default.new_learner(self.learner, X, space, self.quality)
        best = search(learner, X, Y, metric, fixed, random_state, watch)
        parameters = self.get_params(deep=False)
        return type(self)(**parameters | {"learner": learner.set_params(**best)})

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
    def n_features_(self) -> int:
        """How many features the learner has."""
        return self.learner_.n_features_in_

    def get_feature_names_out(self) -> Array | None:
        """Return the names of the learner's features, None if they have none."""
        check_is_fitted(self)
        if isinstance(self.vectorizer_, str):  # features are passed through
            return self.feature_names_
        if getattr(self.vectorizer_, "n_features", None) is not None:  # it hashes
            return None
        names = getattr(self.vectorizer_, "get_feature_names_out", lambda: None)()
        return None if names is None else np.asarray(names, dtype=object)

    def save(self, path: str | Path) -> None:
        """Write the fitted model to the folder ``path``, replacing a model there.

        A folder holds data and no code, so a vectorizer of another package is refused:
        keep it by its own means, and save the tagger of its rows.
        """
        check_is_fitted(self)
        if self.reads_texts_ and not is_ours(self.vectorizer_):
            raise TypeError(
                "vectorizer must be one of manylabel to be saved: a model folder holds "
                f"no code. Got {type(self.vectorizer_).__name__}. Fit the tagger to "
                'rows that it has transformed, with vectorizer="passthrough".'
            )
        super().save(path)

    @classmethod
    def load(
        cls,
        path: str | Path,
        *,
        mmap: bool = False,
        n_jobs: int | None = None,
        verify_once: bool = False,
    ) -> "Tagger":
        """Read a tagger from a folder, to run on so many threads; as saved by default.

        A classifier that was saved by itself becomes a tagger of features, whose labels
        are called by their columns. For ``verify_once`` see :func:`manylabel.load`.
        """
        found = persistence.load(path, mmap=mmap, verify_once=verify_once)
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

    def _repr_html_(self) -> str:
        """Return the model card for notebooks, or the parts if it is not fitted."""
        if not self.__sklearn_is_fitted__():
            return str(estimator_html_repr(self))
        return self.card()._repr_html_()

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        """Return what notebooks ask for first."""
        return {"text/plain": repr(self), "text/html": self._repr_html_()}

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "n_rows_")

    def _method(self) -> str | None:
        """Return how scores become probabilities, None if they need not."""
        return (
            "auto"
            if self.calibrate is None and self.cost is not None
            else self.calibrate
        )

    def _check_parameters(self) -> None:
        parts = self.learner, self.vectorizer, self.quality, self.language
        _default.check_parts(*parts)
        _default.check_decision(self.calibrate, self.cost, self.rules)

    def _name_labels(self, space: LabelSpace, items: Any) -> Named | None:
        """Return the names of labels for a learner that takes them as evidence."""
        if not isinstance(self.learner, NameMatch) or are_features(items):
            return None
        return Named.of(space, self.vocabulary)

    def _new_vectorizer(self, items: Any, n_rows: int) -> Any:
        given = self.vectorizer, self.language
        return _default.new_vectorizer(*given, items, n_rows)

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
            learner = _default.calibrated(clone(self.learner), self._method())
            vectorizer = self._new_vectorizer(items, 0)
        _default.check_streaming(learner, vectorizer)
        return learner, vectorizer

    def _check_state(self) -> None:
        super()._check_state()
        if len(self.learner_.classes_) != len(LabelSpace(self.label_names_)):
            raise ValueError("label_names_ and learner_ must agree")
        width = getattr(self.vectorizer_, "n_features_out_", None)
        if self.vectorizer_ != PASSTHROUGH and self.learner_.n_features_in_ != width:
            raise ValueError("vectorizer_ and learner_ must agree")
