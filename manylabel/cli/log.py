"""``manylabel log``: export, import and verify the log of a service."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated

import typer

from manylabel._plural import counted
from manylabel.cli import options
from manylabel.cli.console import STANDARD, output, print_json, say
from manylabel.cli.help import Verb, Verbs

if TYPE_CHECKING:
    from manylabel.server.log import Log

Address = Annotated[
    str,
    typer.Argument(
        metavar="LOG",
        help="Where the log is: its file, sqlite:///FILE, or postgresql://USER@HOST/DB.",
    ),
]
Lines = Annotated[
    Path,
    typer.Argument(metavar="FILE", help="JSON lines, one an event; - for stdin."),
]
Out = Annotated[
    Path,
    typer.Argument(metavar="OUT", help="JSON lines, one an event; - for stdout."),
]
Model = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Only the events of this model; not to import."),
]
log = typer.Typer(
    cls=Verbs,
    subcommand_metavar="VERB",
    help="Export, import or verify the log of a service.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


@log.command("export", cls=Verb)
def export_log(address: Address, file: Out = STANDARD, model: Model = None) -> None:
    """Write a log as JSON lines, which import reads into a log of either kind.

    Example: manylabel log export models/.serve/log.db events.jsonl
    """
    from manylabel.server.transfer import export_lines

    with _opened(address) as found, output(file, as_file=True) as out:
        n = sum(out.write(f"{line}\n") > 0 for line in export_lines(found, model))
    if file != STANDARD:
        say(f"{file}: {counted(n, 'event')}.")


@log.command("import", cls=Verb)
def import_log(address: Address, file: Lines = STANDARD) -> None:
    """Append the events of an export to a log that is empty, or has the first of them.

    Each event is checked: it must follow from those before it.

    Example: manylabel log import postgresql://me@localhost/labels events.jsonl
    """
    from manylabel.server.transfer import import_lines

    with _opened(address, is_new=True) as found, _input(file) as lines:
        n = import_lines(found, lines)
    say(f"Imported {counted(n, 'event')}.")


@log.command("verify", cls=Verb)
def verify_log(address: Address, json: options.Json = False) -> None:
    """Check that no event of a log was changed, lost or put in.

    Example: manylabel log verify models/.serve/log.db
    """
    from manylabel.server.transfer import verify

    with _opened(address) as found:
        n = verify(found)
    said = f"{counted(n, 'event')}, each as it was written."
    print_json({"events": n}) if json else say(said)


@contextmanager
def _opened(address: str, *, is_new: bool = False) -> "Iterator[Log]":
    from manylabel.server.log import open_log
    from manylabel.server.sqlite_log import SQLITE

    url = address if "://" in address else f"{SQLITE}{Path(address).absolute()}"
    file = Path(url.removeprefix(SQLITE))
    if url.startswith(SQLITE) and not is_new and not file.is_file():
        raise ValueError(f"LOG must be a log that is there. Got {address!r:.120}.")
    found = open_log(url)
    try:
        yield found
    finally:
        found.close()


@contextmanager
def _input(file: Path) -> Iterator[IO[str]]:
    if file == STANDARD:
        yield sys.stdin
        return
    with file.open() as lines:
        yield lines
