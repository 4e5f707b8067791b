"""How many hidden labels an audit finds, and how well audited rows tell propensities.

    python -m benchmarks.audits

Labels of real data are hidden: each with a chance of 0.3, or by the law of Jain et al.
Rows are judged by the quick learner, cross-validated, and pairs of a row and a label
that is not recorded ranked by the score alone, or by the probability that it is
missing, with propensities of one half, of the law, or of 200 rows that are audited.
Precision is the share of pairs that were hidden, among the first thousand and among as
many as were hidden, where it is also the recall. Data that lack labels themselves make
it smaller than it is: what nobody recorded counts as not hidden. *Expected* is how many
labels the audit believes to be missing after those 200 rows.

Then as many rows as given are audited, drawn as ``manylabel audit --sample`` draws them
or at random. The error is the mean over labels that are true somewhere, and over true
occurrences, of the distance of a propensity from the one that hid them; *inside* is the
share of labels whose interval of 95 % holds it. Means of five draws.

Ten thousand training rows of each set, drawn at random; nothing is chosen on them.
"""

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np

import manylabel as ml
from benchmarks.annotations import FOLDER
from benchmarks.streams import print_head, print_row
from manylabel.auditing import rank_unseen, suspect
from manylabel.propensity import recorded_law

SETS = ("debtags", "depends", "tate")
SIZES = (50, 200, 1000)
N_DRAWS, N_FIRST, N_AUDITED, KEPT = 5, 1000, 200, 0.7
WAYS = ("score", "one half", "the law", "200 audited rows")


def read(name: str, folder: Path, n_rows: int) -> tuple[Any, Any]:
    """Return some rows and their labels; labels that none of them has are left out."""
    rng = np.random.default_rng(0)
    if name == "tate":
        data = ml.read(folder / "text" / name / "train.jsonl.gz")
    else:
        data = ml.read(folder / "xmc" / name / "train.txt.gz")
    data = data[np.sort(rng.permutation(len(data))[:n_rows])]
    X = data.X if data.X is not None else ml.TextVectorizer().fit_transform(data.texts)
    return X, data.Y[:, np.flatnonzero(data.Y.sum(axis=0))]


def hide(Y: Any, p: np.ndarray) -> Any:
    """Return what is left of labels that are recorded with such propensities."""
    left = Y.copy()
    left.data = left.data * (np.random.default_rng(1).random(Y.nnz) < p[Y.indices])
    left.eliminate_zeros()
    return left


def precisions(values: Any, hidden: Any, n_hidden: int) -> list[float]:
    """Return the share of hidden pairs among the first, and among as many as hidden."""
    stored = values.tocoo()
    order = np.argsort(-stored.data, kind="stable")[:n_hidden]
    hits = np.asarray(hidden[stored.row[order], stored.col[order]]).ravel() > 0
    return [hits[:N_FIRST].mean(), hits.sum() / n_hidden]


def show_found(name: str, how: str, X: Any, Y: Any, p: np.ndarray) -> Any:
    """Print how many hidden labels are found; return the audit, and all scores."""
    recorded, start = hide(Y, p), time.process_time()
    hidden, data = Y - recorded, ml.Dataset(X, recorded)
    learner = ml.choose(*X.shape, Y.shape[1], "fast").learner
    ranked = rank_unseen(learner, X, recorded, 0)
    half = np.full(Y.shape[1], 0.5)
    audit = ml.Audit(data, half, suspect(ranked, recorded, half))
    seconds = time.process_time() - start
    alone = audit.suspicion.missing.copy()
    scores = np.asarray(ranked[alone.nonzero()]).ravel()
    alone.data = scores - scores.min() + 1
    rows = audit.sample(N_AUDITED).rows
    told = ml.Propensity.from_audit(recorded[rows], Y[rows], Y=recorded).values_
    law = ml.Propensity().fit(recorded).values_
    ways = [suspect(ranked, recorded, each).missing for each in (half, law, told)]
    rates = [100 * hidden.sum() / (np.prod(Y.shape) - recorded.nnz)]
    for values in (alone, *ways):
        rates += [100 * rate for rate in precisions(values, hidden, hidden.nnz)]
    cells = [f"{rates[0]:.2f}", *(f"{rate:.1f}" for rate in rates[1:])]
    expected = f"{ways[-1].sum():,.0f}"
    print_row(name, how, f"{hidden.nnz:,}", expected, *cells, f"{seconds:.0f}")
    return audit, ranked


def errors(values: np.ndarray, p: np.ndarray, Y: Any) -> list[float]:
    """Return the mean error over labels, and over their true occurrences."""
    away, counts = abs(values - p), Y.sum(axis=0)
    return [away.mean(), np.average(away, weights=counts)]


def show_errors(
    name: str, how: str, audit: Any, ranked: Any, Y: Any, p: np.ndarray
) -> None:
    """Print how far propensities are off."""
    recorded, rng = audit.data.Y, np.random.default_rng(0)
    guesses = {
        "the law": ml.Propensity().fit(recorded).values_,
        "mixture": ml.Propensity.mixture(recorded, ranked).values_,
    }
    for way, values in guesses.items():
        print_row(name, how, way, *(f"{e:.3f}" for e in errors(values, p, Y)), "")
    for size in SIZES:
        for way in ("drawn", "random"):
            found = []
            for seed in range(N_DRAWS):
                rows = audit.sample(size, random_state=seed).rows
                if way == "random":
                    rows = rng.permutation(Y.shape[0])[:size]
                told = ml.Propensity.from_audit(recorded[rows], Y[rows], Y=recorded)
                low, high = told.interval_
                inside = ((low <= p) & (p <= high)).mean()
                found.append([*errors(told.values_, p, Y), inside])
            mean = np.mean(found, axis=0)
            cells = (f"{mean[0]:.3f}", f"{mean[1]:.3f}", f"{100 * mean[2]:.0f} %")
            print_row(name, how, f"{size} rows, {way}", *cells)


def main() -> None:
    """Print two tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", nargs="*", default=SETS)
    parser.add_argument("--data", type=Path, default=FOLDER)
    parser.add_argument("--rows", type=int, default=10_000)
    given = parser.parse_args()
    parts = []
    print_head(
        *("data", "hidden", "labels hidden", "expected", "chance"),
        *(f"{way}, {n}" for way in WAYS for n in ("first 1,000", "all")),
        "CPU s",
    )
    for name in given.sets:
        X, Y = read(name, given.data, given.rows)
        law = recorded_law(Y.sum(axis=0), Y.shape[0], 0.55, 1.5)
        for how, p in (("random", np.full(Y.shape[1], KEPT)), ("law", law)):
            parts.append((name, how, *show_found(name, how, X, Y, p), Y, p))
    print()
    print_head("data", "hidden", "propensities by", "error", "by occurrence", "inside")
    for part in parts:
        show_errors(*part)


if __name__ == "__main__":
    main()
