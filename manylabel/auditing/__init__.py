"""Audits: labels that were forgotten or are wrong, and what they teach."""

from manylabel.auditing._answers import Answers, Estimate
from manylabel.auditing._audit import (
    Audit,
    LabelFinding,
    RowFinding,
    audit,
    check_suffix,
)
from manylabel.auditing._propensity_file import (
    NamedPropensities,
    read_propensities,
    write_propensities,
)
from manylabel.auditing._sampling import WorkSheet
from manylabel.auditing._suspicion import Suspicion, rank_unseen, suspect

__all__ = [
    "Answers",
    "Audit",
    "Estimate",
    "LabelFinding",
    "NamedPropensities",
    "RowFinding",
    "Suspicion",
    "WorkSheet",
    "audit",
    "check_suffix",
    "rank_unseen",
    "read_propensities",
    "suspect",
    "write_propensities",
]
