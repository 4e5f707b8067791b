"""Simple models, and what the papers compare with: what the engines must beat."""

from manylabel.baselines._boosted_feature_selection import BoostedFeatureSelection
from manylabel.baselines._cost_sensitive_tree import CostSensitiveTree
from manylabel.baselines._label_powerset import LabelPowerset
from manylabel.baselines._local_deep_kernel import LocalDeepKernel
from manylabel.baselines._oblique_tree import ObliqueTree
from manylabel.baselines._one_vs_rest import OneVsRest
from manylabel.baselines._plst import PLST
from manylabel.baselines._popularity import Popularity

__all__ = [
    "PLST",
    "BoostedFeatureSelection",
    "CostSensitiveTree",
    "LabelPowerset",
    "LocalDeepKernel",
    "ObliqueTree",
    "OneVsRest",
    "Popularity",
]
