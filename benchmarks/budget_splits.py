"""A tree beside one linear classifier, over many splits of sets of two classes.

One split says little: 30 test rows of colon are wrong by 3.3 % each. So errors are
shown by their distribution over random splits, of the sizes that the sets came in, on
which all learners learn and are judged alike. ``arcene`` and ``madelon`` have features
of mean 0 and variance 1 among the training rows, ``colon`` rows. All learners choose
their parameters by 5-fold cross-validation of the training rows.

l2-SVM is scikit-learn's, SBT is ``BudgetedTree()``; "tree" may not fall back to a
linear classifier of all features, "tree, pair" is pruned by the paper's rule as well,
"tree, logistic" has that loss, "tree, linear leaves" an l2-SVM of all features in each
leaf, "tree, by node" chooses budget and planes anew in each node, by the rows that the
classifiers of its folds did not learn from, and "PAPER" has all the settings of the
paper.
"""

import argparse
import time
import warnings
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import load_svmlight_file
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.preprocessing import StandardScaler, scale
from sklearn.svm import LinearSVC

import manylabel as ml
from manylabel.budget._grower import Grower, Plan

FOLDER = Path(__file__).parents[1] / "../shared/data"
N_TEST = {"colon": 30, "pcmac": 389, "arcene": 100, "dorothea": 350, "madelon": 600}
FIRST = 100  # split: no choice of method was made on it or those that follow
BUDGETS, PLANES = (1, 5, 20, 100), (1, 10)
N_FOLDS = 5


class Outcome(NamedTuple):
    """A learner on a split: percent of test rows wrong, CPU seconds, its size."""

    error: float
    seconds: float
    depth: float
    n_features: float


class LinearLeaves(ml.BudgetedTree):
    """A tree whose leaves are linear classifiers of all features, not signs."""

    def fit(self, X: Any, y: Any) -> Self:
        """Grow the tree, then learn each leaf from the rows that end there."""
        super().fit(X, y)
        X, at, self.leaves_ = sp.csr_array(X), self._leaf_of(X), {}
        for leaf in np.unique(at):
            rows = np.flatnonzero(at == leaf)
            if np.bincount(y[rows], minlength=2).min() >= N_FOLDS:
                self.leaves_[leaf] = l2_svm().fit(X[rows], y[rows])
        return self

    def predict(self, X: Any) -> Any:
        """Answer by the classifier of a row's leaf, or by the leaf if it has none."""
        answers, X = super().predict(X), sp.csr_array(X)
        at = self._leaf_of(X)
        for leaf, model in self.leaves_.items():
            rows = np.flatnonzero(at == leaf)
            if len(rows):
                answers[rows] = model.predict(X[rows])
        return answers

    def _leaf_of(self, X: Any) -> Any:
        return self.tree_.leaves(sp.csr_array(X, dtype=np.float32))


class NodeGrower(Grower):
    """Grows a tree whose nodes each have the budget and planes that suit their rows."""

    def __init__(self, plan: Plan) -> None:
        n_features = plan.sides.X.shape[1]
        self.tried = [
            replace(plan, settings=plan.settings._replace(budget=b, max_planes=p))
            for b, p in product(sorted({min(b, n_features) for b in BUDGETS}), PLANES)
        ]
        super().__init__(self.tried[-1])  # which needs the most memory

    def _split(self, rows: Any, columns: Any, *, is_even: bool) -> Any:
        found, lost = [], []
        for plan in self.tried:
            self.plan = plan
            found.append(super()._split(rows, columns, is_even=is_even))
            lost.append(plan.sides.mass[rows][found[-1][1]].sum())
        return found[int(np.argmin(lost))]


class NodeTree(ml.BudgetedTree):
    """A tree that chooses its cost as a whole, and budget and planes in each node."""

    def _grow(self, plan: Plan) -> Any:
        return NodeGrower(plan).grow().prune()


def l2_svm() -> GridSearchCV:
    """Return the linear classifier that chooses C."""
    costs = {"C": [0.001, 0.01, 0.1, 5.0, 10.0]}  # section 8.1 of the paper
    return GridSearchCV(LinearSVC(dual="auto", random_state=0), costs, cv=N_FOLDS)


def learners() -> dict[str, Any]:
    return {
        "l2-SVM": l2_svm(),
        "SBT": ml.BudgetedTree(),
        "tree": ml.BudgetedTree(budget=BUDGETS),
        "tree, pair": ml.BudgetedTree(budget=BUDGETS, prune="pair"),
        "tree, logistic": ml.BudgetedTree(budget=BUDGETS, loss="logistic"),
        "tree, linear leaves": LinearLeaves(budget=BUDGETS),
        "tree, by node": NodeTree(budget=BUDGETS[-1], max_planes=PLANES[-1]),
        "PAPER": ml.BudgetedTree(**ml.BudgetedTree.PAPER),
    }


def load(name: str, folder: Path) -> tuple[Any, Any]:
    """Return all rows of a set, and their classes."""
    paths = sorted((folder / "binary").glob(f"{name}*.svm.gz"))
    if not paths:
        raise ValueError(f"--data must have binary/{name}*.svm.gz. Got {folder}.")
    n_features = max(load_svmlight_file(str(path))[0].shape[1] for path in paths)
    parts = [load_svmlight_file(str(path), n_features=n_features) for path in paths]
    X, y = sp.vstack([X for X, _ in parts], format="csr"), [y for _, y in parts]
    return scale(X.toarray(), axis=1) if name == "colon" else X, np.hstack(y) > 0


def draw(name: str, X: Any, y: Any, seed: int) -> list[Any]:
    """Return rows to learn from and to judge by, then their classes."""
    drawn = train_test_split(
        *(X, y), test_size=N_TEST[name], random_state=seed, stratify=y
    )
    if name in ("arcene", "madelon"):
        scaler = StandardScaler().fit(drawn[0].toarray())
        drawn[:2] = [scaler.transform(part.toarray()) for part in drawn[:2]]
    return list(drawn)


def judge(learner: Any, rows: list[Any]) -> Outcome:
    X, test_X, y, test_y = rows
    start = time.process_time()
    model = learner.fit(X, y)
    seconds = time.process_time() - start
    error = 100 * (1 - model.score(test_X, test_y))
    tree = isinstance(model, ml.BudgetedTree)
    size = len(model.selected_features_) if tree else model.n_features_in_
    return Outcome(error, seconds, model.depth_ if tree else 1, size)


def line(outcomes: list[Outcome], first: list[Outcome]) -> str:
    """Return the cells of a learner: its errors, then it beside the first learner."""
    errors, others = ([one.error for one in some] for some in (outcomes, first))
    more = np.subtract(errors, others)
    quartiles = " / ".join(f"{q:.1f}" for q in np.quantile(errors, np.arange(5) / 4))
    counts = [np.sum(more < 0), np.sum(more == 0), np.sum(more > 0)]
    seconds, depth, size = np.mean([one[1:] for one in outcomes], axis=0)
    mean_error = np.std(more, ddof=1) / np.sqrt(len(more)) if len(more) > 1 else 0.0
    return (
        f"{np.mean(errors):.2f} | {np.std(errors):.1f} | {quartiles} | "
        f"{np.mean(more):+.2f} ± {mean_error:.2f} | {' / '.join(map(str, counts))} | "
        f"{depth:.1f} | {size:,.0f} | {seconds:.1f}"
    )


def compare(name: str, folder: Path, n_splits: int, names: list[str]) -> None:
    """Print a row for each learner."""
    X, y = load(name, folder)
    found: dict[str, list[Outcome]] = {one: [] for one in names}
    for seed in range(FIRST, FIRST + n_splits):
        rows = draw(name, X, y, seed)
        for one in names:
            found[one].append(judge(learners()[one], rows))
    for one in names:
        print(f"| {name}, {n_splits} | {one} | {line(found[one], found[names[0]])} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", nargs="*", default=list(N_TEST))
    parser.add_argument("--data", type=Path, default=FOLDER)
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--learners", nargs="*", default=["l2-SVM", "SBT", "tree"])
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    print(
        "| set, splits | learner | error | sd | least / quartiles / most | more than "
        f"the {given.learners[0]} | less, as, more often | depth | features | s |\n"
        f"|{'---|' * 10}"
    )
    for name in given.sets:
        compare(name, given.data, given.splits, given.learners)


if __name__ == "__main__":
    main()
