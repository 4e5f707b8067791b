"""The propensities that the command line asks for."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from manylabel.cli.console import note, say, track
from manylabel.cli.inputs import DataFile

if TYPE_CHECKING:
    from manylabel._typing import Floats
    from manylabel.auditing import NamedPropensities
    from manylabel.data import Dataset
    from manylabel.propensity import Propensity
    from manylabel.text import Tagger

PropensityLaw = Annotated[
    str,
    typer.Option(
        metavar="A,B",
        help="Constants of the propensity law, the name of a data set of the Extreme "
        "Classification Repository that has its own, one number for all labels, a "
        ".json file that 'manylabel audit --learn' wrote, or none.",
    ),
]
KnownPropensity = Annotated[
    str | None,
    typer.Option(
        "--propensity",
        metavar="A,B",
        help="How often true labels are recorded, if that is known: as of evaluate.",
        show_default=False,
    ),
]


def parse_law(propensity: str) -> "Propensity | NamedPropensities | None":
    """Return the propensity law that was asked for, those of a file, or None."""
    from manylabel.propensity import PRESETS, Propensity

    if propensity.lower() == "none":
        return None
    if Path(propensity).suffix == ".json":
        from manylabel.auditing import read_propensities

        return read_propensities(propensity)
    try:
        if _is_number(propensity):
            return Propensity(values=float(propensity))
        if "," not in propensity:
            return Propensity.preset(propensity)
        a, b = map(float, propensity.split(","))
        if 0 <= a < math.inf and 0 < b < math.inf:
            return Propensity(a=a, b=b)
    except ValueError:
        pass
    raise ValueError(
        "--propensity must be none, A,B with A >= 0 and B > 0, a number in (0, 1], a "
        f".json file, or one of {', '.join(PRESETS)}. Got {propensity!r}."
    )


def _is_number(text: str) -> bool:
    try:
        return 0 < float(text) <= 1
    except ValueError:
        return False


def tell_law(propensity: str | None, data: "Dataset") -> dict[str, Any]:
    """Return the parameter of what is told a data set's propensities, if it is to be.

    Those that contradict the data are refused.
    """
    from manylabel.propensity import Propensity

    law = None if propensity is None else parse_law(propensity)
    if law is None:
        return {}
    if not isinstance(law, Propensity):
        law = Propensity(values=law.values(data.labels.names))
    return {"propensity": law.fit(data.Y).values_}


def describe_law(law: Any, propensity: str, counted: str | None) -> dict[str, Any]:
    """Return what figures were weighed by, for other programs."""
    if hasattr(law, "by_name"):
        return {"file": propensity, "counted_in": counted}
    if law.values is not None:
        return {"value": float(law.values), "counted_in": counted}
    return {"a": law.a, "b": law.b, "counted_in": counted}


def word_law(described: Mapping[str, Any]) -> str:
    """Return what :func:`describe_law` tells, for people."""
    if "file" in described:
        return f"those of {described['file']}"
    if "value" in described:
        return f"{described['value']:g} for all labels"
    law, place = "a = {a:g}, b = {b:g}", "labels counted in {counted_in}"
    return f"{law}, {place}".format_map(described)


def say_law(described: Mapping[str, Any]) -> None:
    """Print by which propensities figures were weighed."""
    normalised = "PSP and PSnDCG are normalised by the best attainable"
    say(f"Propensities: {word_law(described)}. {normalised}.")


def count_law(
    law: "Propensity | NamedPropensities | None",
    tagger: "Tagger",
    names: tuple[str, ...],
    judged: DataFile,
    training: DataFile | None,
) -> tuple["Floats | None", str | None]:
    """Return the propensities of labels by counts in training, and where counted."""
    if law is None:
        return None, None
    import numpy as np

    from manylabel.propensity import Propensity, check_possible, recorded_law

    if not isinstance(law, Propensity) or law.values is not None:
        if isinstance(law, Propensity):
            values, counted = np.full(len(names), law.values), "no rows"
        else:
            values, counted = law.values(names), "audited rows"
        if tagger.n_rows_:
            known = tagger.label_counts_
            check_possible(values[: len(known)], known, tagger.n_rows_)
        return values, counted
    if training is None and tagger.n_rows_:
        counted = "the rows that the model was fitted on"
        return tagger.propensities(law, len(names)), counted
    counted = "the training rows given"
    if training is None:
        training, counted = judged, "the judged rows"
        note(
            "note: the model does not hold its training labels, so the propensities "
            "come from the judged rows; --train FILE follows the usual convention."
        )
    else:
        training = training.as_fitted(tagger)
    counts, n_rows = dict.fromkeys(names, 0.0), 0
    for chunk in track(training.chunks_for(tagger), "Counting labels"):
        space, Y = tagger.align(chunk)
        for name, count in zip(space, Y.sum(axis=0).tolist(), strict=True):
            counts[name] = counts.get(name, 0.0) + count
        n_rows += len(chunk)
    values = np.array([counts[name] for name in names])
    return recorded_law(values, n_rows, law.a, law.b), counted
