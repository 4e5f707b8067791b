"""Readable models of many features: each decision looks at a few of them."""

from manylabel.budget._annotation_tree import AnnotationTree
from manylabel.budget._budgeted_classifier import BudgetedClassifier
from manylabel.budget._budgeted_tree import BudgetedTree
from manylabel.budget._powerset_tree import PowersetTree

FGM = BudgetedClassifier  # the name of Tan, Tsang & Wang (2014)

__all__ = [
    "FGM",
    "AnnotationTree",
    "BudgetedClassifier",
    "BudgetedTree",
    "PowersetTree",
]
