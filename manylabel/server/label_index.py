"""Search among the names of many labels."""

import re
from bisect import bisect_left
from collections.abc import Callable, Sequence
from itertools import chain

WORD = re.compile(r"\w+")
LAST = "\U0010ffff"
MOST = 5000  # beginnings that are ranked in one search
FEW = 1000  # labels that are sorted again whenever one is added
Start = tuple[str, bool, str]


class LabelIndex:
    """Finds labels by how they, or a word in them, begin; case does not matter.

    Parameters
    ----------
    names : sequence of str
        All labels.

    Examples
    --------
    >>> index = LabelIndex(["Use::gameplay", "game::puzzle", "web"])
    >>> index.find("gam", 2)
    ['game::puzzle', 'Use::gameplay']
    >>> index.extended([*index.names, "gambling"]).find("gam", 1)
    ['gambling']
    """

    def __init__(self, names: Sequence[str] = ()) -> None:
        self.names = names
        self._n_sorted = len(names)
        self._starts = _sort_starts(names)
        self._late: list[Start] = []

    def extended(self, names: Sequence[str]) -> "LabelIndex":
        """Return an index of these names, quickly if few of them were added last."""
        n_new = len(names) - self._n_sorted
        if not 0 <= n_new <= FEW or any(
            names[at] != self.names[at] for at in range(0, len(self.names), FEW)
        ):
            return LabelIndex(names)
        if n_new == len(self.names) - self._n_sorted:
            return self
        index = object.__new__(LabelIndex)
        index.names, index._n_sorted = names, self._n_sorted
        index._starts = self._starts
        index._late = _sort_starts(names[self._n_sorted :])
        return index

    def find(
        self, prefix: str, limit: int, count: Callable[[str], int] = lambda name: 0
    ) -> list[str]:
        """Return labels that begin so, then those with such a word, by frequency.

        One that is called just so comes first. Of very many, those that come first in
        the alphabet are ranked.
        """
        rank: dict[str, tuple[bool, bool, int, str]] = {}
        folded = prefix.casefold()
        found = (_among(starts, folded) for starts in (self._starts, self._late))
        for start, is_word, name in chain(*found):
            key = (is_word, start != folded, -count(name), start)
            rank[name] = min(rank.get(name, key), key)
        return sorted(rank, key=rank.__getitem__)[:limit]


def _sort_starts(names: Sequence[str]) -> list[Start]:
    """Return where names and words in them begin, and to the end, in order."""
    starts: list[Start] = []
    for name in names:
        folded = name.casefold()
        starts.append((folded, False, name))
        words = {folded[word.start() :] for word in WORD.finditer(folded)}
        starts.extend((word, True, name) for word in words if word != folded)
    return sorted(starts)


def _among(starts: list[Start], prefix: str) -> list[Start]:
    low = bisect_left(starts, (prefix, False, ""))
    high = bisect_left(starts, (prefix + LAST, False, ""), low)
    return starts[low : min(high, low + MOST)]
