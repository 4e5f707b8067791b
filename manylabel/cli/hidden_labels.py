"""Labels that were never recorded: which figures are worth believing.

Real data never shows the labels that its annotators left out. A made-up corpus does.
As a program it prints the figures for the seed that it is given.
"""

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from subprocess import DEVNULL, PIPE, Popen
from typing import TypeAlias

from manylabel.cli.console import percent, print_table, say

N_ROWS, K = 20_000, 3
# A law under which frequent labels are nearly always recorded and rare ones seldom,
# chosen so that the effect is plain. With many more rare labels the correction
# overshoots, as margins are poor probabilities there; the estimate stays right.
A, B = 0.9, 100.0
RECORDED = f"P@{K} on recorded labels"
ESTIMATED = f"raw PSP@{K} on recorded labels"
TRUE = f"P@{K} on complete labels"
Table: TypeAlias = dict[str, dict[str, float]]  # the figures of each model


@contextmanager
def judging(seed: int) -> Iterator[Callable[[], tuple[float, Table]]]:
    """Judge in a process beside this one, and return a way to wait for the figures.

    Kernels are compiled by one thread of a process: two have them in less time.
    """
    command = [sys.executable, "-m", __name__, str(seed)]
    with Popen(command, stdout=PIPE, stderr=DEVNULL) as process:

        def wait() -> tuple[float, Table]:
            printed, _ = process.communicate()
            if process.returncode:
                return judge(seed)  # which says what is wrong
            hidden, table = json.loads(printed)
            return hidden, table

        try:
            yield wait
        finally:
            process.kill()


def judge(seed: int) -> tuple[float, Table]:
    """Train on one half of a corpus; return what is hidden and figures on the other.

    A squared hinge tends to 2 q - 1, where q is the probability that a label is
    *recorded*. So (score + 1) / 2 / propensity estimates that it is *true*. The
    propensities come from the recorded labels of all rows and the constants of the
    law, never from the complete labels.
    """
    import numpy as np

    from manylabel.baselines import OneVsRest, Popularity
    from manylabel.data import make_corpus
    from manylabel.metrics import precision_at_k, psp_at_k
    from manylabel.propensity import Propensity

    corpus = make_corpus(
        n_rows=N_ROWS,
        n_features=300,
        n_labels=50,
        n_labels_per_row=8,
        skew=0.8,
        noise=0.5,
        propensity=(A, B),
        random_state=seed,
    )
    train, test = slice(N_ROWS // 2), slice(N_ROWS // 2, None)
    law = Propensity(a=A, b=B).fit(corpus.Y)
    popular = Popularity().fit(corpus.X[train], corpus.Y[train])
    linear = OneVsRest().fit(corpus.X[train], corpus.Y[train])
    margins = linear.decision_function(corpus.X[test])
    scores = {
        "popularity": popular.predict_topk(corpus.X[test], K),
        "one-vs-rest": margins,
        "one-vs-rest, corrected": np.maximum(margins + 1, 0) / 2 / law.values_,
    }
    recorded, complete = corpus.Y[test], corpus.complete[test]
    return 1 - corpus.Y.nnz / corpus.complete.nnz, {
        name: {
            RECORDED: precision_at_k(recorded, s, K),
            ESTIMATED: psp_at_k(recorded, s, K, propensity=law, normalised=False),
            TRUE: precision_at_k(complete, s, K),
        }
        for name, s in scores.items()
    }


def choices(table: Table) -> dict[str, str]:
    """Return the model that each column prefers."""
    return {column: _best(table, column) for column in (RECORDED, ESTIMATED, TRUE)}


def show(table: Table, hidden: float) -> None:
    """Print the figures, what they prefer and how far off they are."""
    preferred = choices(table)
    heads = [c.replace(" on ", ", ").removesuffix(" labels") for c in preferred]
    print_table(
        ["percent", *heads],
        ([name, *map(percent, row.values())] for name, row in table.items()),
        title=f"{N_ROWS // 2:,} rows to train on, as many to judge by, {hidden:.0%} of "
        "the true labels hidden:",
        numbers=heads,
    )
    say(_moral(table, preferred))


def _best(table: Table, column: str) -> str:
    return max(table, key=lambda name: table[name][column])


def _moral(table: Table, preferred: dict[str, str]) -> str:
    """Say what each column prefers, and how far it is from the truth."""
    off = {
        column: percent(max(abs(row[column] - row[TRUE]) for row in table.values()))
        for column in preferred
    }
    return (
        f"P@{K} on recorded labels prefers {preferred[RECORDED]}; it is up to "
        f"{off[RECORDED]} points off the truth.\n"
        f"PSP@{K} on the same labels prefers {preferred[ESTIMATED]}; it is within "
        f"{off[ESTIMATED]}.\n"
        f"P@{K} on complete labels, the truth, prefers {preferred[TRUE]}."
    )


if __name__ == "__main__":
    print(json.dumps(judge(int(sys.argv[1]))))
