"""Files for the readers to read."""

import gzip
import itertools
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def put(tmp_path_factory):
    """Return a function that writes a file into a folder of its own."""
    folder = tmp_path_factory.mktemp("data")
    numbers = itertools.count()

    def write(content, name="data.txt", *, beside: Path | None = None, zipped=False):
        content = content.encode() if isinstance(content, str) else content
        place = beside.parent if beside else folder / str(next(numbers))
        place.mkdir(exist_ok=True)
        path = place / name
        path.write_bytes(gzip.compress(content) if zipped else content)
        return path

    return write
