"""Codes of 100 numbers, LEML's regularization, and LEML with propensities.

Official splits, means over seeds; ``python -m benchmarks reproduce
pfastrexml-supplement repository`` has codes of the default length beside what is
published. ``l2_regularization`` is judged by test rows here, to see what it is worth:
choose it on rows held out.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import manylabel as ml

FOLDER = Path(__file__).parents[1] / "../shared/data"
DEPTHS = (1, 3, 5)
WEIGHTS = (0.5, 2.0, 8.0, 32.0)
CODES = (ml.CPLST, ml.CompressedSensing, ml.MLCSSP, ml.LEML)


def learners(law: Any) -> Iterator[tuple[str, type, dict[str, Any]]]:
    """Name the learners that are compared."""
    for kind in CODES:
        yield f"{kind.__name__}, 100", kind, {"n_components": 100}
    for weight in WEIGHTS:
        yield f"LEML, reg {weight:g}", ml.LEML, {"l2_regularization": weight}
    yield "LEML, propensity", ml.LEML, {"propensity": law}


def compare(
    name: str, folder: Path, n_rows: int | None, n_seeds: int, who: str
) -> None:
    """Print P@k and PSP@k of each learner on a set, or on its first rows."""
    train, test = (
        ml.read(folder / "xmc" / name / f"{part}.txt.gz") for part in ("train", "test")
    )
    X, Y = train.X[:n_rows], train.Y[:n_rows]
    print(f"{name}: {X.shape[0]} rows, {X.shape[1]} features, {Y.shape[1]} labels")
    law = ml.Propensity().fit(Y)
    for title, kind, given in learners(law):
        if who not in title:
            continue
        found = []
        for seed in range(n_seeds):
            own = {} if kind is ml.CPLST else {"random_state": seed}
            best = kind(**given, **own).fit(X, Y).predict_topk(test.X, k=5)
            report = ml.evaluate(test.Y, best, k=DEPTHS, propensity=law)
            found.append(
                [100 * report[f"{m}@{k}"] for m in ("P", "PSP") for k in DEPTHS]
            )
        cells = [f"{value:.1f}" for value in np.mean(found, axis=0)]
        print(f"  {title}: P {' / '.join(cells[:3])}, PSP {' / '.join(cells[3:])}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", nargs="*", default=["bibtex", "delicious"])
    parser.add_argument("--data", type=Path, default=FOLDER)
    parser.add_argument("--rows", type=int, help="Learn from the first ones only.")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--learners", default="", help="Only titles that have this.")
    given = parser.parse_args()
    for name in given.sets:
        compare(name, given.data, given.rows, given.seeds, given.learners)


if __name__ == "__main__":
    main()
