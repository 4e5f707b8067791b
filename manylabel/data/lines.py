"""Plain lines: a text each, without labels."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from manylabel.data.options import ReadOptions
from manylabel.data.records import RecordReader
from manylabel.data.source import Source, decode


class LinesReader(RecordReader):
    """Read one text a line, in UTF-8; an empty line is an empty text."""

    OPTIONS = frozenset()

    def __init__(self, source: Source, options: ReadOptions) -> None:
        super().__init__(source, {**options, "labels_column": False})

    def batches(self) -> Iterator[Iterable[tuple[int, Mapping[str, Any]]]]:
        """Yield the texts of each block of lines."""
        n_lines = 0
        for block in self.source.blocks():
            lines = block[:-1].split(b"\n")
            yield self._texts(lines, n_lines + 1)
            n_lines += len(lines)

    def _texts(
        self, lines: list[bytes], first: int
    ) -> Iterator[tuple[int, dict[str, str]]]:
        for number, line in enumerate(lines, first):
            try:
                yield number, {"text": decode(line).rstrip("\r")}
            except ValueError as error:
                self.bad_lines.add(str(error), number)
