"""Forests whose trees are grown apart."""

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from manylabel._typing import Array, Floats
from manylabel.model_selection.holdout import Split, hold_out
from manylabel.trees._grower import Plan, grow_tree
from manylabel.trees._nodes import Forest

TREES, VALIDATION = "trees", "validation"
# On rcv1sub1, one row in five costs PfastreXML 1.3 points of P@1 (58.7, not 60.0, the
# mean of 3 seeds) for half a point of PSP: its trees need the rows.
ONE_IN = 10
VALIDATION_TREES = 15  # that thresholds are chosen by; more choose the same


class ForestDivision:
    """A fit of a forest, of trees.

    Where something is chosen on a validation set, the trees that are grown without it
    are a further stage. What all trees share, such as the centroids of tail labels, is
    learnt when they are joined.
    """

    RECORD: ClassVar[type] = Forest

    def __init__(self, learner: Any, plan: Plan) -> None:
        self.learner, self.plan, self.prepared = learner, plan, None
        self.seeds = learner._seeds()
        self.stages: Mapping[str, Floats] = {TREES: np.ones(learner.n_estimators)}
        if learner._validates(plan.X.shape[0]):
            costs = np.full(min(VALIDATION_TREES, learner.n_estimators), 1 - 1 / ONE_IN)
            self.stages = {**self.stages, VALIDATION: costs}

    def fit(self, stage: str, units: range) -> Forest:
        """Grow some trees."""
        plan = self.plan if stage == TREES else self._pilot_plan
        seeds = self.seeds[units.start : units.stop]
        return Forest.joined([grow_tree(plan, seed) for seed in seeds])

    def join(self, found: Mapping[str, Iterable[Forest]]) -> None:
        """Put the trees together, and end the fit."""
        self.learner.forest_ = Forest.joined(found[TREES])
        pilots = list(found.get(VALIDATION, ()))
        self.learner._finish(self.plan, self.seeds, pilots)

    @cached_property
    def _pilot_plan(self) -> Plan:
        return self.plan.of(validation_rows(self.plan, self.seeds).train)


def validation_rows(plan: Plan, seeds: Array) -> Split:
    """Return which rows are held out to choose by; the first seed says so."""
    rng = np.random.default_rng(int(seeds[0]))
    return hold_out(plan.X.shape[0], rng, one_in=ONE_IN)
