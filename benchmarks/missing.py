"""What propensities win back when labels are missing, judged by the complete labels.

CS-DPP for F1, three times on the same permuted streams: learning from all labels, from
what is left of them, and from that with ``propensity=``. *Won back* is the part of the
F1 that missing labels cost: the mean over permutations, and its standard error. On
data sets each positive is hidden with the same probability, on the generated corpus by
the law of Jain et al., where ``"running"`` is told nothing.
"""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import TfidfVectorizer

import manylabel as ml
from benchmarks.streams import options, print_head, print_row, read_scaled

SHARES = {"yeast": 0.5, "emotions": 0.5, "scene": 0.5, "CAL500": 0.1}
TEXTS = ("reuters90",)
HIDDEN = (0.7, 0.5, 0.3)


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


def main() -> None:
    parser = options(__doc__, (*SHARES, *TEXTS, "corpus"))
    parser.add_argument("--text-permutations", type=int, default=3)
    arguments = parser.parse_args()
    print_head(
        *("data", "M", "hidden", "all labels", "those left", "propensity"),
        *("corrected", "won back"),
    )
    for name in arguments.sets:
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
