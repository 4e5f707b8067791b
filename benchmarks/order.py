"""Why more rows of debtags can make a tagger worse: the file is sorted by name.

    python -m benchmarks.order --data ../shared/data

The last 3,000 packages are ranked by taggers of the first 4,000, of all rows before,
and of these without the libraries; then the same sizes of rows in random order.
"""

import argparse
from pathlib import Path
from typing import Any

import numpy as np

import manylabel as ml
from benchmarks.annotations import FOLDER

N_FEW, N_TEST = 4_000, 3_000


def main() -> None:
    """Fit, rank, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=FOLDER)
    data = ml.read(parser.parse_args().data / "text" / "debtags" / "train.jsonl.gz")
    assert data.texts is not None
    assert data.ids is not None
    names = data.labels.decode(data.Y)
    rows = np.array([n for n, each in enumerate(names) if each])
    is_library = np.array([data.ids[n].startswith("lib") for n in rows])
    mixed = np.random.default_rng(0).permutation(len(rows))
    print(f"libraries: {is_library.mean():.0%} of all, ", end="")
    print(f"{is_library[-N_TEST:].mean():.0%} of the last {N_TEST:,}")
    for what, order in (("by name", np.arange(len(rows))), ("at random", mixed)):
        before, test = order[:-N_TEST], order[-N_TEST:]
        parts = {"first 4,000": before[:N_FEW], "all before": before}
        parts["without libraries"] = before[~is_library[before]]
        for name, part in parts.items():
            value = rank(data.texts, names, rows[part], rows[test])
            print(f"{what:10} {name:18} {len(part):6,} rows  P@1 {value:.1f}")


def rank(texts: Any, names: list[list[str]], rows: Any, test: Any) -> float:
    """Return P@1 of some rows by a tagger of others, in percent."""
    tagger = ml.Tagger(ml.LabelTree(C=0.5))
    tagger.fit([texts[n] for n in rows], [names[n] for n in rows])
    found = tagger.tag_many([texts[n] for n in test], 1)
    hits = [best[0][0] in names[n] for best, n in zip(found, test, strict=True)]
    return 100 * float(np.mean(hits))


if __name__ == "__main__":
    main()
