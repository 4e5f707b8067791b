"""Models as folders of JSON and safetensors: data only, whole at every moment."""

from manylabel.persistence.folder import load, save, seal
from manylabel.persistence.state import flatten, unflatten

__all__ = ["flatten", "load", "save", "seal", "unflatten"]
