"""The rows of a data set in the forms that peers read."""

from pathlib import Path

import scipy.sparse as sp

from benchmarks.ledger import digest
from benchmarks.peers.folders import appearing
from benchmarks.peers.texts import WORDS, vectorize
from benchmarks.source import Source
from manylabel.data import Dataset, write


def convert(source: Source, folder: Path) -> Path:
    """Write the rows once, for all entrants; return the folder they are in.

    There is ``train.txt``, the text format of the Extreme Classification Repository,
    and X and Y of both parts as ``.npz`` of SciPy. Y of the test part may have more
    columns: labels that no training row has.
    """
    stamp = [(str(p), p.stat().st_mtime, p.stat().st_size) for p in _files(source)]
    home = folder / f"{source.name}-{digest(stamp, WORDS)}"
    if not home.exists():
        with appearing(home) as sibling:
            parts = _rows(source)
            for part, rows in parts.items():
                for name, matrix in (("X", rows.X), ("Y", rows.Y)):
                    sp.save_npz(sibling / f"{part}_{name}.npz", sp.csr_matrix(matrix))
            write(parts["train"], sibling / "train.txt")
    return home


def _rows(source: Source) -> dict[str, Dataset]:
    parts = source.parts
    return vectorize(**parts) if parts["train"].X is None else parts


def _files(source: Source) -> list[Path]:
    return sorted(source.paths.values())
