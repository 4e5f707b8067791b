"""Laws that a multi-label estimator keeps, for authors of new ones."""

from manylabel.testing.checks import CHECKS, check_estimator

__all__ = ["CHECKS", "check_estimator"]
