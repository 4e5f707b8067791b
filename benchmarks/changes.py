"""What each of our choices in CS-DPP does: the loss with one of them undone.

At 25 % of the labels, PBT, on the streams of ``benchmarks.streams``. The default takes
the labels most frequent first, rows scaled to [0, 1] with a constant feature, the
strongest directions, and an online PCA that starts empty.
"""

import numpy as np
import scipy.sparse as sp
from sklearn.preprocessing import normalize

import manylabel as ml
from benchmarks import published
from benchmarks.streams import (
    COSTS,
    SETS,
    options,
    print_head,
    print_row,
    read_raw,
    read_scaled,
)

SHARE = 0.25


class RandomStart(ml.CSDPP):
    """CS-DPP whose online PCA starts with random directions of equal weight."""

    def _start(self, n_features: int, n_labels: int) -> None:
        super()._start(n_features, n_labels)
        pca, size = self.state_.pca, len(self.state_.picked) + 1
        draws = np.random.default_rng(0).standard_normal((n_labels, size))
        pca.block[:size] = np.linalg.qr(draws)[0].T
        np.fill_diagonal(pca.mix[:size], 1.0)
        pca.sigma[:size] = (size - 1) / size
        pca.sizes[:2] = size


VARIANTS = {
    "default": {},
    "labels as given": {"order": "given"},
    "labels at random": {"order": "random"},
    "raw rows": {"rows": "raw"},
    "rows of length 1": {"rows": "unit"},
    "no constant": {"fit_intercept": False},
    "raw rows, no constant": {"rows": "raw", "fit_intercept": False},
    "sampled directions": {"selection": "sampled"},
    "random start": {"kind": RandomStart},
}


def loss(
    rows: dict[str, np.ndarray], Y: sp.csr_array, cost: str, variant: dict, **run: int
) -> float:
    parameters = {"kind": ml.CSDPP, "rows": "scaled"} | variant
    X, kind = rows[parameters.pop("rows")], parameters.pop("kind")
    learner = kind(cost=cost, n_components=SHARE, **parameters)
    return ml.progressive(learner, X, Y, costs=[cost], random_state=0, **run).mean[cost]


def main() -> None:
    arguments = options(__doc__, SETS[:-1]).parse_args()
    print_head("data", "loss", "published", *VARIANTS)
    ratios = []
    for name in arguments.sets:
        X, Y = read_raw(name, arguments.data)
        scaled, _ = read_scaled(name, arguments.data)
        rows = {"raw": X, "scaled": scaled, "unit": normalize(X)}
        for number, cost in enumerate(COSTS):
            found = [
                loss(
                    *(rows, Y, cost, variant),
                    permutations=arguments.permutations,
                    n_jobs=arguments.jobs,
                )
                for variant in VARIANTS.values()
            ]
            aim = published.PBT[name, SHARE][number]
            print_row(name, cost, f"{aim:.4f}", *(f"{value:.4f}" for value in found))
            ratios.append(np.array(found) / found[0])
    means = np.exp(np.mean(np.log(ratios), axis=0))
    print_row("all, times the default", "", "", *(f"{mean:.3f}" for mean in means))


if __name__ == "__main__":
    main()
