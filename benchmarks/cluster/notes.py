"""Figures of a run that may stop: each is kept when it is there."""

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

Figures = dict[str, Any]


class Notes:
    """Figures by name, in a file; what is there is not measured again.

    Parameters
    ----------
    path : Path
        The file, of JSON.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.found: Figures = json.loads(path.read_text()) if path.exists() else {}

    def measure(self, name: str, call: Callable[[], Figures]) -> Figures:
        """Return the figures of a name: those that are kept, or of a call."""
        if name in self.found:
            say(f"{name}: kept in {self.path}")
        else:
            say(f"{name}: begins")
            self.found[name] = call()
            draft = self.path.with_suffix(".draft")
            draft.write_text(json.dumps(self.found, indent=1))
            draft.replace(self.path)
            say(f"{name}: {json.dumps(self.found[name])}")
        figures: Figures = self.found[name]
        return figures


def say(what: str) -> None:
    """Tell who waits how far it is."""
    print(time.strftime("%H:%M:%S"), what, file=sys.stderr, flush=True)
