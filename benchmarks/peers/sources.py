"""The files of ours that a learner depends on: when they change, it is run again."""

import ast
from collections.abc import Iterator
from pathlib import Path

import manylabel

PACKAGE = Path(manylabel.__file__).parent


def sources(learner: str) -> list[Path]:
    """Return the files that the module of a public class imports, and those import.

    Examples
    --------
    >>> files = [path.name for path in sources("Popularity")]
    >>> "base.py" in files, "_fast_xml.py" in files
    (True, False)
    """
    waiting, found = [getattr(manylabel, learner).__module__], dict[str, Path]()
    while waiting:
        name = waiting.pop()
        path = _file(name)
        if path is not None and name not in found:
            found[name] = path
            waiting += _imports(path)
    return [found[name] for name in sorted(found)]


def _file(module: str) -> Path | None:
    """Return the file of a module of ours; the root imports nothing by itself."""
    place = PACKAGE.parent.joinpath(*module.split("."))
    for path in (place.with_suffix(".py"), place / "__init__.py"):
        if path.exists() and path.parent != PACKAGE.parent and place != PACKAGE:
            return path
    return None


def _imports(path: Path) -> Iterator[str]:
    """Yield what may be a module of ours."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            if node.module.partition(".")[0] == PACKAGE.name:
                yield node.module
                yield from (f"{node.module}.{alias.name}" for alias in node.names)
