"""How the cost of a forest grows: with rows, with labels, and in memory.

First the CPU seconds to grow trees on more and more rows of a generated corpus, and the
exponent of the line through them in logarithms. Then the same number of rows with more
and more labels, where the time to predict must not follow. Last the memory that
growing takes at its peak on data sets, beside the data and the model.
"""

import argparse
import re
import time
from pathlib import Path

import numpy as np

import manylabel as ml

FOLDER = Path(__file__).parents[1] / "../shared/data"
ROWS = (4_000, 16_000, 64_000, 256_000)
LABELS = (1_000, 10_000, 100_000, 1_000_000)
N_TREES, N_TEST = 2, 5_000


def seconds(n_rows: int, n_labels: int) -> tuple[float, float]:
    """Return CPU seconds to grow the trees, and microseconds to predict a row."""
    corpus = ml.make_corpus(
        n_rows=n_rows + N_TEST, n_features=20_000, n_labels=n_labels
    )
    model = ml.FastXML(n_trees=N_TREES)
    start = time.process_time()
    model.fit(corpus.X[:n_rows], corpus.Y[:n_rows])
    grown = time.process_time()
    model.predict_topk(corpus.X[n_rows:], k=5)
    return grown - start, (time.process_time() - grown) / N_TEST * 1e6


def compare_rows() -> None:
    print(f"{N_TREES} trees, 20,000 features, 1,000 labels")
    found = []
    for n_rows in ROWS:
        found.append(seconds(n_rows, 1_000)[0])
        print(f"  {n_rows:9,} rows    {found[-1]:7.2f} s")
    exponent = np.polyfit(np.log(ROWS), np.log(found), 1)[0]
    print(f"  time grows as rows to the power of {exponent:.2f}")


def compare_labels() -> None:
    print(f"{N_TREES} trees, 20,000 features, 32,000 rows")
    for n_labels in LABELS:
        grow, predict = seconds(32_000, n_labels)
        print(f"  {n_labels:9,} labels  {grow:7.2f} s  {predict:6.2f} us a row")


def megabytes(field: str) -> float:
    """Return a figure of this process, as Linux keeps it."""
    status = Path("/proc/self/status").read_text()
    return int(re.findall(rf"{field}:\s+(\d+)", status)[0]) / 1e3


def compare_memory(folder: Path) -> None:
    print("MB at the peak of growing 50 trees, data included; the data; the model")
    for name in ("bibtex", "rcv1sub1", "delicious", "debtags", "depends"):
        train = ml.read(folder / "xmc" / name / "train.txt.gz")
        parts = [a for M in (train.X, train.Y) for a in (M.data, M.indices, M.indptr)]
        data = sum(part.nbytes for part in parts) / 1e6
        for n_jobs in (1, 2):
            Path("/proc/self/clear_refs").write_text("5")  # forget the peak so far
            before = megabytes("VmRSS")
            model = ml.FastXML(n_jobs=n_jobs).fit(train.X, train.Y)
            peak = megabytes("VmHWM") - before + data
            arrays = [v for v in model.get_state().values() if hasattr(v, "nbytes")]
            size = sum(array.nbytes for array in arrays) / 1e6
            print(f"  {name:10} {n_jobs} jobs {peak:6.1f} {data:6.1f} {size:6.1f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=FOLDER)
    arguments = parser.parse_args()
    for n_labels in (50, 70_000):  # compile; more labels take wider numbers
        seconds(300, n_labels)
    compare_rows()
    compare_labels()
    compare_memory(arguments.data)


if __name__ == "__main__":
    main()
