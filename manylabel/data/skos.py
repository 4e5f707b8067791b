"""Readers of vocabularies: SKOS in Turtle or RDF/XML, Annif's TSV, names a line.

Files come from elsewhere: nothing is fetched, no entity of XML is expanded, and a file
that is too large is refused before it fills the memory.
"""

import re
from collections.abc import Callable, Iterator
from typing import Any
from xml.parsers import expat

from manylabel.data.source import Source, decode, suffix
from manylabel.exceptions import DataError, MissingExtra

SKOS = "http://www.w3.org/2004/02/skos/core#"
DEPRECATED = "http://www.w3.org/2002/07/owl#deprecated"
NAMES = {
    f"{SKOS}prefLabel": "names",
    f"{SKOS}altLabel": "synonyms",
    f"{SKOS}hiddenLabel": "synonyms",
}
BROADER, NARROWER = f"{SKOS}broader", f"{SKOS}narrower"
KEPT = {*NAMES, BROADER, NARROWER, DEPRECATED}
SUFFIXES = {
    ".nt": "turtle",
    ".ttl": "turtle",
    ".rdf": "xml",
    ".xml": "xml",
    ".tsv": "tsv",
    ".txt": "lines",
}
TSV_LINE = re.compile(rb"\s*<[^<>\s]*>\t")
XML_START = re.compile(rb"\s*<(\?xml|[\w:]*RDF|!)")
TURTLE_START = re.compile(rb"\s*(#|@|<|_:|\[|prefix\b|base\b|\w*:)", re.IGNORECASE)
Concepts = dict[str, dict[str, Any]]


class _Stop(Exception):
    """Nothing more is to be read."""


def read_concepts(source: Source, max_bytes: int) -> Concepts:
    """Return what a file says of each label, in the order of the labels.

    A deprecated concept, and one that has no name, is left out.
    """
    found = READERS[tell_vocabulary(source)](source, max_bytes)
    return {label: found[label] for label in sorted(found)}


def tell_vocabulary(source: Source) -> str:
    """Return the format of a vocabulary: by its suffix, else by its content."""
    if (known := SUFFIXES.get(suffix(source.path).lower())) is not None:
        return known
    head = source.head
    if XML_START.match(head):
        return "xml"
    if TSV_LINE.match(head):
        return "tsv"
    return "turtle" if TURTLE_START.match(head) else "lines"


def _read_tsv(source: Source, max_bytes: int) -> Concepts:
    """Return the labels of lines ``<uri>``, tab, name, and perhaps a notation."""
    found: Concepts = {}
    for number, line in _lines(source, max_bytes):
        uri, tab, rest = line.partition("\t")
        name = rest.partition("\t")[0].strip()
        if not tab or not name or uri[:1] != "<" or uri[-1:] != ">":
            reason = f"expected <uri>, a tab and a name, found {line!r:.60}."
            raise DataError(source.path, reason, number)
        found[uri[1:-1]] = {"names": {"": name}, "synonyms": {}, "broader": []}
    return found


def _read_lines(source: Source, max_bytes: int) -> Concepts:
    """Return the labels of a name a line."""
    return {
        line.strip(): {"names": {}, "synonyms": {}, "broader": []}
        for _, line in _lines(source, max_bytes)
    }


def _lines(source: Source, max_bytes: int) -> Iterator[tuple[int, str]]:
    """Yield the lines that are not empty with their numbers, from 1."""
    n_bytes = 0
    for number, line in enumerate(source.lines(), 1):
        n_bytes += len(line) + 1
        if n_bytes > max_bytes:
            raise _too_large(source, max_bytes)
        try:
            text = decode(line).rstrip("\r")
        except ValueError as error:
            raise DataError(source.path, str(error), number) from None
        if text.strip():
            yield number, text


def _read_turtle(source: Source, max_bytes: int) -> Concepts:
    return _read_rdf(source, "turtle", _read_bytes(source, max_bytes))


def _read_xml(source: Source, max_bytes: int) -> Concepts:
    data = _read_bytes(source, max_bytes)
    _refuse_doctype(source, data)
    return _read_rdf(source, "xml", data)


READERS: dict[str, Callable[[Source, int], Concepts]] = {
    "turtle": _read_turtle,
    "xml": _read_xml,
    "tsv": _read_tsv,
    "lines": _read_lines,
}


def _read_rdf(source: Source, format: str, data: bytes) -> Concepts:
    """Return the concepts of a graph, of which few triples are kept."""
    try:
        from rdflib import Graph
    except ImportError:
        raise MissingExtra("SKOS", "rdflib", "skos") from None
    triples: list[tuple[str, str, Any]] = []

    class Sieve(Graph):  # type: ignore[misc]  # Any, also where it is installed
        """Keeps what a vocabulary needs, not the whole graph."""

        def add(self, triple: Any) -> Any:
            """Take a triple, or leave it."""
            subject, predicate, value = triple
            if str(predicate) in KEPT:
                triples.append((str(subject), str(predicate), value))
            return self

    try:
        Sieve(bind_namespaces="none").parse(data=data, format=format, publicID="label:")
    except Exception as error:  # the parsers of rdflib raise whatever they meet
        what = " ".join(f"{type(error).__name__} {error}".split())
        named = {"turtle": "Turtle", "xml": "RDF/XML"}[format]
        reason = f"expected SKOS in {named}, found what is none: {what:.160}."
        raise DataError(source.path, reason) from None
    return _gather(triples)


def _gather(triples: list[tuple[str, str, Any]]) -> Concepts:
    found: Concepts = {}
    gone = set()
    for subject, predicate, value in triples:
        text = str(value)
        if predicate == DEPRECATED:
            gone |= {subject} if text.lower() in ("true", "1") else set()
        elif predicate == NARROWER:
            _note(found, text)["broader"].append(subject)
        elif predicate == BROADER:
            _note(found, subject)["broader"].append(text)
        else:
            named = _note(found, subject)[NAMES[predicate]]
            named.setdefault(str(value.language or ""), []).append(text)
    kept = {
        label: concept
        for label, concept in found.items()
        if concept["names"] and label not in gone
    }
    return {label: _settle(concept, kept) for label, concept in kept.items()}


def _note(found: Concepts, label: str) -> dict[str, Any]:
    empty: dict[str, Any] = {"names": {}, "synonyms": {}, "broader": []}
    return found.setdefault(label, empty)


def _settle(concept: dict[str, Any], known: Concepts) -> dict[str, Any]:
    """Return a concept the same whatever the order of the triples."""
    names = {tongue: min(given) for tongue, given in sorted(concept["names"].items())}
    others = {k: sorted({*given}) for k, given in sorted(concept["synonyms"].items())}
    broader = sorted({*concept["broader"]} & known.keys())
    return {"names": names, "synonyms": others, "broader": broader}


def _read_bytes(source: Source, max_bytes: int) -> bytes:
    with source.open() as stream:
        data = stream.read(max_bytes + 1)
    if len(data) > max_bytes:
        raise _too_large(source, max_bytes)
    return data


def _too_large(source: Source, max_bytes: int) -> DataError:
    return DataError(
        source.path,
        f"expected a vocabulary of at most {max_bytes:,} bytes, found more: max_bytes "
        "says how many there may be.",
    )


def _refuse_doctype(source: Source, data: bytes) -> None:
    """Refuse a document type: it could declare entities that grow without bound."""

    def refuse(*_: Any) -> None:
        raise DataError(
            source.path,
            "expected RDF/XML without <!DOCTYPE ...>, which could bring entities from "
            "elsewhere: write it as Turtle.",
        )

    def stop(*_: Any) -> None:
        raise _Stop

    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler = refuse
    parser.StartElementHandler = stop
    try:
        parser.Parse(data, True)
    except (_Stop, expat.ExpatError):  # what is no XML is said by the reader
        pass
