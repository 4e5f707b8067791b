"""A learner on its way through a stream: predict, charge, learn.

Any learner with ``partial_fit`` and ``predict`` will do. A row at a time has its price
in Python, so a learner may have a private method ``_progress(X, Y)`` in addition, which
takes many rows at once, checked CSR arrays of as many columns as it has learnt before.
It returns a 0/1 matrix of shape (n_rows, n_labels), sparse or dense: what ``predict``
would have said of each row just before it was learnt. It leaves the learner as
``partial_fit(X, Y)`` does. The first row, and the first after new columns appear, goes
by ``predict`` and ``partial_fit``, so a learner in ``_progress`` has begun.
"""

import inspect
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError

from manylabel._typing import CSR
from manylabel.base import MultiLabelClassifier
from manylabel.evaluation.chunks import Chunk
from manylabel.evaluation.ledger import Ledger
from manylabel.evaluation.run import Run
from manylabel.losses import Cost
from manylabel.losses.compared import Compared
from manylabel.sharing import Shared

# Charged together: few enough to watch and to hold dense, enough to be quick.
ROWS_AT_ONCE, PAIRS_AT_ONCE = 512, 1 << 20


class Progression:
    """A learner on its way through a stream; ``progressive`` describes the parameters.

    The ``seed`` decides which labels are hidden and how rows are shuffled.

    Attributes
    ----------
    seconds : float
        Time spent predicting and learning.
    """

    def __init__(
        self,
        learner: Any,
        costs: Sequence[Cost],
        *,
        batch: int,
        window: int,
        hide: float,
        judge: str,
        watch: "Watch | None",
        seed: Any,
    ) -> None:
        self.seconds = 0.0
        self._learner, self._costs = learner, costs
        self._batch, self._hide, self._judge, self._watch = batch, hide, judge, watch
        self._order, self._noise = np.random.default_rng(seed).spawn(2)
        self._ledger = Ledger(len(costs), window)
        self._is_ours = isinstance(learner, MultiLabelClassifier)
        self._is_fast = hasattr(learner, "_progress") and batch == 1
        self._widths: tuple[int, int] | None = None  # of X and Y as learnt so far

    @property
    def n_rows(self) -> int:
        """Number of rows so far."""
        return self._ledger.n_rows

    @property
    def mean(self) -> dict[str, float]:
        """The mean of each cost over the rows so far."""
        names = (cost.name for cost in self._costs)
        return dict(zip(names, self._ledger.mean.tolist(), strict=True))

    def follow(self, chunks: Iterable[Chunk], *, shuffle: bool = False) -> Self:
        """Predict, charge and learn all rows; ``shuffle`` those of each chunk."""
        for chunk in chunks:
            n_rows = self._rows_at_once(chunk.Y.shape[1])
            order = self._order.permutation(chunk.Y.shape[0]) if shuffle else None
            for piece in chunk.pieces(n_rows, order):
                self._update(piece)
                if self._watch is not None:
                    self._watch(self)
        return self

    def run(self) -> Run:
        """Return what was found so far, as a run in one order."""
        if not self.n_rows:
            raise ValueError("A stream must have at least one row. Got none.")
        rows, running, recent = self._ledger.curves()
        names = tuple(cost.name for cost in self._costs)
        return Run(names, rows, running[None], recent[None], self.seconds)

    def _rows_at_once(self, n_labels: int) -> int:
        """Return how many rows to charge together: whole batches."""
        most = min(ROWS_AT_ONCE, PAIRS_AT_ONCE // max(1, n_labels))
        return self._batch * max(1, most // self._batch)

    def _update(self, chunk: Chunk) -> None:
        known = self._known_widths()
        if known is not None and getattr(self._learner, "grow", False):
            chunk = chunk.widened(*known)
        learnt = self._observed(chunk.Y)
        start = time.perf_counter()
        predictions = self._advance(chunk.X, learnt)
        self.seconds += time.perf_counter() - start
        truth = chunk.complete if self._judge == "complete" else learnt
        compared = Compared.of(truth, predictions)
        charges = [cost.of_rows(compared) for cost in self._costs]
        self._ledger.add(np.stack(charges, axis=1))

    def _observed(self, Y: CSR) -> CSR:
        """Return the labels without those that are hidden."""
        if not self._hide:
            return Y
        seen = self._noise.random(Y.nnz) >= self._hide
        Y = sp.csr_array((Y.data * seen, Y.indices, Y.indptr), shape=Y.shape, copy=True)
        Y.eliminate_zeros()
        return Y

    def _advance(self, X: Any, Y: CSR) -> CSR:
        """Predict and learn rows in turn; return the predictions."""
        n_slow = Y.shape[0]
        if self._is_fast:
            n_slow = 0 if self._known_widths() == (X.shape[1], Y.shape[1]) else 1
        predictions = []
        for start in range(0, n_slow, self._batch):
            rows = slice(start, start + self._batch)
            predictions.append(self._step(X[rows], Y[rows]))
        if n_slow < Y.shape[0]:
            with _taught(self._learner) as learner:
                rest = sp.csr_array(learner._progress(X[n_slow:], Y[n_slow:]))
            predictions.append(_shaped(rest, Y[n_slow:].shape))
        return sp.vstack(predictions, format="csr")

    def _known_widths(self) -> tuple[int, int] | None:
        """Return how many features and labels the learner knows."""
        if self._is_ours and hasattr(self._learner, "classes_"):
            return self._learner.n_features_in_, len(self._learner.classes_)
        return self._widths

    def _step(self, X: Any, Y: CSR) -> CSR:
        """Predict some rows, then learn them; return the predictions."""
        predictions = self._predict(X, Y.shape)
        if self._is_ours:
            self._learner.partial_fit(X, Y)
        else:
            self._learner.partial_fit(
                X, Y.toarray().astype(np.int64), **self._classes(Y)
            )
        self._widths = X.shape[1], Y.shape[1]
        return predictions

    def _predict(self, X: Any, shape: tuple[int, int]) -> CSR:
        """Return predictions; nothing is predicted by who has learnt nothing."""
        try:
            predictions = sp.csr_array(self._learner.predict(X))
        except NotFittedError:
            if self._widths is not None:
                raise
            return sp.csr_array(shape)
        known = self._known_widths()
        if known is not None and predictions.shape == (shape[0], known[1]):
            predictions.resize(shape)  # labels that are new are not predicted
        return _shaped(predictions, shape)

    def _classes(self, Y: CSR) -> dict[str, Any]:
        """Return what scikit-learn's learners must be told before they learn."""
        given = inspect.signature(self._learner.partial_fit).parameters
        if self._widths is not None or "classes" not in given:
            return {}
        n_labels = Y.shape[1]
        # By name: to import that class takes as long as all the rest.
        kinds = [kind.__name__ for kind in type(self._learner).__mro__]
        if "MultiOutputClassifier" in kinds:
            return {"classes": [np.array([0, 1])] * n_labels}
        return {"classes": np.arange(n_labels)}


Watch = Callable[[Progression], None]


def wants_sparse(learner: Any) -> bool:
    """Tell whether a learner takes rows and labels as checked CSR arrays."""
    return isinstance(learner, MultiLabelClassifier) or hasattr(learner, "_progress")


def _taught(learner: Any) -> AbstractContextManager[Any]:
    """Keep other threads from teaching the learner meanwhile."""
    is_shared = isinstance(learner, Shared)
    return learner._learning() if is_shared else nullcontext(learner)


def _shaped(predictions: CSR, shape: tuple[int, int]) -> CSR:
    if predictions.shape != shape:
        raise ValueError(
            f"learner must predict a matrix of shape {shape}. "
            f"Got shape {predictions.shape}."
        )
    return predictions
