"""What an audit found and what answers teach, as tables and for other programs."""

from typing import TYPE_CHECKING, Any

from manylabel._plural import counted
from manylabel.cli.console import percent, print_table, say

if TYPE_CHECKING:
    from manylabel.auditing import Answers, Audit, Estimate
    from manylabel.propensity import Propensity

LONGEST = 60  # letters of a text in a table
MOST = 3  # suspects of a row in a table
ESTIMATE = (
    "How many are missing is an estimate by the propensity p of the label, at most "
    "about recorded * (1 / p - 1); --propensity gives another p."
)


def figures_of(found: "Audit", n: int) -> dict[str, Any]:
    """Return what was found, for other programs."""
    return {
        "rows": len(found.data),
        "labels": found.data.n_labels,
        "recorded": int(found.data.Y.nnz),
        "missing": float(found.suspicion.missing.sum()),
        "wrong": float(found.suspicion.wrong.sum()),
        "worst_rows": [each._asdict() for each in found.rows(n)],
        "worst_labels": [each._asdict() for each in found.labels(n)],
    }


def show_audit(found: "Audit", n: int, title: str) -> None:
    """Print the worst rows and the worst labels."""
    missing, wrong = found.suspicion.missing.sum(), found.suspicion.wrong.sum()
    rows = [
        [
            str(each.row) if each.id is None else f"{each.row} {each.id}",
            f"{each.gain:.2f}",
            _suspects(each.missing),
            _suspects(each.wrong),
            " ".join((each.text or "").split())[:LONGEST],
        ]
        for each in found.rows(n)
    ]
    print_table(
        ["row", "gain", "probably missing, %", "probably wrong, %", "text"],
        rows,
        title=f"{title}: about {counted(missing, 'label')} missing, {wrong:,.0f} of "
        f"{found.data.Y.nnz:,} wrong",
        numbers=["gain"],
    )
    figures = ["recorded", "propensity", "missing", "wrong"]
    labels = [
        [
            *(each.label, f"{each.recorded:,}", f"{each.propensity:.2f}"),
            *(f"{each.missing:,.1f}", f"{each.wrong:,.1f}"),
        ]
        for each in found.labels(n)
    ]
    title = "Labels of which most is amiss"
    print_table(["label", *figures], labels, title=title, numbers=figures)
    say("gain: labels that a look at the row is expected to correct.")
    say("missing, wrong: rows that are expected to lack the label, or not to have it.")
    say(ESTIMATE)


def lesson_of(
    answers: "Answers", propensity: "Propensity", judged: "dict[str, Estimate]"
) -> dict[str, Any]:
    """Return what answers teach, for other programs."""
    parts = {"recorded": answers.recorded(), "model": judged}
    figures = {
        key: {name: each._asdict() for name, each in part.items()}
        for key, part in parts.items()
    }
    return figures | {"propensities": _by_name(answers, propensity)}


def show_lesson(
    answers: "Answers",
    propensity: "Propensity",
    judged: "dict[str, Estimate]",
    n: int,
    title: str,
) -> None:
    """Print figures with intervals, and the labels of which most are missing."""
    recorded = answers.recorded().items()
    rows = {f"recorded labels: {name}": each for name, each in recorded}
    rows |= {f"model: {name}": each for name, each in judged.items()}
    print_table(
        ["percent, by complete labels", "value", "95 %"],
        (
            [name, percent(each.value), _ends(*(100 * end for end in each[1:]))]
            for name, each in rows.items()
        ),
        title=title,
        numbers=["value"],
    )
    counts = answers.data.Y.sum(axis=0).tolist()
    lines = [
        (count * (1 / value - 1), name, f"{value:.2f}", _ends(low, high))
        for (name, (value, low, high)), count in zip(
            _by_name(answers, propensity).items(), counts, strict=True
        )
    ]
    lines.sort(key=lambda line: -line[0])
    print_table(
        ["label", "propensity", "95 %", "missing"],
        ([*cells, f"{missing:,.1f}"] for missing, *cells in lines[:n]),
        title="Labels of which most are missing",
        numbers=["propensity", "missing"],
    )


def _by_name(answers: "Answers", propensity: "Propensity") -> dict[str, list[float]]:
    """Return each label's propensity and the ends of its interval."""
    ends = propensity.interval_.tolist()
    parts = zip(propensity.values_.tolist(), *ends, strict=True)
    return dict(zip(answers.data.labels.names, map(list, parts), strict=True))


def _suspects(suspects: list[tuple[str, float]]) -> str:
    shown = [f"{name} {100 * chance:.0f}" for name, chance in suspects[:MOST]]
    return ", ".join(shown + ["..."] * (len(suspects) > MOST))


def _ends(low: float, high: float) -> str:
    return f"{low:.2f} to {high:.2f}"
