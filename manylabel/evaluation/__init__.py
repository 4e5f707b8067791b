"""Judging predictions: batch evaluation, streams, and their reports."""

from manylabel.evaluation.batch import Evaluation, evaluate
from manylabel.evaluation.plots import plot_runs
from manylabel.evaluation.progressive import progressive
from manylabel.evaluation.report import Figure, Report
from manylabel.evaluation.run import Run

__all__ = [
    "Evaluation",
    "Figure",
    "Report",
    "Run",
    "evaluate",
    "plot_runs",
    "progressive",
]
