"""What is printed: figures on standard output, all else on standard error."""

import io
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, TypeVar

from rich import box
from rich.console import Console
from rich.progress import (
    Progress,
    SpinnerColumn,
    Task,
    TextColumn,
    TimeElapsedColumn,
)
from rich.table import Column, Table
from rich.text import Text

from manylabel._escapes import escape_line, escape_lines, json_text
from manylabel._plural import counted

UNFOLDED = 10_000  # the width of a file, in which no table is folded
STANDARD = Path("-")  # standard input or output in place of a file
NICKNAMES: dict[str, str] = {}  # what people call files that they have not named
COMPILING_SHORT = "compiling kernels, once on this machine"  # beside a bar
COMPILING = f"{COMPILING_SHORT} for each learner"
SHOWN: list[Callable[[str], None]] = []  # bars on the terminal, told what goes on
LIVE: list[Console] = []  # the terminals of these bars: notes stand above them
SOON = 10.0  # seconds until news is noted where no bar is seen; then twice as many
ENOUGH = 0.1  # of a fit, to tell how long the rest takes
MINUTES, HOURS = 100.0, 6000.0  # seconds from which times are told in these
T = TypeVar("T", bound=Sized)


def escape_unknown() -> None:
    """Let standard streams spell letters that their encodings do not have."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def print_json(figures: Any) -> None:
    """Print figures for other programs, in UTF-8."""
    with output(STANDARD, as_file=True) as text:
        text.write(f"{json_text(figures, indent=2, allow_nan=False)}\n")


def print_table(
    columns: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    title: str,
    numbers: Sequence[str] = (),
) -> None:
    """Print a table for people; the columns in ``numbers`` are aligned to the right.

    Columns without names have no header.
    """
    table = Table(box=box.SIMPLE_HEAD, show_header=any(columns))
    for column in columns:
        head = Text(escape_line(column))
        table.add_column(head, justify="right" if column in numbers else "left")
    for row in rows:
        table.add_row(*(Text(escape_line(cell)) for cell in row))
    if title:
        say(escape_line(title))
    console = Console(highlight=False)
    if console.is_terminal:
        console.print(table)
        return
    console.width = UNFOLDED
    with console.capture() as captured:
        console.print(table)
    for line in captured.get().splitlines():
        print(line.rstrip())


def say(sentence: str) -> None:
    """Print what belongs to the figures, names in it as they are: not as markup."""
    _print(escape_lines(sentence), Console(highlight=False))


def note(sentence: object) -> None:
    """Tell people something that is not a figure, on one line, if it can be told."""
    line = " ".join(escape_lines(str(sentence)).split())
    for path, name in NICKNAMES.items():
        line = line.replace(path, name)
    console = LIVE[-1] if LIVE else Console(stderr=True, highlight=False)
    # Nobody listens (Rich then exits), or the disk is full: the work goes on.
    with suppress(OSError, SystemExit):
        _print(line, console)


def _print(words: str, console: Console) -> None:
    """Print lines, folded between words on a terminal, and elsewhere not at all."""
    whole = not console.is_terminal
    console.print(Text(words), soft_wrap=whole, highlight=False)


class ShortenedColumn(TextColumn):
    """Words of a bar that are cut where a terminal is too narrow for all of it."""

    def __init__(self, words: str) -> None:
        super().__init__(words, markup=False, table_column=Column())

    def render(self, task: Task) -> Text:
        """Return the words, which stay on one line."""
        words = super().render(task)
        words.no_wrap, words.overflow = True, "ellipsis"
        return words


@contextmanager
def status(
    what: str, *, quiet: bool = False, aloud: bool = False
) -> Iterator[Callable[[str], None]]:
    """Show that work goes on, and how far, if standard error is a terminal.

    If it is none, what is done ``aloud`` is told once, before it begins, and news of
    what takes long now and then.
    """
    console = Console(stderr=True)
    columns = (
        SpinnerColumn("line" if console.options.ascii_only else "dots"),
        ShortenedColumn("{task.description}"),
        TextColumn("{task.fields[news]}", markup=False),
        TimeElapsedColumn(),
        ShortenedColumn("{task.fields[aside]}"),
    )
    hidden = quiet or not console.is_terminal
    noted = f"note: {what[:1].lower()}{what[1:]}"
    if aloud and not console.is_terminal:
        note(f"{noted}.")
    with Progress(*columns, console=console, transient=True, disable=hidden) as bar:
        task = bar.add_task(escape_line(what), total=None, news="", aside="")
        show = [] if hidden else [lambda words: bar.update(task, aside=words)]
        SHOWN.extend(show)
        LIVE.extend([console] * len(show))
        start, pause = time.monotonic(), SOON

        def tell(news: str) -> None:
            nonlocal pause
            bar.update(task, news=news)
            if hidden and not quiet and time.monotonic() > start + pause:
                note(f"{noted}: {news}.")
                pause *= 2

        try:
            yield tell
        finally:
            del SHOWN[len(SHOWN) - len(show) :], LIVE[len(LIVE) - len(show) :]


@contextmanager
def telling_of_kernels() -> Iterator[None]:
    """Say that kernels are compiled: how many on a terminal's bar, else once."""
    from manylabel._kernels import compilation

    n_kernels, noted = 0, False

    def tell() -> None:
        nonlocal n_kernels, noted
        n_kernels += 1
        for show in SHOWN:
            show(f"{COMPILING_SHORT}: {n_kernels}")
        if not SHOWN and not noted:
            noted = True
            note(f"note: {COMPILING}.")

    compilation.watchers.append(tell)
    try:
        yield
    finally:
        compilation.watchers.remove(tell)


@contextmanager
def fitting(what: str, expected: float | None = None) -> Iterator[None]:
    """Show that a model is being fitted: the stage, the share done, the time left.

    Until enough is done to tell the time, it is ``expected`` to take so many seconds.
    """
    from manylabel import parallel

    start = time.perf_counter()
    with status(what) as show:

        def advance(stage: str, done: float) -> None:
            passed = time.perf_counter() - start
            total = passed / done if done > ENOUGH else expected
            news = [stage, f"{done:.0%}"]
            if total is not None:
                news.append(f"about {duration(max(total - passed, 0.0))} left")
            show(", ".join(filter(None, news)))

        with parallel.watched(advance):
            yield


def track(chunks: Iterable[T], what: str, *, quiet: bool = False) -> Iterator[T]:
    """Yield chunks and count their rows for whoever watches."""
    n_rows = 0
    with status(what, quiet=quiet) as show:
        for chunk in chunks:
            yield chunk
            n_rows += len(chunk)
            show(counted(n_rows, "row"))


@contextmanager
def output(path: Path, *, as_file: bool = False) -> Iterator[IO[str]]:
    """Open a file that appears whole or not at all; ``-`` is standard output.

    With ``as_file`` that is written as a file would be, in UTF-8, whoever reads it.
    """
    if path == STANDARD:
        if as_file and isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.reconfigure(encoding="utf-8", errors="strict")
        yield sys.stdout
    else:
        from manylabel.data.writing import replacing_text

        with replacing_text(path) as text:
            yield text


def cell(value: Any) -> str:
    """Return a figure, or several with their names, for people."""
    if isinstance(value, Mapping):
        return ", ".join(f"{name}: {cell(part)}" for name, part in value.items())
    return f"{value:,}" if isinstance(value, int) else f"{value:,.4g}"


def duration(seconds: float) -> str:
    """Return a time in words, to two digits or so.

    Examples
    --------
    >>> duration(42.3), duration(600), duration(20_000)
    ('42 s', '10 min', '5.6 h')
    """
    if seconds < MINUTES:
        return f"{seconds:.0f} s"
    if seconds < HOURS:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:,.1f} h"


def percent(fraction: float) -> str:
    """Return a fraction as percent, without the sign."""
    return f"{100 * fraction:.2f}"
