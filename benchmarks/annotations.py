"""Trees over labels beside binary relevance and the label powerset.

F1, P@k and rows/s on sets with test rows of their own (``python -m benchmarks
reproduce budgeted-trees table-8`` has those of the paper). BR is ``OneVsRest``, LP
``LabelPowerset``, all by default. PT and AT choose C and budget in ``fit``, and follow
a single path, as in the paper; "f1" prices their decisions, "beam" follows 10 paths,
with a threshold chosen for F1.
"""

import argparse
import time
from pathlib import Path
from typing import Any

import manylabel as ml

FOLDER = Path(__file__).parents[1] / "../shared/data"
SLOW = ("BR", "LP", "AT beam")  # whose rows/s are those of 500 rows


def learners() -> dict[str, Any]:
    at, pt, soft = ml.AnnotationTree, ml.PowersetTree, {"cost": "f1", "beam": 10}
    return {
        "BR": ml.OneVsRest(),
        "LP": ml.LabelPowerset(),
        "PT": pt(),
        "AT": at(),
        "PT f1": pt(cost="f1"),
        "AT f1": at(cost="f1"),
        "PT beam": pt(**soft),
        "AT beam": at(**soft),
        "FastXML": ml.FastXML(),
    }


def rows_per_second(task: Any, X: Any) -> float:
    """Return the rows of a CPU second, the best of nine."""
    times = []
    for _ in range(9):
        start = time.process_time()
        task(X)
        times.append(time.process_time() - start)
    return float(X.shape[0] / min(times))


def chosen(model: Any) -> str:
    """Name what a tree chose in ``fit``."""
    if not hasattr(model, "budget_"):
        return ""
    return f" (C = {model.C_:g}, {model.budget_} features)"


def split(name: str, folder: Path, who: list[str]) -> None:
    """Print F1, P@k and rows/s of each learner."""
    train, test = (
        ml.read(folder / "xmc" / name / f"{part}.txt.gz") for part in ("train", "test")
    )
    print(f"{name}: {len(train)} rows, {train.n_labels} labels")
    for learner in who:
        model = learners()[learner]
        start = time.process_time()
        model.fit(train.X, train.Y)
        training = time.process_time() - start
        few = test.X[:500] if learner in SLOW else test.X
        sets = model.predict(test.X)
        given, right = (one.sum() / len(test) for one in (sets, sets.multiply(test.Y)))
        best = model.predict_topk(test.X, k=5)
        report = ml.evaluate(test.Y, best, predictions=sets, k=(1, 3, 5))
        precision = " / ".join(f"{100 * report[f'P@{k}']:.1f}" for k in (1, 3, 5))
        speed = rows_per_second(model.predict, few)
        print(
            f"  {learner:8} {training:.0f} s, F1 {1 - report['f1']:.3f} "
            f"({right:.2f} of {given:.2f} labels a row are right), "
            f"P@k {precision}, {speed:,.0f} rows/s{chosen(model)}",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", nargs="*", default=["debtags", "depends"])
    parser.add_argument("--data", type=Path, default=FOLDER)
    parser.add_argument("--learners", nargs="*", default=list(learners()))
    given = parser.parse_args()
    for name in given.sets:
        split(name, given.data, given.learners)


if __name__ == "__main__":
    main()
