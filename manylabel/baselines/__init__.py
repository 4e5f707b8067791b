"""Simple models: what the engines must beat."""

from manylabel.baselines._label_powerset import LabelPowerset
from manylabel.baselines._one_vs_rest import OneVsRest
from manylabel.baselines._pd_sparse import PDSparse
from manylabel.baselines._plst import PLST
from manylabel.baselines._popularity import Popularity
from manylabel.baselines._sleec import SLEEC
from manylabel.baselines._wsabie import WSABIE

__all__ = [
    "PLST",
    "SLEEC",
    "WSABIE",
    "LabelPowerset",
    "OneVsRest",
    "PDSparse",
    "Popularity",
]
