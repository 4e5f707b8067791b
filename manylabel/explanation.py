"""Why a row gets its labels, in words."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from manylabel._escapes import escape_line
from manylabel._typing import Array

MOST_NAMED = 5  # features or labels in a line of text
Ranked = list[tuple[int, float]]
Names = Sequence[str] | None


class Node(NamedTuple):
    """A node of a tree, to be read."""

    node: int
    parent: int  # -1 above the root
    level: int  # decisions before it
    is_first: bool  # whether its parent leads to it by yes
    n_rows: int  # training rows
    fixed: list[int]  # labels that are given from here on
    asked: int  # label, or -1
    features: Ranked  # weights, the largest first
    intercept: float
    is_leaf: bool

    @property
    def rows(self) -> str:
        """The number of training rows, in words."""
        return f"{self.n_rows:,} row{'s' * (self.n_rows != 1)}"

    def question(self, labels: Names) -> str:
        """Return what it asks, in words; the answer is yes if the score is above 0."""
        return f"{named(self.asked, labels)}?" if self.asked >= 0 else "above 0?"


class Explanation(NamedTuple):
    """The way of one row through the trees of a model.

    Attributes
    ----------
    labels : list of (int, float)
        The best labels and their scores.
    features : list of (int, float)
        Features that decided: the share of each in all that was added up on the way,
        signs aside, the largest first.
    paths : list of Path
        For each tree the ``decisions``, with the ``node``, the training ``n_rows`` that
        came by, the ``score`` and the ``features`` with what each adds to it; then the
        ``leaf``, its ``n_rows`` and its ``labels``.
    """

    labels: Ranked
    features: Ranked
    paths: list[Any]

    @classmethod
    def of(cls, labels: Ranked, pushes: Array, paths: list[Any]) -> "Explanation":
        """Return the explanation by what each feature added on the way, signs aside."""
        shares = pushes / max(pushes.sum(), np.finfo(float).tiny)
        return cls(labels, ranked(np.arange(len(pushes)), shares), paths)

    def text(
        self,
        *,
        feature_names: Any = None,
        label_names: Any = None,
        n_estimators: int = 3,
    ) -> str:
        """Return it in words, with the paths of the first trees.

        Parameters
        ----------
        feature_names, label_names : sequence of str or None, default=None
            Names of the columns; None shows their numbers.
        n_estimators : int, default=3
            How many paths to show.

        Returns
        -------
        str
            Several lines.
        """
        lines = [
            f"labels    {listed(self.labels, label_names)}",
            f"features  {listed(self.features, feature_names)}",
        ]
        for path in self.paths[:n_estimators]:
            lines += path.lines(feature_names, label_names)
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.text()


def ranked(columns: Array, values: Array) -> Ranked:
    """Return what is not 0, the largest first, signs aside.

    Examples
    --------
    >>> ranked(np.array([4, 7, 9]), np.array([0.5, 0.0, -2.0]))
    [(9, -2.0), (4, 0.5)]
    """
    order = np.argsort(-np.abs(values), kind="stable")
    pairs = zip(columns[order].tolist(), values[order].tolist(), strict=True)
    return [(column, value) for column, value in pairs if value != 0]


def listed(entries: Ranked, names: Names, sign: str = "") -> str:
    """Return the first columns by name, with their values.

    Examples
    --------
    >>> listed([(1, 0.5), (0, -2.0)], ["cat", "dog"], sign="+")
    'dog +0.500, cat -2.000'
    """
    return ", ".join(
        f"{named(column, names)} {value:{sign}.3f}"
        for column, value in entries[:MOST_NAMED]
    )


def joined(labels: list[int], names: Names) -> str:
    """Return the first labels by name.

    Examples
    --------
    >>> joined([1, 0], ["cat", "dog"])
    'dog, cat'
    >>> joined(list(range(7)), None)
    '0, 1, 2, 3, 4 and 2 more'
    """
    more = f" and {len(labels) - MOST_NAMED} more" if len(labels) > MOST_NAMED else ""
    return ", ".join(named(label, names) for label in labels[:MOST_NAMED]) + more


def named(column: int, names: Names) -> str:
    """Return the name of a column on one line, its number if there are no names."""
    return str(column) if names is None else escape_line(str(names[column]))


def number_names(names: Sequence[str]) -> list[str]:
    """Return names, numbered where several are the same.

    Examples
    --------
    >>> number_names(["FastXML", "OneVsRest", "FastXML"])
    ['FastXML 1', 'OneVsRest', 'FastXML 2']
    """
    return [
        f"{name} {names[: i + 1].count(name)}" if names.count(name) > 1 else name
        for i, name in enumerate(names)
    ]
