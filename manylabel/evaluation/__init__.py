"""Judging predictions: batch evaluation, streams, and their reports."""

from manylabel.evaluation.batch import Evaluation
from manylabel.evaluation.bootstrap import RowwiseEvaluation
from manylabel.evaluation.comparison import Comparison, Difference, compare
from manylabel.evaluation.examination import Examination
from manylabel.evaluation.judgement import evaluate
from manylabel.evaluation.label_figures import LabelFigures
from manylabel.evaluation.plots import plot_runs
from manylabel.evaluation.progressive import progressive
from manylabel.evaluation.propensity_range import Flip, Sensitivity, sensitivity
from manylabel.evaluation.regret import Regret, regret
from manylabel.evaluation.report import Figure, Report
from manylabel.evaluation.report_page import write_examination, write_report_html
from manylabel.evaluation.run import Run
from manylabel.evaluation.tree_page import write_tree_html
from manylabel.evaluation.tree_plot import plot_tree

__all__ = [
    "Comparison",
    "Difference",
    "Evaluation",
    "Examination",
    "Figure",
    "Flip",
    "LabelFigures",
    "Regret",
    "Report",
    "RowwiseEvaluation",
    "Run",
    "Sensitivity",
    "compare",
    "evaluate",
    "plot_runs",
    "plot_tree",
    "progressive",
    "regret",
    "sensitivity",
    "write_examination",
    "write_report_html",
    "write_tree_html",
]
