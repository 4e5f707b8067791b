"""Parts of a fit as one model."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from manylabel import persistence
from manylabel.distributed.folders import PART, read_folder
from manylabel.distributed.part import begin_division, read_part
from manylabel.distributed.plan import (
    LEARNER,
    SHARDS,
    TAGGER,
    Part,
    fresh,
    parts_of,
    place_of,
    read_plan,
)
from manylabel.distributed.versions import check_versions
from manylabel.division import Division
from manylabel.exceptions import ArchiveError
from manylabel.persistence import records, unflatten

Found = dict[int, tuple[Part, Path]]


def merge(parts: Iterable[str | Path]) -> Any:
    """Return the model of all parts of a fit, with the bits of a fit in one piece.

    Parameters
    ----------
    parts : iterable of str or path-like
        The folders that :func:`fit_part` returned, in any order. That of the plan must
        stand where it stood beside them.

    Returns
    -------
    estimator
        The estimator that the plan was made for, fitted. See :func:`fit_part`.
    """
    folder, found = _read(parts)
    plan = read_plan(folder)
    if plan["rows"] == SHARDS:
        return _together(persistence.load(place_of(folder, plan, LEARNER)), found)
    division = begin_division(folder)
    sizes = {"n_features": division.learner.n_features_in_}
    sizes["n_labels"] = len(division.learner.classes_)
    division.join({s: _records(division, s, found, sizes) for s in division.stages})
    division.learner._check_state()
    if TAGGER not in plan["folders"]:
        return division.learner
    tagger = persistence.load(place_of(folder, plan, TAGGER))
    tagger.learner_ = division.learner
    return tagger


def _records(
    division: Division, stage: str, found: Found, sizes: Mapping[str, int]
) -> Iterator[Any]:
    """Yield what the parts of a stage learnt, checked: each is read when it is due."""
    for _, (part, place) in sorted(found.items()):
        if part.stage != stage:
            continue
        values = read_folder(place, PART, mmap=False).values
        try:
            record = division.RECORD(**unflatten(values, division.RECORD))
            records.check(record, stage, sizes)
        except (TypeError, ValueError) as error:
            reason = f"this is not what a part learns: {error}"
            raise ArchiveError(place, reason) from error
        yield record


def _read(parts: Iterable[str | Path]) -> tuple[Path, Found]:
    """Return the folder of the plan and its parts, each of which must be there once."""
    found: Found = {}
    folders = set()
    for place in map(Path, parts):
        part, folder = read_part(place)
        found[part.number] = part, place
        folders.add(folder.resolve())
    if len(folders) != 1:
        raise ValueError(f"parts must be of one plan. Got {len(folders)}.")
    (folder,) = folders
    expected = parts_of(read_plan(folder))
    for part in expected:
        if part.number not in found:
            raise ValueError(
                f"parts must be all {len(expected)} of the plan. Part {part.number} is "
                "missing."
            )
        check_versions(part.versions)
        if found[part.number][0] != part:
            place = found[part.number][1]
            raise ArchiveError(place, f"part {part.number} is of another plan.")
    return folder, found


def _together(learner: Any, found: Found) -> Any:
    """Return the forest of trees that were grown from different rows."""
    places = (place for _, (_, place) in sorted(found.items()))
    read = (read_folder(place, PART, mmap=False).values for place in places)
    models = (fresh(learner).set_state(values) for values in read)
    return next(models)._merged(models)
