"""Model folders: what users save, and beside it versions and snapshots of the service.

``MODELS/NAME/`` is what users save. What the service keeps is in ``MODELS/.serve/``:
``NAME/versions/VERSION/`` and ``NAME/snapshots/VERSION-SEQUENCE/``, model folders too.
"""

import json
import logging
import os
import re
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from manylabel import persistence
from manylabel.exceptions import ArchiveError
from manylabel.persistence.folder import MANIFEST
from manylabel.server.errors import BadItem, UnknownVersion

try:
    import fcntl
except ImportError:  # Windows: there, each process writes its snapshots
    fcntl = None  # type: ignore[assignment]

SERVE = ".serve"
SEQUENCE = "log_sequence"  # in the provenance: up to where a model contains the log
DIGITS = 12  # of the checksum of a manifest, which name a version
DRAFT = ".draft-"
NAME = re.compile(r"[^\W_][\w.-]{0,99}")
RESERVED = re.compile(r"jobs|tokens\.json|log\.db.*", re.IGNORECASE)  # not for models
SNAPSHOT = re.compile(rf"([0-9a-f]{{{DIGITS}}})-(\d+)")
logger = logging.getLogger(__name__)


class Snapshot(NamedTuple):
    """A folder with what a version had learnt up to a number of the log."""

    version: str
    sequence: int
    path: Path


class Store:
    """The folders below ``MODELS``.

    Parameters
    ----------
    models : str or Path
        The folder with model folders.
    """

    def __init__(self, models: str | Path) -> None:
        self.models = Path(models)
        self.kept = self.models / SERVE

    def names(self) -> list[str]:
        """Return the names of the model folders that users saved, even if no good."""
        return sorted(
            path.name
            for path in self.models.iterdir()
            if not path.name.startswith(".") and (path / MANIFEST).is_file()
        )

    def look(self, name: str) -> str:
        """Return which version the user's folder holds, or raise ArchiveError."""
        return read_version(self.models / name)

    def adopt(self, name: str) -> str:
        """Copy the user's folder to the versions; return the version."""
        return self.add(name, self.models / name)

    def add(self, name: str, folder: Path) -> str:
        """Copy a model folder, checked, to the versions; return the version."""
        version = read_version(folder)
        place = self.version(name, version)
        if place.is_dir():
            return version
        with self._draft(place) as draft:
            shutil.copytree(folder, draft, ignore=shutil.ignore_patterns(".*"))
            try:
                persistence.load(draft, mmap=True)
            except ArchiveError as error:  # the draft is nobody's business
                raise ArchiveError(folder, error.reason) from error
            if read_version(draft) != version:
                raise ArchiveError(folder, "the folder changed while it was copied.")
        return version

    def version(self, name: str, version: str) -> Path:
        """Return the folder of a version, there or not."""
        return self.kept / name / "versions" / version

    def find(self, name: str, version: str) -> Path:
        """Return the folder of a version, or raise UnknownVersion."""
        place = self.version(name, version)
        if not re.fullmatch(r"[0-9a-f]+", version) or not place.is_dir():
            raise UnknownVersion(name, version, "its folder is not there")
        return place

    def seen(self, name: str) -> str:
        """Return which version the user's folder held when it was last looked at."""
        try:
            return (self.kept / name / "seen").read_text("utf-8")
        except FileNotFoundError:
            return ""

    def note_seen(self, name: str, version: str) -> None:
        """Note which version the user's folder holds."""
        replace_text(self.kept / name / "seen", version)

    def snapshots(self, name: str) -> list[Snapshot]:
        """Return the snapshots of a model, the newest first."""
        folder = self.kept / name / "snapshots"
        found = []
        for path in folder.iterdir() if folder.is_dir() else ():
            if match := SNAPSHOT.fullmatch(path.name):
                found.append(Snapshot(match[1], int(match[2]), path))
        return sorted(found, key=lambda snapshot: -snapshot.sequence)

    def facts(self, snapshot: Snapshot) -> dict[str, Any] | None:
        """Return what was noted beside a snapshot, None if that is lost."""
        try:
            facts = json.loads(snapshot.path.with_suffix(".json").read_bytes())
        except (OSError, ValueError) as error:
            logger.warning("the figures beside %s are lost: %s", snapshot.path, error)
            return None
        return facts if isinstance(facts, dict) else None

    def take_snapshot(
        self,
        name: str,
        version: str,
        sequence: int,
        save: Callable[[Path], None],
        facts: dict[str, Any],
    ) -> None:
        """Write a snapshot, unless another process is about to."""
        place = self.kept / name / "snapshots" / f"{version}-{sequence}"
        with self._turn(name) as is_ours:
            if is_ours and not place.is_dir():
                with self._draft(place) as draft:
                    save(draft)
                    replace_text(place.with_suffix(".json"), json.dumps(facts))

    def prune(self, name: str, *, keep: int, max_age: float) -> None:
        """Drop snapshots but for the newest, and of these the old but for the first."""
        newest = self.snapshots(name)
        for place, snapshot in enumerate(newest):
            with suppress(FileNotFoundError):
                age = time.time() - snapshot.path.stat().st_mtime
                if place >= keep or (place and age > max_age):
                    snapshot.path.with_suffix(".json").unlink(missing_ok=True)
                    shutil.rmtree(snapshot.path)

    @contextmanager
    def _turn(self, name: str) -> Iterator[bool]:
        """Yield whether no other process writes snapshots of this model now."""
        folder = self.kept / name / "snapshots"
        folder.mkdir(parents=True, exist_ok=True)
        if fcntl is None:
            yield True
            return
        with open(folder / ".lock", "w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                yield False
                return
            for left in folder.glob(f"{DRAFT}*"):  # by a process that was killed
                shutil.rmtree(left, ignore_errors=True)
            yield True

    @contextmanager
    def _draft(self, place: Path) -> Iterator[Path]:
        """Yield a folder to write, which then takes its place at once."""
        place.parent.mkdir(parents=True, exist_ok=True)
        draft = place.with_name(f"{DRAFT}{place.name}-{os.getpid()}")
        shutil.rmtree(draft, ignore_errors=True)
        try:
            yield draft
            try:
                os.rename(draft, place)
            except OSError:
                if not place.is_dir():  # else another process was as quick
                    raise
        finally:
            shutil.rmtree(draft, ignore_errors=True)


def check_name(name: str) -> None:
    """Refuse the name of a model that an address cannot have, or the service's own."""
    if not NAME.fullmatch(name):
        rule = "letters, digits, ., - and _, at most 100, a letter or digit first"
        raise BadItem(f"The name of a model must be {rule}. Got {name!r:.80}.")
    if RESERVED.fullmatch(name):
        rule = "other than jobs, tokens.json and log.db, which the service uses"
        raise BadItem(f"The name of a model must be {rule}. Got {name!r:.80}.")


def read_version(folder: Path) -> str:
    """Return the version of a model folder, by its manifest, or raise ArchiveError."""
    try:
        digest = json.loads((folder / MANIFEST).read_bytes())["sha256"]
        if re.fullmatch(r"[0-9a-f]{64}", digest):
            return str(digest[:DIGITS])
    except OSError as error:
        reason = f"the manifest cannot be read: {error.strerror}."
        raise ArchiveError(folder, reason) from error
    except (ValueError, LookupError, TypeError, RecursionError):
        pass
    raise ArchiveError(folder, "the manifest has no checksum.")


def replace_text(path: Path, text: str) -> None:
    """Write a file so that a reader finds the old text or the new one, whole."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f"{DRAFT}{path.name}-{os.getpid()}")
    draft.write_text(text, "utf-8")
    os.replace(draft, path)
