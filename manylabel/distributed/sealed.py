"""Plans as JSON files that are checked when they are read."""

import hashlib
import json
import socket
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from manylabel.data.writing import replacing
from manylabel.exceptions import ArchiveError

CHECKSUM = "checksum"
PLANS = 4  # that a process keeps


def write_sealed(path: Path, facts: Mapping[str, Any]) -> dict[str, Any]:
    """Write facts and their checksum; return both as JSON gives them back."""
    core = json.loads(json.dumps(facts))
    found = core | {CHECKSUM: _digest(core)}
    with replacing(path) as file:
        file.write(json.dumps(found, indent=1).encode())
    return dict(found)


def read_sealed(path: Path) -> dict[str, Any]:
    """Return what was written, or say that it is damaged."""
    return _parsed(path, path.stat().st_mtime_ns)


def find_plan(path: Path, checksum: str, number: int) -> dict[str, Any]:
    """Return the plan of a part, which must be the one that is at its place."""
    if not path.exists():
        reason = (
            f"there is no plan here, seen from {socket.gethostname()}: the folder must "
            "be one that all machines see."
        )
        raise ArchiveError(path.parent, reason)
    plan = read_sealed(path)
    if plan[CHECKSUM] != checksum:
        raise ArchiveError(path.parent, f"part {number} is of another plan.")
    return plan


@lru_cache(PLANS)
def _parsed(path: Path, _: int) -> dict[str, Any]:
    try:
        found = json.loads(path.read_bytes())
        core = {name: v for name, v in found.items() if name != CHECKSUM}
        is_whole = found[CHECKSUM] == _digest(core)
    except (ValueError, KeyError, AttributeError):
        is_whole = False
    if not is_whole:
        raise ArchiveError(path, "the checksum is wrong, so the plan is damaged.")
    return dict(found)


def _digest(core: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(core, sort_keys=True).encode()).hexdigest()
