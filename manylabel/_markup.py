"""Texts and tables as markup, for pages and notebooks."""

from collections.abc import Iterable, Iterator, Sequence
from html import escape

from manylabel._escapes import escape_line

NUMBER, WORDS = ' class="n"', ' style="text-align: left"'  # notebooks set all right


def isolate(text: object) -> str:
    """Return a text that can neither be markup nor turn the words around it.

    Examples
    --------
    >>> isolate("<song>")
    '<bdi>&lt;song&gt;</bdi>'
    """
    return f"<bdi>{escape(escape_line(str(text)))}</bdi>"


def lay_table(
    caption: str,
    head: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    name: str = "",
    are_numbers: bool = True,
) -> Iterator[str]:
    """Yield a table of markup; the first cell of a row is its head.

    Parameters
    ----------
    caption : str
        What it shows.
    head : sequence of str
        The names of its columns.
    rows : iterable of sequences of str
        Its cells.
    name : str, default=""
        By which a script finds it.
    are_numbers : bool, default=True
        Whether all cells but the first of a row are numbers, not words.

    Examples
    --------
    >>> "".join(lay_table("Prices", ["what", "price"], [["tea", "3"]])).count("<td")
    1
    """
    mark, kind = f' id="{name}"' if name else "", NUMBER if are_numbers else WORDS
    yield f'<div class="wide"><table{mark}><caption>{caption}</caption>\n<thead><tr>'
    for at, each in enumerate(head):
        yield f'<th scope="col"{kind if at else ""}>{each}</th>'
    yield "</tr></thead>\n<tbody>\n"
    for first, *others in rows:
        cells = "".join(f"<td{kind}>{cell}</td>" for cell in others)
        yield f'<tr><th scope="row">{first}</th>{cells}</tr>\n'
    yield "</tbody></table></div>\n"
