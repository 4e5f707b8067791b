"""How learners do on the validation set, and which of them are kept."""

from collections.abc import Sequence
from typing import Annotated, NamedTuple

import numpy as np

from manylabel._typing import Array, Floats
from manylabel.blend._weights import TILTS, Judge, Point, best_point, climb
from manylabel.persistence.records import Field, Finite, Values, Within

TAILS = (0.025, 0.975)  # of the rows drawn again: a 95 % interval lies between


class Trial(NamedTuple):
    """What the validation set said; printed, it is in words.

    Attributes
    ----------
    names : ndarray of shape (n_tried,)
        Classes of the learners, those that were left out too, numbered where several
        share one.
    weights : ndarray of shape (n_tried,)
        Their weights, 0 for those left out.
    gains : ndarray of shape (n_tried,)
        What the blend loses without the learner, as a share of the metrics: 0.01 is
        one percent. Of a learner left out, what it would have added.
    errors : ndarray of shape (n_tried,)
        Standard errors of the gains.
    metrics : ndarray of shape (n_metrics,)
        Names of the metrics.
    figures : ndarray of shape (n_metrics, 3)
        The value that the blend has in each metric, and the ends of its 95 % interval.
    """

    names: Annotated[Array, Values("n_tried", "U")]
    weights: Annotated[Floats, Field("float64", "n_tried", Within(0, 1))]
    gains: Annotated[Floats, Field("float64", "n_tried", Finite())]
    errors: Annotated[Floats, Field("float64", "n_tried", Finite(least=0))]
    metrics: Annotated[Array, Values("n_metrics", "U")]
    figures: Annotated[Floats, Field("float64", "n_metrics, 3", Finite())]

    def followed_by(self, later: "Trial") -> "Trial":
        """Return it with what a later trial says of the learners that were kept."""
        kept, names = self.weights > 0, ("weights", "gains", "errors")
        merged = {name: getattr(self, name).copy() for name in names}
        for name in names:
            merged[name][kept] = getattr(later, name)
        return later._replace(names=self.names, **merged)

    def learners(self) -> dict[str, str]:
        """Return in words how each learner does, by its name."""
        lines = zip(*self[:4], strict=True)
        return {
            str(name): f"weight {weight:.2f}, gain {gain:+.4f} +- {error:.4f}"
            for name, weight, gain, error in lines
        }

    def validation(self) -> dict[str, str]:
        """Return in words how the blend does, by metric."""
        lines = zip(self.metrics, self.figures, strict=True)
        return {
            str(name): f"{value:.4f} ({low:.4f} to {high:.4f})"
            for name, (value, low, high) in lines
        }

    def text(self) -> str:
        """Return it in words, a line for each learner and each metric."""
        lines = self.learners() | self.validation()
        width = max(map(len, lines))
        return "\n".join(f"{name:{width}}  {words}" for name, words in lines.items())

    def __str__(self) -> str:
        return self.text()


def try_learners(judge: Judge, names: Sequence[str]) -> tuple[Trial, float]:
    """Return how learners do together, and the best tilt; some are left out.

    One after another, the learner of the least gain goes, as long as a gain is not
    above its standard error (the rule of one standard error of Breiman, Friedman,
    Olshen & Stone, "Classification and Regression Trees", 1984, section 3.4.3).
    """
    kept = list(range(len(names)))
    gains, point = np.empty((len(names), 2)), best_point(judge, kept)
    while True:
        rivals = {learner: _without(judge, point, kept, learner) for learner in kept}
        for learner, rival in rivals.items():
            gains[learner] = judge.gain(point, rival)
        idle = [learner for learner in kept if gains[learner, 0] <= gains[learner, 1]]
        if not idle or len(kept) == 1:
            break
        worst = min(idle, key=lambda learner: gains[learner, 0])
        kept.remove(worst)
        point = rivals[worst] or point
    weights, tilt = point
    ends = np.quantile(judge.resampled(point), TAILS, axis=0)
    trial = Trial(
        np.array(names, str),
        np.array(weights) / sum(weights),
        gains[:, 0].copy(),
        gains[:, 1].copy(),
        np.array(judge.names, str),
        np.ascontiguousarray(np.vstack([judge.values(point), ends]).T),
    )
    return trial, tilt


def _without(
    judge: Judge, point: Point, kept: Sequence[int], learner: int
) -> Point | None:
    """Return the best point that leaves a learner out; None if it is the last."""
    others = [each for each in kept if each != learner]
    if not others:
        return None
    weights, tilt = np.array(point[0]), point[1]
    weights[learner] = 0
    if not weights.any():
        return best_point(judge, others)
    shares = tuple((weights / weights.sum()).round(6).tolist())
    # Without the learner, another tilt may be far better.
    start = max(((shares, each) for each in (tilt, *TILTS)), key=judge)
    return climb(judge, start, others)
