"""What is printed: figures on standard output, all else on standard error."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console

PLAIN: dict[str, Any] = {"highlight": False, "markup": False}


def print_json(figures: Any) -> None:
    """Print figures for other programs."""
    print(json.dumps(figures, indent=2, allow_nan=False))


def say(text: str) -> None:
    """Print figures for people."""
    Console(**PLAIN).print(text, soft_wrap=True)


def note(sentence: object) -> None:
    """Tell people on one line something that is not a figure."""
    line = " ".join(str(sentence).split())
    Console(stderr=True, **PLAIN).print(line, soft_wrap=True)


@contextmanager
def progress() -> Iterator[Callable[[str], None]]:
    """Show how far the work is, on standard error if that is a terminal."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda news: None
        return
    with console.status("Running") as shown:
        yield shown.update
