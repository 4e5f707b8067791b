"""The data sets of the papers: where they are looked for, and who publishes them."""

import os
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from benchmarks import toml_files
from benchmarks.source import Source
from manylabel.exceptions import DataError

PACKED = ("", ".gz", ".bz2")
PARTS = ("train", "test")
LISTS = ("train_rows", "test_rows")
ENTRY: dict[str, Any] = {
    "publisher": "",
    **{part: [] for part in (*PARTS, "all", *LISTS)},
    "split": None,
    "scaling": None,
    "propensity": {"a": 0.55, "b": 1.5},
    "noisy": None,
    "words": None,
}


class Catalogue:
    """The data sets of ``data.toml`` and their files in a user's folder.

    Parameters
    ----------
    folder : Path
        Where files are looked for, in it and in its subfolders.
    path : Path
        The file of the data sets.
    """

    def __init__(
        self, folder: Path, path: Path = toml_files.HOME / "data.toml"
    ) -> None:
        self.folder, self.path = folder, path
        self._entries = toml_files.read(path)
        self._sources: dict[str, Source] = {}

    def __getitem__(self, name: str) -> Source:
        if name not in self._sources:
            self._sources[name] = self._look_for(name)
        return self._sources[name]

    def _look_for(self, name: str) -> Source:
        if name not in self._entries:
            raise DataError(self.path, f"expected the data set {name!r}, found none.")
        entry = toml_files.take(self.path, self._entries[name], ENTRY)
        found = {part: self._find(entry[part]) for part in (*PARTS, "all", *LISTS)}
        paths = {part: path for part, path in found.items() if path}
        complete = {"train", "test"} <= paths.keys() or "all" in paths
        wanted = PARTS if entry["train"] else ("all",)
        names = tuple(entry[part][0] for part in wanted if entry[part])
        drawn = entry["noisy"] or entry["words"]
        missing = () if complete or drawn else names or ("file of it",)
        if not {"train", "test"} <= paths.keys():  # half a set is none
            paths = {part: path for part, path in paths.items() if part not in PARTS}
        split = entry["split"]
        return Source(
            name,
            entry["publisher"],
            paths,
            missing,
            tuple(split) if split else None,
            entry["scaling"],
            entry["propensity"],
            entry["noisy"],
            entry["words"],
        )

    @cached_property
    def _files(self) -> list[Path]:
        return sorted(
            Path(place, name)
            for place, _, names in os.walk(self.folder)
            for name in names
        )

    def _find(self, names: list[str]) -> Path | None:
        """Return the first file that has one of the names, in the order of the names.

        A name may begin with folders, as ``bibtex/train.txt``.
        """
        for name in names:
            ends = [Path(name + suffix).parts for suffix in PACKED]
            for path in self._files:
                if any(path.parts[-len(end) :] == end for end in ends):
                    return path
        return None


@lru_cache(maxsize=2)
def source(folder: Path, path: Path, name: str) -> Source:
    """Return a data set, whose rows stay in memory while the next runs need them."""
    return Catalogue(folder, path)[name]
