"""The propensities that the command line asks for."""

import math
from typing import TYPE_CHECKING, Annotated, Any

import typer

from manylabel.cli.console import note
from manylabel.cli.matching import MatchingFile

if TYPE_CHECKING:
    from manylabel.propensity import Propensity

PropensityLaw = Annotated[
    str,
    typer.Option(
        metavar="A,B",
        help="Constants of the propensity law, the name of a data set of the Extreme "
        "Classification Repository that has its own, or none.",
    ),
]


def parse_law(propensity: str) -> "Propensity | None":
    """Return the propensity law that was asked for, its values still to be set."""
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
    model: Any,
    name: str,
    judged: MatchingFile,
    training: MatchingFile | None,
) -> str:
    """Set the values of the law by counts of training labels; return whose."""
    import numpy as np

    from manylabel.propensity import recorded_law

    if training is not None:
        (counts, n_rows), counted = training.count_labels(), "the training rows given"
    elif hasattr(model, "label_counts_"):
        n_new = len(judged.names()) - len(model.label_counts_)
        counts, n_rows = np.pad(model.label_counts_, (0, n_new)), model.n_rows_
        counted = f"the rows that {name} was fitted on"
    else:
        (counts, n_rows), counted = judged.count_labels(), "the judged rows"
        note(
            "note: the model does not hold its training labels, so the propensities "
            "come from the judged rows; --train FILE follows the usual convention."
        )
    law.values_ = recorded_law(counts, n_rows, law.a, law.b)
    return counted
