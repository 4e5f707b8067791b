"""One driver at a time in a folder."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from manylabel.exceptions import ArchiveError
from manylabel.persistence.folder import MANIFEST, flock

FILE = "_driver.lock"  # readers of folders of Parquet files pass over it


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Make a folder if it is missing, and keep other drivers out; no model's is taken.

    The lock goes when the process does, however that ends. Where there are none, as on
    Windows and some mounts, one driver at a time is up to the user.
    """
    if (folder / MANIFEST).exists():
        raise ArchiveError(folder, "this is the folder of a model: name another.")
    folder.mkdir(parents=True, exist_ok=True)
    handle = os.open(folder / FILE, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        try:
            flock(handle, wait=False)
        except BlockingIOError:
            reason = "another process is writing to this folder: wait for it."
            raise ArchiveError(folder, reason) from None
        yield
    finally:
        os.close(handle)
