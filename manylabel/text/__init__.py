"""Text in, tags out."""

from manylabel.text._explanation import Reason, TagExplanation
from manylabel.text._tagger import Tagger
from manylabel.text._vectorizer import TextVectorizer
from manylabel.text.choice import Choice, choose

__all__ = ["Choice", "Reason", "TagExplanation", "Tagger", "TextVectorizer", "choose"]
