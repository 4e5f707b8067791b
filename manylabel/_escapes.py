"""Names and texts from outside, made fit to be shown.

A control character can steer a terminal, a direction mark turns the words around it,
and half a surrogate pair cannot be encoded: each is shown as Python would spell it.
"""

import json
import re
from typing import Any

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


def json_text(record: Any, **layout: Any) -> str:
    r"""Return JSON with letters as they are, and the rest as JSON spells it.

    Examples
    --------
    >>> print(json_text({"tag": "Grüße\x1b"}))
    {"tag": "Grüße\u001b"}
    """
    return HIDDEN.sub(_as_json, json.dumps(record, ensure_ascii=False, **layout))


def _as_json(found: re.Match[str]) -> str:
    # Strings have no newline in JSON: one here is between two lines.
    return found[0] if found[0] == "\n" else f"\\u{ord(found[0]):04x}"


def escape_cell(text: str) -> str:
    r"""Return a cell of tab-separated values, with ``\`` doubled: nothing is lost.

    Examples
    --------
    >>> print(escape_cell("a\tb\\c"))
    a\tb\\c
    """
    return escape_line(text.replace("\\", "\\\\"))
