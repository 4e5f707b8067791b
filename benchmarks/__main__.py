"""The entry point: ``python -m benchmarks VERB``."""

import sys
from collections.abc import Sequence
from typing import Any, NoReturn, cast

import typer

from benchmarks.console import note
from benchmarks.growth.command import growth
from benchmarks.learners.command import learners
from benchmarks.peers.command import peers
from benchmarks.reproduce.command import reproduce
from manylabel.exceptions import ManylabelError

BAD_INPUT, INTERRUPTED = 2, 130
PROGRAM = "python -m benchmarks"
# Typer gives the base class of its usage errors no public name.
UsageError = cast(type[Exception], typer.BadParameter.__base__)

app = typer.Typer(
    help="Run the papers again, and ours beside the field's programs.",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
for verb in (reproduce, peers, learners, growth):
    app.command()(verb)


def run(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run a verb and end the process; bad input is one sentence and status 2."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        status = app(args=given or ["--help"], prog_name=PROGRAM, standalone_mode=False)
    except UsageError as error:
        status = _refuse(_usage(error))
    except OSError as error:
        status = _refuse(_place(error))
    except (ManylabelError, ValueError) as error:
        status = _refuse(str(error))
    except (KeyboardInterrupt, typer.Abort):
        status = INTERRUPTED
    sys.exit(status or 0)


def _refuse(sentence: str) -> int:
    note(f"error: {sentence.rstrip('.')}.")
    return BAD_INPUT


def _usage(error: Any) -> str:
    command = error.ctx.command_path if error.ctx else PROGRAM
    return f"{error.format_message().rstrip('.')}. See '{command} --help'"


def _place(error: OSError) -> str:
    what = (error.strerror or str(error)).lower()
    return what if error.filename is None else f"{error.filename}: {what}"


if __name__ == "__main__":
    run()
