"""Labels that no training row has: how many their names suggest, and at what cost.

    python -m benchmarks.unseen cve yso-finna-en

The vocabulary is the names of all labels, those of the test rows too. A label tree by
itself, and with names as evidence (NameMatch), with words as they are and by stems. P@k
and PSP@k are of the labels that have training rows, R@10 is of the labels that have
none; "of all" counts both. Up to 60,000 training and 5,000 test rows, drawn at random
(of cve all training rows: the test rows are later).
"""

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

import manylabel as ml
from benchmarks.annotations import FOLDER

MOST_TRAIN, MOST_TEST, K = 60_000, 5_000, 10
METRICS = ("P@1", "P@5", "PSP@1", "PSP@5")
WHOLE = ("P@1", "P@5")  # of all labels, those never learnt too


def draw(data: ml.Dataset, most: int) -> ml.Dataset:
    """Return some rows, at random, in their order."""
    order = np.random.default_rng(0).permutation(len(data))
    return data[np.sort(order[:most])]


def recall(Y: Any, best: Any) -> float:
    """Return the share of labels that are among the best."""
    found = sp.csr_array((np.ones(best.nnz), best.indices, best.indptr), best.shape)
    return float((found * Y).sum() / max(1, Y.nnz))


def judge(tagger: ml.Tagger, test: ml.Dataset, seen: set[str]) -> dict[str, float]:
    """Return metrics of labels that were seen, and the recall of others, in percent."""
    known = {name: n for n, name in enumerate(tagger.label_names_)}
    tags = test.labels.decode(test.Y)
    best = tagger.predict_topk(test, K)
    learnt = [[name for name in row if name in seen] for row in tags]
    report = ml.evaluate(
        ml.LabelSpace(known).encode(learnt),
        best,
        k=(1, 5),
        propensity=tagger.propensities(ml.Propensity()),
    )
    n_new = sum(name not in seen for row in tags for name in row)
    new = [[n for n in row if n not in seen and n in known] for row in tags]
    Y = ml.LabelSpace(known).encode(new)
    share = recall(Y, best) * Y.nnz / max(1, n_new)
    every = tagger.evaluate(test, k=(1, 5))
    return {
        **{m: 100 * report[m] for m in METRICS},
        **{f"{m} of all": 100 * every[m] for m in WHOLE},
        "R@10 unseen": 100 * share,
    }


def measure(name: str, folder: Path) -> None:
    """Print a line for each way."""
    train, test = (ml.read(folder / name / f"{p}.jsonl.gz") for p in ("train", "test"))
    train, test = draw(train, MOST_TRAIN), draw(test, MOST_TEST)
    counts = np.bincount(train.Y.indices, minlength=train.n_labels)
    seen = {train.labels.names[n] for n in np.flatnonzero(counts)}
    every = sorted({*train.labels, *test.labels})
    vocabulary = ml.Vocabulary(
        {each: {"names": {"en": each.removeprefix("P:")}} for each in every}
    )
    ways = {
        "label tree": ml.Tagger(ml.LabelTree()),
        "with names": ml.Tagger(ml.NameMatch(), vocabulary=vocabulary),
        "with names, stems": ml.Tagger(
            ml.NameMatch(), vocabulary=vocabulary, language="en"
        ),
        "with names, unseen_weight=1": ml.Tagger(
            ml.NameMatch(unseen_weight=1.0), vocabulary=vocabulary
        ),
    }
    for way, tagger in ways.items():
        start = time.process_time()
        tagger.fit(train.texts, train.labels.decode(train.Y))
        seconds = time.process_time() - start
        cells = " | ".join(f"{v:.2f}" for v in judge(tagger, test, seen).values())
        print(f"| {name} | {way} | {cells} | {seconds:.0f} |", flush=True)


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", nargs="+")
    parser.add_argument("--data", type=Path, default=FOLDER)
    given = parser.parse_args()
    names = [*METRICS, *(f"{m} of all" for m in WHOLE), "R@10 unseen"]
    print(f"| set | learner | {' | '.join(names)} | CPU s |")
    print("|---" * (len(names) + 3) + "|")
    for name in given.sets:
        measure(name, given.data / "text")


if __name__ == "__main__":
    main()
