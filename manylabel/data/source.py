"""Files as bytes of UTF-8: gzip and encodings told by content, lines in blocks."""

import codecs
import gzip
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

from manylabel.data.encoding import (
    BOM,
    REMEDY,
    UTF_8,
    as_utf8,
    check_encoding,
    has_old_ends,
    tell_encoding,
)
from manylabel.exceptions import DataError

HEAD = 1 << 16
BLOCK = 1 << 17
GZIP_MAGIC = b"\x1f\x8b"
WORKBOOKS = b"PK\x03\x04", b"\xd0\xcf\x11\xe0"  # .xlsx, .ods and .zip begin so; .xls
NO_WORKBOOK = (
    "expected text or Parquet, found a workbook or a zip archive: save the table as "
    "CSV, or unpack the archive."
)
PDF = b"%PDF"  # else taken for a comment of ARFF
NO_PDF = (
    "expected text or Parquet, found a binary file, a PDF: save its text to a file."
)
# JSON takes up to 24 times as much memory as text: 200 MB for the longest line.
MAX_LINE = 1 << 23


class Source:
    """A data file, gzipped or not, that can be read more than once.

    Parameters
    ----------
    path : str or path-like
        The file. A missing or unreadable one raises OSError; a folder, a workbook, a
        PDF, and a pipe, which could be read only once, raise DataError.
    max_line_bytes : int, default=2**23
        The longest line; a longer one raises DataError before it fills the memory.
    encoding : str or None, default=None
        How letters are written; None tells it by the first bytes.

    Attributes
    ----------
    path : Path
        The file.
    encoding : str
        How its letters are written; all that is read is UTF-8, and its line ends are
        newlines even where they are those of old Macs.
    is_guessed : bool
        Whether nobody said so, and it is not UTF-8.
    head : bytes
        Its first bytes, uncompressed, as UTF-8, without a byte order mark.
    gzipped : bool
        Whether the file is compressed.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        max_line_bytes: int | None = None,
        encoding: str | None = None,
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
            start = raw.read(4)
        if start in WORKBOOKS:
            raise DataError(self.path, NO_WORKBOOK)
        if start == PDF:
            raise DataError(self.path, NO_PDF)
        self.gzipped = start.startswith(GZIP_MAGIC)
        self.encoding = UTF_8 if encoding is None else check_encoding(encoding)
        self._old_ends = False
        head = self._read_head()
        told = UTF_8 if encoding is not None else tell_encoding(head)
        self.is_guessed = told != UTF_8
        if self.is_guessed:
            self.encoding = told
            head = self._read_head()
        if has_old_ends(head):
            self._old_ends = True
            head = self._read_head()
        self._start = len(BOM) if head.startswith(BOM) else 0
        self.head = head[self._start :]

    def _read_head(self) -> bytes:
        with self.open() as stream:
            return stream.read(HEAD)

    @contextmanager
    def open(self) -> Iterator[IO[bytes]]:
        """Open for reading, uncompressed and as UTF-8."""
        try:
            with self.path.open("rb") as raw, self._unzipped(raw) as stream:
                # UTF-8 is checked line by line, so that bad lines can be skipped.
                plain = codecs.lookup(self.encoding).name == UTF_8
                if plain and not self._old_ends:
                    yield stream
                else:
                    yield as_utf8(stream, self.encoding, old_ends=self._old_ends)
        except UnicodeError as error:
            raise DataError(
                self.path,
                f"expected text in {self.encoding}, found "
                f"{getattr(error, 'reason', error)}; {REMEDY}.",
            ) from None
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise DataError(
                self.path, f"expected a whole gzip file, found damage: {error}."
            ) from None

    def _unzipped(self, raw: IO[bytes]) -> IO[bytes]:
        return cast(IO[bytes], gzip.GzipFile(fileobj=raw)) if self.gzipped else raw

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
            f"expected UTF-8, found byte 0x{line[error.start]:02x} at {error.start}; "
            f"{REMEDY}."
        ) from None
