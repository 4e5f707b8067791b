"""Judging predictions: batch evaluation and its report."""

from manylabel.evaluation.batch import Evaluation, evaluate
from manylabel.evaluation.report import Figure, Report

__all__ = ["Evaluation", "Figure", "Report", "evaluate"]
