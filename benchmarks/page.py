"""Pages of results: how each begins, its tables, and the file it goes to."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from benchmarks.ledger import Record
from benchmarks.machine import made_by
from manylabel.data.writing import replacing_text

PUBLISHED = Path(__file__).parents[1] / "docs" / "results"


def write(path: Path, text: str) -> Path:
    """Write a page, whole or not at all; return its file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing_text(path) as file:
        file.write(text)
    return path


def compose(
    title: str,
    introduction: str,
    command: str,
    runs: Sequence[Record],
    parts: Iterable[str],
) -> str:
    """Return a page as Markdown.

    Parameters
    ----------
    title, introduction : str
        What it is, and what it shows.
    command : str
        What to type for the same page.
    runs : sequence of dict
        The lines that it was made from.
    parts : iterable of str
        What follows; empty ones are left out.
    """
    console = f"```console\n$ {command}\n```"
    return join(f"# {title}", introduction, console, _tell(runs), *parts) + "\n"


def join(*parts: str) -> str:
    """Return paragraphs, tables and the like as one text; empty ones are left out."""
    return "\n\n".join(part.strip() for part in parts if part.strip())


def table(
    head: Sequence[str], rows: Iterable[Sequence[str]], n_words: int | None = None
) -> str:
    """Return a Markdown table.

    Parameters
    ----------
    head : sequence of str
        The names of the columns.
    rows : iterable of sequence of str
        The cells.
    n_words : int or None, default=None
        How many columns come before those of numbers, which are aligned to the right;
        None aligns none.

    Examples
    --------
    >>> print(table(["set", "rows"], [["yeast", "2,417"]], n_words=1))
    | set | rows |
    | --- | ---: |
    | yeast | 2,417 |
    """
    n_words = len(head) if n_words is None else n_words
    rule = ["---"] * n_words + ["---:"] * (len(head) - n_words)
    return "\n".join(f"| {' | '.join(line)} |" for line in (head, rule, *rows))


def picture(alternative: str, name: str) -> str:
    """Return what shows a picture."""
    return f"![{alternative}]({name})"


def _tell(runs: Sequence[Record]) -> str:
    """Say how many runs there are, how long they took, and what made them."""
    if not runs:
        return "No run is finished."
    seconds = sum(run.get("seconds", 0) for run in runs)
    took = f"in {seconds / 60:,.0f} minutes of one process, " if seconds else ""
    return f"{len(runs):,} runs {took}{made_by(runs)}."
