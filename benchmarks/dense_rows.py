"""How fast learners, OneVsRest above all, score dense rows, as of sentence embeddings.

    python -m benchmarks.dense_rows

Beside the same rows as a sparse matrix, one value at a time, the product of BLAS alone,
and the one-vs-rest classifiers of scikit-learn. CPU milliseconds on one core, the least
of some runs. The last column is training, 64 labels of the same rows. A second table
has other learners beside the product.
"""

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import LinearSVC
from threadpoolctl import threadpool_limits

import manylabel as ml
from manylabel._kernels.linear import svm
from manylabel.solvers import linear

N_RUNS, N_ROWS, N_TRAIN, N_LABELS = 7, 4000, 1000, 200
WIDTHS = (384, 768, 1024)
LEARNERS = (
    *(ml.OneVsRest, ml.LabelTree, ml.FastXML, ml.PfastreXML),
    *(ml.PLST, ml.LEML, ml.CSDPP, ml.OnlineLabelTree),
)
Rows = tuple[np.ndarray, np.ndarray]


def least_ms(run: Callable[[], Any]) -> float:
    """Return the CPU milliseconds of the quickest of some runs, after a first."""
    run()
    found = []
    for _ in range(N_RUNS):
        start = time.process_time()
        run()
        found.append(time.process_time() - start)
    return 1000 * min(found)


def draw(n_features: int) -> Rows:
    """Return rows of unit length, and labels that depend on them."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_ROWS, n_features)).astype(np.float32)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    noise = rng.normal(size=(N_ROWS, N_LABELS))
    scores = X @ rng.normal(size=(n_features, N_LABELS)) + 0.5 * noise
    return X, (scores > 1.5).astype(int)


def score_sparse(model: ml.OneVsRest, X: np.ndarray) -> np.ndarray:
    """Score rows by the kernel of sparse ones."""
    rows, W = sp.csr_array(X), model.coef_
    out = np.empty((len(X), N_LABELS), np.float32)
    values = linear.unit_values(rows)
    weights = W.indptr, W.indices, W.data
    svm.scores(rows.indptr, rows.indices, values, *weights, model.intercept_, out)
    return out


def measure(n_features: int) -> dict[str, float]:
    """Return what each way takes for rows of some width."""
    X, Y = draw(n_features)
    few, labels = X[:N_TRAIN], Y[:N_TRAIN]
    model = ml.OneVsRest().fit(few, labels)
    weights = model.coef_.toarray()
    ways: dict[str, Callable[[], Any]] = {
        "scores": lambda: model.decision_function(X),
        "sparse": lambda: score_sparse(model, X),
        "BLAS": lambda: X @ weights,
        "top 5": lambda: model.predict_topk(X, k=5),
        "sets": lambda: model.predict(X),
    }
    for name, kind in (("SVC", LinearSVC()), ("LogReg", LogisticRegression())):
        theirs = OneVsRestClassifier(kind).fit(few, labels)
        ways[f"sklearn {name} sets"] = lambda theirs=theirs: theirs.predict(X)
    ways["train"] = lambda: ml.OneVsRest().fit(few, labels[:, :64])
    return {name: least_ms(way) for name, way in ways.items()}


def measure_learners(n_features: int) -> Iterator[tuple[str, float]]:
    """Yield what the best 5 labels take by each learner, and first a product alone."""
    X, Y = draw(n_features)
    weights = np.ones((n_features, N_LABELS), np.float32)
    yield "BLAS", least_ms(lambda: X @ weights)
    for kind in LEARNERS:
        model = kind().fit(X[:N_TRAIN], Y[:N_TRAIN])
        yield kind.__name__, least_ms(lambda m=model: m.predict_topk(X))


def main() -> None:
    """Print a table of OneVsRest, and one of learners."""
    is_headed = False
    with threadpool_limits(1):
        for width in WIDTHS:
            cells = measure(width)
            if not is_headed:
                print("| columns | " + " | ".join(cells) + " | sparse / scores |")
                print("|---" * (len(cells) + 2) + "|")
                is_headed = True
            line = " | ".join(f"{value:.1f}" for value in cells.values())
            ratio = cells["sparse"] / cells["scores"]
            print(f"| {width} | {line} | {ratio:.1f} |", flush=True)
        print(f"\n| {WIDTHS[0]} columns | top 5 |\n|---|---|")
        for name, milliseconds in measure_learners(WIDTHS[0]):
            print(f"| {name} | {milliseconds:.1f} |", flush=True)


if __name__ == "__main__":
    main()
