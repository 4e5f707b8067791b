"""How long it takes to load a model, beside reading and hashing its bytes.

    python -m benchmarks.loading

Models of about 100 MB: one-vs-rest with random weights, and a forest. CPU seconds, the
least of some runs.
"""

import hashlib
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

import manylabel as ml

N_RUNS = 7
SIZE = 100 << 20


def least_seconds(run: Callable[[], Any]) -> float:
    """Return the CPU seconds of the quickest of some runs."""
    found = []
    for _ in range(N_RUNS):
        start = time.process_time()
        run()
        found.append(time.process_time() - start)
    return min(found)


def read_and_hash(folder: Path) -> None:
    """Do the least that a checksum needs."""
    for path in folder.iterdir():
        hashlib.sha256(np.fromfile(path, np.uint8).data).hexdigest()


def one_vs_rest() -> Any:
    """Return a model with many weights."""
    n_features, n_labels, rng = 100_000, 5_000, np.random.default_rng(0)
    model = ml.OneVsRest().fit(np.eye(2), np.eye(2, dtype=int))
    n_weights = SIZE // 8 // n_features
    columns = np.sort(rng.integers(0, n_labels, (n_features, n_weights)), axis=1)
    weights = sp.csr_array(
        (
            rng.random(columns.size, dtype=np.float32),
            columns.ravel().astype(np.int32),
            np.arange(0, columns.size + 1, n_weights, dtype=np.int32),
        ),
        shape=(n_features, n_labels),
    )
    weights.sum_duplicates()
    state = model.get_state()
    parts = {"indptr": weights.indptr, "indices": weights.indices, "data": weights.data}
    state |= {f"coef_.{name}": part for name, part in parts.items()}
    wide = {"coef_.shape": list(weights.shape), "n_features_in_": n_features}
    per_label = {
        name: np.zeros(n_labels, value.dtype)
        for name, value in state.items()
        if isinstance(value, np.ndarray) and value.shape == (2,) and name != "classes_"
    }
    return model.set_state(state | wide | per_label | {"classes_": np.arange(n_labels)})


def forest() -> Any:
    """Return a forest of many trees."""
    corpus = ml.make_corpus(20_000, 5_000, 1_000)
    return ml.FastXML(n_estimators=60).fit(corpus.X, corpus.Y)


if __name__ == "__main__":
    for name, make in (("OneVsRest", one_vs_rest), ("FastXML", forest)):
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place) / "model"
            make().save(folder)
            size = sum(path.stat().st_size for path in folder.iterdir())
            loaded = least_seconds(lambda folder=folder: ml.load(folder))
            hashed = least_seconds(lambda folder=folder: read_and_hash(folder))
        print(
            f"{name}: {size / 2**20:.0f} MB, read and hashed in {hashed:.3f} s, loaded "
            f"in {loaded:.3f} s: {loaded / hashed:.2f} times"
        )
