"""What every estimator of the library has in common."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from copy import deepcopy
from typing import TYPE_CHECKING, Annotated, Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from manylabel import _validation, parallel
from manylabel._kernels import topk
from manylabel._typing import CSR, Array, Floats, LabelMatrix, MatrixLike
from manylabel.explanation import Explanation, Ranked
from manylabel.learners import show_given
from manylabel.lists import by_column, where
from manylabel.losses.ranked import mean_ndcg
from manylabel.persistence.records import Counting, Field, Number, Values
from manylabel.persistence.saved import Saved
from manylabel.sharing import Shared, reading

# Scores are made for so many (row, label) pairs at a time: 1 MB stays in the cache.
PAIRS_AT_ONCE = 1 << 18
SCORED = 5  # depth of the ranking that ``score`` judges
# What scikit-learn keeps of X; columns are numbered by int32.
Width = Annotated[int, Number(least=1, most=2**31 - 1, whole=True)]
Names = Annotated[Array, Values("n_features", "O", optional=True)]


class MultiLabelClassifier(Saved, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier whose target is a 0/1 matrix of shape (n_rows, n_labels).

    A subclass has ``fit``, which calls ``_begin_fit``, and ``_scores``, and declares
    its learnt arrays. Labels are ranked by score, equal scores by column number.
    """

    n_features_in_: Width
    feature_names_in_: Names
    classes_: Annotated[Array, Field("int64", "n_labels", Counting())]
    sparse_output_: bool

    def decision_function(self, X: MatrixLike) -> Array:
        """Return a score for every row and label; higher is more relevant.

        Parameters
        ----------
        X : array or sparse array of shape (n_rows, n_features)
            Features.

        Returns
        -------
        ndarray of shape (n_rows, n_labels)
            Dense: for many labels use ``predict_topk``. More than 8 GB, or than half
            of the memory, are refused.
        """
        X = _validation.dense_rows(self._known_features(X), len(self.classes_))
        return self._scores(X)

    def predict(self, X: MatrixLike) -> LabelMatrix:
        """Return the labels of positive score as a 0/1 matrix.

        Parameters
        ----------
        X : array or sparse array of shape (n_rows, n_features)
            Features.

        Returns
        -------
        csr_array or ndarray of shape (n_rows, n_labels)
            Sparse if the ``Y`` of ``fit`` was sparse, else dense.
        """
        X = self._known_features(X)
        if not self.sparse_output_:
            _validation.dense_rows(X, len(self.classes_))
        chunks = parallel.run(self._labels, self._chunks(X), self._n_jobs())
        labels = _stacked(chunks).astype(np.int64, copy=False)
        return labels if self.sparse_output_ else labels.toarray()

    def predict_topk(self, X: MatrixLike, k: int = 5) -> CSR:
        """Return the ``k`` best labels of each row and their scores.

        Parameters
        ----------
        X : array or sparse array of shape (n_rows, n_features)
            Features.
        k : int, default=5
            How many labels; all of them when there are fewer.

        Returns
        -------
        csr_array of shape (n_rows, n_labels)
            The stored entries are the predictions, zero and negative scores too. No
            dense array of this shape is made on the way.
        """
        (depth,) = _validation.depths(k)
        X = self._known_features(X)
        tasks = ((chunk, depth) for (chunk,) in self._chunks(X))
        return _stacked(parallel.run(self._topk, tasks, self._n_jobs()))

    if not TYPE_CHECKING:  # all other names must be known

        def __getattr__(self, name: str) -> Any:
            """Say how to get probabilities, where there are none."""
            kind = type(self).__name__
            if name != "predict_proba":
                raise AttributeError(f"{kind!r} object has no attribute {name!r}")
            way_out = self._with_probabilities()
            raise AttributeError(f"{kind} has no probabilities: fit {way_out}.")

    def _with_probabilities(self) -> str:
        """Return what to fit for probabilities."""
        return f"Calibrated({type(self).__name__}())"

    def score(self, X: MatrixLike, y: MatrixLike, sample_weight: Any = None) -> float:
        """Return nDCG@5: how near the ranking is to a perfect one; more is better.

        Parameters
        ----------
        X : array or sparse array of shape (n_rows, n_features)
            Features.
        y : array or sparse array of shape (n_rows, n_labels)
            Labels, 0/1.
        sample_weight : array of shape (n_rows,) or None, default=None
            How much each row counts.

        Returns
        -------
        float
            The mean over rows. Other metrics are in :data:`manylabel.scorers`.
        """
        return mean_ndcg(y, self.predict_topk(X, SCORED), SCORED, sample_weight)

    def _scores(self, X: CSR) -> Array:
        """Return the scores of checked rows, shape (n_rows, n_labels)."""
        raise NotImplementedError

    def _labels(self, X: CSR) -> CSR:
        return where(self._scores(X) > 0)

    def _topk(self, X: CSR, k: int) -> CSR:
        scores = self._scores(X)
        n_rows, n_labels = scores.shape
        columns = np.empty((n_rows, min(k, n_labels)), np.int32)
        best = np.empty(columns.shape, scores.dtype)
        topk.best_of_rows(scores, columns, best)
        return by_column(columns, best, n_labels)

    def _chunks(self, X: CSR) -> Iterator[tuple[CSR]]:
        """Cut rows so that the scores of a chunk are small; at least one chunk."""
        return cut(X, max(1, PAIRS_AT_ONCE // self._n_scores()))

    def _n_scores(self) -> int:
        """Return how many scores ``_scores`` holds for one row."""
        return max(1, len(self.classes_))

    def _known_features(self, X: MatrixLike) -> CSR:
        if not hasattr(self, "classes_"):  # the check alone takes 20 us
            check_is_fitted(self)
        return _validation.features(self, X, reset=False)

    def _n_jobs(self) -> int | None:
        n_jobs: int | None = getattr(self, "n_jobs", None)
        return n_jobs

    def _begin_fit(self, X: MatrixLike, Y: MatrixLike) -> tuple[CSR, CSR]:
        """Check features and labels, forget what was learnt, and return them as CSR."""
        checked = _validation.features(self, X, reset=True)
        labels = _validation.labels(Y, n_rows=checked.shape[0])
        if labels.shape[1] == 0:
            raise ValueError("Y must have at least one column, a label. Got none.")
        kept = ("n_features_in_", "feature_names_in_")
        for name in [n for n in vars(self) if n.endswith("_") and n not in kept]:
            delattr(self, name)
        self.classes_ = np.arange(labels.shape[1])
        self.sparse_output_ = bool(sp.issparse(Y))
        # Not saved: for scorers, which see a learner soon after its training rows.
        counts = np.bincount(labels.indices, minlength=labels.shape[1])
        self._label_counts = counts, labels.shape[0]
        return checked, labels

    def _begin_weighted_fit(
        self, X: MatrixLike, Y: MatrixLike, sample_weight: Any
    ) -> tuple[CSR, CSR, Floats]:
        """Return as ``_begin_fit`` the rows of a weight above 0, and their weights.

        A weight that is nothing beside the largest is 0.
        """
        rows, labels = self._begin_fit(X, Y)
        weight = _validation.row_weights(sample_weight, rows.shape[0])
        counts = weight / weight.max() > 0
        if counts.all():
            return rows, labels, weight
        return rows[counts], labels[counts], weight[counts]

    @contextmanager
    def _undo_on_error(self) -> Iterator[None]:
        """Put all attributes back if the block fails: shapes then match what is known.

        Arrays that are written in place are not copied.
        """
        before = dict(self.__dict__)
        try:
            yield
        except BaseException:
            self.__dict__ = before
            raise

    def _check_part(self, part: Any, name: str) -> None:
        """Refuse a learner, part of this one, that knows other columns."""
        for each in ("n_features_in_", "classes_"):
            if not np.array_equal(getattr(part, each), getattr(self, each)):
                raise ValueError(f"{each} must be the same for {name}.")

    def _known_sizes(self) -> dict[str, int]:
        return {"n_features": self.n_features_in_, "n_labels": len(self.classes_)}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        tags.target_tags.single_output = False
        tags.classifier_tags.multi_class = False
        tags.classifier_tags.multi_label = True
        tags.input_tags.sparse = True
        return tags


class BatchClassifier(MultiLabelClassifier):
    """Learns all rows at once.

    A subclass has ``_learn(X, Y)`` of checked rows, says why these count alike
    (``_unweighted``), and has ``_check_parameters`` if it has parameters to check. What
    goes wrong leaves the learner as it was.
    """

    _unweighted = "all rows count alike"
    _learn: Callable[..., None]

    def fit(self, X: MatrixLike, Y: MatrixLike, sample_weight: Any = None) -> Self:
        """Forget what was learnt, then learn the rows.

        Parameters
        ----------
        X : array or sparse array of shape (n_rows, n_features)
            Features.
        Y : array or sparse array of shape (n_rows, n_labels)
            Labels, 0/1.
        sample_weight : array of shape (n_rows,) or None, default=None
            How much each row counts. Learners that cannot weigh rows refuse it.

        Returns
        -------
        BatchClassifier
            Itself.
        """
        self._check_parameters()
        with self._undo_on_error():
            self._learn_rows(*self._begin_rows(X, Y, sample_weight))
        return self

    def _begin_rows(self, X: MatrixLike, Y: MatrixLike, sample_weight: Any) -> Any:
        """Check rows, and forget what was learnt; return what there is to learn."""
        if sample_weight is not None:
            raise ValueError(
                f"sample_weight must be None for {type(self).__name__}: "
                f"{self._unweighted}. Got weights."
            )
        return self._begin_fit(X, Y)

    def _learn_rows(self, *checked: Any) -> None:
        self._learn(*checked)

    def _check_parameters(self) -> None:
        """Refuse parameters out of range."""


class WeighingClassifier(BatchClassifier):
    """Learns all rows at once, each of its own weight.

    A subclass has ``_learn(X, Y, weight)`` of checked rows.
    """

    _begin_rows = MultiLabelClassifier._begin_weighted_fit


class ExplainedClassifier(MultiLabelClassifier):
    """Can say why a row gets its labels.

    A subclass has ``_explained(row, labels)``, of a checked row and its best labels.
    """

    def explain(self, X: MatrixLike, k: int = 5) -> Explanation:
        """Return why a row gets its labels: its way through the trees.

        Parameters
        ----------
        X : array or sparse array of shape (1, n_features)
            Features of one row.
        k : int, default=5
            How many labels.

        Returns
        -------
        Explanation
            Has ``labels``, ``features`` and ``paths``; printed, it is in words.
        """
        row = self._known_features(X)
        if row.shape[0] != 1:
            raise ValueError(f"X must be one row to explain. Got {row.shape[0]}.")
        best = self.predict_topk(row, k)
        order = np.argsort(-best.data, kind="stable")
        labels = best.indices[order].tolist(), best.data[order].tolist()
        return self._explained(row, list(zip(*labels, strict=True)))

    def _explained(self, row: CSR, labels: Ranked) -> Explanation:
        raise NotImplementedError


class OnlineClassifier(Shared, MultiLabelClassifier):
    """Learns a stream: chunks by ``partial_fit``, single rows in river's words.

    A subclass has ``_check_parameters``, ``_start(n_features, n_labels)``, which
    forgets everything, and ``_learn(X, Y)`` of checked rows, both of which keep
    ``n_seen_``. However a stream is cut into chunks, the learnt arrays have the same
    bits. Bad input leaves the learner as it was. Threads may teach and read one learner
    at the same time (:mod:`manylabel.sharing`).
    """

    _written: tuple[str, ...] = ("state_",)

    decision_function = reading(MultiLabelClassifier.decision_function)
    predict = reading(MultiLabelClassifier.predict)
    predict_topk = reading(MultiLabelClassifier.predict_topk)

    def fit(self, X: MatrixLike, Y: MatrixLike) -> Self:
        """Forget what was learnt, then learn the rows in one pass.

        Parameters
        ----------
        X : array or sparse array of shape (n_rows, n_features)
            Features.
        Y : array or sparse array of shape (n_rows, n_labels)
            Labels, 0/1.

        Returns
        -------
        OnlineClassifier
            Itself.
        """
        return self._stream(X, Y, anew=True)

    def partial_fit(self, X: MatrixLike, Y: MatrixLike, classes: Any = None) -> Self:
        """Learn the rows, one after another, on top of what is known.

        Parameters
        ----------
        X : array or sparse array of shape (n_rows, n_features)
            Features.
        Y : array or sparse array of shape (n_rows, n_labels)
            Labels, 0/1.
        classes : ignored
            Accepted for scikit-learn: the labels are the columns of ``Y``.

        Returns
        -------
        OnlineClassifier
            Itself.
        """
        return self._stream(X, Y, anew=False)

    def learn_one(self, x: Mapping[int, float], y: Iterable[int]) -> Self:
        """Learn one row.

        Parameters
        ----------
        x : mapping of int to float
            Values of the features that are not zero, by column.
        y : iterable of int
            Columns of the relevant labels.

        Returns
        -------
        OnlineClassifier
            Itself.
        """
        labels = dict.fromkeys(y, 1.0)
        n_features, n_labels = self._widths(x, labels)
        return self.partial_fit(
            _validation.row(x, n_features, "x"), _validation.row(labels, n_labels, "y")
        )

    @reading
    def predict_one(self, x: Mapping[int, float]) -> set[int]:
        """Return the columns of the labels predicted for one row.

        Parameters
        ----------
        x : mapping of int to float
            Values of the features that are not zero, by column.

        Returns
        -------
        set of int
            Columns of labels of positive score.
        """
        check_is_fitted(self)
        row = _validation.row(x, self._widths(x, {})[0], "x")
        labels = sp.csr_array(self.predict(row))
        return set(labels.indices.tolist())

    @reading
    def get_state(self) -> dict[str, Any]:
        """Return what was learnt so far, as a copy: arrays are learnt in place."""
        return deepcopy(super().get_state())

    def set_state(self, state: dict[str, Any]) -> Self:
        """Take over a copy of what another estimator of the same class learnt."""
        return super().set_state(deepcopy(state))

    def _stream(self, X: MatrixLike, Y: MatrixLike, *, anew: bool) -> Self:
        self._check_parameters()
        with self._learning() as learner:
            if not anew and hasattr(learner, "n_seen_"):
                learner._learn(*learner._continue(X, Y))
                return self
            with learner._undo_on_error():  # what was learnt before is in other arrays
                rows, labels = learner._begin_fit(X, Y)
                learner._start(rows.shape[1], labels.shape[1])
                learner._learn(rows, labels)
        return self

    def _widths(
        self, x: Mapping[int, float], y: Mapping[int, float]
    ) -> tuple[int, int]:
        """Return how many columns a single row may have, of features and labels."""
        check_is_fitted(self)
        return self.n_features_in_, len(self.classes_)

    def _continue(self, X: MatrixLike, Y: MatrixLike) -> tuple[CSR, CSR]:
        """Check rows of a stream that has begun."""
        rows = self._known_features(X)
        n_rows, n_labels = rows.shape[0], len(self.classes_)
        return rows, _validation.labels(Y, n_rows=n_rows, n_labels=n_labels)

    def _progress(self, X: CSR, Y: CSR) -> Any:
        """Predict each of some checked rows, then learn it; return the predictions."""
        predictions = []
        for i in range(X.shape[0]):
            row = X[i : i + 1]
            predictions.append(self._labels(row))
            self._learn(row, Y[i : i + 1])
        return sp.vstack(predictions, format="csr")

    def _check_parameters(self) -> None:
        raise NotImplementedError

    def _start(self, n_features: int, n_labels: int) -> None:
        raise NotImplementedError

    def _learn(self, X: CSR, Y: CSR) -> None:
        raise NotImplementedError


def cut(X: CSR, n_rows: int) -> Iterator[tuple[CSR]]:
    """Cut rows into chunks, at least one; a chunk takes longer than a small tree."""
    if X.shape[0] <= n_rows:
        return iter([(X,)])
    return ((_chunk(X, at, at + n_rows),) for at in range(0, X.shape[0], n_rows))


def _chunk(X: CSR, start: int, end: int) -> CSR:
    """Return some rows; their values are not copied, as those of a slice are."""
    starts = X.indptr[start : end + 1]
    place = slice(starts[0], starts[-1])
    parts = X.data[place], X.indices[place], starts - starts[0]
    return sp.csr_array(parts, shape=(len(starts) - 1, X.shape[1]))


def _stacked(chunks: list[CSR]) -> CSR:
    return chunks[0] if len(chunks) == 1 else sp.vstack(chunks, format="csr")


def check_learner(learner: Any, name: str) -> None:
    """Refuse what is no multi-label learner."""
    if not isinstance(learner, MultiLabelClassifier):
        raise TypeError(
            f"{name} must be a multi-label learner, as LabelTree(). "
            f"Got {show_given(learner)}."
        )


def set_jobs(learner: Any, n_jobs: int) -> None:
    """Give a learner, and those that it is made of, so many threads."""
    if hasattr(learner, "n_jobs"):
        learner.n_jobs = n_jobs
    inner = getattr(learner, "estimator_", None)
    for part in (*getattr(learner, "estimators_", ()), *([inner] if inner else ())):
        set_jobs(part, n_jobs)
