"""References in docstrings, written for numpydoc, as links of the built pages."""

import inspect
import pydoc
import re
from pathlib import Path
from typing import Any

import griffe

ROOT = Path(__file__).parents[1] / "manylabel"
ROLE = re.compile(r":(?:class|func):`~?([\w.]+)`")
SOURCE = re.compile(r"\.\. (\[\d+\])")
CITATION = re.compile(r"(\[\d+\])_")
KIND = re.compile(r"^\w+(?:, \w+)* : .*$", re.MULTILINE)  # shown as code already


def _public() -> set[str]:
    """Return the paths of the names that have a place in the reference."""
    pages = (ROOT.parent / "docs/reference").glob("*.md")
    texts = (page.read_text(encoding="utf-8") for page in pages)
    return {path for text in texts for path in re.findall(r"^::: (\S+)", text, re.M)}


class Roles(griffe.Extension):
    """Turns roles into links where the name is public, into code where it is not."""

    def __init__(self) -> None:
        self._paths = _public()

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Rewrite the docstring of an object."""
        if obj.docstring:
            package = ".".join(obj.path.split(".")[:2])
            text = obj.docstring.value
            decorators = getattr(obj, "decorators", [])
            if any("described_like" in str(each.value) for each in decorators):
                # Completed when it is imported.
                text = inspect.getdoc(pydoc.locate(obj.path)) or text
            text = ROLE.sub(lambda role: self._link(role[1], package), text)
            text = CITATION.sub(r"\1", SOURCE.sub(r"\1", text))
            obj.docstring.value = KIND.sub(lambda kind: kind[0].replace("``", ""), text)

    def _link(self, name: str, package: str) -> str:
        for path in (name, f"{package}.{name}", f"manylabel.{name}"):
            if path in self._paths:
                return f"[`{path.removeprefix('manylabel.')}`][{path}]"
        return f"`{name}`"
