"""The objects of a file of JSON: one a line, or all in one array."""

import codecs
import json
import re
from collections.abc import Iterator
from typing import IO

from manylabel.data.source import BLOCK, Source
from manylabel.exceptions import DataError

ARRAY = re.compile(rb"\s*+\[\s*+\{")
BETWEEN = re.compile(r"[\s,]*+")
Located = Iterator[tuple[int, bytes]]


def is_json(head: bytes) -> bool:
    """Tell whether a file begins with an object, or with an array of such."""
    return head.lstrip().startswith(b"{") or bool(ARRAY.match(head))


def iter_objects(source: Source) -> Located:
    """Yield what should be objects, in UTF-8, with the lines where they begin."""
    if ARRAY.match(source.head):
        return _elements(source)
    lines = enumerate(source.lines(), start=1)
    return ((number, line) for number, line in lines if line.strip())


def _elements(source: Source) -> Located:
    """Yield the elements of an array; no more than one of them is in memory."""
    scan = json.JSONDecoder().raw_decode
    decode = codecs.getincrementaldecoder("utf-8")().decode
    with source.open() as stream:
        text = decode(stream.read(BLOCK)).removeprefix("\ufeff")
        start = text.index("[") + 1
        line = 1 + text.count("\n", 0, start)
        while True:
            between = BETWEEN.match(text, start)
            begin = between.end() if between else start
            line += text.count("\n", start, begin)
            if text.startswith("]", begin):
                _check_end(source, text[begin + 1 :].encode(), stream, line)
                return
            try:
                _, start = scan(text, begin)
            except (ValueError, RecursionError) as error:
                if len(text) - begin > source.max_line_bytes:
                    raise source.too_long(line) from None
                piece = stream.read(BLOCK)
                if not piece:
                    reason = f"expected a whole array of JSON objects: {error}."
                    raise DataError(source.path, reason, line) from None
                text, start = text[begin:] + decode(piece), 0
            else:
                yield line, text[begin:start].encode()
                line += text.count("\n", begin, start)


def _check_end(source: Source, rest: bytes, stream: IO[bytes], line: int) -> None:
    """Refuse whatever follows an array, which would be lost."""
    while not rest.strip():
        rest = stream.read(BLOCK)
        if not rest:
            return
    raise DataError(source.path, "expected nothing after an array of objects.", line)
