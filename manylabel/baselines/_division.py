"""One-vs-rest classifiers that are learnt apart."""

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

import numpy as np

from manylabel._typing import CSR, Floats
from manylabel.solvers.columns import Columns, cost_blocks

LABELS = "labels"
PER_LABEL = 100.0  # rows that cost as much as a label has beside its own


class LabelDivision:
    """A fit of one-vs-rest, of a classifier for each label."""

    RECORD: ClassVar[type] = Columns

    def __init__(
        self, learner: Any, X: CSR, Y: CSR, weight: Floats, heavier: Floats
    ) -> None:
        self.learner, self.X, self.Y, self.prepared = learner, X, Y, None
        self._by_label, self._weight, self._heavier = Y.tocsc(), weight, heavier
        numbers = np.arange(Y.shape[1])
        costs = PER_LABEL + np.diff(self._by_label.indptr).astype(np.float64)
        costs = cost_blocks(costs, numbers, numbers == len(numbers) - 1)
        self.stages: Mapping[str, Floats] = {LABELS: costs}

    def fit(self, stage: str, units: range) -> Columns:
        """Return the classifiers of some labels."""
        span = slice(units.start, units.stop)
        fitted = self.learner._fit_columns(
            self.X, self._by_label[:, span], self._weight, self._heavier[span]
        )
        return Columns.of(fitted, np.arange(self.X.shape[1]), len(units))

    def join(self, found: Mapping[str, Iterable[Columns]]) -> None:
        """Put the classifiers together, and end the fit."""
        columns = Columns.joined(found[LABELS])
        self.learner._gather([columns.fitted(self.X.shape[1])])
