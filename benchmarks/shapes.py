"""Is the paper's ranking ours too? Tables 12 and 15, which learner beats which.

First CS-DPP with its regressor turned along with the basis (PBT), made anew (PBC) or
left alone (none), for the cost it optimises. Then CS-DPP for each cost beside DPP and
two random codes: projections (O-RAND) and compressed sensing (O-CS), drawn anew for
each permutation. All run on the same streams; what was published is in brackets. The
last column names who should lose and does not, by how much on the mean of the paired
differences, and the standard error of that.
"""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

import manylabel as ml
from benchmarks import published
from benchmarks.streams import (
    COSTS,
    options,
    print_head,
    print_row,
    read_scaled,
)
from manylabel import parallel

ALL_COSTS = (*COSTS, "rank")
BASES = {"PBT": "transform", "PBC": "correct", "none": "unaligned"}
RIVALS = {
    "DPP": ml.CSDPP,
    "O-RAND": ml.OnlineRandomProjection,
    "O-CS": ml.OnlineCompressedSensing,
}
Losses = dict[str, np.ndarray]  # what, in each permutation
Pairs = list[tuple[str, str]]  # the first should lose less


class Study(NamedTuple):
    """A set of data, the share of its labels that a code has, and how often to run."""

    name: str
    X: np.ndarray
    Y: sp.csr_array
    share: float
    permutations: int
    jobs: int

    def losses(self, kind: type, costs: tuple[str, ...], **given: Any) -> Losses:
        """Return each cost in each permutation."""

        def once(seed: int) -> list[float]:
            learner = kind(n_components=self.share, random_state=seed, **given)
            stream = {"costs": costs, "permutations": 1, "random_state": seed}
            run = ml.progressive(learner, self.X, self.Y, **stream)
            return [run.mean[cost] for cost in costs]

        seeds = [(seed,) for seed in range(self.permutations)]
        found = np.array(parallel.run(once, seeds, self.jobs))
        return dict(zip(costs, found.T, strict=True))


def spread(values: np.ndarray) -> str:
    error = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
    return f"{values.mean():.4f} ± {error:.4f}"


def surprises(found: Losses, expected: Pairs, aims: dict[str, float]) -> str:
    """Name the pairs of which the first should have lost less than the second."""
    wrong = []
    for winner, loser in expected:
        margin = found[winner] - found[loser]
        too = winner in aims and aims[winner] >= aims[loser]
        if margin.mean() >= 0:
            source = " (as published)" if too else ""
            wrong.append(f"{winner} loses to {loser} by {spread(margin)}{source}")
    return ", ".join(wrong) or "none"


def print_losses(
    study: Study,
    cost: str,
    found: Losses,
    aims: dict[str, float],
    expected: Pairs,
) -> None:
    cells = [
        spread(values) + (f" ({aims[k]:.4f})" if k in aims else "")
        for k, values in found.items()
    ]
    wrong = surprises(found, expected, aims)
    print_row(study.name, f"{study.share:.0%}", cost, *cells, wrong)


def compare_bases(study: Study) -> None:
    theirs = published.BASES[study.name, study.share]
    for number, cost in enumerate(COSTS):
        found = {
            title: study.losses(ml.CSDPP, (cost,), cost=cost, basis=basis)[cost]
            for title, basis in BASES.items()
        }
        aims = {title: theirs[basis][number] for title, basis in BASES.items()}
        expected = [("PBT", "none"), ("PBC", "none")]
        print_losses(study, cost, found, aims, expected)


def compare_codes(study: Study) -> None:
    theirs = published.CODES[study.name] if study.share == published.CODES_SHARE else {}
    rivals = {rival: study.losses(kind, ALL_COSTS) for rival, kind in RIVALS.items()}
    for cost in ALL_COSTS:
        ours = study.losses(ml.CSDPP, (cost,), cost=cost)
        found = {"CS-DPP": ours[cost]} | {k: v[cost] for k, v in rivals.items()}
        aims = {}
        if cost in COSTS:
            aims = {k: values[COSTS.index(cost)] for k, values in theirs.items()}
        expected = [(a, b) for a in ("CS-DPP", "DPP") for b in ("O-RAND", "O-CS")]
        if cost != "hamming":  # for which CS-DPP is DPP
            expected.append(("CS-DPP", "DPP"))
        print_losses(study, cost, found, aims, expected)


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--share", type=float, choices=(0.1, 0.25, 0.5), default=0.1)
    arguments = parser.parse_args()
    for compare, titles in (
        (compare_bases, tuple(BASES)),
        (compare_codes, ("CS-DPP", *RIVALS)),
    ):
        print_head("data", "M", "loss", *titles, "not as expected")
        for name in arguments.sets:
            X, Y = read_scaled(name, arguments.data)
            how = arguments.share, arguments.permutations, arguments.jobs
            compare(Study(name, X, Y, *how))
        print()


if __name__ == "__main__":
    main()
