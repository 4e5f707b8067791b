"""The model object, and how texts become its rows."""

from manylabel.text._card import Card
from manylabel.text._corrected import Corrected
from manylabel.text._counts import TextCounts
from manylabel.text._default import QUALITIES, Choice, choose, choose_vectorizer
from manylabel.text._embeddings import Embeddings, Hybrid
from manylabel.text._explanation import Reason, TagExplanation, leave_out
from manylabel.text._items import PASSTHROUGH, Judged
from manylabel.text._language import LANGUAGES
from manylabel.text._origin import COLUMNS, kept_columns, told_columns
from manylabel.text._rules import Rules
from manylabel.text._tagger import Tagger
from manylabel.text._vectorizer import TextVectorizer

__all__ = [
    "COLUMNS",
    "LANGUAGES",
    "PASSTHROUGH",
    "QUALITIES",
    "Card",
    "Choice",
    "Corrected",
    "Embeddings",
    "Hybrid",
    "Judged",
    "Reason",
    "Rules",
    "TagExplanation",
    "Tagger",
    "TextCounts",
    "TextVectorizer",
    "choose",
    "choose_vectorizer",
    "kept_columns",
    "leave_out",
    "told_columns",
]
