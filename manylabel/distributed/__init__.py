"""Past one machine: fits, predictions and figures by path and range.

A worker gets a *path* and a *range*, not data: trees i..j of a forest, labels i..j of a
matrix, rows i..j of a file. What it finds is written as a folder, and folders of parts
are merged into the bits of the whole. Placing, retrying and moving belong to the
engine: dask, Ray or Spark.
"""

from manylabel.distributed.evaluation import evaluate
from manylabel.distributed.fitting import fit
from manylabel.distributed.frames import predict
from manylabel.distributed.merging import merge
from manylabel.distributed.part import fit_part
from manylabel.distributed.paths import predict_paths
from manylabel.distributed.plan import Part, plan
from manylabel.distributed.prediction import BatchPredictor, predict_batches
from manylabel.distributed.shards import (
    Manifest,
    read_manifest,
    read_shards,
    write_shards,
)

__all__ = [
    "BatchPredictor",
    "Manifest",
    "Part",
    "evaluate",
    "fit",
    "fit_part",
    "merge",
    "plan",
    "predict",
    "predict_batches",
    "predict_paths",
    "read_manifest",
    "read_shards",
    "write_shards",
]
