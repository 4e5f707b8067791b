"""Paths that users pass."""

import os
import re
from pathlib import Path
from typing import Any

ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")  # longer than a drive of Windows


def as_path(given: Any) -> Path:
    """Return the path of something on this machine, or say what was given instead.

    Examples
    --------
    >>> as_path("https://x.org/a.csv")
    Traceback (most recent call last):
    ValueError: path must be on this machine. Got https://x.org/a.csv: download it.
    >>> as_path(None)
    Traceback (most recent call last):
    TypeError: path must be a str or a Path. Got None.
    """
    if not isinstance(given, str | os.PathLike):
        kind = "None" if given is None else f"a {type(given).__name__}"
        raise TypeError(f"path must be a str or a Path. Got {kind}.")
    if ADDRESS.match(os.fsdecode(given)):
        found = f"{os.fsdecode(given):.200}"
        raise ValueError(f"path must be on this machine. Got {found}: download it.")
    return Path(given)
