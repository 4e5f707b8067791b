"""What benchmarks of streams share: rows scaled to [0, 1], options, printed tables."""

import argparse
from pathlib import Path

import numpy as np
import scipy.sparse as sp

import manylabel as ml

FOLDER = Path(__file__).parents[1] / "../shared/data"
SETS = ("emotions", "yeast", "scene", "CAL500", "Corel5k")
COSTS = ("hamming", "f1", "accuracy")


def read_raw(name: str, folder: Path) -> tuple[np.ndarray, sp.csr_array]:
    files = sorted((folder / "mulan").glob(f"{name}*.arff.gz"), reverse=True)
    parts = [ml.read(path) for path in files]
    X = sp.vstack([part.X for part in parts]).toarray()
    return X, sp.vstack([part.Y for part in parts], format="csr")


def read_scaled(name: str, folder: Path) -> tuple[np.ndarray, sp.csr_array]:
    X, Y = read_raw(name, folder)
    low, high = X.min(axis=0), X.max(axis=0)
    return (X - low) / np.where(high > low, high - low, 1), Y


def options(description: str, sets: tuple[str, ...] = SETS) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("sets", nargs="*", default=sets)
    parser.add_argument("--data", type=Path, default=FOLDER)
    parser.add_argument("--permutations", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=2)
    return parser


def print_row(*cells: object) -> None:
    print("|", " | ".join(str(cell) for cell in cells), "|", flush=True)


def print_head(*names: str) -> None:
    print_row(*names)
    print("|" + "---|" * len(names))
