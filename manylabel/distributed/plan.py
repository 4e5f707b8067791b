"""Plans: which part of a fit is learnt by whom, and the data that all of them read."""

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from itertools import pairwise
from numbers import Integral
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.utils import check_scalar

from manylabel import persistence
from manylabel._typing import CSR, Floats
from manylabel.baselines import Popularity
from manylabel.data import Dataset, read
from manylabel.distributed import shards
from manylabel.distributed.folders import ROWS, write_folder
from manylabel.distributed.lock import locked
from manylabel.distributed.sealed import read_sealed, write_sealed
from manylabel.distributed.versions import versions
from manylabel.exceptions import ArchiveError
from manylabel.persistence.state import describe
from manylabel.propensity import Propensity, recorded_law
from manylabel.text import Tagger
from manylabel.trees import FastXML, PfastreXML, PfastXML

FILE = "plan.json"
LEARNER, TAGGER, PREPARED = "learner", "tagger", "prepared"
ROUNDING = 1e-9  # of sums: a part ends where its share is reached, about
ALL, SHARDS = "all", "shards"  # rows that a part reads
Range = tuple[str, int, int, list[int]]  # a stage, its units from, to, and shards


class Part(NamedTuple):
    """A part of a fit: small, and ready for JSON.

    Attributes
    ----------
    number : int
        Which part of the plan it is.
    stage : str
        What its units are, as "trees".
    start, stop : int
        The range of its units.
    shards : list of int
        Shards whose rows it reads; none stands for all rows.
    plan : str
        Checksum of the plan, and so of parameters and data.
    versions : dict
        Of the packages that the driver runs, which decide about bits.
    """

    number: int
    stage: str
    start: int
    stop: int
    shards: list[int]
    plan: str
    versions: dict[str, str]

    @classmethod
    def of(cls, given: Self | Mapping[str, Any]) -> Self:
        """Return a part that may come from JSON."""
        return given if isinstance(given, cls) else cls(**given)  # type: ignore[arg-type]


def plan(
    estimator: Any, data: Any, n_parts: int, out: str | Path, *, rows: str = ALL
) -> list[Part]:
    """Divide a fit into parts, and write what these read to a folder.

    Parameters
    ----------
    estimator : FastXML, PfastXML, PfastreXML, LabelTree, OneVsRest or Tagger
        What is to be fitted; a tagger has, or chooses, one of the others as its
        learner. Its ``random_state`` is an int.
    data : str, path-like or Dataset
        A file that :func:`manylabel.read` reads, a sharded folder
        (:func:`manylabel.distributed.write_shards`), or a data set.
    n_parts : int
        How many parts, at most: each has at least one tree, or the labels that are
        solved side by side.
    out : str or path-like
        A folder that all workers see. It gets the rows, with texts vectorised, the
        parameters and the plan. The same plan in it is taken as it is.
    rows : {"all", "shards"}, default="all"
        Which rows a part reads. "shards" is for rows that no machine can hold: each
        tree of a FastXML or PfastXML is grown from some shards of a sharded folder, in
        turn, and labels are counted in all of them first where propensities are to be
        fitted. That is an approximation.

    Returns
    -------
    list of Part
        For :func:`fit_part`.

    Examples
    --------
    >>> import tempfile
    >>> import manylabel as ml
    >>> corpus = ml.make_corpus(n_rows=60, n_labels=6, random_state=0)
    >>> data = ml.Dataset(corpus.X, corpus.Y)
    >>> with tempfile.TemporaryDirectory() as out:
    ...     parts = plan(ml.FastXML(n_estimators=5), data, 2, out)
    >>> [(part.stage, part.start, part.stop) for part in parts]
    [('trees', 0, 3), ('trees', 3, 5)]
    """
    with locked(Path(out)):
        return make_plan(estimator, data, n_parts, Path(out), rows)


def make_plan(
    estimator: Any, data: Any, n_parts: int | None, folder: Path, rows: str
) -> list[Part]:
    """Return the parts of a plan that stands, or of a new one, in a locked folder.

    ``n_parts`` may be None if a plan stands.
    """
    if n_parts is not None:
        check_scalar(n_parts, "n_parts", Integral, min_val=1)
        n_parts = int(n_parts)
    _check(estimator, rows)
    _check_data(data, rows)
    key = hashlib.sha256()
    for piece in (json.dumps([versions(), rows]), *_estimator_bytes(estimator)):
        key.update(piece.encode() if isinstance(piece, str) else piece)
    key.update(_data_digest(data).encode())
    if (folder / FILE).exists():
        return _standing(folder, key.hexdigest(), n_parts)
    if rows == SHARDS:
        ranges, names = _divided_apart(estimator, Path(data), n_parts or 1, folder)
        source = str(Path(data).resolve())
    else:
        ranges, names = _divided(estimator, data, n_parts or 1, folder)
        source = None
    facts: dict[str, Any] = {"versions": versions(), "source": source}
    facts |= {"key": key.hexdigest(), "rows": rows, "n_parts": n_parts or 1}
    # What a plan does not name was left by another, which was interrupted.
    facts |= {"folders": {name: persistence.seal(folder / name) for name in names}}
    return parts_of(write_sealed(folder / FILE, facts | {"ranges": ranges}))


def read_plan(folder: Path) -> dict[str, Any]:
    """Return a plan, checked, or say what is wrong with it."""
    return read_sealed(folder / FILE)


def place_of(folder: Path, plan: Mapping[str, Any], name: str) -> Path:
    """Return where a plan keeps something, which must be as it was written."""
    place = folder / name
    if persistence.seal(place) != plan["folders"][name]:
        raise ArchiveError(place, "this is not what the plan was made with.")
    return place


def parts_of(found: Mapping[str, Any]) -> list[Part]:
    """Return the parts of a plan that was read."""
    return [
        Part(n, stage, start, stop, listed, found["checksum"], found["versions"])
        for n, (stage, start, stop, listed) in enumerate(found["ranges"])
    ]


def _standing(folder: Path, key: str, n_parts: int | None) -> list[Part]:
    """Return the parts of the plan in a folder, which must be for the same fit."""
    found = read_plan(folder)
    parts = parts_of(found)
    for package, now in versions().items():
        if (was := found["versions"].get(package)) != now:
            reason = f"its plan is of {package} {was}, not {now}: name another folder."
            raise ArchiveError(folder, reason)
    if found["key"] != key:
        reason = "this folder has the plan of another fit: name another folder."
        raise ArchiveError(folder, reason)
    if n_parts is not None and found["n_parts"] != n_parts:
        was = found["n_parts"]
        raise ArchiveError(folder, f"its plan is for n_parts={was}, not {n_parts}.")
    return parts


def _divided(
    estimator: Any, data: Any, n_parts: int, folder: Path
) -> tuple[list[Range], list[str]]:
    """Write what parts read; return their ranges, and the names of the folders."""
    learner, X, Y = _begin(estimator, data, folder)
    persistence.save(learner, folder / LEARNER)
    write_folder(folder / ROWS, ROWS, {}, {"X": X, "Y": Y})
    division = learner._divide(X, Y)
    names = [LEARNER, ROWS] + [TAGGER] * isinstance(estimator, Tagger)
    if division.prepared is not None:
        values = division.prepared._asdict()
        write_folder(folder / PREPARED, ROWS, {}, values)
        names.append(PREPARED)
    total = sum(costs.sum() for costs in division.stages.values())
    ranges: list[Range] = [
        (stage, start, stop, [])
        for stage, costs in division.stages.items()
        for start, stop in cut_evenly(
            costs, max(1, round(n_parts * costs.sum() / (total or 1)))
        )
    ]
    return ranges, names


def _divided_apart(
    estimator: Any, data: Path, n_parts: int, folder: Path
) -> tuple[list[Range], list[str]]:
    """Return the ranges of trees that are grown from some shards each, and names.

    All parts weigh labels the same: by how frequent they are in all shards.
    """
    numbers = [n for n, s in enumerate(shards.read_manifest(data).shards) if s.rows]
    learner, names = fresh(estimator), [LEARNER]
    persistence.save(learner, folder / LEARNER)
    if isinstance(learner, PfastXML) and learner.propensity is None:
        law, (counts, n_rows) = Propensity(), shards.count_labels(data)
        learner.propensity = recorded_law(counts, n_rows, law.a, law.b)
        values = {"propensity": learner.propensity}
        write_folder(folder / PREPARED, ROWS, {}, values)
        names.append(PREPARED)
    first = next(shards.iter_shards(data, numbers[:1], n_rows=1))
    learner._divide(first.X, first.Y)  # what is wrong with it is told here
    return _shard_ranges(learner.n_estimators, n_parts, numbers), names


def _begin(estimator: Any, data: Any, folder: Path) -> tuple[Any, CSR, CSR]:
    """Return the learner and its rows; keep what a tagger has beside it."""
    items = data if isinstance(data, Dataset) else _read(Path(data))
    if not isinstance(estimator, Tagger):
        if items.X is None:
            raise ValueError("data must have features, or a Tagger for its texts.")
        return fresh(estimator), items.X, items.Y
    begun = estimator._prepare(items, None)
    check_divisible(begun.learner)
    # Until the parts are merged, the learner knows how frequent labels are.
    stand_in = Popularity().fit(begun.X, begun.Y)
    tagger = fresh(estimator)
    tagger._begin(begun.vectorizer, stand_in, begun.reason, items)
    tagger._count(begun.space, begun.Y)
    tagger.save(folder / TAGGER)
    return begun.learner, begun.X, begun.Y


def _read(path: Path) -> Dataset:
    return shards.read_shards(path) if path.is_dir() else read(path)


def cut_evenly(costs: Floats, n_parts: int) -> Iterator[tuple[int, int]]:
    """Yield ranges of about the same cost, at most so many; at least one."""
    total = (costs.sum() or 1) * (1 - ROUNDING)
    # How many shares of n_parts equal ones are full by then.
    full = np.minimum(np.cumsum(costs) / total * n_parts // 1, n_parts - 1)
    edges = np.flatnonzero(np.diff(full, prepend=0)) + 1
    yield from pairwise([0, *edges[edges < len(costs)].tolist(), len(costs)])


def _shard_ranges(n_trees: int, n_parts: int, numbers: list[int]) -> list[Range]:
    """Return ranges of trees, and the shards that each is grown from.

    With more parts than shards, those are taken in turn; with fewer, several at once.
    """
    ranges = list(cut_evenly(np.ones(n_trees), n_parts))
    groups = np.array_split(numbers, min(len(numbers), len(ranges)))
    return [
        ("trees", *each, groups[n % len(groups)].tolist())
        for n, each in enumerate(ranges)
    ]


def _estimator_bytes(estimator: Any) -> Iterator[str | bytes]:
    facts, arrays = describe(fresh(estimator))
    yield json.dumps(facts, sort_keys=True)
    for name in sorted(arrays):
        yield name
        yield np.ascontiguousarray(arrays[name]).tobytes()


def _data_digest(data: Any) -> str:
    """Return a checksum of the data: what a part learnt from others is not taken."""
    digest = hashlib.sha256()
    if isinstance(data, Dataset):
        for matrix in (data.Y,) if data.X is None else (data.X, data.Y):
            digest.update(repr(matrix.shape).encode())
            for array in (matrix.indptr, matrix.indices, matrix.data):
                digest.update(np.ascontiguousarray(array).tobytes())
        for strings in (data.texts, data.label_names, data.feature_names):
            digest.update(repr(strings and len(strings)).encode())
            for string in strings or ():
                digest.update(string.encode() + b"\0")
        return digest.hexdigest()
    path = Path(data)
    with (path / shards.FILE if path.is_dir() else path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def fresh(estimator: Any) -> Any:
    """Return an estimator of the same parameters; a clone would forget propensities."""
    return type(estimator)(**estimator.get_params(deep=False))


def check_divisible(learner: Any) -> None:
    """Refuse a learner that has no parts."""
    if not hasattr(learner, "_divide"):
        kind = type(learner).__name__
        raise TypeError(
            "estimator must be a FastXML, PfastXML, PfastreXML, LabelTree, OneVsRest, "
            f"or a Tagger of one, to be fitted by parts. Got a {kind}."
        )


def _check(estimator: Any, rows: str) -> None:
    """Refuse what cannot be fitted by parts."""
    if not isinstance(estimator, Tagger) or estimator.learner is not None:
        learner = getattr(estimator, "learner", estimator)
        check_divisible(learner)
        if not isinstance(learner.random_state, int):
            raise ValueError(
                "random_state must be an int, so that all parts draw the same. "
                f"Got {learner.random_state!r}."
            )
    if rows not in (ALL, SHARDS):
        raise ValueError(f'rows must be "all" or "shards". Got {rows!r}.')
    if rows == SHARDS:
        apart = isinstance(estimator, (FastXML, PfastXML))
        if not apart or isinstance(estimator, PfastreXML) or estimator.cost is not None:
            raise ValueError(
                'rows="shards" must be asked of a FastXML or PfastXML without cost. '
                f"Got {estimator!r}."
            )


def _check_data(data: Any, rows: str) -> None:
    """Refuse, before anything is read, what no worker could read."""
    if not isinstance(data, str | os.PathLike | Dataset):
        raise TypeError(
            "data must be a file, a sharded folder or a Dataset; write_shards makes a "
            f"folder of several files. Got a {type(data).__name__}."
        )
    path = None if isinstance(data, Dataset) else Path(data)
    manifest = None
    if path is not None and path.is_dir():
        manifest = shards.read_manifest(path)
    if rows != SHARDS:
        return
    if manifest is None:
        found = "a Dataset" if path is None else repr(str(path))
        raise ValueError(
            f'rows="shards" needs a sharded folder, as write_shards makes. Got {found}.'
        )
    if not any(shard.rows for shard in manifest.shards):
        raise ValueError(f'rows="shards" needs shards of rows. {data} has none.')
    if manifest.n_features is None:
        raise ValueError(
            f'rows="shards" needs shards of features. {data} has shards of texts.'
        )
