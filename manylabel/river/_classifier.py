"""Learners of this library as models of river."""

from collections.abc import Hashable, Iterator, Mapping
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_scalar

from manylabel._typing import Array
from manylabel.base import OnlineClassifier
from manylabel.exceptions import MissingExtra
from manylabel.online import CSDPP
from manylabel.river._base import MultiLabelClassifier
from manylabel.river._columns import Columns
from manylabel.sharing import Shared, reading

LARGEST = float(np.finfo(np.float32).max)


def to_river(
    learner: OnlineClassifier,
    *,
    n_features: int | None = None,
    n_labels: int | None = None,
) -> "RiverClassifier":
    """Return a learner of this library as a ``river.base.MultiLabelClassifier``.

    Features and labels have any names, as in river. A feature that was never learnt has
    no part in a prediction, and a label that a row does not name is not one of its
    labels.

    Parameters
    ----------
    learner : OnlineClassifier
        A learner of streams. It is left as it is: a copy learns, from nothing.
    n_features, n_labels : int or None, default=None
        For how many names the learner has room at the start; None for the names of the
        first row. ``CSDPP(grow=True)`` makes room for more when they come up; learners
        that do not grow refuse them.

    Returns
    -------
    RiverClassifier
        Learns by ``learn_one``; ``predict_one`` says of each label learnt so far
        whether the row has it. There are no probabilities.

    Raises
    ------
    MissingExtra
        If river is not installed.

    Notes
    -----
    ``river.preprocessing.FeatureHasher`` before a learner that does not grow gives any
    number of features the same few names.

    Examples
    --------
    >>> from river.preprocessing import MinMaxScaler
    >>> from manylabel import OnlineBinaryRelevance
    >>> model = MinMaxScaler() | to_river(OnlineBinaryRelevance())
    >>> for _ in range(5):
    ...     model.learn_one({"beak": 9, "tail": 1}, {"bird": True, "fish": False})
    ...     model.learn_one({"beak": 0, "tail": 4}, {"fish": True})
    >>> model.predict_one({"beak": 8, "tail": 1})
    {'bird': True, 'fish': False}
    """
    if MultiLabelClassifier is object:
        raise MissingExtra("to_river", "river", "river")
    if not isinstance(learner, OnlineClassifier):
        raise TypeError(
            f"learner must be an online learner, such as CSDPP(). Got {learner!r}."
        )
    for name, width in (("n_features", n_features), ("n_labels", n_labels)):
        if width is not None:
            check_scalar(width, name, Integral, min_val=1)
    return RiverClassifier(learner, n_features, n_labels)


class RiverClassifier(Shared, MultiLabelClassifier):
    """A learner of rows with columns as one of rows with names; see :func:`to_river`.

    Parameters
    ----------
    learner : OnlineClassifier
        A copy of it learns.
    n_features, n_labels : int or None, default=None
        For how many names it has room at the start.
    """

    _written = ("_learner", "_features", "_labels")

    def __init__(
        self,
        learner: OnlineClassifier,
        n_features: int | None = None,
        n_labels: int | None = None,
    ) -> None:
        self.learner = learner
        self.n_features = n_features
        self.n_labels = n_labels
        self._learner = clone(learner)
        self._features = Columns("feature", n_features)
        self._labels = Columns("label", n_labels)

    def learn_one(
        self, x: Mapping[Hashable, Any], y: Mapping[Hashable, bool | int]
    ) -> None:
        """Learn one row; a refused one leaves everything as it was."""
        values, relevant = _numbers(x), _booleans(y)
        grow = bool(getattr(self._learner, "grow", False))
        with self._learning() as model:
            features, labels = model._features, model._labels
            with features.of(x, grow=grow), labels.of(y, grow=grow):
                model._learner.partial_fit(
                    features.row(x, values), labels.row(y, relevant)
                )

    @reading
    def predict_one(self, /, x: Mapping[Hashable, Any], **kwargs: Any) -> "Prediction":
        """Return for each label learnt so far whether the row has it.

        Parameters
        ----------
        x : mapping of names to numbers
            Values of features.
        **kwargs
            Ignored: other models of river have use for them.

        Returns
        -------
        Prediction
            A dict of names to booleans, in the order in which the names came up.
        """
        values = _numbers(x)
        if not hasattr(self._learner, "n_seen_"):
            return Prediction()
        # What is checked need not be checked again, which takes longer than to predict.
        found = self._learner._labels(self._features.row(x, values))
        relevant = np.zeros(found.shape[1], bool)
        relevant[found.indices] = True
        return Prediction(zip(self._labels, relevant.tolist(), strict=False))

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        """Yield parameters with which river's checks can make one."""
        yield {"learner": CSDPP()}


class Prediction(dict[Hashable, bool]):
    """Labels by name; one that was never learnt is False.

    So river's metrics, which ask for every label of the truth, meet new ones.
    """

    def __missing__(self, name: Hashable) -> bool:
        return False


def _numbers(x: Mapping[Hashable, Any]) -> Array:
    """Return the values of features, or refuse the first that is no finite number."""
    _check_mapping(x, "x")
    for name, value in x.items():
        if not isinstance(value, Real | np.bool_) or not abs(float(value)) <= LARGEST:
            raise ValueError(
                f"x must hold finite float32 numbers. Got {value!r} for {name!r}."
            )
    return np.array(list(x.values()), np.float32)


def _booleans(y: Mapping[Hashable, bool | int]) -> Array:
    """Return the values of labels, or refuse the first that is neither 0 nor 1."""
    _check_mapping(y, "y")
    for name, value in y.items():
        if value not in (False, True):
            raise ValueError(f"y must hold True or False. Got {value!r} for {name!r}.")
    return np.array(list(y.values()), bool)


def _check_mapping(row: Any, name: str) -> None:
    if not isinstance(row, Mapping):
        raise TypeError(
            f"{name} must be a dict of names to values. Got {type(row).__name__}."
        )
