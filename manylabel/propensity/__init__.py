"""The probability that a true label is recorded: laws, audits, mixtures."""

from manylabel.propensity._bands import part_by_frequency
from manylabel.propensity._law import PRESETS, check_possible, recorded_law
from manylabel.propensity._propensity import Propensity

__all__ = [
    "PRESETS",
    "Propensity",
    "check_possible",
    "part_by_frequency",
    "recorded_law",
]
