"""How figures and the order of models depend on propensities that nobody knows."""

from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from manylabel import _validation
from manylabel._typing import Bools, Floats, MatrixLike
from manylabel.metrics import PSPAtK
from manylabel.propensity import Propensity, find_least

LAWS_A, LAWS_B = (0.0, 0.3, 0.55, 0.8, 1.1), (0.4, 1.5, 2.6)
FACTORS = (0.25, 0.5, 1.0, 2.0, 4.0)  # of the odds of being recorded
WITHIN = (0.0, 0.25, 0.5, 0.75, 1.0)  # from the lower to the upper ends of intervals


class Flip(NamedTuple):
    """Two models whose order depends on the propensities."""

    usual: str  # is ahead under more of the settings
    other: str  # is ahead under these
    settings: tuple[str, ...]


class Sensitivity:
    """PSP@k of several models under several propensities.

    Parameters
    ----------
    settings : tuple of str
        The propensities, in words; the last is 1 for all labels.
    figures : mapping of str to ndarray of shape (n_settings,)
        PSP@k of each model, as a fraction.
    is_possible : ndarray of shape (n_settings,)
        Whether as many labels can have been recorded as there are.
    k : int
        Ranking depth.

    Examples
    --------
    >>> from manylabel import sensitivity
    >>> Y = [[1, 0], [1, 0], [0, 1]]
    >>> often, seldom = [[0.9, 0.1]] * 3, [[0.1, 0.9]] * 3
    >>> scores = {"often": often, "seldom": seldom}
    >>> found = sensitivity(Y, scores, propensity=[0.9, 0.2], k=1)
    >>> [(flip.other, flip.settings) for flip in found.flips]
    [('often', ('odds x 4', 'all recorded'))]
    """

    def __init__(
        self,
        settings: tuple[str, ...],
        figures: Mapping[str, Floats],
        is_possible: Bools,
        k: int,
    ) -> None:
        self.settings, self.figures = settings, dict(figures)
        self.is_possible, self.k = is_possible, k

    @property
    def rankings(self) -> list[list[str]]:
        """The models under each setting, the best first; equal ones as they came."""
        names, values = list(self.figures), np.array(list(self.figures.values()))
        order = np.argsort(-values, axis=0, kind="stable")
        return [[names[model] for model in column] for column in order.T]

    @property
    def flips(self) -> list[Flip]:
        """The pairs of models whose order is not the same wherever it is possible."""
        found = []
        for one, other in combinations(self.figures, 2):
            gap = self.figures[one] - self.figures[other]
            ahead, behind = (
                tuple(np.array(self.settings)[side & self.is_possible].tolist())
                for side in (gap > 0, gap < 0)
            )
            if ahead and behind:
                pair = (one, other, behind)
                if len(behind) > len(ahead):
                    pair = (other, one, ahead)
                found.append(Flip(*pair))
        return found

    def table(self) -> list[list[str]]:
        """Return a head, and a line for each setting, in percent."""
        rows = [["propensities", *self.figures, "best"]]
        for at, setting in enumerate(self.settings):
            figures = [f"{100 * values[at]:.2f}" for values in self.figures.values()]
            most = max(values[at] for values in self.figures.values())
            best = " = ".join(n for n, v in self.figures.items() if v[at] == most)
            if not self.is_possible[at]:
                best = "(contradicts the data)"
            rows.append([setting, *figures, best])
        return rows

    def __repr__(self) -> str:
        rows = self.table()
        rows[0][0] = f"PSP@{self.k}, percent"
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = [
            "  ".join(
                [head.ljust(widths[0]), *map(str.rjust, cells, widths[1:-1]), best]
            )
            for head, *cells, best in rows
        ]
        lines += [
            f"{flip.other} is ahead of {flip.usual} only for {'; '.join(flip.settings)}"
            for flip in self.flips
        ]
        return "\n".join(lines)


def sensitivity(
    Y: MatrixLike,
    scores: Mapping[str, MatrixLike],
    *,
    k: int = 5,
    propensity: Any = None,
    Y_train: MatrixLike | None = None,
) -> Sensitivity:
    """Judge models under a range of propensities, to see whether it matters which.

    Parameters
    ----------
    Y : array or sparse array of shape (n_rows, n_labels)
        Recorded labels of the rows to judge by, 0/1.
    scores : mapping of str to array or sparse array of shape (n_rows, n_labels)
        The scores of each model; see :func:`manylabel.evaluate`.
    k : int, default=5
        Ranking depth.
    propensity : Propensity, array of shape (n_labels,), float or None, default=None
        The middle of the range: from the lower to the upper ends of the intervals of an
        audit; else odds of being recorded from a quarter to four times these. None
        is laws of Jain et al. with a grid of ``a`` and ``b``.
    Y_train : array or sparse array of shape (n_train, n_labels) or None, default=None
        Recorded labels of training, by whose counts a law goes, and which propensities
        can contradict; None is ``Y``.

    Returns
    -------
    Sensitivity
        ``figures``, ``rankings`` and ``flips``; printed, a table. The last setting is
        that nothing is missing.

    Examples
    --------
    >>> import manylabel as ml
    >>> corpus = ml.make_corpus(n_rows=400, n_labels=20, random_state=0)
    >>> models = {"popular": ml.Popularity(), "learnt": ml.OneVsRest()}
    >>> scores = {
    ...     name: model.fit(corpus.X, corpus.Y).predict_topk(corpus.X, 5)
    ...     for name, model in models.items()
    ... }
    >>> found = ml.sensitivity(corpus.Y, scores, propensity=0.5)
    >>> {ranking[0] for ranking in found.rankings}, found.flips
    ({'learnt'}, [])
    """
    (depth,) = _validation.depths(k)
    Y = _validation.labels(Y)
    if not scores:
        raise ValueError("scores must be of at least one model. Got none.")
    train = Y if Y_train is None else _validation.labels(Y_train, n_labels=Y.shape[1])
    named = dict(_range(propensity, train))
    least = find_least(np.bincount(train.indices, minlength=Y.shape[1]), train.shape[0])
    figures = {
        name: np.array(
            [PSPAtK(depth, each).update(Y, matrix).value for each in named.values()]
        )
        for name, matrix in scores.items()
    }
    is_possible = np.array([(each >= least).all() for each in named.values()])
    return Sensitivity(tuple(named), figures, is_possible, depth)


def _range(propensity: Any, train: Any) -> Iterator[tuple[str, Floats]]:
    """Yield propensities with their names."""
    n_labels = train.shape[1]
    if propensity is None:
        for a in LAWS_A:
            for b in LAWS_B:
                yield f"a = {a:g}, b = {b:g}", Propensity(a=a, b=b).fit(train).values_
    elif getattr(propensity, "interval_", None) is not None:
        _validation.propensities(propensity, n_labels)
        low, high = propensity.interval_
        for share in WITHIN:
            yield f"{share:.0%} of the interval", low + share * (high - low)
    else:
        values = _validation.propensities(propensity, n_labels)
        for factor in FACTORS:
            odds = f"odds x {factor:g}"
            yield odds, 1 / (1 + (1 / values - 1) / factor)
    yield "all recorded", np.ones(n_labels)
