"""OnlineLabelTree after one pass, and on a stream of texts that brings new labels.

First table: the training rows of some data sets are learnt once, in random orders, rows
of unit length, and judged by the test rows. Second: texts in order of time are ranked,
then learnt, one by one; labels that are new in the second file are looked for at their
6th to 10th occurrence. Vowpal Wabbit takes part where it is installed, and must be told
the number of labels. One-vs-rest is learnt anew a few times from all rows before.
"""

import argparse
import gzip
import json
import resource
import time
from collections.abc import Iterator
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.preprocessing import normalize

import manylabel as ml
from benchmarks.streams import FOLDER, print_head, print_row

SETS = ("bibtex", "delicious", "rcv1sub1", "debtags", "depends")
K, CHILDREN = 5, 16
FIRST, LAST = 6, 10  # occurrences of a new label
CODE = {"n_components": 20, "regressor": "gradient", "learning_rate": "adagrad"}


class Ours:
    """A learner of this library."""

    def __init__(self, learner: Any, n_labels: int) -> None:
        self.learner, self.n_labels = learner, n_labels

    def rows(self, X: sp.csr_array, Y: sp.csr_array | None = None) -> Any:
        """Return rows as it takes them."""
        return X, Y

    def learn(self, rows: Any) -> None:
        """Learn rows, one after another."""
        self.learner.partial_fit(*rows)

    def rank(self, rows: Any) -> np.ndarray:
        """Return the best labels of each row, best first, padded with -1."""
        if not hasattr(self.learner, "classes_"):
            return np.full((rows[0].shape[0], K), -1)
        best = self.learner.predict_topk(rows[0], K)
        scores, columns = best.data.reshape(-1, K), best.indices.reshape(-1, K)
        order = np.argsort(-scores, axis=1, kind="stable")
        return np.take_along_axis(columns, order, axis=1)


class VowpalWabbit:
    """Its label tree, full, with labels in the order of their columns."""

    def __init__(self, options: str, n_labels: int) -> None:
        import vowpalwabbit

        self.n_labels = n_labels
        self.model = vowpalwabbit.Workspace(
            f"--plt {n_labels} --kary_tree {CHILDREN} --loss_function logistic "
            f"--top_k {K + CHILDREN - 2} --quiet {options}"
        )

    def rows(self, X: sp.csr_array, Y: sp.csr_array | None = None) -> list[Any]:
        """Return rows as it takes them, parsed."""
        return [self._parsed(X, Y, i) for i in range(X.shape[0])]

    def learn(self, rows: list[Any]) -> None:
        """Learn rows, one after another."""
        for row in rows:
            self.model.learn(row)

    def rank(self, rows: list[Any]) -> np.ndarray:
        """Return the best labels of each row, best first, padded with -1."""
        found = np.full((len(rows), K), -1)
        for i, row in enumerate(rows):
            known = [each for each in self.model.predict(row) if each < self.n_labels]
            found[i, : len(known[:K])] = known[:K]
        return found

    def _parsed(self, X: sp.csr_array, Y: sp.csr_array | None, i: int) -> Any:
        a, b = X.indptr[i : i + 2]
        row = zip(X.indices[a:b], X.data[a:b], strict=True)
        text = " ".join(f"{feature}:{value:.6g}" for feature, value in row)
        labels = [] if Y is None else Y.indices[Y.indptr[i] : Y.indptr[i + 1]]
        return self.model.parse(f"{','.join(map(str, labels))} | {text}")


def entrants(learning_rates: list[float]) -> dict[str, Any]:
    """Return what makes each learner that can be had here, given n_labels."""
    found: dict[str, Any] = {
        "OnlineLabelTree": lambda n: Ours(ml.OnlineLabelTree(), n),
        "the same, propensity running": lambda n: Ours(
            ml.OnlineLabelTree(propensity="running"), n
        ),
    }
    try:
        import vowpalwabbit  # noqa: F401
    except ImportError:
        return found
    for rate in learning_rates:
        options = f"-l {rate:g} -b 24"
        found[f"Vowpal Wabbit {options}"] = partial(VowpalWabbit, options)
    return found


def unit(X: sp.csr_array) -> sp.csr_array:
    return sp.csr_array(normalize(X), dtype=np.float32)


def one_pass(name: str, arguments: argparse.Namespace) -> Iterator[tuple[Any, ...]]:
    """Yield a row of the table for each learner: means over the orders."""
    folder = arguments.data / "xmc" / name
    train, test = (ml.read(folder / f"{part}.txt.gz") for part in ("train", "test"))
    X, X_test, Y = unit(train.X), unit(test.X), sp.csr_array(train.Y)
    propensity = ml.Propensity().fit(Y)
    for title, make in entrants(arguments.rates).items():
        runs = []
        for seed in range(arguments.orders):
            order = np.random.default_rng(seed).permutation(X.shape[0])
            learner = make(Y.shape[1])
            rows, test_rows = learner.rows(X[order], Y[order]), learner.rows(X_test)
            start = time.process_time()
            learner.learn(rows)
            middle = time.process_time()
            best = learner.rank(test_rows)
            end = time.process_time()
            each = 1e6 * (middle - start) / X.shape[0]
            runs.append(
                [
                    *judged(best, test.Y, propensity),
                    each,
                    1e6 * (end - middle) / len(best),
                ]
            )
        means = np.mean(runs, axis=0)
        yield name, title, *(f"{m:.1f}" for m in means[:4]), *map(round, means[4:])


def judged(best: np.ndarray, Y: Any, propensity: Any) -> list[float]:
    """Return P@1, P@5, PSP@1 and PSP@5 of ranked columns."""
    n = len(best)
    kept = best >= 0
    scores = np.tile(np.arange(K, 0, -1.0), (n, 1))
    indptr = np.concatenate([[0], np.cumsum(kept.sum(axis=1))])
    ranked = sp.csr_array((scores[kept], best[kept], indptr), shape=Y.shape)
    ranked.sort_indices()
    report = ml.evaluate(Y, ranked, k=(1, K), propensity=propensity)
    return [100 * report[m] for m in ("P@1", f"P@{K}", "PSP@1", f"PSP@{K}")]


def read_texts(folder: Path) -> tuple[sp.csr_array, sp.csr_array, int]:
    """Return all rows in order of time, and how many are of the first file."""
    files = []
    for part in ("train", "test"):
        with gzip.open(folder / f"{part}.jsonl.gz", "rt", encoding="utf-8") as lines:
            files.append([json.loads(line) for line in lines])
    rows, cut = files[0] + files[1], len(files[0])
    vectorizer = ml.TextVectorizer(n_features=2**18)
    vectorizer.fit([row["text"] for row in files[0]])
    X = vectorizer.transform([row["text"] for row in rows])
    known: dict[str, int] = {}
    indices, indptr = [], [0]
    for row in rows:
        indices += sorted(
            {known.setdefault(name, len(known)) for name in row["labels"]}
        )
        indptr.append(len(indices))
    ones = np.ones(len(indices), np.float32)
    parts = ones, np.array(indices, np.int32), np.array(indptr, np.int32)
    Y = sp.csr_array(parts, shape=(len(rows), len(known)))
    return unit(X), Y, cut


def follow(
    learner: Any, X: sp.csr_array, Y: sp.csr_array
) -> tuple[np.ndarray, float, float]:
    """Rank each row, then learn it; return labels, and microseconds a row for each."""
    best, ranking, learning = np.full((X.shape[0], K), -1), 0.0, 0.0
    for i in range(X.shape[0]):
        row = learner.rows(X[i : i + 1])
        labelled = learner.rows(X[i : i + 1], Y[i : i + 1])
        start = time.process_time()
        best[i] = learner.rank(row)[0]
        middle = time.process_time()
        learner.learn(labelled)
        ranking += middle - start
        learning += time.process_time() - middle
    return best, 1e6 * ranking / X.shape[0], 1e6 * learning / X.shape[0]


def refitted(
    X: sp.csr_array, Y: sp.csr_array, cut: int, n_refits: int
) -> tuple[np.ndarray, float, float]:
    """Rank the rows after the cut by one-vs-rest, learnt anew so many times."""
    best, learning = np.full((X.shape[0], K), -1), 0.0
    bounds = np.linspace(cut, X.shape[0], n_refits + 1).astype(int)
    start = time.process_time()
    for a, b in pairwise(bounds):
        begin = time.process_time()
        learner = Ours(ml.OneVsRest().fit(X[:a], Y[:a]), Y.shape[1])
        learning += time.process_time() - begin
        best[a:b] = learner.rank((X[a:b], None))
    n_rows = X.shape[0] - cut
    ranking = time.process_time() - start - learning
    return best, 1e6 * ranking / n_rows, 1e6 * learning / n_rows


def found_among(best: np.ndarray, Y: sp.csr_array, cut: int) -> list[float]:
    """Return P@1 and P@5 of all rows and after the cut, and recall of new labels."""
    hits = np.array(
        [
            np.isin(best[i], Y.indices[Y.indptr[i] : Y.indptr[i + 1]])
            for i in range(len(best))
        ]
    )
    is_old = np.zeros(Y.shape[1], bool)
    is_old[Y.indices[: Y.indptr[cut]]] = True
    seen, found = np.zeros(Y.shape[1], int), []
    for i in range(cut, len(best)):
        for label in Y.indices[Y.indptr[i] : Y.indptr[i + 1]]:
            seen[label] += not is_old[label]
            if FIRST <= seen[label] <= LAST:
                found.append(label in best[i])
    shares = hits[:, 0].mean(), hits.mean(), hits[cut:, 0].mean(), hits[cut:].mean()
    return [100 * share for share in (*shares, np.mean(found) if found else np.nan)]


def stream(arguments: argparse.Namespace) -> Iterator[tuple[Any, ...]]:
    X, Y, cut = read_texts(arguments.data / "text" / arguments.texts)
    learners = entrants(arguments.rates[:1])
    learners["CSDPP, 20 components"] = lambda n: Ours(ml.CSDPP(**CODE), n)
    for title, make in learners.items():
        before, learner = memory(), make(Y.shape[1])
        best, *seconds = follow(learner, X, Y)
        shares = [f"{share:.1f}" for share in found_among(best, Y, cut)]
        yield title, *shares, *map(round, seconds), memory() - before
        del learner
    if arguments.refits:
        title = f"OneVsRest, learnt {arguments.refits} times"
        best, *seconds = refitted(X, Y, cut, arguments.refits)
        shares = [f"{share:.1f}" for share in found_among(best, Y, cut)]
        yield title, "", "", *shares[2:], *map(round, seconds), ""


def memory() -> int:
    """Return the memory that this process has just now, in MB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() // 10**6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", nargs="*", default=SETS)
    parser.add_argument("--data", type=Path, default=FOLDER)
    parser.add_argument("--orders", type=int, default=3, help="0 for none")
    parser.add_argument("--rates", type=float, nargs="+", default=[0.5, 2.0])
    parser.add_argument("--texts", default="cve", help="a folder, or nothing for none")
    parser.add_argument("--refits", type=int, default=2)
    arguments = parser.parse_args()
    if arguments.orders:
        shares = ("P@1", "P@5", "PSP@1", "PSP@5")
        print_head("data", "learner", *shares, "learn, us a row", "rank, us a row")
        for name in arguments.sets:
            for row in one_pass(name, arguments):
                print_row(*row)
    if arguments.texts:
        print()
        late = ("P@1, 2nd file", "P@5, 2nd file", "new labels, recall@5")
        costs = ("rank, us a row", "learn, us a row", "memory, MB")
        print_head("learner", "P@1", "P@5", *late, *costs)
        for row in stream(arguments):
            print_row(*row)


if __name__ == "__main__":
    main()
