"""DPP beside online binary relevance when positives are hidden: Tables 9-11, Figure 1.

Each positive is hidden with the same probability, and rows are judged by what is left,
as in the paper. ``--plot`` draws the running Hamming loss of the first set where most
is hidden.
"""

import argparse
from pathlib import Path

import numpy as np
import scipy.sparse as sp

import manylabel as ml
from benchmarks import published
from benchmarks.streams import (
    SETS,
    options,
    print_head,
    print_row,
    read_scaled,
)
from manylabel.evaluation import Run
from manylabel.evaluation.plots import plot_runs

SHARES = (0.1, 0.25, 0.5)
HIDDEN = (0.3, 0.5, 0.7)
COSTS = ("hamming", "f1")


def runs(
    X: np.ndarray, Y: sp.csr_array, hide: float, arguments: argparse.Namespace
) -> dict[object, Run]:
    learners = {"O-BR": ml.OnlineBinaryRelevance()}
    learners |= {share: ml.CSDPP(n_components=share) for share in SHARES}
    return {
        name: ml.progressive(
            *(learner, X, Y),
            costs=COSTS,
            hide=hide,
            judge="observed",
            permutations=arguments.permutations,
            random_state=0,
            n_jobs=arguments.jobs,
        )
        for name, learner in learners.items()
    }


def title(learner: object) -> str:
    return learner if isinstance(learner, str) else f"DPP, M = {learner:.0%}"


def main() -> None:
    parser = options(__doc__, SETS[:-1])
    parser.add_argument("--plot", type=Path)
    arguments = parser.parse_args()
    print_head("data", "hidden", "loss", *map(title, ("O-BR", *SHARES)), "least")
    for name in arguments.sets:
        X, Y = read_scaled(name, arguments.data)
        for hide in HIDDEN:
            found = runs(X, Y, hide, arguments)
            for number, cost in enumerate(COSTS):
                theirs = published.NOISE[name, hide]
                cells = [
                    f"{run.mean[cost]:.4f} ± {run.stderr[cost]:.4f} "
                    f"({theirs[learner][number]})"
                    for learner, run in found.items()
                ]
                best = min(found, key=lambda learner: found[learner].mean[cost])
                print_row(name, f"{hide:.0%}", cost, *cells, title(best))
        if arguments.plot and name == arguments.sets[0]:
            lines = {title(learner): run for learner, run in found.items()}
            caption = f"{name}, {hide:.0%} of the positives hidden"
            plot_runs(lines, arguments.plot, cost="hamming", title=caption)


if __name__ == "__main__":
    main()
