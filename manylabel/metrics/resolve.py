"""From the name of a ranking metric to the metric."""

from typing import Any

from manylabel.metrics.macro import (
    MacroF1AtK,
    MacroPrecisionAtK,
    MacroRecallAtK,
)
from manylabel.metrics.propensity import PropensityMetric, PSNDCGAtK, PSPAtK
from manylabel.metrics.ranking import (
    CoverageAtK,
    F1AtK,
    NDCGAtK,
    PrecisionAtK,
    RankingMetric,
    RecallAtK,
)

PLAIN: tuple[type[RankingMetric], ...] = (
    *(PrecisionAtK, NDCGAtK, RecallAtK, F1AtK, CoverageAtK),
    *(MacroPrecisionAtK, MacroRecallAtK, MacroF1AtK),
)
SCORED = (PSPAtK, PSNDCGAtK)
KINDS: dict[str, type[RankingMetric]] = {kind.symbol: kind for kind in PLAIN + SCORED}


def as_metric(name: Any, propensity: Any = 1.0) -> RankingMetric:
    """Return the ranking metric of a name such as ``PSP@5``.

    Parameters
    ----------
    name : str
        ``P``, ``nDCG``, ``recall``, ``F1``, ``coverage``, ``macro-P``, ``macro-R``,
        ``macro-F1``, ``PSP`` or ``PSnDCG``, an ``@`` and the ranking depth.
    propensity : Propensity, array of shape (n_labels,) or float, default=1.0
        Probability that a true label is recorded, for the last two.

    Returns
    -------
    RankingMetric
        One that has seen no rows.

    Examples
    --------
    >>> as_metric("P@2").update([[1, 0, 1]], [[0.9, 0.8, 0.1]]).value
    0.5
    """
    symbol, _, depth = str(name).partition("@")
    if symbol not in KINDS or not depth.isdecimal() or int(depth) < 1:
        raise ValueError(
            f"metric must be one of {', '.join(KINDS)} with a depth, as P@5. "
            f"Got {name!r}."
        )
    kind = KINDS[symbol]
    if issubclass(kind, PropensityMetric):
        return kind(int(depth), propensity)
    return kind(int(depth))
