"""What it takes to train and to predict at one size, in a process of its own.

``curves`` runs ``python -m benchmarks.growth.point POINT FOLDER FILE``, as memory that
a process once had is seldom given back: in one process, every peak would be that of the
largest size so far.
"""

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import scipy.sparse as sp

from benchmarks.ledger import Record
from benchmarks.memory import forget_peak, megabytes
from manylabel.baselines import OneVsRest
from manylabel.budget import AnnotationTree, PowersetTree
from manylabel.data import make_corpus
from manylabel.label_tree import LabelTree
from manylabel.online import CSDPP
from manylabel.trees import FastXML, PfastreXML

N_TEST = 2_000  # rows to predict
K = 5  # labels to predict for each
LEAST_SECONDS = 1.0  # of work at each size: what is shorter is repeated
# Few trees, as one costs what another does; as many components at any size.
LEARNERS: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "OneVsRest": (OneVsRest, {}),
    "LabelTree": (LabelTree, {}),
    "FastXML": (FastXML, {"n_estimators": 2}),
    "PfastreXML": (PfastreXML, {"n_estimators": 2}),
    "AnnotationTree": (AnnotationTree, {"budget": 20, "C": 1.0}),
    "PowersetTree": (PowersetTree, {"budget": 20, "C": 1.0}),
    "CSDPP": (CSDPP, {"n_components": 10, "regressor": "gradient"}),
}


def corpus(rows: int, features: int, labels: int) -> tuple[Any, Any]:
    """Return data of which a row has as many words and labels at any size."""
    made = make_corpus(rows, features, labels, propensity=1.0)
    return made.X, made.Y


def write_corpus(point: Record, folder: Path) -> None:
    """Write the data of a point, with rows to predict, into a new folder."""
    X, Y = corpus(point["rows"] + N_TEST, point["features"], point["labels"])
    folder.mkdir()
    sp.save_npz(folder / "X.npz", X, compressed=False)
    sp.save_npz(folder / "Y.npz", Y, compressed=False)


def measure(point: Record, folder: Path) -> dict[str, float]:
    """Return CPU seconds, and megabytes at the peak beyond those of an idle process."""
    learner, parameters = LEARNERS[point["learner"]]
    tiny = corpus(300, point["features"], point["labels"])  # compile, at these widths
    model = learner(**parameters).fit(*tiny)
    model.predict_topk(tiny[0], k=K)
    model.predict(tiny[0])
    del tiny, model
    idle = megabytes("VmRSS")
    X, Y = sp.load_npz(folder / "X.npz"), sp.load_npz(folder / "Y.npz")
    n_rows = point["rows"]
    rows, labels, new_rows = X[:n_rows], Y[:n_rows], X[n_rows:]
    del X, Y
    forget_peak()
    model = learner(**parameters)
    fit = _seconds(lambda: model.fit(rows, labels))
    fit_peak = megabytes("VmHWM")
    forget_peak()
    rank = _seconds(lambda: model.predict_topk(new_rows, k=K))
    predict = _seconds(lambda: model.predict(new_rows))
    return {
        "fit_seconds": fit,
        "rank_microseconds": rank / N_TEST * 1e6,
        "predict_microseconds": predict / N_TEST * 1e6,
        "idle_megabytes": idle,
        "fit_megabytes": fit_peak - idle,
        "predict_megabytes": megabytes("VmHWM") - idle,
    }


def _seconds(task: Callable[[], Any]) -> float:
    """Return the CPU seconds that a task takes, the least of several if it is short."""
    found: list[float] = []
    while not found or sum(found) < LEAST_SECONDS:
        start = time.process_time()
        task()
        found.append(time.process_time() - start)
    return min(found)


if __name__ == "__main__":
    figures = measure(json.loads(sys.argv[1]), Path(sys.argv[2]))
    Path(sys.argv[3]).write_text(json.dumps(figures))
