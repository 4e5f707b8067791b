"""``manylabel convert``: from one file format to another."""

from collections.abc import Iterable, Iterator
from itertools import chain, dropwhile, islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from manylabel.cli import options
from manylabel.cli.console import STANDARD, note, output, track
from manylabel.cli.inputs import DataFile

if TYPE_CHECKING:
    from manylabel.data import Dataset

NAMELESS = ("xc", "svmlight")
OF_TEXTS = ("jsonl", "csv", "tsv")


@options.reads()
def convert(
    file: options.File,
    out: Annotated[
        Path,
        typer.Argument(
            metavar="OUT",
            help="The file to write, gzipped if it ends with .gz; - for stdout.",
        ),
    ],
    to: Annotated[
        str | None,
        typer.Option(
            metavar="FORMAT",
            help="xc, svmlight, meka, jsonl, csv or tsv; told by the suffix of OUT if "
            "not given.",
        ),
    ] = None,
    labelled: Annotated[
        bool,
        typer.Option(
            "--labels/--no-labels", help="Whether FILE has labels, or texts alone."
        ),
    ] = True,
    *,
    reading: options.Reading,
) -> None:
    """Write a data file in another format, a chunk at a time.

    Suffixes: .txt (xc), .svm or .svmlight, .arff (meka), .jsonl, .csv, .tsv, each
    perhaps with .gz. --label-separator is that of both files; in csv and tsv, labels
    that have a separator in their names are written as a JSON list. What is written is
    UTF-8, and a csv has commas and the columns id, text and labels, whatever FILE has.

    Example: manylabel convert emotions-train.arff.gz emotions.txt
    """
    data = DataFile(file, reading, labelled=labelled)
    format = told_format(out, to)
    # A header in front of all rows must know how many there will be.
    n_rows = data.count_rows() if format == "xc" else 0
    chunks = _peeked(data.chunks(), data, format)
    watched = track(chunks, f"Writing {format}", quiet=out == STANDARD)
    with output(out, as_file=True) as text:
        lines = _lines(watched, format, n_rows, reading.label_separator)
        text.writelines(f"{line}\n" for line in lines)


def told_format(out: Path, to: str | None, names: str = "OUT") -> str:
    """Return the format of a file to be written, by an option or its suffix."""
    from manylabel._validation import choice
    from manylabel.data.source import suffix
    from manylabel.data.writing import SUFFIXES, WRITERS

    if to is not None:
        choice(to, "--to", WRITERS)
        return to
    if suffix(out) not in SUFFIXES:
        known, way = ", ".join(SUFFIXES), ", or --to be given" * (names == "OUT")
        raise ValueError(
            f"{names} must end with one of {known}, perhaps with .gz{way}. Got "
            f"{out.name!r}."
        )
    return SUFFIXES[suffix(out)]


def _peeked(
    chunks: Iterator["Dataset"], data: DataFile, format: str
) -> Iterator["Dataset"]:
    """Look at the first chunk for what the new format needs or cannot hold."""
    first = next(chunks)
    data.check_rows(first)
    if (first.texts if format in OF_TEXTS else first.X) is None:
        needed = "texts" if format in OF_TEXTS else "features"
        raise data.fault(f"expected {needed}, which {format} needs, found none.")
    if format in NAMELESS and first.label_names is not None:
        note(f"note: {format} holds no names: labels are numbered in their order.")
    return chain([first], chunks)


def _lines(
    chunks: Iterable["Dataset"], format: str, n_rows: int, separator: str | None
) -> Iterator[str]:
    """Yield the lines of all chunks under the one header of the first."""
    from manylabel.data.writing import format_lines

    for number, chunk in enumerate(chunks):
        lines = format_lines(chunk, format, separator)
        if format == "xc":
            lines = islice(lines, 1, None)
            if not number:
                yield f"{n_rows} {chunk.n_features} {chunk.n_labels}"
        elif format in ("csv", "tsv") and number:
            lines = islice(lines, 1, None)
        elif format == "meka" and number:
            lines = islice(dropwhile(lambda line: line != "@data", lines), 1, None)
        yield from lines
