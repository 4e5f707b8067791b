"""A part of a fit, on whichever machine."""

import os
import secrets
import shutil
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from manylabel import persistence
from manylabel.base import set_jobs
from manylabel.distributed import shards
from manylabel.distributed.folders import (
    PART,
    ROWS,
    read_facts,
    read_folder,
    write_folder,
)
from manylabel.distributed.once import read_once
from manylabel.distributed.plan import (
    FILE,
    LEARNER,
    PREPARED,
    SHARDS,
    Part,
    place_of,
    read_plan,
)
from manylabel.distributed.sealed import find_plan
from manylabel.distributed.versions import check_versions
from manylabel.division import Division
from manylabel.exceptions import ArchiveError
from manylabel.persistence import unflatten
from manylabel.persistence.folder import refuse_foreign

PARTS = "parts"


def fit_part(
    path: str | Path, part: Part | Mapping[str, Any], out: str | Path | None = None
) -> Path:
    """Learn a part of a fit, and write what was learnt to a folder.

    A part that is there already, whole and of the same plan, is not learnt again.

    Parameters
    ----------
    path : str or path-like
        The folder of the plan.
    part : Part or mapping
        What :func:`plan` returned, or its fields as they come from JSON.
    out : str, path-like or None, default=None
        The folder to write; None is one within that of the plan.

    Returns
    -------
    Path
        The folder of the part, for :func:`merge`.

    Examples
    --------
    >>> import tempfile
    >>> import manylabel as ml
    >>> from manylabel.distributed import merge, plan
    >>> corpus = ml.make_corpus(n_rows=60, n_labels=6, random_state=0)
    >>> data = ml.Dataset(corpus.X, corpus.Y)
    >>> with tempfile.TemporaryDirectory() as out:
    ...     parts = plan(ml.OneVsRest(), data, 3, out)
    ...     model = merge([fit_part(out, part) for part in parts])
    >>> model
    OneVsRest()
    """
    folder, part = Path(path), Part.of(part)
    check_versions(part.versions)
    plan = find_plan(folder / FILE, part.plan, part.number)
    place = folder / PARTS / f"{part.number:06}" if out is None else Path(out)
    if _is_learnt(place, part):
        return place
    facts = {**part._asdict(), "folder": os.path.relpath(folder, place)}
    if plan["rows"] == SHARDS:
        values = _grow_apart(folder, plan, part)
    else:
        division = read_division(folder, part.plan)
        learnt = division.fit(part.stage, range(part.start, part.stop))
        values = learnt._asdict()
    _write(place, part, facts, values)
    return place


def _is_learnt(place: Path, part: Part) -> bool:
    """Tell whether a part is there, whole."""
    with suppress(ArchiveError):  # not there, or damaged: it is learnt anew
        read_folder(place, PART)
        return read_part(place)[0] == part
    return False


def _write(
    place: Path, part: Part, facts: Mapping[str, Any], values: Mapping[str, Any]
) -> None:
    """Write a part, unless another worker that has it too is first.

    Each writes to a folder of its own: no lock need reach from one machine to another.
    """
    target = Path(os.path.realpath(place))
    draft = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
    try:
        write_folder(draft, PART, facts, values)
        if os.path.lexists(target) and not _is_learnt(place, part):
            refuse_foreign(target)
            shutil.rmtree(target)  # damaged, or half a part
        os.rename(draft, target)
    except OSError:
        if not _is_learnt(place, part):
            raise
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def remove_drafts(folder: Path) -> None:
    """Remove what killed workers have left half written of the parts of a plan."""
    for draft in (folder / PARTS).glob(".*"):
        shutil.rmtree(draft, ignore_errors=True)


def read_part(place: Path) -> tuple[Part, Path]:
    """Return which part a folder is, and the folder of its plan."""
    facts = dict(read_facts(place, PART))
    folder = place / facts.pop("folder")
    return Part.of(facts), Path(os.path.normpath(folder))


@read_once(1)
def read_division(folder: Path, plan: str) -> Division:
    """Begin the fit of a plan with the rows of its folder, mapped into memory.

    The checksum of the plan is there to tell one plan of a folder from another.
    """
    division = begin_division(folder)
    set_jobs(division.learner, 1)
    return division


def begin_division(folder: Path) -> Division:
    """Return the division of a plan's fit."""
    plan = read_plan(folder)
    learner = persistence.load(place_of(folder, plan, LEARNER))
    found = read_folder(place_of(folder, plan, ROWS), ROWS)
    data, prepared = unflatten(found.values), _read_prepared(folder, plan)
    division: Division = learner._divide(data["X"], data["Y"], prepared)
    return division


def _read_prepared(folder: Path, plan: dict[str, Any]) -> dict[str, Any] | None:
    """Return what the driver found for all parts, if there is such."""
    if PREPARED not in plan["folders"]:
        return None
    return unflatten(read_folder(place_of(folder, plan, PREPARED), ROWS).values)


def _grow_apart(folder: Path, plan: dict[str, Any], part: Part) -> dict[str, Any]:
    """Return what a forest learns from some shards: a whole model of some trees."""
    data = shards.read_shards(plan["source"], part.shards)
    learner = persistence.load(place_of(folder, plan, LEARNER))
    learner.set_params(**_read_prepared(folder, plan) or {})
    division = learner._divide(data.X, data.Y)
    learnt = division.fit(part.stage, range(part.start, part.stop))
    division.join({part.stage: [learnt]})
    return dict(learner.get_state())
