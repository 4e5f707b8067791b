"""Reading time and memory: repository text beside scikit-learn's svmlight loader.

Both read the same rows, in a process of their own: those of delicious, and a generated
file of 200 MB. scikit-learn cannot read the header, so it starts after that line. The
peak is that of the whole process above its size before reading.
"""

import argparse
import gzip
import multiprocessing
import resource
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import load_svmlight_file

import manylabel as ml

FOLDER = Path(__file__).parents[1] / "../shared/data"
SIZE, N_FEATURES, N_LABELS = 200_000_000, 100_000, 10_000
FASTER, MEMORY = 3.0, 2.0
TINY = "1 1 1\n0 0:0.5\n"


@dataclass(frozen=True)
class Run:
    """What one process measured."""

    seconds: float
    peak: int
    arrays: int
    n_values: int
    n_labels: int

    @property
    def memory(self) -> float:
        """Peak memory as a multiple of the arrays that were returned."""
        return self.peak / self.arrays


def manylabel(path: Path) -> tuple[sp.csr_array, sp.csr_array]:
    data = ml.read(path, format="xc")
    return data.X, data.Y


def scikit_learn(path: Path) -> tuple[sp.csr_matrix, list[tuple[float, ...]]]:
    with path.open("rb") as file:
        file.readline()
        X, labels = load_svmlight_file(file, multilabel=True, zero_based=True)
    return X, labels


def measure(reader, path: Path, repeats: int) -> Run:
    """Read a tiny file to load code, then the file, and note time and peak memory."""
    with tempfile.TemporaryDirectory() as folder:
        tiny = Path(folder, "tiny.txt")
        tiny.write_text(TINY)
        reader(tiny)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    times = []
    for _ in range(repeats):
        X = Y = None  # one result at a time
        start = time.process_time()
        X, Y = reader(path)
        times.append(time.process_time() - start)
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    n_labels = Y.nnz if sp.issparse(Y) else sum(map(len, Y))
    arrays = sum(a.nbytes for a in (X.indptr, X.indices, X.data))
    if sp.issparse(Y):
        arrays += sum(a.nbytes for a in (Y.indptr, Y.indices, Y.data))
    return Run(min(times), (after - before) * 1024, arrays, X.nnz, n_labels)


def in_process(reader, path: Path, repeats: int) -> Run:
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        return pool.submit(measure, reader, path, repeats).result()


def generate(path: Path, size: int) -> None:
    """Write rows of 5 labels and 60 features, the same thousand again and again."""
    rng = np.random.default_rng(0)
    rows = []
    for _ in range(1000):
        labels = np.sort(rng.choice(N_LABELS, 5, replace=False))
        features = np.sort(rng.choice(N_FEATURES, 60, replace=False))
        entries = (f"{f}:{rng.random():.6g}" for f in features)
        rows.append(f"{','.join(map(str, labels))} {' '.join(entries)}\n")
    block = "".join(rows)
    n_blocks = size // len(block)
    with path.open("w") as file:
        file.write(f"{n_blocks * len(rows)} {N_FEATURES} {N_LABELS}\n")
        for _ in range(n_blocks):
            file.write(block)


def compare(what: str, path: Path, repeats: int) -> tuple[float, float]:
    """Print both runs; return the ratio of times and our multiple of the arrays."""
    ours = in_process(manylabel, path, repeats)
    theirs = in_process(scikit_learn, path, repeats)
    assert (ours.n_values, ours.n_labels) == (theirs.n_values, theirs.n_labels)
    faster, megabytes = theirs.seconds / ours.seconds, path.stat().st_size / 1e6
    print(
        f"{what}, {megabytes:.1f} MB: manylabel {ours.seconds:.3f} s "
        f"({megabytes / ours.seconds:.0f} MB/s), scikit-learn {theirs.seconds:.3f} s, "
        f"{faster:.1f} times as fast (at least {FASTER:g})"
    )
    print(
        f"  peak memory: manylabel {ours.peak / 1e6:.0f} MB, {ours.memory:.2f} times "
        f"its arrays (at most {MEMORY:g}); scikit-learn {theirs.peak / 1e6:.0f} MB, "
        f"{theirs.peak / max(ours.peak, 1):.1f} times as much"
    )
    return faster, ours.memory


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=FOLDER, help="the data folder")
    delicious = parser.parse_args(arguments).data / "xmc/delicious/train.txt.gz"
    with tempfile.TemporaryDirectory() as folder:
        results = []
        path = Path(folder, "rows.txt")
        if delicious.is_file():
            path.write_bytes(gzip.decompress(delicious.read_bytes()))
            results.append(compare("delicious", path, repeats=3)[0])
        generate(path, SIZE)
        faster, memory = compare("generated", path, repeats=1)
        results.append(faster)
    if min(results) < FASTER or memory > MEMORY:
        raise SystemExit("reading is slower or larger than it should be")


if __name__ == "__main__":
    main()
