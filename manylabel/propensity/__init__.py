"""The probability that a true label is recorded: laws, audits, mixtures."""

from manylabel.propensity._bands import part_by_frequency
from manylabel.propensity._law import (
    PRESETS,
    check_possible,
    find_least,
    recorded_law,
)
from manylabel.propensity._propensity import Propensity
from manylabel.propensity._shrinkage import estimate_share

__all__ = [
    "PRESETS",
    "Propensity",
    "check_possible",
    "estimate_share",
    "find_least",
    "part_by_frequency",
    "recorded_law",
]
