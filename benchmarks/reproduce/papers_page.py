"""The page of the papers: what holds, every table with its verdicts, every figure."""

from collections.abc import Mapping, Sequence

from benchmarks import page
from benchmarks.ledger import Record
from benchmarks.reproduce.claim import Topic
from benchmarks.reproduce.finding import Finding
from benchmarks.reproduce.report import Section, write_section
from benchmarks.reproduce.summary import (
    reviews_of,
    write_claims,
    write_counts,
    write_overview,
)
from benchmarks.reproduce.table import Table
from benchmarks.source import Source

TITLES = {
    "cs-dpp": "Dynamic principal projection for cost-sensitive online multi-label "
    "classification (Chu, Huang & Lin 2019)",
    "pfastrexml-supplement": "Extreme multi-label loss functions, supplementary "
    "material (Jain, Prabhu & Varma 2016)",
    "budgeted-trees": "Making decision trees feasible in ultrahigh feature and label "
    "dimensions (Liu & Tsang 2017)",
}
INTRODUCTION = """\
Every table and figure of the three papers that can be run on the data at hand, run
again and put beside what was published. This page is written by the command below from
one line of JSON for each run; what is finished is not run again.

A verdict is *matched* if our mean differs from the published value by at most the
tolerance that a table names (a share of that value), or, where the paper prints a ±, by
at most the standard errors of both; else it is *better* or *worse*, and better only by
more than our own standard error and half a unit of the last digit in print. *Repeated*
is judged in the table that is named. What is *not comparable*, and what is worse, has
its reason beneath the table. The figure after ± is the standard error over repetitions.
A claim in words *holds* if it is true of all comparisons that were run, or of most if
it says no more; it is *not decided* if none of them differs beyond chance. What a paper
says of others' learners is counted apart from its own claims, what we say not at all.
Times are compared only between runs of one commit, on one machine, within a day.
"""


def write_page(
    sections: Sequence[Section],
    topics: Mapping[str, Mapping[str, Topic]],
    findings: Sequence[Finding],
    runs: Sequence[Record],
    lost: Sequence[Source],
    n_open: Mapping[str, int],
    *,
    quick: bool,
) -> str:
    """Return the page as Markdown.

    Parameters
    ----------
    sections : sequence of Section
        Tables and figures, paper by paper.
    topics : mapping
        What the claims of each paper are about.
    findings : sequence of Finding
        The claims, decided.
    runs : sequence of dict
        The lines that all of it was made from.
    lost : sequence of Source
        The data sets that were not found.
    n_open : mapping of str to int
        How many runs are not finished, by data set.
    quick : bool
        Whether it is the reduced version.
    """
    hurry = " --quick" if quick else ""
    command = f"python -m benchmarks reproduce{{}}{hurry} --data DATA"
    reviews = reviews_of(sections, topics, findings)
    tables = [each for each in sections if isinstance(each.spec, Table)]
    parts = [write_overview(reviews), write_counts(tables), _absent(lost)]
    parts.append(_unfinished(n_open))
    for review in reviews:
        parts.append(f"## {review.paper}\n\n{TITLES.get(review.paper, '')}.")
        parts.append(write_claims(review.findings))
        parts += [write_section(each, command) for each in review.sections]
    title = "The papers, run again"
    return page.compose(title, INTRODUCTION, command.format(""), runs, parts)


def _absent(lost: Sequence[Source]) -> str:
    """Name the data sets that were not found, and where their publishers have them."""
    if not lost:
        return ""
    rows = [[each.name, ", ".join(each.missing), each.publisher] for each in lost]
    return (
        "## Data sets that were not found\n\nTheir part of each table was skipped.\n\n"
        + page.table(["data", "files looked for", "publisher"], rows)
    )


def _unfinished(n_open: Mapping[str, int]) -> str:
    """Say how many runs are left to do; the command goes on with them."""
    if not n_open:
        return ""
    rows = [[name, str(number)] for name, number in sorted(n_open.items())]
    return (
        "## Runs that are not finished\n\nTheir cells are empty, or means of fewer "
        "repetitions; the command goes on with them.\n\n"
        + page.table(["data", "runs"], rows)
    )
