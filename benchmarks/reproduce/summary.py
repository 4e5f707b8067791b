"""What of each paper holds: counts of verdicts, and claims."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from benchmarks import page
from benchmarks.reproduce.claim import COMPARATOR, OURS, Topic
from benchmarks.reproduce.claim import OWN as OWN_CLAIM
from benchmarks.reproduce.finding import (
    FAILS,
    HOLDS,
    IN_PART,
    NOT_RUN,
    UNDECIDED,
    Case,
    Finding,
)
from benchmarks.reproduce.report import Section, figure
from benchmarks.reproduce.table import OWN, ROLES
from benchmarks.reproduce.verdict import (
    BETTER,
    JUDGED,
    MATCHED,
    NOT_COMPARABLE,
    REPEATED,
    WORSE,
    Cell,
)

NUMBERS = "numbers"  # the topic of what is printed in tables
COLUMNS = {
    OWN: "the paper's own",
    "comparator": "comparators",
    "ablation": "ablations",
    "variant": "our variants",
}
_SHORT = {IN_PART: "in part", FAILS: "not", UNDECIDED: "not decided"}
ABOUT = {OWN_CLAIM: "its own", COMPARATOR: "comparators", OURS: "ours"}
OTHERS = Topic("what it says of comparators", "")
MOST_CASES = 3  # that a claim names
EXPLANATION = """\
*Matched / better / worse* of the numbers of each table: of what the paper proposes, of
what it compares with, of parts of its own taken away, and of variants of ours, which
stand beside the row they vary. A number that several tables print is counted in the
first; what has no published number has no verdict."""


@dataclass(frozen=True)
class Review:
    """A paper with what was found of it.

    Parameters
    ----------
    paper : str
        Its name.
    sections : list of Section
        Its tables, judged.
    topics : mapping of str to Topic
        What its claims are about; ``numbers`` are its tables.
    findings : list of Finding
        Its claims, decided.
    """

    paper: str
    sections: list[Section]
    topics: Mapping[str, Topic]
    findings: list[Finding]


def tally(cells: Iterable[Cell]) -> dict[str, Counter[str]]:
    """Return how many cells that were run have each verdict, by role."""
    found = {role: Counter[str]() for role in ROLES}
    for cell in cells:
        if cell.values:
            found[cell.role][cell.verdict] += 1
    return found


def write_overview(reviews: Sequence[Review]) -> str:
    """Return a table of what of each paper holds, what does not, and why."""
    head = ["paper", "", "holds", "does not", "why"]
    rows = [row for review in reviews for row in _overview(review)]
    return page.join("## What holds", page.table(head, rows)) if rows else ""


def _overview(review: Review) -> Iterator[list[str]]:
    """Yield a row for the numbers of a paper and one for each topic of its claims."""
    own = tally(cell for each in review.sections for cell in each.cells)[OWN]
    n_judged = sum(own[verdict] for verdict in JUDGED)
    none = Topic("its numbers", "")
    if n_judged:
        good = f"{own[MATCHED]} matched, {own[BETTER]} better, of {n_judged}"
        yield _line(
            review.paper,
            review.topics.get(NUMBERS, none),
            good,
            f"{own[WORSE]} worse" if own[WORSE] else "",
        )
    own = [each for each in review.findings if each.claim.role == OWN_CLAIM]
    for name, topic in review.topics.items():
        found = [each for each in own if each.claim.topic == name]
        yield from _claims_line(review.paper, topic, found)
    others = [each for each in review.findings if each.claim.role == COMPARATOR]
    yield from _claims_line(review.paper, OTHERS, others)


def _claims_line(
    paper: str, topic: Topic, findings: Sequence[Finding]
) -> Iterator[list[str]]:
    """Yield a row for claims, if any was run."""
    verdicts = Counter(each.verdict for each in findings)
    n_run = len(findings) - verdicts[NOT_RUN]
    if n_run:
        bad = [f"{verdicts[v]} {w}" for v, w in _SHORT.items() if verdicts[v]]
        good = f"{verdicts[HOLDS]} of {n_run} claims"
        yield _line(paper, topic, good, ", ".join(bad))


def _line(paper: str, topic: Topic, good: str, bad: str) -> list[str]:
    return [paper, topic.title, good, bad, topic.why.strip() if bad else ""]


def write_counts(sections: Iterable[Section]) -> str:
    """Return the verdicts of each table, those of sets that were not found left out."""
    rows, total = [], {role: Counter[str]() for role in ROLES}
    for each in sections:
        found = tally(each.cells)
        for role, counts in found.items():
            total[role].update(counts)
        rows.append([f"{each.spec.paper}, {each.spec.name}", *_counts(found)])
    rows.append(["all", *_counts(total)])
    head = ["table", *COLUMNS.values(), NOT_COMPARABLE, REPEATED]
    table = page.table(head, rows, n_words=1)
    return page.join("## Verdicts", EXPLANATION, table)


def _counts(found: Mapping[str, Counter[str]]) -> list[str]:
    told = [
        " / ".join(str(counts[verdict]) for verdict in JUDGED)
        if any(counts[verdict] for verdict in JUDGED)
        else ""
        for counts in (found[role] for role in COLUMNS)
    ]
    others = (sum(c[v] for c in found.values()) for v in (NOT_COMPARABLE, REPEATED))
    return [*told, *map(str, others)]


def write_claims(findings: Sequence[Finding]) -> str:
    """Return the claims of a paper with what was found, and the reasons beneath."""
    if not findings:
        return ""
    findings = sorted(findings, key=lambda each: list(ABOUT).index(each.claim.role))
    told = [each for each in findings if each.verdict in _SHORT and each.claim.why]
    marks = {id(each): str(number) for number, each in enumerate(told, start=1)}
    head = ["claim", "about", "where", "rule", "true of", "not of", "verdict"]
    rows = (_claim(each, marks.get(id(each))) for each in findings)
    notes = [f"{marks[id(each)]}. {each.claim.why.strip()}" for each in told]
    heading = "### Claims in words"
    return page.join(heading, page.table(head, rows), "\n".join(notes))


def _claim(finding: Finding, mark: str | None) -> list[str]:
    claim, cases = finding.claim, finding.cases
    tables = ", ".join(table.name for table in claim.tables)
    n_true = sum(case.holds for case in cases)
    true = [f"{n_true} of {len(cases)}"] if cases else []
    if n_open := sum(not case.decided for case in cases):
        true.append(f"{n_open} not decided")
    if finding.apart:
        true.append(f"not run together: {_named(finding.apart)}")
    against = sorted((case for case in cases if not case.holds), key=_is_open)
    return [
        claim.says,
        ABOUT[claim.role],
        f"{claim.where} ({tables})",
        finding.rule,
        "; ".join(true),
        _named([_case(case) for case in against]),
        finding.verdict + (f" ({mark})" if mark else ""),
    ]


def _is_open(case: Case) -> bool:
    return not case.decided


def _named(cases: Sequence[str]) -> str:
    """Return the first few cases, and how many more there are."""
    more = len(cases) - MOST_CASES
    return "; ".join([*cases[:MOST_CASES], *([f"{more} more"] if more > 0 else [])])


def _case(case: Case) -> str:
    ours = f"{case.data}, {case.metric}: {case.row} {figure(case.ours)}"
    return f"{ours}, {case.rival} {figure(case.theirs)}" if case.rival else ours


def reviews_of(
    sections: Iterable[Section],
    topics: Mapping[str, Mapping[str, Topic]],
    findings: Sequence[Finding],
) -> list[Review]:
    """Return the tables and claims by paper."""
    return [
        Review(
            paper,
            list(group),
            topics.get(paper, {}),
            [each for each in findings if each.claim.paper == paper],
        )
        for paper, group in groupby(sections, key=lambda each: each.spec.paper)
    ]
