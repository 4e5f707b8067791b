"""Folders of answers: a Parquet file for each piece of the rows, and the plan."""

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from manylabel.data.arrow import is_parquet, open_parquet
from manylabel.data.source import Source
from manylabel.distributed.files import kinds_of, predict_file
from manylabel.distributed.plan import cut_evenly
from manylabel.distributed.prediction import BatchPredictor
from manylabel.distributed.sealed import read_sealed, write_sealed
from manylabel.distributed.shards import verify
from manylabel.distributed.versions import versions
from manylabel.exceptions import ArchiveError, DataError

# Readers of folders of Parquet files pass over names that begin so.
FILE = "_answers.json"
ASKED = ("seal", "columns", "keep", "k", "proba", "allow", "deny")
OTHERS = {
    "seal": "another model",
    "files": "other files, or files have changed since",
    "versions": "other versions of the library or of numpy",
    "allow": "other labels to allow",
    "deny": "other labels to deny",
}


class Piece(NamedTuple):
    """Rows that are predicted together: those of a file, or of a range of it."""

    path: str
    n_bytes: int  # of the file, as the driver saw it
    start: int
    stop: int  # of its row groups; all rows if there are none
    n_rows: int | None  # None where nobody has counted, as of JSON lines
    checksum: str | None  # of a shard


def plan_answers(
    folder: Path,
    predictor: BatchPredictor,
    files: Sequence[tuple[Path, str | None]],
    n_rows: int,
) -> dict[str, Any]:
    """Return the plan that a locked folder has, if it is of the same, or a new one.

    Files have checksums where they are shards.
    """
    seen = [(path, path.stat()) for path, _ in files]
    facts = {
        "asked": {name: getattr(predictor, name) for name in ASKED},
        "versions": versions(),
        "n_rows": n_rows,
        # Links are followed to tell whether files are the same, but not by workers,
        # where they may lead elsewhere.
        "files": [[str(p.resolve()), at.st_size, at.st_mtime_ns] for p, at in seen],
    }
    if (folder / FILE).exists():
        found = read_sealed(folder / FILE)
        _check_same(folder, found, facts)
        return found
    for file in folder.glob("*.parquet"):
        reason = f"expected a folder for answers alone, found {file.name}."
        raise ArchiveError(folder, reason)
    pieces = list(chain.from_iterable(_divided(*file, n_rows) for file in files))
    if not pieces:
        raise DataError(files[0][0], "expected rows, found none.")
    first = pieces[0]  # what is asked of it must have an answer, to be written down
    answer = next(predict_file(predictor, Path(first.path), None, first.checksum))
    facts |= {"pieces": pieces, "kinds": kinds_of(answer)}
    return write_sealed(folder / FILE, facts)


def answer_place(folder: Path, number: int) -> Path:
    """Return where the answer for a piece is; names are in the order of the rows."""
    return folder / f"{number:06}.parquet"


def is_answered(place: Path, piece: Piece) -> bool:
    """Tell whether the answer for a piece is there, whole."""
    try:
        with open_parquet(Source(place)) as file:
            return piece.n_rows in (None, file.metadata.num_rows)
    except (DataError, FileNotFoundError):
        return False


def remove_drafts(folder: Path) -> None:
    """Remove what killed workers have left half written."""
    for draft in folder.glob(".*.parquet.*"):
        draft.unlink(missing_ok=True)


def _divided(path: Path, checksum: str | None, n_rows: int) -> Iterator[Piece]:
    """Yield the pieces of a file; none if it is empty."""
    source, n_bytes = Source(path), path.stat().st_size
    if not is_parquet(source):
        if head := source.head.strip():
            if checksum is None and not head.startswith((b"{", b"[")):
                raise DataError(path, "expected Parquet, JSON lines or a JSON array.")
            yield Piece(str(path), n_bytes, 0, 0, None, checksum)
        elif checksum is not None:
            verify(path, checksum)  # it was written so, or has been emptied
        return
    with open_parquet(source) as file:
        facts = file.metadata
        groups = [facts.row_group(n).num_rows for n in range(facts.num_row_groups)]
    sizes = np.array(groups, np.float64)
    for start, stop in cut_evenly(sizes, max(1, math.ceil(sizes.sum() / n_rows))):
        n_found = sum(groups[start:stop])
        yield Piece(str(path), n_bytes, start, stop, n_found, checksum)


def _check_same(folder: Path, was: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    """Refuse to go on with answers of something else."""
    was, now = ({**facts["asked"], **facts} for facts in (was, now))
    for name in (*ASKED, "n_rows", "versions", "files"):
        one, other = (_listed(facts[name]) for facts in (was, now))
        if one != other:
            reason = OTHERS.get(name, f"{name}={one!r}, not {other!r}")
            raise ArchiveError(
                folder, f"its answers are of {reason}: name another folder."
            )


def _listed(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value
