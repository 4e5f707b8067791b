"""Blends beside their learners, and beside the best single program of the field.

reuters90 and debtags are texts, vectorised with word pairs as ``Tagger`` does; other
sets have features. The learner is that of ``Tagger(quality="best")``. The figures of
other programs were measured on unit-length TF-IDF words of the same splits (omikuji,
napkinXC, PECOS XR-Linear, LibMultiLabel, the authors' FastXML, PfastreXML, Parabel).
"""

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np

import manylabel as ml

FOLDER = Path(__file__).parents[1] / "../shared/data"
# The best program in each column: P@1, P@3, P@5, PSP@1, PSP@3, PSP@5.
OTHERS = {
    "bibtex": (64.2, 39.9, 29.6, 52.5, 54.6, 60.8),
    "delicious": (68.6, 63.1, 58.4, 34.8, 35.5, 36.2),
    "reuters90": (94.4, 38.2, 23.8, 83.9, 90.0, 92.5),
    "debtags": (84.4, 60.5, 46.5, 57.8, 62.2, 64.2),
    "depends": (66.9, 44.2, 33.5, 16.1, 17.6, 19.6),
}
COLUMNS = [f"{kind}@{k}" for kind in ("P", "PSP") for k in (1, 3, 5)]


def read(name: str, folder: Path) -> tuple[Any, Any]:
    """Return training and test rows, with features and the labels of both."""
    if name not in ("reuters90", "debtags"):
        parts = (folder / "xmc" / name / f"{p}.txt.gz" for p in ("train", "test"))
        train, test = map(ml.read, parts)
        return train, test
    files = [folder / "text" / name / f"{p}.jsonl.gz" for p in ("train", "test")]
    names = sorted({label for file in files for label in ml.read(file).label_names})
    train, test = (ml.read(file, label_names=names) for file in files)
    vectorizer = ml.TextVectorizer().fit(train.texts)
    return tuple(
        ml.Dataset(vectorizer.transform(part.texts), part.Y) for part in (train, test)
    )


def figures(model: Any, test: Any, propensity: Any) -> np.ndarray:
    scores = model.predict_topk(test.X, k=5)
    report = ml.evaluate(test.Y, scores, k=(1, 3, 5), propensity=propensity)
    return np.array([100 * report[column] for column in COLUMNS])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", nargs="*", default=list(OTHERS))
    parser.add_argument("--data", type=Path, default=FOLDER)
    parser.add_argument("--jobs", type=int, default=1)
    given = parser.parse_args()
    for name in given.sets:
        train, test = read(name, given.data)
        model = ml.choose(*train.X.shape, train.n_labels, "best").learner
        model.set_params(n_jobs=given.jobs)
        start, cpu = time.perf_counter(), time.process_time()
        model.fit(train.X, train.Y)
        print(
            f"{name}: weights {model.weights_.round(2)}, tilt {model.tilt_:.2f}, "
            f"{time.perf_counter() - start:.0f} s, "
            f"CPU {time.process_time() - cpu:.0f} s"
        )
        propensity = ml.Propensity().fit(train.Y)
        for member in (*model.estimators_, model):
            row = figures(member, test, propensity)
            cells = " ".join(f"{value:6.2f}" for value in row)
            print(f"  {type(member).__name__:11} {cells}", flush=True)
        best = " ".join(f"{value:6.2f}" for value in OTHERS[name])
        ahead = " ".join(f"{value:+6.2f}" for value in row - OTHERS[name])
        print(f"  {'others':11} {best}\n  {'ahead by':11} {ahead}", flush=True)


if __name__ == "__main__":
    main()
