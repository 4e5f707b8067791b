"""Rankings of the labels that learners list."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from manylabel._typing import CSR, Array, Bools, Singles
from manylabel.base import BatchClassifier, cut
from manylabel.lists import Lists
from manylabel.persistence.records import Field, Number

DEPTH = 50  # labels that a learner lists, more if more are asked for
NEVER = -2.0  # the score of a label that no training row has
OTHERS = np.array([-1, NEVER], np.float32)  # of labels not listed: seen ones, the rest


class ListedClassifier(BatchClassifier):
    """Scores what its learners list; labels that none lists come last."""

    threshold_: Annotated[float, Number()]
    seen_: Annotated[Bools, Field("bool", "n_labels")]
    _rows_at_once = 4096

    def _blended(self, X: CSR, depth: int) -> Lists:
        """Return the scores of the labels that are listed, less the threshold."""
        raise NotImplementedError

    def _others(self) -> Singles:
        """Return the scores of labels not listed: those seen in training, the rest."""
        return OTHERS - np.float32(self.threshold_)

    def _scores(self, X: CSR) -> Array:
        return self._blended(X, DEPTH).dense(self.seen_, self._others())

    def _topk(self, X: CSR, k: int) -> CSR:
        scores = self._blended(X, max(k, DEPTH))
        return scores.best(k, self.seen_, self._others())

    def _chunks(self, X: CSR) -> Iterator[tuple[CSR]]:
        return cut(X, self._rows_at_once)

    def _n_jobs(self) -> int | None:
        return None  # the learners have the threads
