"""Words counted in a shard of texts, to be added to those of other shards."""

from dataclasses import dataclass
from typing import Any

from manylabel.text._grams import Counted


@dataclass(frozen=True, eq=False, repr=False)
class TextCounts:
    """How many texts each run of words is in: shards add with ``+``, in any order.

    Made by :meth:`TextVectorizer.count`, for :meth:`TextVectorizer.fit_counts`. It can
    be pickled, and holds every run, also what no vectorizer will keep.

    Parameters
    ----------
    settings : dict
        What the vectorizer takes for a run: its analyzer, language and so on.
    counted : Counted
        The counts.

    Examples
    --------
    >>> from manylabel import TextVectorizer
    >>> vectorizer = TextVectorizer()
    >>> monday, tuesday = ["red wine", "white bread"], ["red wine, white wine"]
    >>> counts = vectorizer.count(monday) + vectorizer.count(tuesday)
    >>> counts
    TextCounts(3 texts, 8 runs)
    >>> sorted(vectorizer.fit_counts(counts).get_feature_names_out())
    ['red', 'red wine', 'white', 'wine']
    """

    settings: dict[str, Any]
    counted: Counted

    @property
    def n_texts(self) -> int:
        """How many texts were counted."""
        return self.counted.n_rows

    def __len__(self) -> int:
        return len(self.counted.hashes)

    def __add__(self, other: "TextCounts") -> "TextCounts":
        self.check_like(other.settings)
        return TextCounts(self.settings, self.counted.plus(other.counted))

    def check_like(self, settings: dict[str, Any]) -> None:
        """Refuse to be taken for counts of other runs."""
        for name, value in self.settings.items():
            if value != settings[name]:
                raise ValueError(
                    f"counts must be of one {name}, {settings[name]!r}. Got {value!r}."
                )

    def __repr__(self) -> str:
        return f"TextCounts({self.n_texts:,} texts, {len(self):,} runs)"
