"""The entry point: all verbs, and one answer to all that can go wrong."""

import errno
import os
import re
import sys
import warnings
from collections.abc import Sequence
from functools import partial
from typing import Annotated, Any, NoReturn, cast

import typer

from manylabel._version import __version__
from manylabel.cli import console
from manylabel.cli.audit import audit
from manylabel.cli.convert import convert
from manylabel.cli.demo import demo
from manylabel.cli.describe import describe
from manylabel.cli.evaluate import evaluate
from manylabel.cli.explain import explain
from manylabel.cli.fit import fit
from manylabel.cli.help import Verb, Verbs
from manylabel.cli.inputs import DOUBTED
from manylabel.cli.log import log
from manylabel.cli.options import configurable
from manylabel.cli.outputs import typed
from manylabel.cli.predict import predict
from manylabel.cli.process import Interrupts, defer
from manylabel.cli.serve import serve
from manylabel.cli.shard import shard
from manylabel.cli.split import split
from manylabel.cli.start import INTERRUPTED
from manylabel.cli.stream import stream
from manylabel.cli.thresholds import thresholds
from manylabel.cli.token import token
from manylabel.cli.warmup import warmup
from manylabel.exceptions import DoubtfulLabels, ManylabelError

BAD_INPUT, BROKEN_PIPE = 2, 1
STOPPED = "note: interrupted; models and files of --output are whole or as they were."
# What others import, a third of the time of a cold start.
UNUSED = ("scipy.stats", "numpy.f2py")
# Python's names of what options of other names say; each verb has one of them.
PARAMETERS = {
    "n_jobs": ("--jobs",),
    "random_state": ("--seed",),
    "format": ("--from",),
    "path": ("--plot", "--output"),
    "client": ("--on",),
    "labels": ("--tag",),
    "log": ("LOG",),
}
# Typer gives the base class of its usage errors no public name.
UsageError = cast(type[Exception], typer.BadParameter.__base__)

app = typer.Typer(
    cls=Verbs,
    subcommand_metavar="VERB",
    epilog="Start with: manylabel demo",
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
VERBS = (
    *(demo, describe, split, convert, fit, predict, evaluate, explain, thresholds),
    *(audit, stream, serve, shard, warmup),
)
for verb in VERBS:
    app.command(cls=Verb)(configurable(verb))
app.add_typer(log, name="log")
app.add_typer(token, name="token")
GROUPS = (["log"], ["token"])


def run(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and end the process.

    Bad input ends in one sentence on standard error and status 2; what nobody expected
    still shows a traceback.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    defer(*UNUSED)
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:  # closed by whoever started us
            setattr(sys, name, open(os.devnull, mode))
    console.escape_unknown()
    with Interrupts() as interrupts:
        try:
            status = _answer(given or ["--help"])
        except Exception:
            if not interrupts.seen:
                raise
            status = INTERRUPTED
    if interrupts.seen and status:
        console.note(STOPPED)
        status = INTERRUPTED
    sys.exit(status)


def _answer(arguments: list[str]) -> int:
    """Run a verb and return its exit status; say what was wrong with its input."""
    try:
        with warnings.catch_warnings(), console.telling_of_kernels():
            warnings.simplefilter("always", UserWarning)
            warnings.showwarning = partial(_pass_on, arguments, set())
            status = app(args=arguments, prog_name="manylabel", standalone_mode=False)
        sys.stdout.flush()
        return status or 0
    except UsageError as error:
        if arguments in GROUPS:  # which need a verb of their own
            return _answer([*arguments, "--help"]) or BAD_INPUT
        return _refuse(_usage(error))
    except BrokenPipeError:
        # Nobody reads on, not even what Python flushes at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    except OSError as error:
        return _refuse(_place(error))
    except (ManylabelError, ValueError, MemoryError) as error:
        return _refuse(_spelt(str(error), arguments) or "not enough memory")
    except (KeyboardInterrupt, typer.Abort):
        return INTERRUPTED


def _print_version(asked: bool) -> None:
    if asked:
        print(f"manylabel {__version__}")
        raise typer.Exit


@app.callback()
def manylabel(
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            callback=_print_version,
            is_eager=True,
            help="Print the version and exit.",
        ),
    ] = False,
) -> None:
    """Learn and judge labels that are many, missing, unequal and arriving."""


def _refuse(sentence: str) -> int:
    end = "" if sentence.endswith("?") else "."
    console.note(f"error: {sentence.rstrip('.')}{end}")
    return BAD_INPUT


def _usage(error: Any) -> str:
    command = error.ctx.command_path if error.ctx else "manylabel"
    message = error.format_message()
    end = "" if message.endswith(("?", ".")) else "."
    return f"{message}{end} See '{command} --help'"


def _pass_on(
    arguments: list[str], told: set[str], message: object, *_: object, **__: object
) -> None:
    """Stand in for ``warnings.showwarning``: a note, once, without a place in code."""
    if isinstance(message, DoubtfulLabels) and "label_separator" in str(message):
        DOUBTED.add(message.path)
    if str(message) not in told:
        told.add(str(message))
        console.note(f"note: {_spelt(str(message), arguments)}")


def _spelt(sentence: str, arguments: list[str]) -> str:
    """Name options as people type them, where a sentence names Python's parameters."""
    for name, option in _options(arguments).items():
        # A word that is plain English, as 'cost', must begin the sentence or a remedy.
        place = r"(?<![\w./'-])" if "_" in name else r"(?:\A|(?<=; ))"
        after = (
            r"(?![\w/'-]|\.\w)"
            if "_" in name
            else r"(?:=True)?(?= must | says | needs )"
        )
        sentence = re.sub(place + name + after, option, sentence)
    return sentence


def _options(arguments: list[str]) -> dict[str, str]:
    """Return what people type for the parameters of the verb that they called."""
    verb: Any = typer.main.get_command(app)
    for word in arguments:
        if word not in getattr(verb, "commands", ()):
            break
        verb = verb.commands[word]
    found = {each.name: typed(each) for each in verb.params}
    for name, spellings in PARAMETERS.items():
        ours = [each for each in spellings if each in found.values()]
        if ours:
            found.setdefault(name, ours[0])
    return found


def _place(error: OSError) -> str:
    what = (error.strerror or str(error)).lower()
    # Whatever writes a file says which: see data/writing.py.
    place = "standard output" if error.errno == errno.ENOSPC else None
    place = place if error.filename is None else error.filename
    return what if place is None else f"{place}: {what}"


if __name__ == "__main__":
    run()
