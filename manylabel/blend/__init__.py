"""Several learners as one."""

from manylabel.blend._blend import Blend
from manylabel.blend._name_match import NameMatch

__all__ = ["Blend", "NameMatch"]
