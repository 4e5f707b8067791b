"""Names and texts from outside, made fit to be shown.

A control character can steer a terminal, a direction mark turns the words around it,
and half a surrogate pair cannot be encoded: each is shown as Python would spell it.
"""

import re

HIDDEN = re.compile(
    "[\0-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)


def escape_line(text: str) -> str:
    r"""Return a text on one line, without anything that a terminal obeys.

    Examples
    --------
    >>> print(escape_line("red\x1b[2J\nwine"))
    red\x1b[2J\nwine
    """
    return HIDDEN.sub(lambda found: ascii(found[0])[1:-1], text)


def escape_lines(text: str) -> str:
    """Return several lines, each without anything that a terminal obeys."""
    return "\n".join(map(escape_line, text.split("\n")))


def escape_cell(text: str) -> str:
    r"""Return a cell of tab-separated values, with ``\`` doubled: nothing is lost.

    Examples
    --------
    >>> print(escape_cell("a\tb\\c"))
    a\tb\\c
    """
    return escape_line(text.replace("\\", "\\\\"))
