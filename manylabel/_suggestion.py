"""The name that was probably meant."""

from collections.abc import Iterable
from difflib import get_close_matches
from itertools import islice

MOST_COMPARED, LONGEST = 10_000, 100  # names, and letters, among which one is suggested


def suggest(name: object, known: Iterable[str]) -> str:
    """Return a question for the nearest of the first names, if one is near.

    Examples
    --------
    >>> suggest("Castel", ["easel", "castle"])
    " Did you mean 'castle'?"
    >>> suggest("castle", ["moat"])
    ''
    """
    near = nearest(name, known)
    return "" if near is None else f" Did you mean {near!r:.80}?"


def nearest(name: object, known: Iterable[str]) -> str | None:
    """Return the nearest of the first names, whatever their case, if one is near."""
    folded: dict[str, str] = {}
    for each in islice(known, MOST_COMPARED):
        folded.setdefault(str(each).casefold(), str(each))
    found = get_close_matches(str(name).casefold()[:LONGEST], folded, 1)
    return folded[found[0]] if found else None
