"""How much the order of the labels matters to CS-DPP: Tables 6-8 and 18.

The cost is decomposed label by label, so the order counts. As in the paper the rows
keep the order of their files, train rows first, and the labels are taken in 50 random
orders, the same through the stream; beside them the default, most frequent first by
the counts so far, and the mean over random orders that was published.
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


def loss(X: np.ndarray, Y: sp.csr_array, cost: str, share: float, order: str) -> float:
    learner = ml.CSDPP(cost=cost, n_components=share, order=order)
    return ml.progressive(learner, X, Y, costs=[cost]).mean[cost]


def main() -> None:
    parser = options(__doc__, SETS[:-1])
    parser.add_argument("--orders", type=int, default=50)
    parser.add_argument("--shares", type=float, nargs="*", default=(0.1, 0.25, 0.5))
    arguments = parser.parse_args()
    print_head(
        *("data", "M", "loss", "published mean ± sd", "our mean ± sd", "least"),
        *("most", "most frequent first", "orders that beat it"),
    )
    rng = np.random.default_rng(0)
    for name in arguments.sets:
        X, Y = read_scaled(name, arguments.data)
        shuffled = [Y[:, rng.permutation(Y.shape[1])] for _ in range(arguments.orders)]
        for share in arguments.shares:
            for cost in (*COSTS, "rank"):
                tasks = [(X, labels, cost, share, "given") for labels in shuffled]
                found = np.array(parallel.run(loss, tasks, arguments.jobs))
                default = loss(X, Y, cost, share, "frequent")
                theirs = dict(zip(COSTS, published.ORDERS[name, share], strict=True))
                mean, deviation = theirs.get(cost, (np.nan, np.nan))
                print_row(
                    *(name, f"{share:.0%}", cost),
                    f"{mean:.4f} ± {deviation:.4f}" if cost in theirs else "",
                    f"{found.mean():.4f} ± {found.std(ddof=1):.4f}",
                    *(f"{found.min():.4f}", f"{found.max():.4f}", f"{default:.4f}"),
                    np.sum(found < default - 1e-9),
                )


if __name__ == "__main__":
    main()
