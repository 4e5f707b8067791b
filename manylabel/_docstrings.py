"""Docstrings that say a thing once, and are complete all the same."""

import inspect
import re
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T", bound=Callable[..., Any])
SECTION = re.compile(r"^(\w+)\n-{3,}\n", re.MULTILINE)
ENTRY = re.compile(r"\n(?=\S)")


def described_like(source: Any) -> Callable[[T], T]:
    """Complete a docstring by what that of ``source`` says of the same things.

    These are parameters of the signature, attributes, and what is returned. What the
    docstring says itself stays as it is.

    Parameters
    ----------
    source : class or function
        What has a docstring.

    Returns
    -------
    callable
        A decorator.

    Examples
    --------
    >>> @described_like(described_like)
    ... def described_twice(source, other):
    ...     "Complete a docstring by two."
    >>> described_twice.__doc__.splitlines()[4:6]
    ['source : class or function', '    What has a docstring.']
    """
    theirs = _sections(source.__doc__)

    def complete(thing: T) -> T:
        if thing.__doc__:  # python -OO leaves them out
            thing.__doc__ = _completed(thing, theirs)
        return thing

    return complete


def _completed(thing: Any, theirs: dict[str, str]) -> str:
    ours, order = _sections(thing.__doc__), list(inspect.signature(thing).parameters)
    described = _entries(theirs, "Parameters") | _entries(ours, "Parameters")
    described = {name.partition(",")[0]: text for name, text in described.items()}
    own = _entries(ours, "Attributes")
    attributes = own | _entries(theirs, "Attributes") | own
    parts = {
        "": ours.pop(""),
        "Parameters": "\n".join(described[n] for n in order if n in described),
        "Attributes": "\n".join(attributes.values()),
        "Returns": ours.get("Returns", theirs.get("Returns", "")),
    }
    return "\n\n".join(
        f"{head}\n{'-' * len(head)}\n{text}" if head else text
        for head, text in (parts | ours | parts).items()
        if text
    )


def _sections(docstring: str | None) -> dict[str, str]:
    """Return the sections by their heads; what stands above them has none."""
    above, *parts = SECTION.split(inspect.cleandoc(docstring or ""))
    heads, texts = ["", *parts[::2]], [above, *parts[1::2]]
    return {head: text.strip() for head, text in zip(heads, texts, strict=True)}


def _entries(sections: dict[str, str], head: str) -> dict[str, str]:
    """Return the entries of a section by their names."""
    entries = filter(None, ENTRY.split(sections.get(head, "")))
    return {entry.partition(" : ")[0]: entry for entry in entries}
