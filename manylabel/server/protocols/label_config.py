"""The labelling interface of a Label Studio project: which tag takes which labels."""

from collections.abc import Iterator
from typing import NamedTuple
from xml.etree import ElementTree

from manylabel.server.errors import BadItem

LONGEST = 4_000_000  # characters; a taxonomy of 30,000 labels has about two million
CHOICES, TAXONOMY = "Choices", "Taxonomy"
Path = tuple[str, ...]


class Control(NamedTuple):
    """The tag in which a project chooses labels of a text.

    ``paths`` has the way to each label from the top of the taxonomy; for choices, the
    label alone. A label is named by the last step, and the first of a name counts.
    """

    kind: str
    name: str
    object: str  # the tag that shows the text
    field: str  # where a task has its text
    is_single: bool
    paths: dict[str, Path]


def read_config(text: str) -> Control:
    """Return the first tag of a label config that chooses labels of a text.

    A document type is refused: no entities are expanded, and no files fetched.

    Parameters
    ----------
    text : str
        The XML of a project.

    Returns
    -------
    Control
        The tag, with its labels.

    Examples
    --------
    >>> control = read_config('''<View><Text name="t" value="$abstract"/>
    ...     <Choices name="topic" toName="t"><Choice value="art"/></Choices></View>''')
    >>> control.field, list(control.paths)
    ('abstract', ['art'])
    """
    root = _parse(text)
    named = {tag.get("name"): tag for tag in root.iter() if tag.get("name")}
    for tag in root.iter():
        shown = named.get(tag.get("toName"))
        if tag.tag in (CHOICES, TAXONOMY) and shown is not None:
            field = shown.get("value", "")
            if field.startswith("$") and tag.get("name"):
                return _control(tag, shown, field[1:])
    raise BadItem(
        "label_config must have Choices or a Taxonomy with toName of a text whose "
        "value is a field of the task, as in value='$text'."
    )


def _parse(text: str) -> ElementTree.Element:
    if len(text) > LONGEST:
        raise BadItem(f"label_config must have at most {LONGEST:,} characters.")
    if "<!DOCTYPE" in text:  # XML has no other way to write it
        raise BadItem("label_config must have no document type.")
    try:
        return ElementTree.fromstring(text)
    except (ElementTree.ParseError, ValueError) as error:
        raise BadItem(f"label_config must be XML: {error}.") from None


def _control(
    tag: ElementTree.Element, shown: ElementTree.Element, field: str
) -> Control:
    paths: dict[str, Path] = {}
    for path in _paths(tag):
        paths.setdefault(path[-1], path)
    return Control(
        kind=tag.tag,
        name=tag.get("name", ""),
        object=shown.get("name", ""),
        field=field,
        is_single=tag.tag == CHOICES and tag.get("choice", "single") != "multiple",
        paths=paths,
    )


def _paths(tag: ElementTree.Element) -> Iterator[Path]:
    """Yield the way to each choice below a tag, which may be deep: no recursion."""
    waiting: list[tuple[ElementTree.Element, Path]] = [(tag, ())]
    while waiting:
        here, way = waiting.pop()
        if here.tag == "Choice":
            # Results have the alias in place of the value where there is one.
            way = (*way, here.get("alias") or here.get("value") or "")
            if way[-1]:
                yield way
        waiting.extend((child, way) for child in reversed(here))
