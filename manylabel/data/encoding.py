"""Which letters the bytes of a file stand for, and the same bytes as UTF-8."""

import codecs
import io
import re
from typing import IO, cast

UTF_8 = "utf-8"
WESTERN = "cp1252"  # what spreadsheets of Western Europe and America write
BOM = codecs.BOM_UTF8
MARKS = {
    codecs.BOM_UTF32_LE: "utf-32",  # begins as that of UTF-16 does
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
PIECE = 1 << 16
OFTEN = 0.4  # share of zero bytes in every other place: Western text in UTF-16
ACCENTS = 2  # that stand side by side, as in Grüße
SELDOM = 0.2  # accents and marks side by side that could be UTF-8 too, as é »
HIGH = re.compile(rb"[\x80-\xff]+")
# What cp1252 has for accents of cp850 and Mac Roman: marks and capitals, which stand
# neither within words (an apostrophe may) nor at their ends.
ODD = re.compile(
    rb"(?<=[A-Za-z])[\x80-\x82\x84\x86-\x91\x93-\x95\x98\x99\x9b\x9d\x9f](?=[a-z])"
    rb"|(?<=[a-z])[\x82\x84\x88\x8a\x8c\x8e\x9f](?![a-z])"
)
OLD_END = re.compile(rb"[^\r\n]++\r(?![\r\n])")
REMEDY = "encoding says which other it is, such as cp1252, cp850 or utf-16"


def tell_encoding(head: bytes) -> str:
    """Return the encoding of a file that begins so; UTF-8 where nothing speaks for one.

    A byte order mark tells UTF-16 and UTF-32, and so do zeros in every other place.
    Bytes that cannot be UTF-8 are cp1252 if they stand among plain letters, as accents
    of Western languages do, and if next to nothing beside them is good UTF-8.
    """
    for mark, encoding in MARKS.items():
        if head.startswith(mark):
            return encoding if _is_text(head, encoding) else UTF_8
    if b"\0" in head:
        zeros = [head[start::2].count(0) / (len(head) / 2) for start in (0, 1)]
        encoding = "utf-16-be" if zeros[0] > zeros[1] else "utf-16-le"
        likely = max(zeros) > OFTEN and not min(zeros)
        return encoding if likely and _is_text(head, encoding) else UTF_8
    return WESTERN if not _is_text(head, UTF_8) and _is_western(head) else UTF_8


def check_encoding(encoding: str) -> str:
    """Return the name of an encoding of texts, or raise ValueError."""
    try:
        io.TextIOWrapper(io.BytesIO(), encoding)
    except (LookupError, ValueError):
        raise ValueError(
            "encoding must be one that Python knows, such as utf-8, utf-16, latin-1 or "
            f"cp1252. Got {encoding!r}."
        ) from None
    return encoding


def has_old_ends(head: bytes) -> bool:
    r"""Return whether lines end with ``\r`` alone, as those of old Macs do.

    Cells of a table may have newlines in them.

    Examples
    --------
    >>> has_old_ends(b"a,b\r1,2\r"), has_old_ends(b"a,b\r\n1,2\r\n")
    (True, False)
    """
    is_first = OLD_END.match(head) and b"\0" not in head
    return bool(is_first) and head.count(b"\r") > head.count(b"\n")


def as_utf8(stream: IO[bytes], encoding: str, *, old_ends: bool = False) -> IO[bytes]:
    """Return a stream of the same letters in UTF-8; reading raises UnicodeError.

    Old line ends become newlines.
    """
    recoded = Recoded(stream, encoding, old_ends=old_ends)
    return cast(IO[bytes], io.BufferedReader(recoded, PIECE))


class Recoded(io.RawIOBase):
    """A stream in some encoding, read as UTF-8, a piece in memory at a time."""

    def __init__(
        self, stream: IO[bytes], encoding: str, *, old_ends: bool = False
    ) -> None:
        self._stream, self._old_ends = stream, old_ends
        self._decoder = codecs.getincrementaldecoder(encoding)()
        self._ready = memoryview(b"")

    def readable(self) -> bool:
        """Say that this can be read."""
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        """Fill the buffer and return how many bytes came; 0 at the end."""
        more = True
        while more and not self._ready:
            piece = self._stream.read(PIECE)
            more = bool(piece)
            text = self._decoder.decode(piece, final=not more)
            text = text.replace("\r", "\n") if self._old_ends else text
            self._ready = memoryview(text.encode())
        n_bytes = min(len(buffer), len(self._ready))
        buffer[:n_bytes] = self._ready[:n_bytes]
        self._ready = self._ready[n_bytes:]
        return n_bytes


def _is_text(head: bytes, encoding: str, *, whole: bool = False) -> bool:
    """Return whether bytes are text; unless ``whole``, they may end within a letter."""
    try:
        codecs.getincrementaldecoder(encoding)().decode(head, final=whole)
    except UnicodeError:
        return False
    return True


def _is_western(head: bytes) -> bool:
    """Return whether all high bytes are letters of cp1252, mostly one or two a word."""
    runs = HIGH.findall(head)
    lengths = [len(run) for run in runs]
    short = sum(length for length in lengths if length <= ACCENTS)
    if sum(lengths) > 2 * short or not _is_text(head, WESTERN):
        return False
    if len(ODD.findall(head)) > SELDOM * len(runs):
        return False
    # A byte or two that are damaged leave the other letters as they are.
    n_good = sum(len(run) > 1 and _is_text(run, UTF_8, whole=True) for run in runs)
    return n_good <= SELDOM * len(runs)
