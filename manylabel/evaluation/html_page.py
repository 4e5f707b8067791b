"""Pages for a browser, with nothing to load from elsewhere: the shell of them all."""

import os
from base64 import b64encode
from collections.abc import Iterable, Iterator
from hashlib import sha256
from html import escape

from manylabel._escapes import escape_line
from manylabel.data.writing import replacing

HEAD = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy"
 content="default-src 'none'; base-uri 'none'; style-src 'unsafe-inline'{allowed}">
<title>{title}</title>
<style>
{style}</style>
</head>
<body>
<main>
<h1>{title}</h1>
"""
COLOURS = """:root { color-scheme: light dark; --ink: #222; --back: #fff;
 --grey: #5f5f5f; --line: #b5b5b5; --faint: #f2f4f7; --plus: #0062a3; --minus: #a83f00 }
@media (prefers-color-scheme: dark) {
 :root { --ink: #e6e6e6; --back: #16181c; --grey: #a9a9a9; --line: #555;
 --faint: #22262c; --plus: #7cc0f4; --minus: #ffab7a } }
"""
STYLE = (
    COLOURS
    + """body { font: 1rem/1.45 system-ui, sans-serif; color: var(--ink);
 background: var(--back); margin: 1.5rem; overflow-wrap: anywhere }
h1 { font-size: 1.4rem }
p { margin: 0 }
.grey { color: var(--grey) }
.plus { color: var(--plus) }
.minus { color: var(--minus) }
summary { cursor: pointer }
"""
)
TABLES = """.wide { overflow-x: auto }
table { border-collapse: collapse; margin: .6rem 0 }
caption { text-align: left; color: var(--grey); padding: 0 0 .4rem }
th, td { text-align: left; vertical-align: top; padding: .3rem .7rem .3rem 0;
 border-bottom: 1px solid var(--line) }
th { font-weight: 600 }
thead th { overflow-wrap: normal }
tbody th { font-weight: inherit; min-width: 7.5rem }
.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap }
"""


def write_page(
    path: str | os.PathLike[str],
    title: str,
    parts: Iterable[str],
    *,
    style: str = "",
    script: str = "",
) -> None:
    """Write a page; it appears whole or, after an error, not at all.

    It follows the reader's choice of light or dark, and may load nothing. Of scripts
    only ``script`` runs, known by its hash: what a label smuggles in does not.

    Parameters
    ----------
    path : str or path-like
        The file to write.
    title : str
        What stands above; any text.
    parts : iterable of str
        The markup below the title; texts in it are escaped (``_markup.isolate``).
    style : str, default=""
        Rules beside those that all pages have, such as ``TABLES``.
    script : str, default=""
        Runs at the end; the page must be of use without it.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from manylabel._markup import isolate
    >>> with TemporaryDirectory() as folder:
    ...     write_page(Path(folder, "a.html"), "<b>", [f"<p>{isolate('1 < 2')}</p>"])
    ...     page = Path(folder, "a.html").read_text()
    >>> "<title>&lt;b&gt;</title>" in page, "<bdi>1 &lt; 2</bdi>" in page
    (True, True)
    """
    with replacing(path) as file:
        for part in _whole(title, parts, STYLE + style, script):
            file.write(part.encode())


def _whole(title: str, parts: Iterable[str], style: str, script: str) -> Iterator[str]:
    digest = b64encode(sha256(script.encode()).digest()).decode()
    allowed = f"; script-src 'sha256-{digest}'" if script else ""
    shown = escape(escape_line(title))
    yield HEAD.format(title=shown, style=style, allowed=allowed)
    yield from parts
    yield "</main>\n"
    yield f"<script>{script}</script>\n" if script else ""
    yield "</body>\n</html>\n"
