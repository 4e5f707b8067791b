"""Trees of labels: the quickest good ranking of very many labels."""

from manylabel.label_tree._hierarchy import parents_by_column
from manylabel.label_tree._label_tree import LabelTree

__all__ = ["LabelTree", "parents_by_column"]
