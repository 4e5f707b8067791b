"""Rules of sets of labels: at most one of some, and parents that a label brings."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from sklearn.base import BaseEstimator

from manylabel._typing import Bools
from manylabel.data import LabelSpace, Vocabulary


class Rules(BaseEstimator):  # type: ignore[misc]
    """What the sets of a :class:`Tagger` must obey.

    Rules decide sets, those of ``predict`` and of ``tag(item, k=None)``: labels are
    taken best first, each with what it brings, unless one is excluded by a label that
    was taken before. Rankings stay as they are.

    Parameters
    ----------
    at_most_one : sequence of sequences of str, default=()
        Groups of labels of which an item is given one at most.
    parents : mapping of str to str or sequence of str, Vocabulary or None, default=None
        Labels that a label brings along: its parents, theirs too. Of a vocabulary, the
        broader terms that are labels of the model.

    Examples
    --------
    >>> from manylabel import Tagger
    >>> rules = Rules(at_most_one=[["cat", "dog"]], parents={"cat": "animal"})
    >>> texts = ["a cat", "a dog", "a bird", "a stone"] * 5
    >>> tags = [["cat"], ["dog"], ["animal"], ["thing"]] * 5
    >>> Tagger(rules=rules).fit(texts, tags).predict(["cat"])
    [['animal', 'cat']]
    """

    def __init__(self, *, at_most_one: Any = (), parents: Any = None) -> None:
        self.at_most_one = at_most_one
        self.parents = parents

    def resolve(self, labels: LabelSpace) -> "ColumnRules":
        """Return the rules by column, or raise TypeError or ValueError.

        Parameters
        ----------
        labels : LabelSpace
            The labels of the model.

        Returns
        -------
        ColumnRules
            The same rules, checked: of names that are known, without cycles, and such
            that no label brings another that it excludes.
        """
        parents = self.parents
        if isinstance(parents, Vocabulary):
            parents = parents.parents(labels.names)
        given = _names_of(parents, "parents")
        above = {
            _column(name, labels): [_column(each, labels) for each in names]
            for name, names in given.items()
        }
        groups = [
            [_column(name, labels) for name in _row(group, "at_most_one")]
            for group in _row(self.at_most_one, "at_most_one", of=Sequence)
        ]
        brings = {label: _ancestors(label, above, labels) for label in above}
        for group in groups:
            _check_group(group, brings, labels)
        member_of: dict[int, list[int]] = {}
        for number, group in enumerate(groups):
            for label in group:
                member_of.setdefault(label, []).append(number)
        return ColumnRules(member_of, brings)


class ColumnRules(NamedTuple):
    """Rules by column: the groups of a label, and all the labels that it brings."""

    member_of: dict[int, list[int]]
    brings: dict[int, list[int]]

    def take(self, ranked: Iterable[int], allowed: Bools | None) -> list[int]:
        """Return the labels that are given, of some that are wanted, best first."""
        given: dict[int, None] = {}
        taken: dict[int, int] = {}
        for label in ranked:
            together = [label, *self.brings.get(label, ())]
            if allowed is not None and not allowed[together].all():
                continue
            groups = [
                (g, each) for each in together for g in self.member_of.get(each, ())
            ]
            if all(taken.get(group, each) == each for group, each in groups):
                taken.update(groups)
                given.update(dict.fromkeys(together))
        return list(given)


def _check_group(
    group: list[int], brings: Mapping[int, list[int]], labels: LabelSpace
) -> None:
    """Raise ValueError if a label brings one that it excludes, or two such."""
    for label, others in brings.items():
        both = sorted({each for each in group if each in (label, *others)})
        if len(both) > 1:
            one, other = (labels.names[each] for each in both[:2])
            raise ValueError(
                f"at_most_one must not hold labels that come together. Got {one!r} and "
                f"{other!r}, which {labels.names[label]!r} has by its parents."
            )


def _ancestors(
    label: int, parents: Mapping[int, list[int]], labels: LabelSpace
) -> list[int]:
    """Return all labels that a label brings, or raise ValueError at a cycle."""
    found: dict[int, None] = {}
    waiting = list(parents.get(label, ()))
    while waiting:
        each = waiting.pop()
        if each == label:
            raise ValueError(
                f"parents must have no cycle. Got one at {labels.names[label]!r}."
            )
        if each not in found:
            found[each] = None
            waiting.extend(parents.get(each, ()))
    return list(found)


def _names_of(given: Any, name: str) -> dict[str, list[str]]:
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise TypeError(f"{name} must be a mapping of names. Got {given!r:.40}.")
    return {
        label: [names] if isinstance(names, str) else list(_row(names, name))
        for label, names in given.items()
    }


def _row(given: Any, name: str, of: type = str) -> Any:
    """Return a list of names, or of lists of them, or raise TypeError."""
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise TypeError(f"{name} must hold lists of names. Got {given!r:.40}.")
    found = list(given)
    for each in found:
        if not isinstance(each, of):
            raise TypeError(f"{name} must hold lists of names. Got {each!r:.40}.")
    return found


def _column(name: str, labels: LabelSpace) -> int:
    if name not in labels:
        raise ValueError(f"rules must name labels of the model. Got {name!r:.60}.")
    return labels.column(name)
