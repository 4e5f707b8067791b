"""Files as bytes: gzip told by content, whole lines in blocks."""

import gzip
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

from manylabel.exceptions import DataError

HEAD = 1 << 16
BLOCK = 1 << 17
GZIP_MAGIC = b"\x1f\x8b"
BOM = b"\xef\xbb\xbf"
# JSON takes up to 24 times as much memory as text: 200 MB for the longest line.
MAX_LINE = 1 << 23


class Source:
    """A data file, gzipped or not, that can be read more than once.

    Parameters
    ----------
    path : str or path-like
        The file. A missing or unreadable one raises OSError; a folder, and a pipe,
        which could be read only once, raise DataError.
    max_line_bytes : int, default=2**23
        The longest line; a longer one raises DataError before it fills the memory.

    Attributes
    ----------
    path : Path
        The file.
    head : bytes
        Its first bytes, uncompressed and without a byte order mark.
    gzipped : bool
        Whether the file is compressed.
    """

    def __init__(
        self, path: str | os.PathLike[str], max_line_bytes: int | None = None
    ) -> None:
        self.path = Path(path)
        self.max_line_bytes = MAX_LINE if max_line_bytes is None else max_line_bytes
        if self.path.is_dir():
            raise DataError(self.path, "expected a file, found a folder.")
        if self.path.exists() and not self.path.is_file():
            raise DataError(
                self.path,
                "expected a regular file, found a pipe or a device: save it to a file "
                "first.",
            )
        with self.path.open("rb") as raw:
            self.gzipped = raw.read(len(GZIP_MAGIC)) == GZIP_MAGIC
        with self.open() as stream:
            head = stream.read(HEAD)
        self._start = len(BOM) if head.startswith(BOM) else 0
        self.head = head[self._start :]

    @contextmanager
    def open(self) -> Iterator[IO[bytes]]:
        """Open for reading, uncompressed."""
        try:
            with self.path.open("rb") as raw:
                if self.gzipped:
                    with gzip.GzipFile(fileobj=raw) as stream:
                        yield cast(IO[bytes], stream)
                else:
                    yield raw
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise DataError(
                self.path, f"expected a whole gzip file, found damage: {error}."
            ) from None

    def blocks(self, offset: int = 0) -> Iterator[bytes]:
        """Yield the text from byte ``offset`` in blocks of whole lines.

        Each block ends with a newline; one is added where the file ends without.
        """
        with self.open() as stream:
            line = 1 + stream.read(self._start + offset).count(b"\n")
            pending: list[bytes] = []
            size = 0  # of the line so far
            while piece := stream.read(BLOCK):
                cut = piece.rfind(b"\n") + 1
                size += piece.find(b"\n") if cut else len(piece)
                if size > self.max_line_bytes:
                    raise self.too_long(line)
                if cut:
                    line += piece.count(b"\n")
                    yield b"".join((*pending, piece[:cut]))
                    pending.clear()
                    size = len(piece) - cut
                pending.append(piece[cut:])
            if last := b"".join(pending):
                yield last + b"\n"

    def lines(self) -> Iterator[bytes]:
        """Yield the lines, each without its newline."""
        for block in self.blocks():
            yield from block[:-1].split(b"\n")

    def too_long(self, line: int | None = None) -> DataError:
        """Return the error of a line, or a record, that is longer than it may be."""
        return DataError(
            self.path,
            f"expected lines of at most {self.max_line_bytes:,} bytes, found a longer "
            "one: max_line_bytes says how long they may be.",
            line,
        )


def suffix(path: Path) -> str:
    """Return how a name ends, or how it ends before ``.gz``."""
    return path.with_suffix("").suffix if path.suffix == ".gz" else path.suffix


def decode(line: bytes) -> str:
    """Return a line as text, or raise ValueError."""
    try:
        return line.decode()
    except UnicodeDecodeError as error:
        raise ValueError(
            f"expected UTF-8, found byte 0x{line[error.start]:02x} at {error.start}."
        ) from None
