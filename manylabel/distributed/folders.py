"""Folders of rows and of parts: as those of models, whole at every moment."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from manylabel._version import __version__
from manylabel.exceptions import ArchiveError
from manylabel.persistence import flatten, tensors
from manylabel.persistence.folder import MANIFEST, read, read_manifest, replace

ROWS, PART = "rows", "part"  # what a folder holds


class Held(NamedTuple):
    """What a folder holds: facts, values spelt flat, and its checksum."""

    facts: dict[str, Any]
    values: dict[str, Any]
    checksum: str


def write_folder(
    folder: Path, kind: str, facts: Mapping[str, Any], values: Mapping[str, Any]
) -> None:
    """Write facts and values, arrays and records too, in place of what is there."""
    flat = flatten(values)
    arrays = {name: v for name, v in flat.items() if isinstance(v, np.ndarray)}
    manifest = {
        "manylabel": __version__,
        "class": kind,
        "params": dict(facts),
        "state": {name: v for name, v in flat.items() if name not in arrays},
        "arrays": tensors.describe(arrays),
    }
    folder.parent.mkdir(parents=True, exist_ok=True)
    replace(folder, manifest, arrays)


def read_folder(folder: Path, kind: str, *, mmap: bool = True) -> Held:
    """Return what a folder holds, checked.

    What is mapped into memory keeps a file open, so many folders are to be read.
    """
    read_facts(folder, kind)
    manifest, arrays = read(folder, mmap=mmap)
    return Held(manifest["params"], manifest["state"] | arrays, manifest["sha256"])


def read_facts(folder: Path, kind: str) -> dict[str, Any]:
    """Return the facts of a folder, which must be of a kind; its arrays stay unread."""
    if not (folder / MANIFEST).exists():
        raise ArchiveError(folder, f"there is no such folder of {_named(kind)}.")
    manifest = read_manifest(folder)
    if manifest["class"] != kind:
        found = manifest["class"]
        raise ArchiveError(folder, f"expected {_named(kind)}, found a {found}.")
    facts: dict[str, Any] = manifest["params"]
    return facts


def _named(kind: str) -> str:
    return kind if kind.endswith("s") else f"a {kind}"
