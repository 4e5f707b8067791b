"""A label tree of a million labels, on a million rows.

A corpus of ``make_corpus`` with 200,000 features, about 100 words a row. Two threads;
CPU seconds and seconds on the clock, the peak of memory, and how good the ranking is on
rows that were not learnt.
"""

import argparse
import resource
import time

import manylabel as ml


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--labels", type=int, default=1_000_000)
    parser.add_argument("--features", type=int, default=200_000)
    parser.add_argument("--words", type=float, default=320, help="with repetitions")
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    n_test = given.rows // 100
    size = (given.rows + n_test, given.features, given.labels)
    corpus = ml.make_corpus(*size, n_words=given.words, propensity=1.0, random_state=0)
    train, test = slice(0, given.rows), slice(given.rows, None)
    X, Y = corpus.X[train], corpus.Y[train]
    X_test, Y_test = corpus.X[test], corpus.Y[test]
    del corpus
    held = (X.data.nbytes + X.indices.nbytes + Y.indices.nbytes + Y.data.nbytes) / 1e6
    print(f"{X.nnz / X.shape[0]:.0f} values a row, {held:,.0f} MB of rows and labels")
    before, start, cpu = _peak(), time.perf_counter(), time.process_time()
    model = ml.LabelTree(n_jobs=given.jobs).fit(X, Y)
    clock, cpu = time.perf_counter() - start, time.process_time() - cpu
    n_bytes = sum(part.nbytes for part in model.nodes_)
    print(f"training: {cpu:,.0f} CPU s, {clock:,.0f} s; model {n_bytes / 1e6:,.0f} MB")
    print(f"peak of memory: {before:,.0f} MB before, {_peak():,.0f} MB after training")
    start = time.process_time()
    scores = model.predict_topk(X_test, k=5)
    micros = 1e6 * (time.process_time() - start) / X_test.shape[0]
    report = ml.evaluate(Y_test, scores, k=(1, 5))
    print(f"prediction: {micros:.0f} CPU us a row, {report['P@1']:.3f} P@1")


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


if __name__ == "__main__":
    main()
