"""Search among the names of many labels."""

import re
from bisect import bisect_left
from collections.abc import Mapping, Sequence

WORD = re.compile(r"\w+")
LAST = "\U0010ffff"


class LabelIndex:
    """Finds labels by how they, or a word in them, begin; case does not matter.

    Parameters
    ----------
    names : sequence of str
        All labels.

    Examples
    --------
    >>> LabelIndex(["Use::gameplay", "game::puzzle", "web"]).find("gam", 2)
    ['game::puzzle', 'Use::gameplay']
    """

    def __init__(self, names: Sequence[str]) -> None:
        self.n_names = len(names)
        starts = []
        for column, name in enumerate(names):
            folded = name.casefold()
            starts.append((folded, 0, column))
            words = {folded[word.start() :] for word in WORD.finditer(folded)}
            starts.extend((word, 1, column) for word in words if word != folded)
        starts.sort()
        self._names = names
        self._starts = starts

    def find(
        self, prefix: str, limit: int, counts: Mapping[str, int] | None = None
    ) -> list[str]:
        """Return labels that begin so, then those with such a word, by frequency.

        Of very many, those that come first in the alphabet are ranked.
        """
        folded = prefix.casefold()
        low = bisect_left(self._starts, (folded, 0, 0))
        high = bisect_left(self._starts, (folded + LAST, 0, 0))
        rank: dict[str, tuple[int, int, str]] = {}
        for folded_name, is_word, column in self._starts[low : min(high, low + MOST)]:
            name = self._names[column]
            key = (is_word, -(counts or {}).get(name, 0), folded_name)
            rank[name] = min(rank.get(name, key), key)
        return sorted(rank, key=rank.__getitem__)[:limit]


MOST = 5000  # starts that are ranked in one search
