"""Several predictions for the same rows side by side."""

from collections.abc import Iterable, Mapping
from numbers import Integral
from typing import Any, NamedTuple

from sklearn.utils import check_scalar

from manylabel._typing import MatrixLike, RandomState
from manylabel.evaluation.batch import COSTS, is_binary_dtype
from manylabel.evaluation.bootstrap import RowwiseEvaluation, interval
from manylabel.evaluation.judgement import doubt_scores, refuse_model
from manylabel.evaluation.report import Report
from manylabel.losses import CostLike
from manylabel.parallel import spawn_seeds


class Difference(NamedTuple):
    """How far a figure is above that of the first model, with a 95 % interval."""

    value: float
    low: float
    high: float


class Comparison:
    """Reports by name, and how each differs from the first.

    Parameters
    ----------
    reports : mapping of str to Report
        The figures of each model.
    differences : mapping of str to mapping of str to Difference
        By model, all but the first, and figure. Figures over labels, coverage@k and
        macro-F1, are no sums over rows and have none.

    Examples
    --------
    >>> from manylabel import compare
    >>> Y, a, b = [[1, 0], [1, 0]], [[0.9, 0.1], [0.1, 0.9]], [[0.9, 0.1], [0.9, 0.1]]
    >>> found = compare(Y, {"a": a, "b": b}, k=1)
    >>> print(repr(found).splitlines()[1])
    P@1          50.00  100.00  +50.00 (+0.00 to +100.00)
    """

    def __init__(
        self,
        reports: Mapping[str, Report],
        differences: Mapping[str, Mapping[str, Difference]],
    ) -> None:
        self.reports, self.differences = dict(reports), dict(differences)

    @classmethod
    def of(
        cls,
        evaluations: Mapping[str, RowwiseEvaluation],
        *,
        n_resamples: int = 1000,
        random_state: RandomState = 0,
    ) -> "Comparison":
        """Compare evaluations of the same rows in the same order."""
        check_scalar(n_resamples, "n_resamples", Integral, min_val=1)
        n_rows = {each.n_rows for each in evaluations.values()}
        if len(n_rows) != 1 or not min(n_rows):
            raise ValueError("Models must be judged on the same rows, at least one.")
        (seed,) = spawn_seeds(random_state, 1)
        reports = {name: each.report() for name, each in evaluations.items()}
        first, *others = evaluations
        if not others:
            return cls(reports, {})
        base = evaluations[first].resampled(n_resamples, seed)
        differences = {}
        for name in others:
            drawn = evaluations[name].resampled(n_resamples, seed)
            differences[name] = {
                key: Difference(
                    reports[name][key] - reports[first][key],
                    *interval(drawn[key] - base[key]),
                )
                for key in base
            }
        return cls(reports, differences)

    def table(self, names: Mapping[str, str], *, losses: bool) -> list[list[str]]:
        """Return a head, and a line for each score, or each loss, in percent.

        ``names`` are those of the models.
        """
        first, others = next(iter(self.reports)), self.differences
        differences = (f"{names[each]} - {names[first]}" for each in others)
        rows = [["percent", *map(names.__getitem__, self.reports), *differences]]
        for key in self.reports[first].keys_of(losses=losses):
            figures = [f"{100 * report[key]:.2f}" for report in self.reports.values()]
            found = [each.get(key) for each in others.values()]
            rows.append([key, *figures, *map(_cell, found)])
        return rows

    def __repr__(self) -> str:
        names = {name: name for name in self.reports}
        head, *scores = self.table(names, losses=False)
        _, *losses = self.table(names, losses=True)
        rows = [head, *scores, *([f"{key} (loss)", *cells] for key, *cells in losses)]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        return "\n".join(
            "  ".join([head.ljust(widths[0]), *map(str.rjust, cells, widths[1:])])
            for head, *cells in rows
        )


def compare(
    Y: MatrixLike,
    scores: Mapping[str, MatrixLike],
    *,
    k: int | tuple[int, ...] = (1, 3, 5),
    propensity: Any = None,
    predictions: Mapping[str, MatrixLike] | None = None,
    costs: Iterable[CostLike] = COSTS,
    n_resamples: int = 1000,
    random_state: RandomState = 0,
) -> Comparison:
    """Judge several models on the same rows, with intervals for their differences.

    Rows are drawn again with replacement, the same for all models, and the figures
    taken over them (a paired bootstrap): an interval that leaves out 0 is a difference
    that other rows of the same kind would most likely show too. It says nothing about
    how a model would turn out if it was trained again.

    Parameters
    ----------
    Y : array or sparse array of shape (n_rows, n_labels)
        True labels, 0/1.
    scores : mapping of str to array or sparse array of shape (n_rows, n_labels)
        The scores of each model; see :func:`manylabel.evaluate`.
    k : int or tuple of int, default=(1, 3, 5)
        Ranking depths.
    propensity : Propensity, array of shape (n_labels,), float or None, default=None
        Probability that a true label is recorded; adds PSP@k and PSnDCG@k.
    predictions : mapping of str to array or sparse array or None, default=None
        0/1 predictions of each model, for the set metrics.
    costs : tuple of costs, default=("hamming", "f1", "accuracy", "rank", "subset")
        What 0/1 predictions are charged.
    n_resamples : int, default=1000
        How often rows are drawn.
    random_state : int, Generator, RandomState or None, default=0
        Seed of the draws.

    Returns
    -------
    Comparison
        ``reports`` by model, and ``differences`` to the first by model and figure:
        ``value``, and ``low`` and ``high`` of a 95 % interval.

    Examples
    --------
    >>> Y = [[1, 0], [0, 1], [1, 0], [0, 1]]
    >>> good = [[0.9, 0.1], [0.1, 0.9], [0.8, 0.2], [0.7, 0.3]]
    >>> bad = [[0.1, 0.9], [0.9, 0.1], [0.8, 0.2], [0.7, 0.3]]
    >>> comparison = compare(Y, {"bad": bad, "good": good}, k=1)
    >>> comparison.differences["good"]["P@1"]
    Difference(value=0.5, low=0.0, high=1.0)
    """
    if not isinstance(scores, Mapping):
        raise TypeError(
            "scores must be a dict of names and scores, a model each. "
            f"Got {type(scores).__name__}."
        )
    sets = predictions or {}
    if predictions is not None and set(predictions) != set(scores):
        raise ValueError(
            f"predictions must be of the models {', '.join(scores)}. "
            f"Got {', '.join(predictions)}."
        )
    for matrix in scores.values():
        refuse_model(matrix)
    options = {"k": k, "propensity": propensity, "costs": tuple(costs)}
    evaluations = {
        name: RowwiseEvaluation(**options).update(Y, matrix, sets.get(name))
        for name, matrix in scores.items()
    }
    if predictions is None:
        _refuse_mixed(scores)
    for matrix in scores.values():
        doubt_scores(matrix, k, has_sets=predictions is not None)
    return Comparison.of(
        evaluations, n_resamples=n_resamples, random_state=random_state
    )


def _refuse_mixed(scores: Mapping[str, MatrixLike]) -> None:
    """Refuse scores of some models beside 0/1 sets of others."""
    sets = [name for name, matrix in scores.items() if is_binary_dtype(matrix)]
    if 0 < len(sets) < len(scores):
        others = ", ".join(name for name in scores if name not in sets)
        raise ValueError(
            "scores must be scores of all models, or 0/1 sets of all. "
            f"Got sets of {', '.join(sets)} and scores of {others}."
        )


def _cell(difference: Difference | None) -> str:
    if difference is None:
        return "-"
    value, low, high = (100 * part for part in difference)
    return f"{value:+.2f} ({low:+.2f} to {high:+.2f})"
