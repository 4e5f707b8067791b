"""Budgeted classifiers and trees: generated features, XOR, pcmac and colon.

Everything is drawn from the seeds given; times are CPU seconds of one thread.
"""

import argparse
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_svmlight_file
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.preprocessing import scale
from sklearn.svm import LinearSVC

import manylabel as ml

FOLDER = Path(__file__).parents[1] / "../shared/data"
PLOTS = Path(__file__).parents[1] / "docs"
PUBLISHED = {"pcmac": (7.47, 7.22), "colon": (20.00, 13.33)}  # l2-SVM, SBT
# Seeds that no choice of a parameter or of a method was made on: 0 and 1 served that.
FRESH = [10, 11, 12]
Curves = dict[str, tuple[Any, Any]]  # what is drawn, by name
COSTS = {"C": [0.001, 0.01, 0.1, 1, 10]}


def seconds(task: Callable[[], Any]) -> tuple[float, Any]:
    """Return the CPU seconds of a task, and its result."""
    start = time.process_time()
    result = task()
    return time.process_time() - start, result


def wide(n_rows: int, n_features: int, seed: int, n_values: int = 100) -> Any:
    """Return rows of Zipfian features, their classes, and the 50 features that count.

    These are drawn from the 700 most frequent ones, so that the others of these 700 are
    as hard to tell from them as can be.
    """
    rng = np.random.default_rng(seed)
    columns = (
        np.exp(rng.random((n_rows, n_values)) * np.log(n_features)).astype(int) - 1
    )
    values = rng.normal(size=columns.shape).astype(np.float32)
    starts = np.arange(n_rows + 1) * n_values
    X = sp.csr_array((values.ravel(), columns.ravel(), starts), (n_rows, n_features))
    X.sum_duplicates()
    informative = rng.choice(700, 50, replace=False)
    weights = np.zeros(n_features)
    weights[informative] = rng.choice([-1, 1], 50) * rng.uniform(1, 2, 50)
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return X, X @ weights + 0.3 * rng.normal(size=n_rows) > 0, informative


def chosen(models: list[Any], X: Any, y: Any) -> Any:
    """Return the model that errs least on the last fifth of the training rows."""
    cut = 4 * len(y) // 5
    scores = [m.fit(X[:cut], y[:cut]).score(X[cut:], y[cut:]) for m in models]
    return models[int(np.argmax(scores))]


def select_features(seeds: list[int]) -> None:
    """Compare with the l1-SVM on 20,000 rows of a million features.

    Both choose their parameters on training rows alone; the budgets come near 50
    features, the number that count, which the l1-SVM is not told.
    """
    sizes, train, test = [(10, 5), (5, 10), (6, 9), (5, 11)], slice(20_000), 20_000
    families = {
        "BAC": [
            ml.BudgetedClassifier(budget=b, max_planes=p, C=C, tol=1e-2)
            for b, p in sizes
            for C in (1.0, 10.0)
        ],
        "l1-SVM": [
            LinearSVC(penalty="l1", dual=False, C=C, random_state=0)
            for C in (0.003, 0.005, 0.01, 0.03, 0.1, 1.0)
        ],
    }
    for seed in seeds:
        X, y, informative = wide(25_000, 1_000_000, seed)
        for name, models in families.items():
            model = chosen(models, X[train], y[train])
            elapsed, _ = seconds(partial(model.fit, X[train], y[train]))
            found = sp.csr_array(model.coef_).nonzero()[1]
            hits = np.isin(found, informative).sum()
            error = 1 - model.score(X[test:], y[test:])
            print(
                f"  seed {seed} {name:7} {elapsed:5.2f} s  error {100 * error:5.2f} %  "
                f"{len(found):5} features, precision {hits / len(found):.2f}, "
                f"recall {hits / 50:.2f}  {model}",
                flush=True,
            )


def grow_wide(seed: int) -> None:
    """Time a fit as features and non-zeros grow tenfold."""
    for n_features, n_values in ((1, 100), (2, 200), (5, 500), (10, 1000)):
        X, y, _ = wide(20_000, n_features * 1_000_000, seed, n_values)
        elapsed, _ = seconds(
            lambda X=X, y=y: ml.BudgetedClassifier(budget=5, max_planes=10).fit(X, y)
        )
        print(f"  {n_features:3}e6 features, {X.nnz:9} values: {elapsed:6.2f} s")


def crossed(n_rows: int, n_noisy: int, rng: np.random.Generator) -> Any:
    """Return the XOR of the signs of two normal features, among uniform noise."""
    X = np.hstack([rng.normal(size=(n_rows, 2)), rng.random((n_rows, n_noisy))])
    return X.astype(np.float32), (X[:, 0] > 0) == (X[:, 1] > 0)


def cross(sizes: list[int], seeds: list[int]) -> None:
    """Draw Figure 4: error against the number of noisy features.

    The tree chooses its budget by cross-validation, as in the paper.
    """
    kinds, means = ("SBT", "BAC", "l2-SVM"), []
    for n_noisy in sizes:
        errors = []
        for seed in seeds:
            rng = np.random.default_rng(seed)
            X, y = crossed(10_000, n_noisy, rng)
            test = crossed(2_000, n_noisy, rng)
            tree = ml.BudgetedTree(max_planes=1, C=1.0, random_state=seed)
            svm = LinearSVC(dual=False)
            elapsed, _ = seconds(partial(tree.fit, X, y))
            models = (tree, ml.BudgetedClassifier().fit(X, y), svm.fit(X, y))
            errors.append([100 * (1 - m.score(*test)) for m in models])
            print(
                f"  {n_noisy:5} noisy, seed {seed}: {np.round(errors[-1], 2)}, budget "
                f"{tree.budget_}, depth {tree.depth_}, {elapsed:.0f} s",
                flush=True,
            )
        means.append(np.mean(errors, axis=0))
    curves = {
        k: (sizes, curve) for k, curve in zip(kinds, np.transpose(means), strict=True)
    }
    for name, (_, curve) in curves.items():
        print(f"  {name:7}" + "".join(f"{error:7.2f}" for error in curve))
    draw(PLOTS / "xor.png", "noisy features", {"XOR, 10,000 rows": curves})


def splits(name: str, folder: Path, repeats: int) -> Any:
    """Yield training and test rows: 80/20, of colon 32 and 30.

    Each row of colon, a tissue, is scaled to mean 0 and variance 1, for all methods.
    Cross-validation within training rows preferred this to the expressions as they are.
    """
    X, y = load_svmlight_file(str(folder / "binary" / f"{name}.svm.gz"))
    size: float = 0.2
    if name == "colon":
        X, size = scale(X.toarray(), axis=1), 30
    for seed in range(repeats):
        yield (
            seed,
            train_test_split(X, y, test_size=size, random_state=seed, stratify=y),
        )


def compare(name: str, folder: Path, repeats: int) -> None:
    """Print Table 5, and Table 4 for the same data and parameters."""
    rows = []
    for seed, (X, test_X, y, test_y) in splits(name, folder, repeats):
        svm = GridSearchCV(LinearSVC(random_state=0), COSTS, cv=5).fit(X, y)
        tree = ml.BudgetedTree(random_state=seed).fit(X, y)
        chosen = (tree.budget_, tree.max_planes_, tree.C_)
        whole = clone(tree).set_params(
            **dict(zip(("budget", "max_planes", "C"), chosen, strict=True)), prune=False
        )
        own = []
        for model in (tree, whole.fit(X, y)):
            own += [100 * (1 - model.score(test_X, test_y)), model.depth_]
        rows.append([100 * (1 - svm.score(test_X, test_y)), *own])
        print(f"  {name:6} {seed:2} {np.round(rows[-1], 2)} {chosen}", flush=True)
    mean, spread = np.mean(rows, axis=0), np.std(rows, axis=0)
    svm_paper, tree_paper = PUBLISHED[name]
    print(f"  {name:6} l2-SVM {mean[0]:5.2f} +- {spread[0]:.2f} (paper {svm_paper})")
    for label, at in (("pruned", 1), ("whole", 3)):
        print(
            f"  {name:6} SBT {label:6} {mean[at]:5.2f} +- {spread[at]:.2f}, "
            f"depth {mean[at + 1]:.1f} (paper {tree_paper})"
        )


def trade(name: str, folder: Path, repeats: int) -> Curves:
    """Print errors against numbers of selected features: the shape of Figure 5."""
    budgets, costs = (2, 5, 10, 25, 50, 100), (0.005, 0.02, 0.05, 0.1, 0.2, 1)
    tree = {"max_planes": 4, "C": 0.1, "random_state": 0}
    svm = {"penalty": "l1", "dual": False, "random_state": 0}
    models = {
        "SBT": [ml.BudgetedTree(budget=b, **tree) for b in budgets],
        "BAC": [ml.BudgetedClassifier(budget=b, max_planes=4, C=0.1) for b in budgets],
        "l1-SVM": [LinearSVC(C=c, **svm) for c in costs],
    }
    curves = {}
    for kind, some in models.items():
        points = []
        for model in some:
            pairs = []
            for _, (X, test_X, y, test_y) in splits(name, folder, repeats):
                model.fit(X, y)
                chosen = getattr(model, "selected_features_", None)
                size = np.count_nonzero(model.coef_) if chosen is None else len(chosen)
                pairs.append((size, 100 * (1 - model.score(test_X, test_y))))
            points.append(np.mean(pairs, axis=0))
        curves[kind] = tuple(np.transpose(points))
        print(
            f"  {name:6} {kind:7}" + "".join(f" {s:5.0f}: {e:5.2f}" for s, e in points),
            flush=True,
        )
    return curves


def draw(path: Path, label: str, panels: dict[str, Curves]) -> None:
    """Draw test errors, one panel beside the other."""
    from matplotlib import pyplot as plt
    from matplotlib.ticker import LogLocator

    size, styles = (5.2 * len(panels), 3.4), zip("os^", ("C0", "C1", "C2"), strict=True)
    figure, row = plt.subplots(
        1, len(panels), figsize=size, layout="constrained", squeeze=False
    )
    looks = [{"marker": m, "color": c, "linewidth": 1.8} for m, c in styles]
    for axes, (title, curves) in zip(row[0], panels.items(), strict=True):
        for (name, curve), look in zip(curves.items(), looks, strict=True):
            axes.plot(*curve, label=name, **look)
        axes.set(xscale="log", xlabel=label, ylabel="test error (%)", title=title)
        axes.set_ylim(0)
        axes.grid(color="0.9")
        axes.spines[["top", "right"]].set_visible(False)
        ticks = axes.xaxis
        ticks.set_major_locator(LogLocator(subs=(1, 2, 5)))
        ticks.set_major_formatter("{x:,.0f}")
        ticks.set_minor_formatter("")
        axes.legend(frameon=False)
    figure.savefig(path, dpi=120)
    plt.close(figure)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parts = ("features", "growth", "xor", "tables", "trade")
    parser.add_argument("parts", nargs="*", default=parts)
    parser.add_argument("--data", type=Path, default=FOLDER)
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--noisy", type=int, nargs="+", default=[200, 1_000, 5_000])
    parser.add_argument("--seeds", type=int, nargs="+", default=FRESH)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    X, y = crossed(50, 5, np.random.default_rng(0))
    for model in (ml.BudgetedClassifier(), ml.BudgetedTree()):
        model.fit(X, y).predict(X)  # compile
    tasks: dict[str, Callable[[], Any]] = {
        "features": lambda: select_features(given.seeds),
        "growth": lambda: grow_wide(seed=0),
        "xor": lambda: cross(given.noisy, given.seeds),
        "tables": lambda: [compare(n, given.data, given.repeats) for n in PUBLISHED],
        "trade": lambda: draw(
            PLOTS / "trade.png",
            "selected features",
            {n: trade(n, given.data, given.repeats) for n in PUBLISHED},
        ),
    }
    for part in given.parts:
        print(part)
        tasks[part]()


if __name__ == "__main__":
    main()
