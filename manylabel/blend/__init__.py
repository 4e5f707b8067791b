"""Several learners as one."""

from manylabel.blend._blend import Blend

__all__ = ["Blend"]
