"""Metrics by name, as scikit-learn's searches and cross-validations take them."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from manylabel._typing import Floats
from manylabel.losses import NAMED
from manylabel.metrics import as_metric, macro_f1, mean_cost, micro_f1
from manylabel.metrics.propensity import PropensityMetric
from manylabel.metrics.resolve import KINDS
from manylabel.propensity import Propensity, recorded_law

DEPTHS = (1, 3, 5)  # those that are listed; others are known too
SETS = {"micro-F1": micro_f1, "macro-F1": macro_f1}


class Scorer:
    """Judges a fitted learner or tagger by a metric; more is better.

    Parameters
    ----------
    name : str
        A metric such as ``P@5``, ``micro-F1``, or a cost such as ``hamming``, which is
        a loss: its value has the sign changed, as scikit-learn has it.

    Examples
    --------
    >>> from manylabel import Popularity
    >>> model = Popularity().fit([[0.0], [1.0]], [[1, 0], [1, 1]])
    >>> Scorer("P@1")(model, [[2.0]], [[1, 0]])
    1.0
    """

    def __init__(self, name: str) -> None:
        if name not in SETS and name not in NAMED:
            try:
                as_metric(name)
            except ValueError as error:
                others = ", ".join((*SETS, *NAMED))
                raise ValueError(f"{error} Others are {others}.") from None
        self.name = name

    def __call__(self, estimator: Any, X: Any, y: Any) -> float:
        """Return the value on some rows, or items and their tags."""
        if "@" in self.name:
            return self._rank(estimator, X, y)
        if hasattr(estimator, "judge"):
            found = estimator.judge(X, y)
            y, sets = found.Y, found.sets
        else:
            sets = estimator.predict(X)
        if self.name in SETS:
            return SETS[self.name](y, sets)
        return -mean_cost(y, sets, self.name)

    def _rank(self, estimator: Any, X: Any, y: Any) -> float:
        depth = int(self.name.partition("@")[2])
        if hasattr(estimator, "judge"):
            found = estimator.judge(X, y, depth)
            y, scores = found.Y, found.scores
        elif hasattr(estimator, "predict_topk"):
            scores = estimator.predict_topk(X, depth)
        else:  # a pipeline, say
            scores = estimator.decision_function(X)
        metric = as_metric(self.name)
        if isinstance(metric, PropensityMetric):
            metric = as_metric(self.name, _propensities(estimator, y.shape[1]))
        return metric.update(y, scores).value

    def __repr__(self) -> str:
        return f"manylabel.scorers[{self.name!r}]"


class Scorers(Mapping[str, Scorer]):
    """Scorers by the names of metrics, at any depth; those of usual depths are listed.

    Examples
    --------
    >>> import manylabel as ml
    >>> ml.scorers["nDCG@10"]
    manylabel.scorers['nDCG@10']
    >>> "hamming" in ml.scorers, "P@5" in list(ml.scorers)
    (True, True)
    """

    def __getitem__(self, name: str) -> Scorer:
        try:
            return Scorer(name)
        except ValueError as error:
            raise KeyError(str(error)) from None

    def __iter__(self) -> Iterator[str]:
        yield from (f"{kind}@{depth}" for kind in KINDS for depth in DEPTHS)
        yield from (*SETS, *NAMED)

    def __len__(self) -> int:
        return len(KINDS) * len(DEPTHS) + len(SETS) + len(NAMED)

    def __repr__(self) -> str:
        return f"manylabel.scorers of {', '.join(self)}, and at other depths"


scorers = Scorers()


def _propensities(estimator: Any, n_labels: int) -> Floats:
    """Return propensities by the usual law, from counts of the training rows."""
    law = Propensity()
    if hasattr(estimator, "propensities"):
        values: Floats = estimator.propensities(law, n_labels)
        return values
    learner = estimator[-1] if hasattr(estimator, "steps") else estimator
    known = getattr(learner, "_label_counts", None)
    if known is None:
        raise ValueError(
            "estimator must have been fitted in this process to be scored by "
            f"propensities, which come from its training labels. Got {learner!r:.60}."
        )
    counts, n_rows = known
    wide = np.zeros(n_labels, np.int64)
    wide[: len(counts)] = counts
    return recorded_law(wide, n_rows, law.a, law.b)
