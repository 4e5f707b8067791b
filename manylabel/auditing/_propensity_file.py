"""Propensities by the names of labels, as a JSON file."""

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from manylabel._typing import Floats
from manylabel.data.writing import replacing_text
from manylabel.exceptions import DataError
from manylabel.propensity import Propensity

FORMAT = "manylabel-propensities-1"
EXPECTED = "expected propensities as 'manylabel audit --learn' writes them"
DIGITS = 6


class NamedPropensities(NamedTuple):
    """Propensities by the names of labels, and that of any other label."""

    by_name: dict[str, float]
    other: float

    def values(self, names: Sequence[str]) -> Floats:
        """Return the propensities of labels, in the order of their names."""
        return np.array([self.by_name.get(name, self.other) for name in names])


def write_propensities(
    path: str | os.PathLike[str], propensity: Propensity, names: Sequence[str]
) -> None:
    """Write what an audit found, for ``--propensity`` of other verbs.

    Parameters
    ----------
    path : str or path-like
        A JSON file; it appears whole or not at all.
    propensity : Propensity
        Made by ``Propensity.from_audit``.
    names : sequence of str
        Names of the labels.
    """
    level, slope, strength = propensity.law_.tolist()
    unseen = level + slope * np.log(propensity.b)  # recorded in no row
    parts = np.vstack([propensity.values_, propensity.interval_]).T
    content = {
        "format": FORMAT,
        "overall": np.round(propensity.overall_, DIGITS).tolist(),
        "law": {"level": level, "slope": slope, "strength": strength},
        "other": float(1 / (1 + np.exp(-unseen))),
        "labels": dict(zip(names, np.round(parts, DIGITS).tolist(), strict=True)),
    }
    with replacing_text(path) as text:
        json.dump(content, text, indent=1)
        text.write("\n")


def read_propensities(path: str | os.PathLike[str]) -> NamedPropensities:
    """Read what :func:`write_propensities` wrote."""
    path = Path(path)
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError):
        raise DataError(path, f"{EXPECTED}, found no JSON.") from None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise DataError(path, f"{EXPECTED}, found other JSON.")
    labels, other = content.get("labels"), content.get("other", 0)
    if not isinstance(labels, dict) or not _is_chance(other):
        raise DataError(path, f"{EXPECTED}, found no 'labels' or no 'other'.")
    for name, parts in labels.items():
        if not isinstance(parts, list) or not parts or not _is_chance(parts[0]):
            what = f"expected a propensity in (0, 1] of {name!r:.60}"
            raise DataError(path, f"{what}, found {parts!r:.60}.")
    values = {name: float(parts[0]) for name, parts in labels.items()}
    return NamedPropensities(values, float(other))


def _is_chance(value: Any) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and 0 < value <= 1
