"""Debian's control files, of which package lists are made: paragraphs of fields."""

import gzip
import lzma
import subprocess
import zlib
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple, cast

from manylabel.data.source import decode
from manylabel.exceptions import DataError

HELPER = Path("/usr/lib/apt/apt-helper")  # reads all that apt can write
OPENERS: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".xz": lzma.open}
HELPED = frozenset({".lz4", ".zst"})  # not in Python's library
COMPRESSED = HELPED | OPENERS.keys()
DAMAGE = (EOFError, zlib.error, gzip.BadGzipFile, lzma.LZMAError)


class Field(NamedTuple):
    """What a paragraph says under one name.

    Attributes
    ----------
    text : str
        The value; a newline stands where it goes on in another line.
    line : int
        The line where it begins, from 1.
    """

    text: str
    line: int


def paragraphs(path: Path, wanted: Collection[str]) -> Iterator[dict[str, Field]]:
    """Yield the wanted fields of each paragraph of a file, compressed or not.

    One paragraph is held at a time. What is no field raises DataError.
    """
    names = {name.encode(): name for name in wanted}
    for fields in _split(path):
        found = names.keys() & fields.keys()
        yield {names[name]: _field(path, *fields[name]) for name in found}


def _split(path: Path) -> Iterator[dict[bytes, tuple[int, list[bytes]]]]:
    """Yield all fields of each paragraph, each with its first line's number."""
    fields: dict[bytes, tuple[int, list[bytes]]] = {}
    value: list[bytes] = []
    with _opened(path) as lines:
        for number, line in enumerate(lines, start=1):
            if line.isspace():
                if fields:
                    yield fields
                fields = {}
            elif fields and line[:1] in b" \t":
                value.append(line)
            else:
                name, value = _begun(path, number, line)
                if name in fields:
                    reason = f"expected {_shown(name)} once in a paragraph."
                    raise DataError(path, reason, number)
                fields[name] = number, value
    if fields:
        yield fields


def _begun(path: Path, number: int, line: bytes) -> tuple[bytes, list[bytes]]:
    """Return the name of a field and its first line."""
    name, colon, value = line.partition(b":")
    if not colon or not name or name.split() != [name]:
        raise DataError(path, f"expected 'Name: value', found {_shown(line)}.", number)
    return name, [value]


def _field(path: Path, number: int, lines: list[bytes]) -> Field:
    texts = []
    for place, line in enumerate(lines, start=number):
        try:
            texts.append(decode(line.strip()))
        except ValueError as error:
            raise DataError(path, str(error), place) from None
    return Field("\n".join(texts), number)


def _shown(line: bytes) -> str:
    return f"{line.rstrip().decode(errors='replace')!r:.40}"


@contextmanager
def _opened(path: Path) -> Iterator[IO[bytes]]:
    """Open a file for reading by lines, uncompressed."""
    try:
        if path.suffix in HELPED:
            with _helped(path) as stream:
                yield stream
        else:
            with OPENERS.get(path.suffix, open)(path, "rb") as stream:
                yield stream
    except DAMAGE as error:
        kind = path.suffix.removeprefix(".")
        raise DataError(
            path, f"expected a whole {kind} file, found damage: {error}."
        ) from None


@contextmanager
def _helped(path: Path) -> Iterator[IO[bytes]]:
    """Let apt uncompress a file."""
    if not HELPER.exists():
        raise DataError(
            path,
            f"expected a plain, gz or xz file, found {path.suffix}, which needs apt.",
        )
    command = [str(HELPER), "cat-file", str(path.absolute())]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as helper:
        yield cast(IO[bytes], helper.stdout)
    if helper.returncode:
        raise EOFError(f"apt-helper ended with status {helper.returncode}")
