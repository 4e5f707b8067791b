"""How fast label trees predict sets, beside OneVsRest, from sparse and dense rows.

    python -m benchmarks.set_speed

All rows of Corel5k; each learner as it is by default, and trees with the settings that
were the default before they were chosen. CPU milliseconds of one thread, the least of
some runs; in brackets how many times as fast as OneVsRest. Then what parts of it take:
the checks of sparse and of dense rows, and the kernel, which makes scores of all labels
or follows the path down a tree. What is left is mostly the matrix of sets.
"""

import argparse
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

import manylabel as ml
from benchmarks.annotations import FOLDER
from benchmarks.dense_rows import least_ms

N_TIMES = 5
PLAIN: dict[str, Any] = {"budget": 20, "C": 1.0}


def least(run: Callable[[], Any]) -> float:
    """Return the CPU milliseconds of the quickest of many runs."""
    return min(least_ms(run) for _ in range(N_TIMES))


def measure_kernel(model: Any, rows: Any) -> float:
    """Return what the kernel of a learner takes for checked rows, in their chunks."""
    is_tree = hasattr(model, "tree_")
    kernel = model._annotator.annotate if is_tree else model._scores
    return sum(least(partial(kernel, chunk)) for (chunk,) in model._chunks(rows))


def main() -> None:
    """Print a line for each learner."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=FOLDER)
    folder = parser.parse_args().data / "mulan"
    train, test = (
        ml.read(folder / f"Corel5k-{part}.arff.gz") for part in ("train", "test")
    )
    rows = sp.vstack([train.X, test.X], format="csr")
    kinds = {"sparse": rows, "dense": np.asarray(rows.toarray(), np.float32)}
    learners = {
        "OneVsRest": ml.OneVsRest(),
        "AnnotationTree": ml.AnnotationTree(),
        "AnnotationTree, 20 features, C = 1": ml.AnnotationTree(**PLAIN),
        "PowersetTree": ml.PowersetTree(),
        "PowersetTree, 20 features, C = 1": ml.PowersetTree(**PLAIN),
    }
    base: dict[str, float] = {}
    for name, learner in learners.items():
        model = learner.fit(train.X, train.Y)
        cells = []
        for kind, X in kinds.items():
            found = least(partial(model.predict, X))
            ratio = base.setdefault(kind, found) / found
            checks = least(partial(model._known_features, X))
            cells.append(f"{found:.1f} ms {kind} ({ratio:.1f}), checks {checks:.1f}")
        cells.append(f"kernel {measure_kernel(model, model._known_features(rows)):.1f}")
        print(f"{name}: {', '.join(cells)}", flush=True)


if __name__ == "__main__":
    main()
