"""The data sets and learners that are measured."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import manylabel as ml

FOLDER = Path(__file__).parents[2] / "../shared/data"
LEARNERS: dict[str, Callable[[int], Any]] = {
    "FastXML": lambda trees: ml.FastXML(n_estimators=trees, n_jobs=2),
    "LabelTree": lambda trees: ml.LabelTree(n_jobs=2),
}


def read(name: str, folder: Path, part: str = "train") -> ml.Dataset:
    """Return a data set as features; texts are vectorised."""
    if (folder / "xmc" / name).is_dir():
        return ml.read(folder / "xmc" / name / f"{part}.txt.gz")
    texts = ml.read(folder / "text" / name / f"{part}.jsonl.gz")
    return ml.Dataset(ml.TextVectorizer().fit_transform(texts.texts), texts.Y)
