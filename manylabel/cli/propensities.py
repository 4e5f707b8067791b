"""The propensities that the command line asks for."""

import math
from typing import TYPE_CHECKING, Annotated

import typer

from manylabel.cli.console import note, track
from manylabel.cli.inputs import DataFile

if TYPE_CHECKING:
    from manylabel._typing import Floats
    from manylabel.propensity import Propensity
    from manylabel.text import Tagger

PropensityLaw = Annotated[
    str,
    typer.Option(
        metavar="A,B",
        help="Constants of the propensity law, the name of a data set of the Extreme "
        "Classification Repository that has its own, or none.",
    ),
]


def parse_law(propensity: str) -> "Propensity | None":
    """Return the propensity law that was asked for, or None."""
    from manylabel.propensity import PRESETS, Propensity

    if propensity.lower() == "none":
        return None
    try:
        if "," not in propensity:
            return Propensity.preset(propensity)
        a, b = map(float, propensity.split(","))
        if 0 <= a < math.inf and 0 < b < math.inf:
            return Propensity(a=a, b=b)
    except ValueError:
        pass
    raise ValueError(
        "--propensity must be none, A,B with A >= 0 and B > 0, or one of "
        f"{', '.join(PRESETS)}. Got {propensity!r}."
    )


def count_law(
    law: "Propensity",
    tagger: "Tagger",
    names: tuple[str, ...],
    judged: DataFile,
    training: DataFile | None,
) -> tuple["Floats", str]:
    """Return the propensities of labels by counts in training, and where counted."""
    import numpy as np

    from manylabel.propensity import recorded_law

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
    counts, n_rows = dict.fromkeys(names, 0.0), 0
    for chunk in track(training.chunks_for(tagger), "Counting labels"):
        space, Y = tagger.align(chunk)
        for name, count in zip(space, Y.sum(axis=0).tolist(), strict=True):
            counts[name] = counts.get(name, 0.0) + count
        n_rows += len(chunk)
    values = np.array([counts[name] for name in names])
    return recorded_law(values, n_rows, law.a, law.b), counted
