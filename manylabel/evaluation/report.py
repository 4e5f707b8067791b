"""What an evaluation found: figures by name, each with its meaning."""

import re
from collections.abc import Iterable, Iterator, Mapping
from html import escape
from math import isnan
from typing import Any, NamedTuple, Self

from manylabel._markup import lay_table
from manylabel.metrics import CalibrationErrorAtK, Metric
from manylabel.metrics.calibration import Bin

DEPTH = re.compile(r"\b(the|at|of) \d+\b")
MORE, LESS = "more", "less"  # which is better
Interval = tuple[float, float]


class Figure(NamedTuple):
    """One figure of a report, and the interval that holds 95 % of it, if it has one."""

    value: float
    meaning: str
    is_loss: bool
    interval: Interval | None = None


class Report(Mapping[str, float]):
    """Figures by name, as fractions; printed as tables in percent.

    Scores, of which more is better, stand apart from losses, of which less is better.

    Parameters
    ----------
    figures : mapping of str to Figure
        The figures, in the order in which they are shown.
    reliability : mapping of str to tuple of Bin or None, default=None
        If probabilities were judged, by the name of the calibration error, ``ECE@k`` or
        ``PSECE@k`` of the last k: the labels that were ranked best in bins of
        probability (``low``, ``high``), with the mean probability (``proba``), the
        share that is recorded or true (``share``) and how many there are (``n_pairs``).

    Examples
    --------
    >>> from manylabel import evaluate
    >>> Y, scores = [[1, 0, 1], [0, 1, 0]], [[0.9, 0.8, 0.1], [0.2, 0.7, 0.6]]
    >>> report = evaluate(Y, scores, k=1, proba=scores)
    >>> report["recall@1"]
    0.75
    >>> report.meaning("recall@1")
    "Share of a row's true labels among the 1 best-ranked, mean over rows."
    >>> report.is_loss("recall@1"), report.is_loss("ECE@1")
    (False, True)
    >>> report
    percent       @1
    more is better
    P         100.00
    nDCG      100.00
    recall     75.00
    F1         83.33
    coverage   66.67
    macro-P    66.67
    macro-R    66.67
    macro-F1   66.67
    less is better
    ECE        20.00
    """

    def __init__(
        self,
        figures: Mapping[str, Figure],
        reliability: Mapping[str, tuple[Bin, ...]] | None = None,
    ) -> None:
        self._figures = dict(figures)
        self.reliability = dict(reliability or {})

    @classmethod
    def of(
        cls, metrics: Iterable[Metric], intervals: Mapping[str, Interval] | None = None
    ) -> Self:
        """Return the report of what ``metrics`` have accumulated."""
        metrics, known = list(metrics), intervals or {}
        found = {
            m.key: Figure(m.value, m.meaning, m.is_loss, known.get(m.key))
            for m in metrics
        }
        errors = [m for m in metrics if isinstance(m, CalibrationErrorAtK)]
        last = {m.key.partition("@")[0]: m for m in errors}
        return cls(found, {m.key: m.reliability for m in last.values()})

    def __getitem__(self, key: str) -> float:
        return self._figure(key).value

    def __iter__(self) -> Iterator[str]:
        return iter(self._figures)

    def __len__(self) -> int:
        return len(self._figures)

    def meaning(self, key: str) -> str:
        """Return one sentence that says what the figure is."""
        return self._figure(key).meaning

    def meanings(self) -> dict[str, str]:
        """Return one sentence for each kind of figure, whatever the depth."""
        found = {}
        for key in self:
            symbol, at, _ = key.partition("@")
            sentence = DEPTH.sub(r"\1 k", self.meaning(key))
            found[f"{symbol}@k" if at else symbol] = sentence
        return found

    def is_loss(self, key: str) -> bool:
        """Tell whether less is better."""
        return self._figure(key).is_loss

    def interval(self, key: str) -> Interval | None:
        """Return the bounds that hold 95 % of the figure on rows drawn again, or None.

        Figures over labels and calibration errors have none, nor has any unless rows
        were drawn.
        """
        return self._figure(key).interval

    def keys_of(self, *, losses: bool) -> list[str]:
        """Return the names of the losses, or those of the scores."""
        return [key for key in self if self.is_loss(key) == losses]

    def to_dict(self) -> dict[str, float | None]:
        """Return the figures ready for JSON; None is a figure over no rows."""
        return {key: _plain(value) for key, value in self.items()}

    def details(self) -> dict[str, Any]:
        """Return all there is, ready for JSON: figures, which way is better, bins."""
        known = {key: self.interval(key) for key in self}
        return {
            "figures": self.to_dict(),
            "better": {key: LESS if self.is_loss(key) else MORE for key in self},
            "intervals": {key: list(it) for key, it in known.items() if it},
            "reliability": {
                key: [
                    {name: _plain(value) for name, value in each._asdict().items()}
                    for each in bins
                ]
                for key, bins in self.reliability.items()
            },
        }

    def __repr__(self) -> str:
        lines: list[list[str]] = []
        for losses in (False, True):
            head, *rows = self.table(losses=losses)
            if rows:
                lines += [head] * (not lines)
                lines += [[f"{LESS if losses else MORE} is better"], *rows]
        first = max([8, *(len(line[0]) for line in lines if len(line) > 1)])
        width = 2 + max([6, *(len(cell) for line in lines for cell in line[1:])])
        return "\n".join(
            head.ljust(first) + "".join(cell.rjust(width) for cell in cells)
            for head, *cells in lines
        )

    def _repr_html_(self) -> str:
        """Return the tables as markup, for notebooks."""
        parts: list[str] = []
        for losses in (False, True):
            head, *rows = self.table(losses=losses)
            width = max(map(len, [head, *rows]))
            lines = [[*map(escape, row), *[""] * (width - len(row))] for row in rows]
            caption = f"{LESS if losses else MORE} is better"
            if rows:
                head += [""] * (width - len(head))
                parts += lay_table(caption, head, lines)
        return "".join(parts)

    def table(self, *, losses: bool) -> list[list[str]]:
        """Return a head, and a line for each loss, or each score, in percent.

        Those of rankings have a cell for each depth, those of sets have one cell.
        """
        keys = self.keys_of(losses=losses)
        cells = {tuple(key.split("@")): self.cell(key) for key in keys if "@" in key}
        depths = list(dict.fromkeys(depth for _, depth in cells))
        names = dict.fromkeys(name for name, _ in cells)
        return [
            ["percent", *(f"@{depth}" for depth in depths)],
            *([name, *(cells[name, depth] for depth in depths)] for name in names),
            *([key, self.cell(key)] for key in keys if "@" not in key),
        ]

    def cell(self, key: str) -> str:
        """Return a figure in percent, and half the width of its interval."""
        value, interval = f"{100 * self[key]:.2f}", self.interval(key)
        if interval is None:
            return value
        return f"{value} ±{50 * (interval[1] - interval[0]):.2f}"

    def _figure(self, key: str) -> Figure:
        if key not in self._figures:
            raise KeyError(f"A report holds {', '.join(self)}. Got {key!r}.")
        return self._figures[key]


def _plain(value: float) -> float | None:
    return None if isnan(value) else value
