"""Which attributes of an ARFF file are labels: Mulan's XML, MEKA's ``-C``."""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

from manylabel.data.arff_header import Header
from manylabel.data.source import Source
from manylabel.exceptions import DataError

OPTION_C = re.compile(r"(?:^|[\s:])-C\s+(-?\d{1,9})(?:\s|$)")
SPLIT = re.compile(r"[-_.]?(train|test)$", re.IGNORECASE)


def mulan_labels(
    source: Source, header: Header, labels_from: str | os.PathLike[str] | None
) -> set[int]:
    """Return the places of the attributes that an XML file names."""
    places = {attribute.name: i for i, attribute in enumerate(header.attributes)}
    xml = _find_xml(source.path, places) if labels_from is None else Path(labels_from)
    names = _label_names(xml)
    for name in names:
        if name not in places:
            raise DataError(
                xml, f"expected attributes of {source.path.name}, found {name!r}."
            )
    return {places[name] for name in names}


def meka_labels(source: Source, header: Header) -> set[int]:
    """Return the places of the first or last attributes, as the relation says."""
    option = OPTION_C.search(header.relation)
    n_attributes = len(header.attributes)
    if option is None:
        raise DataError(
            source.path, "expected '-C n' in the name of the relation, found none."
        )
    n_labels = int(option[1])
    if not 0 < abs(n_labels) <= n_attributes:
        raise DataError(
            source.path,
            f"expected '-C n' with n from 1 to {n_attributes} or from -1 to "
            f"-{n_attributes}, found {n_labels}.",
        )
    if n_labels > 0:
        return set(range(n_labels))
    return set(range(n_attributes + n_labels, n_attributes))


def _find_xml(path: Path, places: dict[str, int]) -> Path:
    """Find the XML beside the file: of its name, or the only one that fits."""
    stem = re.sub(r"(\.arff)?(\.gz)?$", "", path.name, flags=re.IGNORECASE)
    named = [stem, SPLIT.sub("", stem)]
    for name in named:
        for beside in (path.with_name(f"{name}.xml"), path.with_name(f"{name}.xml.gz")):
            if beside.is_file():
                return beside
    fitting = list(_fitting(path.parent, places))
    if len(fitting) == 1:
        return fitting[0]
    looked_for = " or ".join(f"{name}.xml" for name in dict.fromkeys(named))
    raise DataError(
        path,
        "expected an XML file beside it that names the labels: looked for "
        f"{looked_for}, then for a single .xml whose labels are all attributes, "
        f"found {len(fitting)}.",
    )


def _fitting(folder: Path, places: dict[str, int]) -> Iterator[Path]:
    for path in sorted(folder.glob("*.xml")):
        try:
            if places.keys() >= set(_label_names(path)):
                yield path
        except DataError:
            continue


def _label_names(path: Path) -> list[str]:
    """Return the names in all ``label`` elements, nested ones too."""
    with Source(path).open() as stream:
        text = stream.read()
    try:
        elements = ElementTree.fromstring(text).iter()
    except (ElementTree.ParseError, ValueError, LookupError) as error:
        raise DataError(path, f"expected XML, found {error}.") from None
    tags = ((element.tag.rpartition("}")[2], element) for element in elements)
    names = [element.get("name", "") for tag, element in tags if tag == "label"]
    if not names:
        raise DataError(path, "expected <label name=...> elements, found none.")
    return names
