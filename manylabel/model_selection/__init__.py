"""What is chosen on a validation set or by probabilities: settings, sets of labels."""

from manylabel.model_selection.calibrated import Calibrated
from manylabel.model_selection.classifier import Thresholds
from manylabel.model_selection.decisions import LeastCost
from manylabel.model_selection.macro import MacroAtK
from manylabel.model_selection.scorers import scorers
from manylabel.model_selection.stratification import stratified_split

__all__ = [
    "Calibrated",
    "LeastCost",
    "MacroAtK",
    "Thresholds",
    "scorers",
    "stratified_split",
]
