"""Which files this machine has verified, so that each of its processes need not.

A note is an empty file in a folder of the user's own. Its name is made of the checksum
that was found and of what the file system says of the file, its time of change too,
which a program cannot set: a file that was touched since has no note. What arrays must
be is checked in every process, whether there is a note or not: a checksum finds damage,
not malice.
"""

import hashlib
import os
import stat
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

FRESH = 2.0  # seconds in which a change may not show in the time of change
MOST = 1000  # notes: a model that was forgotten is verified once more


def is_verified(file: BinaryIO, checksum: str) -> bool:
    """Tell whether this user has found this checksum in the file as it is."""
    folder = _folder()
    return folder is not None and (folder / _name(file, checksum)).exists()


def note_verified(file: BinaryIO, checksum: str) -> None:
    """Note that the file has this checksum; whatever fails, nothing is noted."""
    is_fresh = time.time() - os.fstat(file.fileno()).st_ctime < FRESH
    folder = _folder()
    if folder is not None and not is_fresh:
        with suppress(OSError):
            (folder / _name(file, checksum)).touch(0o600)
            _forget(folder)


def _forget(folder: Path) -> None:
    """Remove the oldest half of the notes if there are too many."""
    notes = list(folder.iterdir())
    if len(notes) > MOST:
        notes.sort(key=lambda note: note.stat().st_mtime_ns)
        for note in notes[: len(notes) - MOST // 2]:
            note.unlink(missing_ok=True)


def _folder() -> Path | None:
    """Return a folder in which nobody else can write, None if there is none."""
    if os.name != "posix":  # elsewhere the time of change is that of creation
        return None
    home: Any = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    folder = Path(home, "manylabel", "verified")
    try:
        folder.mkdir(0o700, parents=True, exist_ok=True)
        found = os.lstat(folder)
    except (OSError, RuntimeError):  # no home, or one that cannot be written
        return None
    is_ours = stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid()
    return folder if is_ours and not found.st_mode & 0o022 else None


def _name(file: BinaryIO, checksum: str) -> str:
    at = os.fstat(file.fileno())
    facts = at.st_dev, at.st_ino, at.st_size, at.st_mtime_ns, at.st_ctime_ns
    text = " ".join([checksum, *map(str, facts)])
    return hashlib.sha256(text.encode()).hexdigest()
