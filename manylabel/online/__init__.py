"""Learners of streams: they predict a row, are told its labels, and learn at once."""

from manylabel.online._binary_relevance import OnlineBinaryRelevance
from manylabel.online._compressed_sensing import OnlineCompressedSensing
from manylabel.online._cs_dpp import CSDPP
from manylabel.online._label_tree import OnlineLabelTree
from manylabel.online._random_projection import OnlineRandomProjection

__all__ = [
    "CSDPP",
    "OnlineBinaryRelevance",
    "OnlineCompressedSensing",
    "OnlineLabelTree",
    "OnlineRandomProjection",
]
