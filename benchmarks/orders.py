"""How much the order of the labels matters to CS-DPP: Tables 6-8 and 18.

The cost is decomposed label by label, so the order counts. As in the paper the rows
keep one order, that of their files, train rows first, and the labels are taken in 50
random orders, each the same through the stream; beside them the default, most frequent
first by the counts so far, and what was published for random orders. ``--shuffled``
takes the rows in one random order instead: some files are sorted by label.
"""

import numpy as np
import scipy.sparse as sp

import manylabel as ml
from benchmarks import published
from benchmarks.streams import (
    COSTS,
    SETS,
    options,
    print_head,
    print_row,
    read_scaled,
)
from manylabel import parallel

SHARES = (0.1, 0.25, 0.5)


def loss(X: np.ndarray, Y: sp.csr_array, cost: str, share: float, order: str) -> float:
    learner = ml.CSDPP(cost=cost, n_components=share, order=order)
    return ml.progressive(learner, X, Y, costs=[cost]).mean[cost]


def aim(name: str, share: float, cost: str) -> str:
    if cost not in COSTS:
        return ""
    return f"{published.ORDERS[name, share][COSTS.index(cost)]:.4f}"


def main() -> None:
    parser = options(__doc__, SETS[:-1])
    parser.add_argument("--orders", type=int, default=50)
    parser.add_argument("--shares", type=float, nargs="+", default=SHARES)
    parser.add_argument("--costs", nargs="+", default=("f1", "accuracy"))
    parser.add_argument("--shuffled", action="store_true")
    arguments = parser.parse_args()
    print_head(
        *("data", "M", "loss", "published mean", "our mean ± sd", "least"),
        *("most", "most frequent first", "orders that beat it"),
    )
    for name in arguments.sets:
        X, Y = read_scaled(name, arguments.data)
        rng = np.random.default_rng(0)
        if arguments.shuffled:
            rows = rng.permutation(len(X))
            X, Y = X[rows], Y[rows]
        columns = [rng.permutation(Y.shape[1]) for _ in range(arguments.orders)]
        for share in arguments.shares:
            for cost in arguments.costs:
                tasks = [(X, Y[:, order], cost, share, "given") for order in columns]
                found = np.array(parallel.run(loss, tasks, arguments.jobs))
                default = loss(X, Y, cost, share, "frequent")
                print_row(
                    *(name, f"{share:.0%}", cost, aim(name, share, cost)),
                    f"{found.mean():.4f} ± {found.std(ddof=1):.4f}",
                    *(f"{found.min():.4f}", f"{found.max():.4f}", f"{default:.4f}"),
                    f"{np.sum(found < default - 1e-9)} of {len(found)}",
                )


if __name__ == "__main__":
    main()
