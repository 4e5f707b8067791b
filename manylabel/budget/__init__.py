"""Readable models of many features: each decision looks at a few of them."""

from manylabel.budget._budgeted_classifier import BudgetedClassifier
from manylabel.budget._budgeted_tree import BudgetedTree

__all__ = ["BudgetedClassifier", "BudgetedTree"]
