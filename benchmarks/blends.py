"""Blends beside their learners, and beside the best single program of the field.

reuters90 is of texts, vectorised with word pairs as ``Tagger`` does. Other sets are the
rows that peers get: given features, or TF-IDF of words. The learner is ``Blend()``.
The figures of other programs were measured on rows of unit length of the same splits:
on bibtex, delicious, debtags, depends and reuters90 those of omikuji, napkinXC, PECOS
XR-Linear, LibMultiLabel and the authors' FastXML, PfastreXML and Parabel; on other sets
those of the first three. ``--also SLEEC WSABIE`` adds learners to the usual ones.
"""

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

import manylabel as ml
from benchmarks.catalogue import Catalogue
from benchmarks.peers.rows import convert
from manylabel.blend._members import usual_members

FOLDER = Path(__file__).parents[1] / "../shared/data"
CACHE = Path("~/.cache/manylabel/data")
TEXTS = ("reuters90",)
# The best program in each column: P@1, P@3, P@5, PSP@1, PSP@3, PSP@5.
OTHERS = {
    "bibtex": (64.2, 39.9, 29.6, 52.5, 54.6, 60.8),
    "delicious": (68.6, 63.1, 58.4, 34.8, 35.5, 36.2),
    "reuters90": (94.4, 38.2, 23.8, 83.9, 90.0, 92.5),
    "debtags": (84.4, 60.5, 46.5, 57.8, 62.2, 64.2),
    "depends": (66.9, 44.2, 33.5, 16.1, 17.6, 19.6),
    "rcv1sub1": (61.3, 47.9, 39.0, 44.0, 50.9, 63.7),
    "tate": (92.9, 87.7, 81.6, 19.2, 29.0, 35.6),
    "npm-deps": (44.2, 30.4, 23.4, 18.6, 24.3, 27.8),
}
SETS = (*OTHERS, "yso-finna-en")
COLUMNS = [f"{kind}@{k}" for kind in ("P", "PSP") for k in (1, 3, 5)]


def read(name: str, given: argparse.Namespace) -> tuple[Any, Any]:
    """Return training and test rows, with features and the labels of both."""
    if name in TEXTS:
        return read_texts(given.data / "text" / name)
    home = convert(Catalogue(given.data)[name], given.cache.expanduser())
    parts = []
    for part in ("train", "test"):
        X, Y = (
            sp.csr_array(sp.load_npz(home / f"{part}_{which}.npz")) for which in "XY"
        )
        parts.append(ml.Dataset(X, Y))
    return parts[0], parts[1]


def read_texts(home: Path) -> tuple[Any, Any]:
    """Return texts as words and pairs of words."""
    files = [home / f"{part}.jsonl.gz" for part in ("train", "test")]
    names = sorted({label for file in files for label in ml.read(file).label_names})
    train, test = (ml.read(file, label_names=names) for file in files)
    vectorizer = ml.TextVectorizer().fit(train.texts)
    rows = [
        ml.Dataset(vectorizer.transform(part.texts), part.Y) for part in (train, test)
    ]
    return rows[0], rows[1]


def figures(model: Any, train: Any, test: Any) -> np.ndarray:
    """Return P@k and PSP@k in percent; nobody can find labels of test rows alone."""
    n_labels = test.Y.shape[1]
    scores, known = model.predict_topk(test.X, k=5), train.Y.copy()
    for matrix in (scores, known):
        matrix.resize(matrix.shape[0], n_labels)
    propensity = ml.Propensity().fit(known)
    report = ml.evaluate(test.Y, scores, k=(1, 3, 5), propensity=propensity)
    return np.array([100 * report[column] for column in COLUMNS])


def show(name: str, values: Any, form: str = "6.2f") -> None:
    """Print a line of figures."""
    cells = " ".join(f"{value:{form}}" for value in values)
    print(f"  {name:11} {cells}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", nargs="*", default=list(SETS))
    parser.add_argument("--data", type=Path, default=FOLDER)
    parser.add_argument("--cache", type=Path, default=CACHE)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--also", nargs="*", default=[])
    given = parser.parse_args()
    for name in given.sets:
        train, test = read(name, given)
        usual = usual_members(*train.X.shape, train.n_labels)
        members = [*usual, *(getattr(ml, each)() for each in given.also)]
        model = ml.Blend(members, n_jobs=given.jobs)
        start, cpu = time.perf_counter(), time.process_time()
        model.fit(train.X, train.Y)
        print(
            f"{name}: tilt {model.tilt_:.2f}, {time.perf_counter() - start:.0f} s, "
            f"CPU {time.process_time() - cpu:.0f} s\n{model.trial_}"
        )
        for member in (*model.estimators_, model):
            row = figures(member, train, test)
            show(type(member).__name__, row)
        if name in OTHERS:
            show("others", OTHERS[name])
            show("ahead by", row - OTHERS[name], "+6.2f")


if __name__ == "__main__":
    main()
