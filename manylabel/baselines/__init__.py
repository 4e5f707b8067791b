"""Simple models and those of the papers' comparisons: what the engines must beat."""

from manylabel.baselines._compressed_sensing import CompressedSensing
from manylabel.baselines._cplst import CPLST
from manylabel.baselines._label_powerset import LabelPowerset
from manylabel.baselines._leml import LEML
from manylabel.baselines._mlcssp import MLCSSP
from manylabel.baselines._one_vs_rest import OneVsRest
from manylabel.baselines._plst import PLST
from manylabel.baselines._popularity import Popularity

__all__ = [
    "CPLST",
    "LEML",
    "MLCSSP",
    "PLST",
    "CompressedSensing",
    "LabelPowerset",
    "OneVsRest",
    "Popularity",
]
