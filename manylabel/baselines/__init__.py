"""Simple models: what the engines must beat."""

from manylabel.baselines._classifier_chain import ClassifierChain
from manylabel.baselines._homer import HOMER
from manylabel.baselines._label_powerset import LabelPowerset
from manylabel.baselines._lpsr import LPSR
from manylabel.baselines._one_vs_rest import OneVsRest
from manylabel.baselines._plst import PLST
from manylabel.baselines._popularity import Popularity

__all__ = [
    "HOMER",
    "LPSR",
    "PLST",
    "ClassifierChain",
    "LabelPowerset",
    "OneVsRest",
    "Popularity",
]
