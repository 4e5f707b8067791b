"""Simple models and those of the papers' comparisons: what the engines must beat."""

from manylabel.baselines._boosted_feature_selection import BoostedFeatureSelection
from manylabel.baselines._classifier_chain import ClassifierChain
from manylabel.baselines._compressed_sensing import CompressedSensing
from manylabel.baselines._cost_sensitive_tree import CostSensitiveTree
from manylabel.baselines._cplst import CPLST
from manylabel.baselines._homer import HOMER
from manylabel.baselines._label_powerset import LabelPowerset
from manylabel.baselines._leml import LEML
from manylabel.baselines._local_deep_kernel import LocalDeepKernel
from manylabel.baselines._lpsr import LPSR
from manylabel.baselines._mlcssp import MLCSSP
from manylabel.baselines._oblique_tree import ObliqueTree
from manylabel.baselines._one_vs_rest import OneVsRest
from manylabel.baselines._pd_sparse import PDSparse
from manylabel.baselines._plst import PLST
from manylabel.baselines._popularity import Popularity
from manylabel.baselines._sleec import SLEEC
from manylabel.baselines._wsabie import WSABIE

__all__ = [
    "CPLST",
    "HOMER",
    "LEML",
    "LPSR",
    "MLCSSP",
    "PLST",
    "SLEEC",
    "WSABIE",
    "BoostedFeatureSelection",
    "ClassifierChain",
    "CompressedSensing",
    "CostSensitiveTree",
    "LabelPowerset",
    "LocalDeepKernel",
    "ObliqueTree",
    "OneVsRest",
    "PDSparse",
    "Popularity",
]
