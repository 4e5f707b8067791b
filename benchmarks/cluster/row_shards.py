"""What it costs to grow each tree from some rows only."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import manylabel as ml
from benchmarks.cluster.data import read

DEPTHS = (1, 3, 5)


def measure_loss(
    name: str, folder: Path, trees: int, counts: list[int]
) -> list[dict[str, Any]]:
    """Return P@k and PSP@k of the test rows, by how many shards rows are cut into."""
    train, test = read(name, folder), read(name, folder, "test")
    propensity = ml.Propensity().fit(train.Y)
    found = []
    for n_shards in (1, *counts):
        with TemporaryDirectory() as place:
            size = -(-len(train) // n_shards)
            chunks = (train[at : at + size] for at in range(0, len(train), size))
            ml.distributed.write_shards(chunks, f"{place}/rows")
            model = ml.distributed.fit(
                ml.FastXML(n_estimators=trees, n_jobs=2),
                f"{place}/rows",
                out=f"{place}/out",
                n_parts=max(2, n_shards),
                rows="shards",
            )
        best = model.predict_topk(test.X, max(DEPTHS))
        report = ml.evaluate(test.Y, best, k=DEPTHS, propensity=propensity)
        keys = [f"{metric}@{k}" for metric in ("P", "PSP") for k in DEPTHS]
        figures = {key: round(100 * report[key], 2) for key in keys}
        found.append({"rows of a tree": f"1/{n_shards}", **figures})
    return found
