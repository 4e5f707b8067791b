"""Trees of labels whose classifiers are learnt apart."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Annotated, Any, ClassVar, NamedTuple, Self

import numpy as np

from manylabel._typing import Floats, Ints
from manylabel.label_tree._validation_set import find_splits, part_of
from manylabel.persistence import records
from manylabel.persistence.records import Field, Finite
from manylabel.solvers.blocks import ABOVE, assemble_columns
from manylabel.solvers.columns import Columns, cost_blocks
from manylabel.solvers.levels import (
    Lesson,
    Level,
    find_level,
    fit_children,
    warn_of_late,
)
from manylabel.solvers.nodes import Nodes, find_levels
from manylabel.solvers.shape import Shape

WHOLE, VALIDATION = "classifiers", "validation"
PER_CLASSIFIER = 100.0  # rows whose cost a classifier has beside that of its rows


class Shapes(NamedTuple):
    """The clusters of several trees, one after another."""

    n_nodes: Annotated[Ints, Field("int64", "n_trees", Finite(2))]
    child_starts: Annotated[Ints, Field("int64", "n_starts", Finite(1))]
    labels: Annotated[Ints, Field("int64", "n_all_nodes", Finite(-1))]

    @classmethod
    def of(cls, shapes: Sequence[Shape]) -> Self:
        """Return shapes as one record."""
        return cls(
            np.array([len(shape.labels) for shape in shapes]),
            np.concatenate([shape.child_starts for shape in shapes]),
            np.concatenate([shape.labels for shape in shapes]),
        )


class TreeDivision:
    """A fit of label trees, of a classifier for each node below the roots.

    The nodes of one tree follow those of another. Where something is chosen on rows
    held out, trees that learn the other rows are further stages.
    """

    RECORD: ClassVar[type] = Columns

    def __init__(self, learner: Any, lesson: Lesson, shapes: list[Shape]) -> None:
        self.learner, self.lesson, self.shapes = learner, lesson, shapes
        self.prepared = Shapes.of(shapes)
        self.splits = find_splits(learner, lesson.X.shape[0])
        self._held = [f"{VALIDATION} {number}" for number in range(len(self.splits))]
        self._counts = [shape.count_below(learner.counts_) for shape in shapes]
        # Siblings by frequency: those of one part take a like number of passes.
        self._nodes = [
            np.lexsort((-counts, shape.parents))
            for shape, counts in zip(shapes, self._counts, strict=True)
        ]
        sizes = [len(shape.labels) - ABOVE for shape in shapes]
        self._starts = np.cumsum([0, *sizes])  # of the units of each tree
        self._lesson_of = lru_cache(maxsize=1)(self._make_lesson)
        self._level_of = lru_cache(maxsize=4)(self._make_level)

    @cached_property
    def stages(self) -> Mapping[str, Floats]:
        """What classifiers cost: by the rows that they are learnt from."""
        costs = np.concatenate(list(map(self._costs, self.shapes, self._counts)))
        return dict.fromkeys([WHOLE, *self._held], costs)

    def fit(self, stage: str, units: range) -> Columns:
        """Return some classifiers."""
        parts = []
        for tree, (first, last) in enumerate(pairwise(self._starts.tolist())):
            ends = np.clip([units.start, units.stop], first, last) - first + ABOVE
            parts += self._fit_nodes(stage, tree, range(*ends.tolist()))
        return Columns.joined(parts)

    def join(self, found: Mapping[str, Iterable[Columns]]) -> None:
        """Put the classifiers into the trees, and end the fit."""
        trees = {stage: self._grown(Columns.joined(found[stage])) for stage in found}
        whole = trees.pop(WHOLE)
        pilots = [trees[stage] for stage in self._held]
        chosen = self.learner._chosen(self.lesson, self.splits, pilots)
        self.learner._take(chosen, whole)

    def _fit_nodes(self, stage: str, tree: int, units: range) -> list[Columns]:
        """Return the classifiers of consecutive units, those of siblings together."""
        shape, lesson, parts = self.shapes[tree], self._lesson_of(stage), []
        levels = find_levels(shape.child_starts)
        for number, below in enumerate(levels[1:]):
            first, last = max(units.start, below.start), min(units.stop, below.stop)
            if first >= last:
                continue
            level = self._level_of(stage, tree, number)
            for node in np.unique(shape.parents[first:last]).tolist():
                span = shape.child_starts[node : node + 2].clip(first, last)
                children = self._nodes[tree][slice(*span)] - below.start
                fitted = fit_children(lesson, level, 1, node, children)
                parts.append(Columns.of(*fitted, len(children)))
        return parts

    def _grown(self, columns: Columns) -> Nodes:
        """Return trees of all their classifiers."""
        warn_of_late(int((columns.n_iter > 0).sum()), self.lesson.settings.max_iter)
        trees = []
        for tree, shape in enumerate(self.shapes):
            # Where the classifier of each node is among all.
            places = np.argsort(self._nodes[tree]) - ABOVE + self._starts[tree]
            trees.append(assemble_columns(shape, columns, places))
        return Nodes.joined(trees)

    def _costs(self, shape: Shape, counts: Ints) -> Floats:
        """Return costs by about how many rows the parents have."""
        parents = shape.parents[ABOVE:]
        numbers = np.arange(ABOVE, len(shape.labels)) - shape.child_starts[parents]
        is_last = np.append(parents[1:] != parents[:-1], True)[: len(parents)]
        n_rows = np.minimum(counts, self.lesson.Y.shape[0])
        n_rows[ABOVE - 1] = self.lesson.Y.shape[0]  # rows without labels too
        return cost_blocks(PER_CLASSIFIER + n_rows[parents], numbers, is_last)

    def _make_lesson(self, stage: str) -> Lesson:
        if stage == WHOLE:
            return self.lesson
        split = self.splits[int(stage.removeprefix(VALIDATION))]
        return part_of(self.learner, self.lesson, split.train)

    def _make_level(self, stage: str, tree: int, number: int) -> Level:
        shape = self.shapes[tree]
        levels = find_levels(shape.child_starts)
        lesson = self._lesson_of(stage)
        return find_level(shape, levels[number], levels[number + 1], lesson)


def split_shapes(prepared: Mapping[str, Any]) -> list[Shape]:
    """Return the shape of each tree, of a record's fields that were read."""
    shapes = Shapes(**prepared)
    records.check(shapes, "shapes", {})
    ends = np.cumsum(shapes.n_nodes)[:-1]
    starts = np.split(shapes.child_starts, ends + np.arange(1, len(shapes.n_nodes)))
    return list(map(Shape, starts, np.split(shapes.labels, ends)))
