"""Models of river as learners of this library's streams."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from copy import deepcopy
from itertools import pairwise
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_array

from manylabel import _validation
from manylabel._typing import Ints, MatrixLike
from manylabel.river._base import Estimator, MultiLabelClassifier

Names = Sequence[Hashable]


def from_river(
    model: Any,
    *,
    feature_names: Names | None = None,
    label_names: Names | None = None,
) -> "RiverLearner":
    """Return a multi-label model of river as a learner for ``progressive``.

    Parameters
    ----------
    model : river.base.MultiLabelClassifier
        Anything with ``learn_one`` and ``predict_one`` of dicts. It is left as it is:
        a copy learns, on top of what the model knows.
    feature_names, label_names : sequence or None, default=None
        What the model calls the columns; None for their numbers.

    Returns
    -------
    RiverLearner
        Has ``partial_fit`` and ``predict``, and ``model_``, the copy that learns. Of a
        sparse row the model sees the features that are stored, of a dense row all.

    Examples
    --------
    >>> from river.linear_model import LogisticRegression
    >>> from river.multioutput import ClassifierChain
    >>> from manylabel import progressive
    >>> X, Y = [[1.0, 0.0], [0.0, 1.0]] * 50, [[1, 0], [0, 1]] * 50
    >>> learner = from_river(ClassifierChain(LogisticRegression(), order=[0, 1]))
    >>> run = progressive(learner, X, Y, costs=["f1"], window=10)
    >>> run.n_rows, float(run.windowed["f1"][-1])
    (100, 0.0)
    """
    verbs = all(hasattr(model, verb) for verb in ("learn_one", "predict_one"))
    theirs = isinstance(model, Estimator)
    if (
        not verbs
        or isinstance(model, type)
        or (theirs and not isinstance(model, MultiLabelClassifier))
    ):
        raise TypeError(
            "model must be a multi-label classifier, such as a ClassifierChain of "
            f"river.multioutput. Got {model!r}."
        )
    return RiverLearner(model, feature_names, label_names)


class RiverLearner(BaseEstimator):  # type: ignore[misc]
    """A learner of rows with names as one of rows with columns; see :func:`from_river`.

    Parameters
    ----------
    model : river.base.MultiLabelClassifier
        A copy of it learns.
    feature_names, label_names : sequence or None, default=None
        What the model calls the columns.

    Attributes
    ----------
    model_ : river.base.MultiLabelClassifier
        What was learnt.
    n_labels_ : int
        The most columns that ``Y`` has had.
    """

    model_: Any
    n_labels_: int

    def __init__(
        self,
        model: Any,
        feature_names: Names | None = None,
        label_names: Names | None = None,
    ) -> None:
        self.model = model
        self.feature_names = feature_names
        self.label_names = label_names

    def partial_fit(self, X: MatrixLike, Y: MatrixLike) -> Self:
        """Learn the rows one after another."""
        rows = list(self._dicts(X))
        labels = _validation.labels(Y, n_rows=len(rows))
        names = _names(self.label_names, labels.shape[1], "label_names")
        if not hasattr(self, "model_"):
            self.model_, self.n_labels_ = deepcopy(self.model), 0
        self.n_labels_ = max(self.n_labels_, labels.shape[1])
        for x, y in zip(rows, labels.toarray().astype(bool).tolist(), strict=True):
            self.model_.learn_one(x, dict(zip(names, y, strict=True)))
        return self

    def predict(self, X: MatrixLike) -> Ints:
        """Return 0/1 labels of shape (n_rows, n_labels) for the columns learnt."""
        if not hasattr(self, "model_"):
            raise NotFittedError("A learner must have learnt rows before it predicts.")
        names = _names(self.label_names, self.n_labels_, "label_names")
        columns = {name: column for column, name in enumerate(names)}
        rows = []
        for x in self._dicts(X):
            row = np.zeros(self.n_labels_, np.int64)
            for name, relevant in self.model_.predict_one(x).items():
                if relevant:
                    row[_column(columns, name)] = 1
            rows.append(row)
        return np.array(rows).reshape(-1, self.n_labels_)

    def _dicts(self, X: MatrixLike) -> Iterator[dict[Hashable, Any]]:
        """Yield each row as a dict."""
        rows = check_array(
            X,
            accept_sparse="csr",
            dtype=None,
            ensure_all_finite=False,
            ensure_min_samples=0,
        )
        names = _names(self.feature_names, rows.shape[1], "feature_names")
        if not sp.issparse(rows):
            for values in rows.tolist():
                yield dict(zip(names, values, strict=True))
            return
        columns, values = rows.indices.tolist(), rows.data.tolist()
        for start, stop in pairwise(rows.indptr.tolist()):
            named = (names[column] for column in columns[start:stop])
            yield dict(zip(named, values[start:stop], strict=True))


def _names(given: Names | None, n_columns: int, parameter: str) -> Names:
    """Return a name for each column."""
    if given is None:
        return range(n_columns)
    if len(given) < n_columns:
        raise ValueError(
            f"{parameter} must have a name for each of {n_columns} columns. "
            f"Got {len(given)}."
        )
    return given[:n_columns]


def _column(columns: Mapping[Hashable, int], name: Hashable) -> int:
    try:
        return columns[name]
    except KeyError:
        raise ValueError(
            f"label_names must have each label that the model predicts. Got {name!r}."
        ) from None
