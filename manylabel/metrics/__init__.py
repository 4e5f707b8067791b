"""Figures that say how good predictions are, accumulated over chunks of rows.

Examples
--------
>>> from manylabel import metrics
>>> metrics.precision_at_k([[1, 0, 1]], [[0.9, 0.8, 0.1]], k=2)
0.5
"""

from manylabel.metrics.calibration import (
    CalibrationErrorAtK,
    calibration_error_at_k,
)
from manylabel.metrics.macro import (
    MacroF1AtK,
    MacroPrecisionAtK,
    MacroRecallAtK,
    macro_f1_at_k,
    macro_precision_at_k,
    macro_recall_at_k,
)
from manylabel.metrics.metric import Metric
from manylabel.metrics.propensity import PSNDCGAtK, PSPAtK, psndcg_at_k, psp_at_k
from manylabel.metrics.ranking import (
    CoverageAtK,
    F1AtK,
    NDCGAtK,
    PrecisionAtK,
    RecallAtK,
    coverage_at_k,
    f1_at_k,
    ndcg_at_k,
    precision_at_k,
    recall_at_k,
)
from manylabel.metrics.resolve import as_metric
from manylabel.metrics.sets import (
    MacroF1,
    MeanCost,
    MicroF1,
    macro_f1,
    mean_cost,
    micro_f1,
)

__all__ = [
    "CalibrationErrorAtK",
    "CoverageAtK",
    "F1AtK",
    "MacroF1",
    "MacroF1AtK",
    "MacroPrecisionAtK",
    "MacroRecallAtK",
    "MeanCost",
    "Metric",
    "MicroF1",
    "NDCGAtK",
    "PSNDCGAtK",
    "PSPAtK",
    "PrecisionAtK",
    "RecallAtK",
    "as_metric",
    "calibration_error_at_k",
    "coverage_at_k",
    "f1_at_k",
    "macro_f1",
    "macro_f1_at_k",
    "macro_precision_at_k",
    "macro_recall_at_k",
    "mean_cost",
    "micro_f1",
    "ndcg_at_k",
    "precision_at_k",
    "psndcg_at_k",
    "psp_at_k",
    "recall_at_k",
]
