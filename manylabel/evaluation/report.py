"""What an evaluation found: figures by name, each with its meaning."""

from collections.abc import Iterable, Iterator, Mapping
from math import isnan
from typing import NamedTuple, Self

from manylabel.metrics import Metric


class Figure(NamedTuple):
    """One figure of a report."""

    value: float
    meaning: str
    is_loss: bool


class Report(Mapping[str, float]):
    """Figures by name, as fractions; printed as a table in percent.

    Parameters
    ----------
    figures : mapping of str to Figure
        The figures, in the order in which they are shown.

    Examples
    --------
    >>> from manylabel import evaluate
    >>> Y, scores = [[1, 0, 1], [0, 1, 0]], [[0.9, 0.8, 0.1], [0.2, 0.7, 0.6]]
    >>> report = evaluate(Y, scores, k=1)
    >>> report["recall@1"]
    0.75
    >>> report.meaning("recall@1")
    "Share of a row's true labels among the 1 best-ranked, mean over rows."
    >>> report
    percent       @1
    P         100.00
    nDCG      100.00
    recall     75.00
    F1         83.33
    coverage   66.67
    macro-P    66.67
    macro-R    66.67
    macro-F1   66.67
    """

    def __init__(self, figures: Mapping[str, Figure]) -> None:
        self._figures = dict(figures)

    @classmethod
    def of(cls, metrics: Iterable[Metric]) -> Self:
        """Return the report of what ``metrics`` have accumulated."""
        return cls({m.key: Figure(m.value, m.meaning, m.is_loss) for m in metrics})

    def __getitem__(self, key: str) -> float:
        return self._figure(key).value

    def __iter__(self) -> Iterator[str]:
        return iter(self._figures)

    def __len__(self) -> int:
        return len(self._figures)

    def meaning(self, key: str) -> str:
        """Return one sentence that says what the figure is."""
        return self._figure(key).meaning

    def is_loss(self, key: str) -> bool:
        """Tell whether less is better."""
        return self._figure(key).is_loss

    def to_dict(self) -> dict[str, float | None]:
        """Return the figures ready for JSON; None is a figure over no rows."""
        return {key: None if isnan(value) else value for key, value in self.items()}

    def __repr__(self) -> str:
        lines = [
            head.ljust(8) + "".join(cell.rjust(8) for cell in cells)
            for head, *cells in self.ranking_table()
        ]
        return "\n".join([*lines, *self._set_lines()])

    def ranking_table(self) -> list[list[str]]:
        """Return a head, and a line for each ranking metric, in percent by depth."""
        cells = {tuple(key.split("@")): self[key] for key in self if "@" in key}
        depths = dict.fromkeys(depth for _, depth in cells)
        head = [["percent", *(f"@{depth}" for depth in depths)]] * bool(cells)
        return head + [
            [name, *(f"{100 * cells[name, depth]:.2f}" for depth in depths)]
            for name in dict.fromkeys(name for name, _ in cells)
        ]

    def _set_lines(self) -> list[str]:
        keys = [key for key in self if "@" not in key]
        width = max((len(key) for key in keys), default=0)
        return [
            key.ljust(max(width, 8))
            + f"{100 * self[key]:8.2f}"
            + ("  (loss)" if self.is_loss(key) else "")
            for key in keys
        ]

    def _figure(self, key: str) -> Figure:
        if key not in self._figures:
            raise KeyError(f"A report holds {', '.join(self)}. Got {key!r}.")
        return self._figures[key]
