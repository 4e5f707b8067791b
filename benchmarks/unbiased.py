"""Measures on recorded labels, and whether they rank forests as the truth does.

A generated corpus is the only kind of data whose complete labels are known. Labels are
hidden by the law of Jain et al. with more and more missing; three forests learn what is
left, with the propensities that the law gives for the counts they see. Each is judged
on other rows: by P@1 and PSP@1 on recorded labels, and by P@1 on the complete ones.
Means over corpora drawn from different seeds; the band in the plot is one standard
error.
"""

import argparse
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

import manylabel as ml

PLOT = Path(__file__).parents[1] / "docs" / "results" / "unbiased.png"
LAWS = (1.0, 0.75, 0.55, 0.4, 0.3)  # a of the law; less hides more
B, N_TRAIN, N_TEST = 1.5, 5_000, 5_000
FORESTS = {"FastXML": ml.FastXML, "PfastXML": ml.PfastXML, "PfastreXML": ml.PfastreXML}
JUDGES = ("P@1 recorded", "PSP@1 recorded", "P@1 complete")


def judge(a: float, seed: int, n_estimators: int) -> tuple[float, list[list[float]]]:
    """Return the share of labels hidden, and each forest's figures by each judge."""
    corpus = ml.make_corpus(
        n_rows=N_TRAIN + N_TEST,
        n_features=2_000,
        n_labels=300,
        n_labels_per_row=6,
        propensity=(a, B),
        random_state=seed,
    )
    train, test = slice(N_TRAIN), slice(N_TRAIN, None)
    law = ml.Propensity(a=a, b=B).fit(corpus.Y[train])
    figures = []
    for kind in FORESTS.values():
        given: dict[str, Any] = {} if kind is ml.FastXML else {"propensity": law}
        model = kind(n_estimators=n_estimators, n_jobs=2, random_state=seed, **given)
        model.fit(corpus.X[train], corpus.Y[train])
        best = model.predict_topk(corpus.X[test], k=1)
        seen = ml.evaluate(corpus.Y[test], best, k=1, propensity=law)
        truth = ml.evaluate(corpus.complete[test], best, k=1)
        figures.append([seen["P@1"], seen["PSP@1"], truth["P@1"]])
    return 1 - corpus.Y.nnz / corpus.complete.nnz, figures


def draw(hidden: np.ndarray, figures: np.ndarray) -> None:
    """Plot a panel for each judge, a line for each forest."""
    figure = Figure(figsize=(10, 3.4), layout="constrained")
    panels = figure.subplots(1, 3)
    mean, error = figures.mean(1), figures.std(1, ddof=1) / np.sqrt(figures.shape[1])
    for column, (panel, title) in enumerate(zip(panels, JUDGES, strict=True)):
        for row, name in enumerate(FORESTS):
            middle, band = mean[:, row, column], error[:, row, column]
            panel.plot(100 * hidden, 100 * middle, marker="o", label=name)
            low, high = 100 * (middle - band), 100 * (middle + band)
            panel.fill_between(100 * hidden, low, high, alpha=0.2)
        panel.set(title=title, xlabel="labels hidden, %")
        panel.grid(alpha=0.3)
    panels[0].set_ylabel("%")
    handles, names = panels[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=len(names))
    figure.savefig(PLOT, dpi=150)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--trees", type=int, default=25)
    given = parser.parse_args()
    hidden, figures = [], []
    print("hidden  " + "".join(f"{name:>34}" for name in JUDGES))
    print(" " * 8 + "".join(f"{name:>11}" for _ in JUDGES for name in FORESTS) + " ")
    for a in LAWS:
        runs = [judge(a, seed, given.trees) for seed in range(given.seeds)]
        hidden.append(np.mean([share for share, _ in runs]))
        figures.append([found for _, found in runs])
        by_judge = np.mean(figures[-1], axis=0).T
        cells = "".join(f"{100 * value:11.2f}" for value in by_judge.ravel())
        print(f"{100 * hidden[-1]:5.0f} % {cells}")
    draw(np.array(hidden), np.array(figures))
    print(f"plot in docs/{PLOT.name}")


if __name__ == "__main__":
    main()
