"""``manylabel demo``: why labels that were never recorded must be reckoned with."""

import time
from typing import Any, TypeAlias

from manylabel.cli import options
from manylabel.cli.console import percent, print_json, print_table, say, status

N_ROWS, K = 20_000, 3
# A law under which frequent labels are nearly always recorded and rare ones seldom,
# chosen so that the effect is plain. With many more rare labels the correction
# overshoots, as margins are poor probabilities there; the estimate stays right.
A, B = 0.9, 100.0
RECORDED = f"P@{K} on recorded labels"
ESTIMATED = f"raw PSP@{K} on recorded labels"
TRUE = f"P@{K} on complete labels"
Table: TypeAlias = dict[str, dict[str, float]]  # the figures of each model


def demo(seed: options.Seed = 0, json: options.Json = False) -> None:
    """Judge models on a made-up corpus whose hidden labels are known.

    Real data never shows the labels that its annotators left out. The made-up corpus
    does, so one can see which figures on recorded labels are worth believing.

    Example: manylabel demo --seed 1
    """
    start = time.perf_counter()
    with status("Making a corpus, training and judging"):
        corpus, table = _judge(seed)
    hidden = 1 - corpus.Y.nnz / corpus.complete.nnz
    choices = {column: _best(table, column) for column in (RECORDED, ESTIMATED, TRUE)}
    if json:
        print_json({"hidden": hidden, "figures": table, "prefers": choices})
        return
    heads = [c.replace(" on ", ", ").removesuffix(" labels") for c in choices]
    print_table(
        ["percent", *heads],
        ([name, *map(percent, row.values())] for name, row in table.items()),
        title=f"{N_ROWS // 2:,} rows to train on, as many to judge by, {hidden:.0%} of "
        "the true labels hidden",
        numbers=heads,
    )
    say(_moral(table, choices))
    say(f"That took {time.perf_counter() - start:.1f} s.")


def _judge(seed: int) -> tuple[Any, Table]:
    """Train on one half of a corpus; return it and each model's figures on the other.

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
    return corpus, {
        name: {
            RECORDED: precision_at_k(recorded, s, K),
            ESTIMATED: psp_at_k(recorded, s, K, propensity=law, normalised=False),
            TRUE: precision_at_k(complete, s, K),
        }
        for name, s in scores.items()
    }


def _best(table: Table, column: str) -> str:
    return max(table, key=lambda name: table[name][column])


def _moral(table: Table, choices: dict[str, str]) -> str:
    """Say what each column prefers, and how far it is from the truth."""
    off = {
        column: percent(max(abs(row[column] - row[TRUE]) for row in table.values()))
        for column in choices
    }
    return (
        "".join(f"{column} prefers {best}.\n" for column, best in choices.items())
        + f"The last is the truth. The first is up to {off[RECORDED]} points off it, "
        f"the second {off[ESTIMATED]}, though it saw no more labels than the first.\n"
        "The correction divides a label's chance to be recorded by its propensity, "
        "which is\nfitted to the recorded labels with the constants of the law known."
    )
