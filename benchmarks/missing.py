"""What propensities win back when labels are missing, judged by the complete labels.

CS-DPP for F1, three times on the same permuted streams: learning from all labels, from
what is left of them, and from that with ``propensity=``. *Won back* is the part of the
F1 that missing labels cost: the mean over permutations, and its standard error. On
data sets each positive is hidden with the same probability, on the generated corpus by
the law of Jain et al., where ``"running"`` is told nothing.

``--held-out`` learns two thirds of the rows with 70 % of the labels hidden, drawn anew
for each seed, and judges the sets predicted for the others.
"""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import TfidfVectorizer

import manylabel as ml
from benchmarks.streams import options, print_head, print_row, read_scaled
from manylabel.losses.compared import Compared

SHARES = {"yeast": 0.5, "emotions": 0.5, "scene": 0.5, "CAL500": 0.1}
TEXTS = ("reuters90",)
HIDDEN = (0.7, 0.5, 0.3)
HELD_OUT = {"reuters90": 0.1, "debtags": 0.1, "tmc2007": 0.5}
N_WORDS, MOST_LABELS = 500, 200


class Stream(NamedTuple):
    """Rows, complete and recorded labels, how they are hidden, who learns."""

    X: Any
    complete: sp.csr_array
    recorded: sp.csr_array
    learner: dict[str, Any]
    hide: float
    propensities: dict[str, Any]

    def losses(
        self, *, hidden: bool = True, propensity: Any = None, **run: int
    ) -> np.ndarray:
        """Return the F1 loss in each permutation."""
        result = ml.progressive(
            ml.CSDPP(cost="f1", propensity=propensity, **self.learner),
            *(self.X, self.recorded if hidden else self.complete),
            complete=self.complete,
            costs=["f1"],
            hide=self.hide if hidden else 0.0,
            random_state=0,
            **run,
        )
        return result.running[:, -1, 0]


def read_texts(name: str, folder: Path) -> tuple[sp.csr_array, sp.csr_array]:
    """Return unit rows of TF-IDF words, train rows first, and labels."""
    train = ml.read(folder / "text" / name / "train.jsonl.gz")
    test = ml.read(
        folder / "text" / name / "test.jsonl.gz", label_names=train.label_names
    )
    words = TfidfVectorizer(max_features=20_000, sublinear_tf=True)
    X = words.fit_transform([*train.texts, *test.texts])
    return sp.csr_array(X), sp.vstack([train.Y, test.Y], format="csr")


def streams(name: str, folder: Path) -> list[Stream]:
    small = {"n_components": 0.1}
    if name == "corpus":
        corpus = ml.make_corpus()
        told = {"its law": corpus.propensity, "running": "running"}
        return [Stream(corpus.X, corpus.complete, corpus.Y, small, 0.0, told)]
    if name in TEXTS:
        X, Y = read_texts(name, folder)
        hidden, learner = HIDDEN[:1], small | {"regressor": "gradient"}
    else:
        X, Y = read_scaled(name, folder)
        hidden, learner = HIDDEN, {"n_components": SHARES[name]}
    return [
        Stream(X, Y, Y, learner, hide, {f"{1 - hide:.1f}": 1 - hide}) for hide in hidden
    ]


def read_few_words(name: str, folder: Path) -> tuple[sp.csr_array, sp.csr_array]:
    """Return rows of the 500 most frequent words, and the 200 most frequent labels."""
    parts = ("train", "test")
    if name == "tmc2007":
        read = [ml.read(folder / "xmc" / name / f"{part}.txt.gz") for part in parts]
        return tuple(
            sp.vstack([getattr(part, of) for part in read], format="csr")
            for of in ("X", "Y")
        )
    read = [ml.read(folder / "text" / name / f"{part}.jsonl.gz") for part in parts]
    words = TfidfVectorizer(max_features=N_WORDS, sublinear_tf=True)
    X = words.fit_transform([text for part in read for text in part.texts])
    order = np.argsort(-read[0].Y.sum(axis=0), kind="stable")[:MOST_LABELS]
    kept = {read[0].label_names[k]: place for place, k in enumerate(order)}
    labels = []
    for part in read:
        Y = part.Y.tocoo()
        place = np.array([kept.get(label, -1) for label in part.label_names])[Y.col]
        entries = (np.ones(len(place)), (Y.row, place))
        some = tuple(each[place >= 0] for each in (entries[0], *entries[1]))
        shape = (Y.shape[0], len(kept))
        labels.append(sp.csr_array((some[0], some[1:]), shape=shape))
    return sp.csr_array(X), sp.vstack(labels, format="csr")


def held_out_f1(X: Any, Y: sp.csr_array, share: float, seed: int) -> np.ndarray:
    """Return F1 by complete labels and those left, then corrected in three ways."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(X.shape[0])
    train, test = np.split(order, [2 * len(order) // 3])
    seen = sp.csr_array(Y[train])
    seen.data = seen.data * (rng.random(seen.nnz) >= HIDDEN[0])
    seen.eliminate_zeros()
    told = 1 - HIDDEN[0]
    tries = (
        *((Y[train], {}), (seen, {}), (seen, {"propensity": told})),
        (seen, {"propensity": told, "label_weights": "expected"}),
        (seen, {"propensity": "running"}),
    )
    found = []
    for labels, given in tries:
        learner = ml.CSDPP(cost="f1", n_components=share, **given)
        predicted = learner.fit(X[train], labels).predict(X[test])
        found.append(1 - ml.losses.F1().of_rows(Compared.of(Y[test], predicted)).mean())
    return np.array(found)


def judge_held_out(names: list[str], folder: Path, n_seeds: int) -> None:
    print_head(
        *("data", "M", "rows", "all labels", "those left", "corrected", "won back"),
        *("expected weights", "won back", '"running"', "won back"),
    )
    for name in names:
        share = (SHARES | HELD_OUT)[name]
        X, Y = (read_scaled if name in SHARES else read_few_words)(name, folder)
        X = sp.csr_array(X)
        F1 = np.array([held_out_f1(X, Y, share, seed) for seed in range(n_seeds)])
        won = (F1[:, 2:] - F1[:, 1:2]) / (F1[:, :1] - F1[:, 1:2])
        error = (
            won.std(axis=0, ddof=1) / np.sqrt(n_seeds) if n_seeds > 1 else [np.nan] * 3
        )
        mean = [f"{value:.4f}" for value in F1.mean(axis=0)]
        shares = [f"{w:.1%} ± {e:.1%}" for w, e in zip(won.mean(0), error, strict=True)]
        ways = [cell for pair in zip(mean[2:], shares, strict=True) for cell in pair]
        print_row(name, f"{share:.0%}", X.shape[0], *mean[:2], *ways)


def main() -> None:
    parser = options(__doc__, ())
    parser.add_argument("--text-permutations", type=int, default=3)
    parser.add_argument("--held-out", action="store_true")
    parser.add_argument("--seeds", type=int, default=5)
    arguments = parser.parse_args()
    if arguments.held_out:
        names = arguments.sets or [*SHARES, *HELD_OUT]
        judge_held_out(names, arguments.data, arguments.seeds)
        return
    print_head(
        *("data", "M", "hidden", "all labels", "those left", "propensity"),
        *("corrected", "won back"),
    )
    for name in arguments.sets or (*SHARES, *TEXTS, "corpus"):
        n = arguments.text_permutations if name in TEXTS else arguments.permutations
        run = {"permutations": n, "n_jobs": arguments.jobs}
        for stream in streams(name, arguments.data):
            best, worst = stream.losses(hidden=False, **run), stream.losses(**run)
            n_left = (1 - stream.hide) * stream.recorded.nnz
            for told, propensity in stream.propensities.items():
                found = stream.losses(propensity=propensity, **run)
                won = (worst - found) / (worst - best)
                error = won.std(ddof=1) / np.sqrt(n) if n > 1 else np.nan
                print_row(
                    *(name, f"{stream.learner['n_components']:.0%}"),
                    f"{1 - n_left / stream.complete.nnz:.0%}",
                    *(f"{best.mean():.4f}", f"{worst.mean():.4f}", told),
                    *(f"{found.mean():.4f}", f"{won.mean():.1%} ± {error:.1%}"),
                )


if __name__ == "__main__":
    main()
