"""Where verbs write: told before any work, not after it."""

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from manylabel.cli.console import STANDARD

# What help calls files that are written, and those that are read.
WRITTEN = ("OUT", "TRAIN", "TEST")
READ = ("FILE", "MODEL... FILE", "ANSWERS", "LOG", "A,B")


def check_outputs(parameters: Iterable[Any], given: Mapping[str, Any]) -> None:
    """Refuse an output that is also read, or in a folder that is not there.

    ``parameters`` are those of a verb as Typer has them, ``given`` their values.
    """
    listed = list(parameters)
    inputs = [each for _, paths in _given(listed, given, READ) for each in paths]
    for name, paths in _given(listed, given, WRITTEN):
        for path in paths:
            if path == STANDARD:
                continue
            if any(_is_same(path, each) for each in inputs):
                raise ValueError(f"{name} must not be a file that is read. Got {path}.")
            folder = path.resolve().parent  # a link is followed, as in writing
            # A cluster makes its folder.
            if given.get("on") is None and not folder.is_dir():
                shown = path.parent if not path.is_symlink() else folder
                raise ValueError(
                    f"{name} must lie in a folder that is there. Got {path}, but there "
                    f"is no folder {shown}."
                )


def typed(parameter: Any) -> str:
    """Return an option as it is typed, or the word that stands for an argument."""
    is_option = parameter.param_type_name == "option"
    return str(parameter.opts[0] if is_option else parameter.metavar)


def _given(
    parameters: list[Any], given: Mapping[str, Any], kinds: tuple[str, ...]
) -> Iterator[tuple[str, list[Path]]]:
    """Yield the paths that were given for files of some kinds, by their names."""
    for each in parameters:
        value = given.get(each.name)
        if each.metavar in kinds and value:
            several = value if isinstance(value, (list, tuple)) else [value]
            yield typed(each), [Path(path) for path in several]


def _is_same(path: Path, other: Path) -> bool:
    """Tell whether two paths, by links or spellings, are those of one file."""
    with suppress(OSError):  # one is not there yet, or is told by whoever reads it
        return os.path.samefile(path, "/dev/stdin" if other == STANDARD else other)
    return False
