"""What a tagger uses where nothing is named: by the size of the data."""

from typing import Any, NamedTuple

from sklearn.base import clone

from manylabel.base import MultiLabelClassifier
from manylabel.baselines import OneVsRest
from manylabel.blend import Blend
from manylabel.text._items import PASSTHROUGH, are_features
from manylabel.text._vectorizer import TextVectorizer
from manylabel.trees import FastXML, PfastreXML

FEW_TEXTS = 10  # of fewer, words that are in one of them count too
N_TREES = 25  # of each of two forests, which together are as large as one
FEWEST_ROWS = 2_000  # of fewer, too few could be held out to weigh learners
MOST_SEPARATORS = 2_000  # labels; one separator for each of more takes too long
MOST_ROWS = 200_000  # of more, one forest takes as long as one wants to wait


class Choice(NamedTuple):
    """A learner, and why it was chosen, as one sentence."""

    learner: MultiLabelClassifier
    reason: str


def choose_learner(n_rows: int, n_labels: int) -> Choice:
    """Return a learner for data of some size.

    Parameters
    ----------
    n_rows, n_labels : int
        The size of the data.

    Returns
    -------
    Choice
        The ``learner``, and the ``reason`` in words.

    Examples
    --------
    >>> choose_learner(500, 90).reason
    'OneVsRest, because 500 rows are too few to weigh several learners.'
    >>> choose_learner(7_770, 90).learner
    Blend()
    >>> choose_learner(1_000_000, 18_152).learner
    PfastreXML()
    """
    if n_rows < FEWEST_ROWS and n_labels <= MOST_SEPARATORS:
        rows = "1 row is" if n_rows == 1 else f"{n_rows:,} rows are"
        reason = f"{rows} too few to weigh several learners"
        return Choice(OneVsRest(), f"OneVsRest, because {reason}.")
    if n_rows <= MOST_ROWS and n_labels <= MOST_SEPARATORS:
        reason = "several learners are better than one, and the data small enough"
        return Choice(Blend(), f"Blend, because {reason}.")
    if n_rows <= MOST_ROWS:
        reason = f"{n_labels:,} labels are too many for a separator each"
        learners = [FastXML(n_estimators=N_TREES), PfastreXML(n_estimators=N_TREES)]
        return Choice(Blend(learners), f"Blend of two forests, because {reason}.")
    reason = f"{n_rows:,} rows are many, and one forest is enough to wait for"
    return Choice(PfastreXML(), f"PfastreXML, because {reason}.")


def choose_vectorizer(n_texts: int, analyzer: str = "word") -> TextVectorizer:
    """Return a vectorizer that finds words in however few texts.

    Examples
    --------
    >>> choose_vectorizer(3)
    TextVectorizer(min_df=1)
    """
    return TextVectorizer(analyzer=analyzer, min_df=1 if n_texts < FEW_TEXTS else 2)


def new_learner(given: Any, n_rows: int, n_labels: int) -> Choice:
    """Return a learner like the one given, or one for the size of the data."""
    if given is not None:
        return Choice(clone(given), "")
    return choose_learner(n_rows, n_labels)


def new_vectorizer(given: Any, items: Any, n_rows: int) -> Any:
    """Return a vectorizer like the one given, or what such items need."""
    if isinstance(given, TextVectorizer):
        return clone(given)
    if given == PASSTHROUGH or are_features(items):
        return PASSTHROUGH
    return choose_vectorizer(n_rows)


def check_streaming(learner: Any, vectorizer: Any) -> None:
    """Raise TypeError or ValueError for parts that cannot learn a stream."""
    if not hasattr(learner, "partial_fit"):
        kind = type(learner).__name__
        raise TypeError(f"learner must have partial_fit. {kind} has not.")
    if isinstance(vectorizer, TextVectorizer) and vectorizer.n_features is None:
        raise ValueError(
            "vectorizer must hash to learn a stream, as TextVectorizer("
            "n_features=2**18) does."
        )
