"""JSON lines: one object a line with a text and its labels."""

import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from typing import Any

from manylabel.data.dataset import Dataset
from manylabel.data.records import RecordReader
from manylabel.data.source import decode


class JsonlReader(RecordReader):
    """Read one JSON object a line, in UTF-8; blank lines do not count."""

    def batches(self) -> Iterator[Iterable[tuple[int, Mapping[str, Any]]]]:
        """Yield the objects of each block of lines."""
        n_lines = 0
        for block in self.source.blocks():
            lines = block[:-1].split(b"\n")
            numbered = enumerate(lines, start=n_lines + 1)
            yield (
                (number, record)
                for number, line in numbered
                if line.strip()
                for record in self._objects(line, number)
            )
            n_lines += len(lines)

    def _objects(self, line: bytes, number: int) -> Iterator[dict[str, Any]]:
        """Yield the object of a line unless the line is bad."""
        try:
            record = json.loads(decode(line))
        except (ValueError, RecursionError) as error:
            self.bad_lines.add(f"expected a JSON object: {error}.", number)
            return
        if isinstance(record, dict):
            yield record
        else:
            self.bad_lines.add(f"expected a JSON object, found {record!r:.40}.", number)


def lines(dataset: Dataset) -> Iterator[str]:
    """Write texts with the names of their labels, or with their columns."""
    if dataset.texts is None:
        raise ValueError("dataset must have texts for this format. Got none.")
    columns, names = dataset.Y.indices.tolist(), dataset.label_names
    for row, (start, stop) in enumerate(pairwise(dataset.Y.indptr.tolist())):
        labels = columns[start:stop]
        record = {
            "text": dataset.texts[row],
            "labels": labels if names is None else [names[label] for label in labels],
        }
        if dataset.ids is not None:
            record = {"id": dataset.ids[row]} | record
        yield json.dumps(record)
