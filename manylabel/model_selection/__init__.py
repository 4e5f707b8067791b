"""What is chosen on a validation set: hyperparameters, calibration, thresholds."""

from manylabel.model_selection.classifier import Thresholds

__all__ = ["Thresholds"]
