"""What each choice of a label tree gains, on rows held out of training.

One choice at a time is changed. CPU seconds of training, CPU microseconds of a row in a
batch, model size, P@k and PSP@k on one training row in five, at most 5,000.
"""

import argparse
import time
from pathlib import Path
from typing import Any

import manylabel as ml
from manylabel.model_selection.holdout import hold_out

FOLDER = Path(__file__).parents[1] / "../shared/data"
PLAIN = {"tilt": 0.0}
CHOICES: dict[str, dict[str, Any]] = {
    "as it is, without tilt": {},
    "16 balanced clusters, 3 levels": {"n_clusters": 16, "leaf_labels": 71}
    | {"balanced": True},
    "100 clusters": {"n_clusters": 100},
    "no cluster parted again": {"n_clusters": 200, "leaf_labels": 60_000},
    "beam 3": {"beam": 3},
    "beam 50": {"beam": 50},
    "tol 0.1": {"tol": 0.1},
    "tol 0.5": {"tol": 0.5},
    "min_weight 0.01": {"min_weight": 0.01},
    "min_weight 0.1": {"min_weight": 0.1},
    "logistic loss": {"loss": "log_loss", "C": 10.0},
    "tilt 0.1": {"tilt": 0.1},
    "background 2,000, beam 20": {"background": 2000, "beam": 20},
    "3 trees": {"n_estimators": 3},
}


def row(name: str, model: ml.LabelTree, data: ml.Dataset) -> str:
    """Return the figures of a model as a row of a table."""
    train, held = hold_out(len(data), 0)
    start = time.process_time()
    model.fit(data.X[train], data.Y[train])
    middle = time.process_time()
    scores = model.predict_topk(data.X[held], k=5)
    micros = 1e6 * (time.process_time() - middle) / len(held)
    propensity = ml.Propensity().fit(data.Y[train])
    report = ml.evaluate(data.Y[held], scores, k=(1, 3, 5), propensity=propensity)
    size = sum(part.nbytes for part in model.nodes_) / 1e6
    ranks = [
        " / ".join(f"{100 * report[f'{metric}@{k}']:.1f}" for k in (1, 3, 5))
        for metric in ("P", "PSP")
    ]
    seconds = f"{middle - start:.1f}"
    return f"| {name} | {seconds} | {micros:.0f} | {size:.0f} | {' | '.join(ranks)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("set", nargs="?", default="depends")
    parser.add_argument("--data", type=Path, default=FOLDER)
    given = parser.parse_args()
    data = ml.read(given.data / "xmc" / given.set / "train.txt.gz")
    few = ml.LabelTree(n_clusters=4, leaf_labels=10).fit(data.X[:300], data.Y[:300])
    few.predict_topk(data.X[:10])  # compile before anything is timed
    print("| choice | train s | us a row | MB | P@1 / 3 / 5 | PSP@1 / 3 / 5 |")
    print("| --- | --- | --- | --- | --- | --- |")
    for name, choice in CHOICES.items():
        print(row(name, ml.LabelTree(**PLAIN | choice), data), flush=True)


if __name__ == "__main__":
    main()
