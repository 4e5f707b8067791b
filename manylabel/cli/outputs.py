"""Where verbs write: told before any work, not after it."""

import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from manylabel.cli.console import STANDARD

WRITTEN = ("OUT", "TRAIN", "TEST")  # what help calls files that are written
MAYBE_PATHS = ("LOG", "A,B")  # and what may be a path or something else


def check_outputs(parameters: Iterable[Any], given: Mapping[str, Any]) -> None:
    """Refuse an output that is also read, or in a folder that is not there.

    ``parameters`` are those of a verb as Typer has them, ``given`` their values. What
    is a path and no output is read.
    """
    paths = [(each, _paths(each, given.get(each.name))) for each in parameters]
    inputs = [p for each, found in paths if each.metavar not in WRITTEN for p in found]
    for each, found in paths:
        if each.metavar not in WRITTEN:
            continue
        for path in found:
            _check(path, typed(each), inputs, makes_folders=given.get("on") is not None)


def typed(parameter: Any) -> str:
    """Return an option as it is typed, or the word that stands for an argument."""
    is_option = parameter.param_type_name == "option"
    return str(parameter.opts[0] if is_option else parameter.metavar)


def _check(
    path: Path, name: str, inputs: Iterable[Path], *, makes_folders: bool
) -> None:
    if path == STANDARD:
        return
    if any(_is_same(path, each) for each in inputs):
        raise ValueError(f"{name} must not be a file that is read. Got {path}.")
    folder = path.resolve().parent  # a link is followed, as in writing
    if not makes_folders and not folder.is_dir():  # a cluster makes its folder
        shown = path.parent if not path.is_symlink() else folder
        raise ValueError(
            f"{name} must lie in a folder that is there. Got {path}, but there is no "
            f"folder {shown}."
        )


def _paths(parameter: Any, value: Any) -> list[Path]:
    """Return the paths among what was given for a parameter."""
    several = value if isinstance(value, list | tuple) else [value]
    is_maybe = parameter.metavar in MAYBE_PATHS
    return [
        Path(each)
        for each in several
        if isinstance(each, Path) or (is_maybe and isinstance(each, str))
    ]


def _is_same(path: Path, other: Path) -> bool:
    """Tell whether two paths, by links or spellings, are those of one file."""
    with suppress(OSError):  # one is not there yet, or is told by whoever reads it
        return os.path.samefile(path, "/dev/stdin" if other == STANDARD else other)
    return False
