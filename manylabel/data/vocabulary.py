"""A vocabulary of labels: names in several languages, synonyms, broader terms."""

import os
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any, Self

from sklearn.base import BaseEstimator

from manylabel.data.skos import read_concepts
from manylabel.data.source import Source

MAX_BYTES = 1 << 28
USUAL = "en"
FIELDS = {"names": dict, "synonyms": dict, "broader": list}


class Vocabulary(BaseEstimator):  # type: ignore[misc]
    """Labels with their names, synonyms and broader terms.

    A label is a URI, or any other text, such as its own name. It is not changed once
    made, so that it may be shared.

    Parameters
    ----------
    concepts : mapping of str to mapping
        What there is to know of each label, none of which must be given: ``names``, a
        mapping of languages to the preferred name, ``synonyms``, a mapping of languages
        to lists of other names, and ``broader``, a list of labels. A language is a code
        as "en", or "" if nobody said.
    language : str or None, default=None
        The language that names are shown in; None is "en" if it is there, else the one
        that most names are in. A label without a name in it has another name.

    Examples
    --------
    >>> cat = {"names": {"en": "cat", "fi": "kissa"}, "broader": ["x:animal"]}
    >>> animal = {"names": {"en": "animal"}, "synonyms": {"en": ["beast"]}}
    >>> vocabulary = Vocabulary({"x:cat": cat, "x:animal": animal})
    >>> vocabulary
    Vocabulary(2 labels, en fi)
    >>> vocabulary.name("x:cat"), vocabulary.names("x:animal")
    ('cat', ['animal', 'beast'])
    >>> vocabulary.parents()
    {'x:cat': ['x:animal']}
    >>> Vocabulary(vocabulary.concepts, language="fi").name("x:cat")
    'kissa'
    """

    def __init__(
        self,
        concepts: Mapping[str, Mapping[str, Any]],
        *,
        language: str | None = None,
    ) -> None:
        self.concepts = concepts
        self.language = language

    @classmethod
    def read(
        cls,
        path: str | os.PathLike[str],
        *,
        language: str | None = None,
        max_bytes: int = MAX_BYTES,
    ) -> Self:
        """Read a vocabulary from a file, gzipped or not.

        Parameters
        ----------
        path : str or path-like
            SKOS in Turtle or RDF/XML, which take the extra ``skos``, or Annif's TSV,
            ``<uri>``, a tab and a name, or a name a line. The format is told by the
            suffix (.ttl, .nt, .rdf, .xml, .tsv, .txt), else by the content.
        language : str or None, default=None
            The language that names are shown in.
        max_bytes : int, default=2**28
            The largest file, uncompressed.

        Returns
        -------
        Vocabulary
            Names by ``skos:prefLabel``, synonyms by ``skos:altLabel`` and
            ``skos:hiddenLabel``, broader terms by ``skos:broader`` and
            ``skos:narrower``; without deprecated concepts.
        """
        return cls(read_concepts(Source(path), max_bytes), language=language)

    @cached_property
    def languages(self) -> tuple[str, ...]:
        """The languages of names, the most frequent first."""
        counts = Counter(
            tongue
            for concept in self.concepts.values()
            for tongue in concept.get("names", ())
            if tongue
        )
        return tuple(sorted(counts, key=lambda tongue: (-counts[tongue], tongue)))

    def name(self, label: str) -> str:
        """Return the preferred name of a label, itself if it has none."""
        names = self.concepts.get(label, {}).get("names", {})
        for tongue in self._tongues:
            if tongue in names:
                return str(names[tongue])
        return str(next(iter(names.values()), label))

    def names(self, label: str) -> list[str]:
        """Return the preferred name of a label, then its synonyms in that language."""
        others = self.concepts.get(label, {}).get("synonyms", {})
        known = [name for tongue in self._tongues for name in others.get(tongue, ())]
        return list(dict.fromkeys([self.name(label), *known]))

    def parents(self, labels: Collection[str] | None = None) -> dict[str, list[str]]:
        """Return the broader terms of labels, for :class:`Rules`.

        Parameters
        ----------
        labels : collection of str or None, default=None
            The labels that there are; of one that is not among them, its own broader
            terms are taken in its place. None is all labels.

        Returns
        -------
        dict of str to list of str
            The labels that have broader ones. A cycle raises ValueError.
        """
        known = self.concepts if labels is None else set(labels)
        nearest: dict[str, list[str]] = {}
        for label in self._from_the_top():
            found = [
                each
                for term in self._broader(label)
                for each in ([term] if term in known else nearest[term])
            ]
            nearest[label] = list(dict.fromkeys(found))
        return {
            label: found for label, found in nearest.items() if found and label in known
        }

    def tree(self, labels: Iterable[str]) -> dict[str, str]:
        """Return one broader term of each label, for :class:`LabelTree`.

        Parameters
        ----------
        labels : iterable of str
            The labels of the tree; terms above them need not be labels.

        Returns
        -------
        dict of str to str
            The first broader term of labels, of that term, and so on. A cycle raises
            ValueError.
        """
        self._from_the_top()
        found: dict[str, str] = {}
        for label in labels:
            at = label
            while at not in found and (above := self._broader(at)):
                found[at] = above[0]
                at = above[0]
        return found

    def by_name(self) -> "Vocabulary":
        """Return the same vocabulary with names in the place of labels.

        For data whose labels are names, not URIs. Of labels that share a name, those
        that come later keep their own.
        """
        taken: dict[str, str] = {}
        for label in self.concepts:
            taken.setdefault(self.name(label), label)
        called = {label: name for name, label in taken.items()}
        concepts = {
            called.get(label, label): {
                **concept,
                "broader": [called.get(each, each) for each in self._broader(label)],
            }
            for label, concept in self.concepts.items()
        }
        return Vocabulary(concepts, language=self.language)

    def __len__(self) -> int:
        return len(self.concepts)

    def __iter__(self) -> Iterator[str]:
        return iter(self.concepts)

    def __contains__(self, label: object) -> bool:
        return label in self.concepts

    def __bool__(self) -> bool:
        return True

    def __repr__(self) -> str:
        shown = " ".join(self.languages)
        return f"Vocabulary({len(self):,} labels{', ' + shown if shown else ''})"

    def __sklearn_clone__(self) -> "Vocabulary":
        return self

    def _check_parameters(self) -> None:
        """Refuse what is no vocabulary, as a folder may hold."""
        concepts = self.concepts
        if not isinstance(concepts, Mapping) or not isinstance(
            self.language, str | None
        ):
            raise TypeError(f"concepts must be a mapping. Got {concepts!r:.60}.")
        for label, concept in concepts.items():
            for field, value in concept.items():
                if not isinstance(value, FIELDS.get(field, ())):
                    known = ", ".join(FIELDS)
                    raise ValueError(
                        f"concepts must have {known} alone. Got {field} at {label!r}."
                    )

    @property
    def _tongues(self) -> tuple[str, ...]:
        """The languages to look for names in, the best first; "" is not said."""
        usual = USUAL if USUAL in self.languages else next(iter(self.languages), "")
        best = self.language or usual
        kin = [each for each in self.languages if each.partition("-")[0] == best]
        return tuple(dict.fromkeys([best, *kin, ""]))

    def _broader(self, label: str) -> list[str]:
        given = self.concepts.get(label, {}).get("broader", ())
        return [each for each in given if each in self.concepts]

    def _from_the_top(self) -> list[str]:
        """Return the labels, each after its broader ones, or raise ValueError."""
        n_above = {label: len(set(self._broader(label))) for label in self.concepts}
        below: dict[str, list[str]] = {}
        for label in self.concepts:
            for term in set(self._broader(label)):
                below.setdefault(term, []).append(label)
        order = [label for label, n in n_above.items() if not n]
        for label in order:  # grows as it is read
            for narrower in below.get(label, ()):
                n_above[narrower] -= 1
                if not n_above[narrower]:
                    order.append(narrower)
        if len(order) < len(self.concepts):
            raise ValueError(f"broader must have no cycle. Got {self._cycle(order)}.")
        return order

    def _cycle(self, order: list[str]) -> str:
        """Return a cycle in words, of the labels that have no place in an order."""
        placed = set(order)
        label = min(each for each in self.concepts if each not in placed)
        way: dict[str, None] = {}
        while label not in way:
            way[label] = None
            label = next(each for each in self._broader(label) if each not in placed)
        around = list(way)[list(way).index(label) :]
        return " below ".join(f"{self.name(each)!r}" for each in [*around, label])
