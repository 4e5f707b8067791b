"""The finished runs: one line of JSON each, in the order in which they ended."""

import gzip
import json
import os
from collections.abc import Collection
from hashlib import sha256
from pathlib import Path
from typing import Any

from manylabel.exceptions import DataError

Record = dict[str, Any]
KEPT = Path(__file__).parent / "runs"  # the lines that pages of docs/ are made from


def digest(*parts: Any) -> str:
    """Return a short name of what can be JSON, the same for the same."""
    text = json.dumps(parts, sort_keys=True)
    return sha256(text.encode()).hexdigest()[:16]


class Ledger:
    """Finished runs by key, kept in a file that only grows.

    A last line without an end, left by a machine that lost power, is overwritten. Lines
    are written whole, so several programs may keep one file.

    Parameters
    ----------
    path : Path
        The file; made when the first run ends.
    kept : Path or None, default=None
        A file that :meth:`keep` wrote, whose runs count as finished too.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     Ledger(Path(folder) / "runs.jsonl").append({"key": "a", "values": {}})
    ...     sorted(Ledger(Path(folder) / "runs.jsonl").records)
    ['a']
    """

    def __init__(self, path: Path, kept: Path | None = None) -> None:
        self.path = path
        self.records: dict[str, Record] = {}
        self._torn_at: int | None = None
        if kept is not None and kept.exists():
            self._read(kept, gzip.decompress(kept.read_bytes()))
        if path.exists():
            self._torn_at = self._read(path, path.read_bytes())

    def keep(self, kept: Path, keys: Collection[str]) -> None:
        """Write the runs of these keys to one file, the same bytes for the same."""
        lines = (json.dumps(self.records[k]) + "\n" for k in keys if k in self.records)
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_bytes(gzip.compress("".join(lines).encode(), mtime=0))

    def append(self, record: Record) -> None:
        """Write a finished run down, so that it is never run again."""
        line = json.dumps(record, allow_nan=False) + "\n"
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with open(self.path, "ab") as file:
            if self._torn_at is not None:
                file.truncate(self._torn_at)
                self._torn_at = None
            file.write(line.encode())
            file.flush()
            os.fsync(file.fileno())
        self.records[record["key"]] = record

    def _read(self, path: Path, content: bytes) -> int | None:
        """Take over the runs of a file; return where a last line without end begins."""
        lines = content.split(b"\n")
        for number, line in enumerate(lines[:-1], start=1):
            try:
                record = json.loads(line)
                self.records[record["key"]] = record
            except (ValueError, KeyError, TypeError):
                raise DataError(
                    path, "expected the record of a run as JSON.", number
                ) from None
        return len(content) - len(lines[-1]) if lines[-1] else None
