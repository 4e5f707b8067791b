"""Readable models of many features: each decision looks at a few of them."""

from manylabel.budget._budgeted_classifier import BudgetedClassifier

__all__ = ["BudgetedClassifier"]
