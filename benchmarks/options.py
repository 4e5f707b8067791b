"""Options that several verbs share."""

from pathlib import Path
from typing import Annotated

import typer

DataFolder = Annotated[
    Path,
    typer.Option(
        metavar="DIR",
        envvar="MANYLABEL_DATA",
        help="Where the data sets are, as their publishers have them; subfolders too.",
    ),
]
Publish = Annotated[
    bool,
    typer.Option(
        "--publish", help="Write the page and its pictures to docs/results instead."
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for other programs.")]


def check_data_folder(path: Path) -> None:
    """Refuse what is not a folder."""
    if not path.is_dir():
        raise ValueError(f"--data must be a folder. Got {str(path)!r}.")


def check_out(path: Path) -> None:
    """Refuse a file in place of a folder."""
    if path.exists() and not path.is_dir():
        raise ValueError(f"--out must be a folder. Got {str(path)!r}, a file.")
