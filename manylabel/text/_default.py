"""What a tagger uses where nothing is named: by the size of the data."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from sklearn.base import clone
from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter

from manylabel import _validation
from manylabel._typing import CSR
from manylabel.base import MultiLabelClassifier, check_learner
from manylabel.baselines import OneVsRest
from manylabel.blend import Blend
from manylabel.data import LabelSpace, Vocabulary
from manylabel.label_tree import LabelTree, parents_by_column
from manylabel.model_selection import Calibrated, LeastCost
from manylabel.model_selection.calibration import METHODS
from manylabel.text._items import PASSTHROUGH, are_features
from manylabel.text._language import check_language
from manylabel.text._rules import Rules
from manylabel.text._vectorizer import TextVectorizer

QUALITIES = ("fast", "balanced", "best")  # the quickest first
FEW_TEXTS = 10  # of fewer, words that are in one of them count too
FEWEST_ROWS = 2_000  # of fewer, too few could be held out to choose by
FEW_LABELS = 1_000  # of so many, a label tree is one-vs-rest
# On rows held out of debtags, bibtex, reuters90 and delicious the mean of P@1, 3 and 5
# changes against C = 1 by +0.4, +0.3, -0.2 and -0.4, in 0.7 to 0.9 of the time.
QUICK_C = 0.5
N_TREES = 3  # of an ensemble of label trees
CENTRES = 1 << 29  # numbers in the centres of clusters, which are dense: 2 GB


class Choice(NamedTuple):
    """A learner, and why it was chosen, as one sentence."""

    learner: MultiLabelClassifier
    reason: str


def choose(
    n_rows: int, n_features: int | None, n_labels: int, quality: str = "balanced"
) -> Choice:
    """Choose a learner for data of some size: how good it is to be, at which price.

    Parameters
    ----------
    n_rows : int
        Rows of the data.
    n_features : int or None
        Features, None if they are not counted yet.
    n_labels : int
        Labels.
    quality : {"fast", "balanced", "best"}, default="balanced"
        "fast" is a single label tree, learnt in little more than the time of reading.
        "balanced" chooses on rows held out which labels are raised, and what scores
        mean, so that it has probabilities; that takes twice as long, and for fewer than
        5,000 rows five times. It has three trees where labels are many. "best" is a
        :class:`Blend` of learners of different kinds, and takes many times as long.
        Few rows get a single learner, whatever is asked for.

    Returns
    -------
    Choice
        The ``learner``, and the ``reason`` as one sentence.

    Examples
    --------
    >>> choose(500, 2_000, 90).reason
    'OneVsRest, because 500 rows are too few to weigh several learners.'
    >>> choose(7_770, 60_000, 90).learner
    LabelTree(C=0.5, calibrate='auto', cost='f1', tilt='auto')
    >>> choose(7_770, 60_000, 90, "best").learner
    Blend(calibrate='auto')
    """
    _validation.choice(quality, "quality", QUALITIES)
    if n_rows < FEWEST_ROWS and n_labels <= FEW_LABELS:
        rows = "1 row is" if n_rows == 1 else f"{n_rows:,} rows are"
        reason = f"{rows} too few to weigh several learners"
        return Choice(OneVsRest(), f"OneVsRest, because {reason}.")
    if quality == "best":
        reason = "several learners are better than one, where there is time"
        return Choice(Blend(calibrate="auto"), f"Blend, because {reason}.")
    tree = LabelTree(n_clusters=_most_clusters(n_features, n_labels))
    if quality == "fast":
        return Choice(tree, "LabelTree, because nothing as good is quicker.")
    tree.set_params(tilt="auto", cost="f1", calibrate="auto")
    if n_labels <= FEW_LABELS:
        each = f"each of {n_labels:,} labels" if n_labels > 1 else "the label"
        reason = f"a classifier for {each} is good and soon learnt"
        return Choice(tree.set_params(C=QUICK_C), f"LabelTree, because {reason}.")
    reason = f"{n_labels:,} labels are too many for a classifier each"
    tree.set_params(n_estimators=N_TREES)
    return Choice(tree, f"LabelTree of {N_TREES} trees, because {reason}.")


def choose_vectorizer(
    n_texts: int, analyzer: str = "word", language: str | None = None
) -> TextVectorizer:
    """Return a vectorizer that finds words in however few texts, of a language.

    Examples
    --------
    >>> choose_vectorizer(3)
    TextVectorizer(min_df=1)
    """
    min_df = 1 if n_texts < FEW_TEXTS else 2
    return TextVectorizer(analyzer=analyzer, min_df=min_df, language=language)


def new_learner(given: Any, X: CSR, labels: LabelSpace, quality: str) -> Choice:
    """Return a learner like the one given, or one for the size of the data.

    A hierarchy of names becomes one of columns.
    """
    if given is None:
        return choose(X.shape[0], X.shape[1], len(labels), quality)
    learner = clone(given)
    parents = getattr(learner, "parents", None)
    if isinstance(parents, Vocabulary):
        parents = parents.tree(labels)
    if isinstance(parents, Mapping):
        learner.set_params(parents=parents_by_column(parents, labels))
    return Choice(learner, "")


def calibrated(learner: Any, method: str | None) -> Any:
    """Return a learner that will have probabilities, by such a method."""
    if method is None:
        return learner
    if hasattr(learner, "calibrate"):
        if learner.calibrate is None:
            learner.set_params(calibrate=method)
        return learner
    propensity = getattr(learner, "propensity", None)
    return Calibrated(learner, method=method, propensity=propensity)


def check_decision(calibrate: Any, cost: Any, rules: Any) -> None:
    """Raise TypeError or ValueError for what sets cannot be decided by."""
    if calibrate is not None:
        _validation.choice(calibrate, "calibrate", METHODS)
    if cost is not None:
        LeastCost(cost)
    if not isinstance(rules, Rules | None):
        raise TypeError(f"rules must be Rules or None. Got {rules!r:.60}.")


def fit_learner(learner: Any, X: CSR, Y: CSR, sample_weight: Any) -> None:
    """Fit a learner to rows that count as ``sample_weight`` says, None alike."""
    if sample_weight is None:
        learner.fit(X, Y)
        return
    if not has_fit_parameter(learner, "sample_weight"):
        kind = type(learner).__name__
        raise TypeError(f"learner must have sample_weight in fit. {kind} has not.")
    learner.fit(X, Y, sample_weight)


def new_vectorizer(given: Any, language: str | None, items: Any, n_rows: int) -> Any:
    """Return a vectorizer like the one given, or what such items need."""
    if given is not None and not isinstance(given, str):
        return clone(given)
    if given == PASSTHROUGH or are_features(items):
        return PASSTHROUGH
    return choose_vectorizer(n_rows, language=language)


def check_parts(learner: Any, vectorizer: Any, quality: Any, language: Any) -> None:
    """Raise TypeError or ValueError for what a tagger cannot be made of."""
    check_language(language)
    if language is not None and vectorizer is not None:
        raise ValueError(
            f"language must be told to the vectorizer that is given. Got {language!r}."
        )
    if learner is not None:
        check_learner(learner, "learner")
    verbs = ("fit_transform", "transform", "get_params")
    is_known = vectorizer is None or all(hasattr(vectorizer, each) for each in verbs)
    if isinstance(vectorizer, type) or (not is_known and vectorizer != PASSTHROUGH):
        known = 'a TextVectorizer or another transformer, "passthrough" or None'
        raise TypeError(f"vectorizer must be {known}. Got {vectorizer!r:.60}.")
    _validation.choice(quality, "quality", QUALITIES)


def check_streaming(learner: Any, vectorizer: Any) -> None:
    """Raise TypeError or ValueError for parts that cannot learn a stream."""
    if not hasattr(learner, "partial_fit"):
        kind = type(learner).__name__
        raise TypeError(f"learner must have partial_fit. {kind} has not.")
    if not isinstance(vectorizer, str) and get_tags(vectorizer).requires_fit:
        raise ValueError(
            "vectorizer must hash to learn a stream, as TextVectorizer("
            "n_features=2**18) does."
        )


def _most_clusters(n_features: int | None, n_labels: int) -> int | None:
    """Return into how many clusters labels are parted; None for the usual number."""
    if n_features is None or n_labels <= FEW_LABELS or n_features <= CENTRES >> 8:
        return None
    return max(2, CENTRES // n_features)
