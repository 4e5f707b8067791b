"""An audit as a page for a browser, with nothing to load from elsewhere."""

from collections.abc import Iterator, Sequence
from html import escape
from typing import Any

from manylabel._escapes import escape_line

LONGEST = 600  # letters of a text that are shown
MOST_LABELS = 100  # lines of the table of labels
HEAD = """<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy"
 content="default-src 'none'; style-src 'unsafe-inline'">
<title>Audit</title>
<style>
:root { color-scheme: light dark; --ink: #222; --back: #fff; --grey: #5f5f5f;
 --line: #b5b5b5; --missing: #0062a3; --wrong: #a83f00; --chip: #eef2f5 }
@media (prefers-color-scheme: dark) {
 :root { --ink: #e6e6e6; --back: #16181c; --grey: #a9a9a9; --line: #555;
 --missing: #7cc0f4; --wrong: #ffab7a; --chip: #262b31 } }
body { font: 1rem/1.45 system-ui, sans-serif; color: var(--ink);
 background: var(--back); margin: 1rem auto; padding: 0 1rem; max-width: 60rem;
 overflow-wrap: anywhere }
h1 { font-size: 1.4rem } h2 { font-size: 1.15rem; margin-top: 2rem }
p { margin: .3rem 0 }
.grey { color: var(--grey) }
ol { list-style: none; margin: 0; padding: 0 }
li { border-left: 3px solid var(--line); padding: .2rem 0 .2rem .8rem;
 margin: 1rem 0 }
.chip { display: inline-block; background: var(--chip); border-radius: .3rem;
 padding: .05rem .45rem; margin: .1rem .15rem .1rem 0 }
.missing { color: var(--missing) } .wrong { color: var(--wrong) }
table { border-collapse: collapse; width: 100% }
th, td { text-align: left; padding: .2rem .5rem .2rem 0;
 border-bottom: 1px solid var(--line); vertical-align: top }
th.n, td.n { text-align: right; font-variant-numeric: tabular-nums;
 overflow-wrap: normal; width: 1% }
@media (max-width: 32rem) {
 table, tbody { display: block }
 tr { display: grid; grid-template-columns: repeat(4, 1fr) }
 th, td, th.n, td.n { width: auto; font-size: .85rem }
 th:first-child, td:first-child { grid-column: 1 / -1; border: 0; font-size: 1rem } }
</style>
<main>
<h1>Labels to look at</h1>
"""
WORDS = """<p class="grey">Each row was judged by a learner that had not seen it. A
label <span class="missing">+</span> is probably true and was not recorded, one
<span class="wrong">&minus;</span> is recorded and probably wrong; beside it is the
probability, in percent. Rows in which a look is expected to correct most come
first. A propensity is how often a true label is recorded: one half where nobody told,
until rows of <code>audit --sample</code> tell better.</p>
"""
ESTIMATE = """<p class="grey">How many are missing is an estimate by the propensity p of
the label, at most about recorded &times; (1 / p &minus; 1); <code>manylabel audit
--propensity</code> gives another p.</p>
"""
FOOT = "</main>\n</html>\n"


def page_parts(title: str, rows: Sequence[Any], labels: Sequence[Any]) -> Iterator[str]:
    """Yield the page: the rows, and then the labels, the worst first."""
    yield f"{HEAD}<p>{escape(escape_line(title))}.</p>\n{WORDS}"
    yield f"<h2>{len(rows):,} rows</h2>\n<ol>\n"
    yield from map(_row, rows)
    yield f"</ol>\n<h2>Labels</h2>\n{ESTIMATE}"
    yield "<table>\n<tr><th>label<th class=n>recorded"
    yield "<th class=n>propensity<th class=n>missing<th class=n>wrong\n"
    yield from map(_label, labels[:MOST_LABELS])
    yield "</table>\n"
    if len(labels) > MOST_LABELS:
        more = f"{len(labels) - MOST_LABELS:,} labels of which less is amiss"
        yield f"<p class=grey>... and {more}.</p>\n"
    yield FOOT


def _row(finding: Any) -> str:
    name = f"row {finding.row}"
    if finding.id is not None:
        name += f", {_isolated(finding.id)}"
    parts = [f"<li><p class=grey>{name}, expected to correct {finding.gain:.2f}</p>"]
    if finding.text is not None:
        words = " ".join(finding.text.split())
        cut = "..." if len(words) > LONGEST else ""
        parts.append(f"<p>{_isolated(words[:LONGEST] + cut)}</p>")
    for kind, sign in (("missing", "+"), ("wrong", "&minus;")):
        chips = [
            f"<span class=chip><span class={kind}>{sign}</span> {_isolated(label)} "
            f"<span class=grey>{100 * chance:.0f}</span></span>"
            for label, chance in getattr(finding, kind)
        ]
        parts.append(f"<p>{' '.join(chips)}</p>" if chips else "")
    recorded = ", ".join(map(_isolated, finding.labels)) or "nothing"
    return "".join([*parts, f"<p class=grey>recorded: {recorded}</p></li>\n"])


def _label(finding: Any) -> str:
    figures = (
        f"{finding.recorded:,}",
        f"{finding.propensity:.2f}",
        f"{finding.missing:,.1f}",
        f"{finding.wrong:,.1f}",
    )
    cells = "".join(f"<td class=n>{figure}" for figure in figures)
    return f"<tr><td>{_isolated(finding.label)}{cells}\n"


def _isolated(name: str) -> str:
    """Return words that can neither be markup nor turn the words around them."""
    return f"<bdi>{escape(escape_line(name))}</bdi>"
