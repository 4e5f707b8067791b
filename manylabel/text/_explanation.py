"""Why a text gets its tags, by leaving its words out."""

from typing import Any, NamedTuple

import numpy as np

from manylabel._escapes import escape_line
from manylabel._typing import CSR, Ints
from manylabel.explanation import MOST_NAMED, number_names, ranked
from manylabel.text._items import vectorize
from manylabel.text._vectorizer import TextVectorizer

MOST_WORDS = 200  # are left out of a text, one after another
PAIRS_AT_ONCE = 1 << 22  # scores of texts and tags, held at a time
UNKNOWN = "No word of the text is known; scores are those of an empty text."
Weights = list[tuple[str, float]]


class Reason(NamedTuple):
    """Why a text gets a tag or does not.

    Attributes
    ----------
    tag : str
        Its name.
    score : float
        Its score for the whole text.
    rank : int
        Its place among all tags, from 1.
    words : list of (str, float)
        What the score loses without the word, wherever it stands in the text: above 0
        if it speaks for the tag. The largest first, signs aside.
    members : dict of str to list of (str, float)
        The same for each member of a learner that has several, in its own scores.
    """

    tag: str
    score: float
    rank: int
    words: Weights
    members: dict[str, Weights]

    def lines(self) -> list[str]:
        """Return it in words."""
        head = f"{escape_line(self.tag)}  {self.score:.3f}, rank {self.rank}"
        return [head, *_sides(self.words, "  ")] + [
            line
            for name, words in self.members.items()
            for line in [f"  {name}", *_sides(words, "    ")]
        ]


class TagExplanation(NamedTuple):
    """Why a text gets its tags; printed, it is in words.

    Attributes
    ----------
    reasons : list of Reason
        One for each tag that was asked about.
    is_known : bool
        Whether the model knows a word of the text; else its scores are those of any
        text that says nothing.
    """

    reasons: list[Reason]
    is_known: bool = True

    def text(self) -> str:
        """Return it in words, several lines."""
        head = [] if self.is_known else [UNKNOWN]
        lines = [line for reason in self.reasons for line in reason.lines()]
        return "\n".join(head + lines)

    def __str__(self) -> str:
        return self.text()


class Variants(NamedTuple):
    """A text, and what it is without each of its words."""

    words: list[str]
    X: CSR  # the whole text first

    @classmethod
    def of(cls, text: str, vectorizer: Any) -> "Variants":
        """Leave out the words that weigh most, one at a time."""
        words, others = leave_out(text, vectorizer)
        return cls(words, vectorize(vectorizer, [text, *others], "transform"))

    def losses(self, learner: Any, columns: Ints) -> list[Weights]:
        """Return, for each column, what its score loses without each word."""
        step = max(1, PAIRS_AT_ONCE // len(learner.classes_))
        parts = [
            learner.decision_function(self.X[at : at + step])[:, columns]
            for at in range(0, self.X.shape[0], step)
        ]
        scores = np.concatenate(parts).astype(np.float64)
        lost = scores[0] - scores[1:]
        places = np.arange(len(self.words))
        return [
            [(self.words[place], weight) for place, weight in ranked(places, column)]
            for column in lost.T
        ]


def leave_out(text: str, vectorizer: Any) -> tuple[list[str], list[str]]:
    """Return the words of a text that weigh most, and the text without each."""
    reader = vectorizer if hasattr(vectorizer, "split") else TextVectorizer()
    found = reader.split(text)
    words = list(dict.fromkeys(found))
    if len(words) > MOST_WORDS:
        row = vectorize(vectorizer, [text], "transform")
        alone = vectorize(vectorizer, words, "transform")
        weights = (alone @ row.T).toarray().ravel()
        heavy = np.sort(np.argsort(-weights, kind="stable")[:MOST_WORDS])
        words = [words[place] for place in heavy]
    return words, [" ".join(w for w in found if w != gone) for gone in words]


def explain_text(
    text: str, tagger: Any, columns: Ints | None, k: int
) -> TagExplanation:
    """Return why a text gets some tags; without ``columns``, the best ``k``."""
    learner, names = tagger.learner_, tagger.label_names_
    variants = Variants.of(text, tagger.vectorizer_)
    scores = learner.decision_function(variants.X[:1])[0]
    order = np.argsort(-scores, kind="stable")
    columns = order[:k] if columns is None else columns
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(1, len(order) + 1)
    words = variants.losses(learner, columns)
    members = {
        name: variants.losses(member, columns)
        for name, member in _named(getattr(learner, "estimators_", []))
    }
    return TagExplanation(
        [
            Reason(
                str(names[column]),
                float(scores[column]),
                int(rank[column]),
                words[i],
                {name: losses[i] for name, losses in members.items()},
            )
            for i, column in enumerate(columns.tolist())
        ],
        is_known=variants.X[:1].nnz > 0,
    )


def _named(members: list[Any]) -> list[tuple[str, Any]]:
    """Return members with the names of their classes."""
    kinds = [type(member).__name__ for member in members]
    return list(zip(number_names(kinds), members, strict=True))


def _sides(words: Weights, indent: str) -> list[str]:
    """Return a line for the words that speak for a tag, and one for those against."""
    sides = {
        "for": [word for word in words if word[1] > 0],
        "against": [word for word in words if word[1] < 0],
    }
    return [
        f"{indent}{side:8}"
        + ", ".join(f"{escape_line(word)} {w:+.3f}" for word, w in found[:MOST_NAMED])
        for side, found in sides.items()
        if found
    ]
