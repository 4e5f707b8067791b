"""Where the tables of the papers are, and how a TOML file is read."""

import tomllib
from pathlib import Path
from typing import Any

from manylabel.exceptions import DataError

HOME = Path(__file__).parent / "reproduce" / "papers"
CLAIMS = "claims"  # of a paper, in words: neither a table nor a figure


def papers(home: Path = HOME) -> dict[str, list[str]]:
    """Return the names of the tables and figures of each paper, in their order."""
    return {
        folder.name: sorted(
            (file.stem for file in folder.glob("*.toml") if file.stem != CLAIMS),
            key=_rank,
        )
        for folder in sorted(home.iterdir())
        if folder.is_dir()
    }


def read(path: Path) -> dict[str, Any]:
    """Return what a TOML file holds."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise DataError(path, f"expected TOML, found an error: {error}.") from None


def take(path: Path, given: dict[str, Any], known: dict[str, Any]) -> dict[str, Any]:
    """Return what was given over the defaults in ``known``; refuse any other key.

    A default of ``...`` stands for a key that must be there.
    """
    for key in given:
        if key not in known:
            keys = ", ".join(known)
            raise DataError(path, f"expected one of {keys}, found {key!r}.")
    for key, default in known.items():
        if default is ... and key not in given:
            raise DataError(path, f"expected {key!r}, found nothing.")
    return known | given


def _rank(name: str) -> tuple[bool, str, int]:
    """Order table-9 before table-10, and figures last."""
    kind, _, number = name.partition("-")
    return kind == "figure", kind, int(number) if number.isdigit() else 0
