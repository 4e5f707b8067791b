"""What the table of the features that a tree looks at costs, as features grow.

Section 7 of Liu & Tsang 2017 numbers the selected features by a table of all features,
and has a hash table for very many. The same tree predicts the same rows, with their
columns spread over more and more features. The table of the first line lies in the
cache; a hash table computes more for each value, so it could hardly be quicker. CPU
time of one thread, best of five.
"""

import argparse
import time

import numpy as np
import scipy.sparse as sp

import manylabel as ml
from benchmarks.streams import print_head, print_row

N_COLUMNS = 10_000
SIZES = (N_COLUMNS, 100_000, 1_000_000, 10_000_000)


def spread(X: sp.csr_array, columns: np.ndarray, n_features: int) -> sp.csr_array:
    """Return the rows with column j moved to ``columns[j]``."""
    shape = (X.shape[0], n_features)
    moved = sp.csr_array((X.data, columns[X.indices], X.indptr), shape=shape)
    moved.sort_indices()
    return moved


def best_seconds(model: ml.AnnotationTree, X: sp.csr_array) -> float:
    found = []
    for _ in range(5):
        start = time.process_time()
        model.predict(X)
        found.append(time.process_time() - start)
    return min(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=20_000)
    arguments = parser.parse_args()
    corpus = ml.make_corpus(
        n_rows=arguments.rows, n_features=N_COLUMNS, n_labels=50, random_state=0
    )
    rng = np.random.default_rng(0)
    print_head("features", "selected", "table, MB", "us a row", "of the first")
    first = None
    for n_features in SIZES:
        columns = np.sort(rng.choice(n_features, N_COLUMNS, replace=False))
        X = spread(sp.csr_array(corpus.X), columns.astype(np.int32), n_features)
        model = ml.AnnotationTree(random_state=0).fit(X[:2000], corpus.Y[:2000])
        seconds = best_seconds(model, X)
        first = first or seconds
        print_row(
            *(f"{n_features:,}", len(model.tree_.selected)),
            *(f"{4 * n_features / 1e6:.1f}", f"{1e6 * seconds / X.shape[0]:.2f}"),
            f"{seconds / first:.2f}",
        )


if __name__ == "__main__":
    main()
