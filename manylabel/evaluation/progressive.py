"""Test-then-train: predict each row of a stream, charge it, then learn it."""

import os
from collections.abc import Iterable
from copy import deepcopy
from functools import partial
from numbers import Integral, Real
from typing import Any, Literal

from sklearn.base import BaseEstimator, clone
from sklearn.utils import check_scalar

from manylabel import _validation, parallel
from manylabel._typing import MatrixLike, RandomState
from manylabel.data import Dataset
from manylabel.evaluation.batch import refuse_repeated
from manylabel.evaluation.chunks import Chunk, chunks_of, is_whole
from manylabel.evaluation.progression import Progression, Watch, wants_sparse
from manylabel.evaluation.run import Run
from manylabel.losses import Cost, CostLike, as_cost

JUDGES = ("complete", "observed")


def progressive(
    learner: Any,
    X: MatrixLike | str | os.PathLike[str] | Dataset | Iterable[Any],
    Y: MatrixLike | None = None,
    *,
    costs: Iterable[CostLike] = ("hamming", "f1", "accuracy", "rank"),
    complete: MatrixLike | None = None,
    batch: int = 1,
    window: int = 500,
    hide: float = 0.0,
    judge: Literal["complete", "observed"] = "complete",
    permutations: int | None = None,
    random_state: RandomState = None,
    n_jobs: int | None = None,
    watch: Watch | None = None,
) -> Run:
    """Predict each row of a stream, charge what it costs, then learn it.

    Prequential evaluation, or progressive validation: every row is judged before it is
    learnt, so the mean cost is an honest one and no validation set is needed. Of a
    stream of any length one chunk is in memory at a time.

    Parameters
    ----------
    learner : estimator
        Anything with ``partial_fit`` and ``predict``, of this library, scikit-learn's
        or your own. It goes on from what it knows; before it has learnt anything, it
        predicts no label. Learners of others get labels as dense arrays.
    X : array, sparse array, path, Dataset or iterable
        Features of shape (n_rows, n_features); or a data file, read in chunks; or an
        iterable of chunks: Datasets, ``(X, Y)`` or ``(X, Y, complete)``.
    Y : array or sparse array of shape (n_rows, n_labels) or None, default=None
        Labels, 0/1; None unless ``X`` is an array.
    costs : iterable of costs, default=("hamming", "f1", "accuracy", "rank")
        What each row is charged; see :func:`manylabel.losses.as_cost`.
    complete : array or sparse array of shape (n_rows, n_labels) or None, default=None
        The labels without gaps, which rows are judged by but not learnt by, where ``X``
        is an array; None says that they are ``Y``.
    batch : int, default=1
        Rows predicted together and then learnt together. 1 is exact; more is quicker
        for many learners, while predictions know up to ``batch - 1`` rows less. A batch
        ends where a chunk does.
    window : int, default=500
        Rows of the windowed mean.
    hide : float, default=0.0
        Probability with which each positive label is hidden from the learner (Chu,
        Huang & Lin 2019, section 5.2).
    judge : {"complete", "observed"}, default="complete"
        Judge rows by the labels without gaps, or, as the paper does, by the labels that
        the learner sees.
    permutations : int or None, default=None
        Run so many random orders of the rows, each with a clone of the learner, which
        itself learns nothing. None runs the rows in their own order. For arrays only.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the orders and of what is hidden. The first orders are the same for any
        number of them.
    n_jobs : int or None, default=None
        Orders to run at the same time.
    watch : callable or None, default=None
        Called now and then with an object that has ``n_rows``, ``mean`` and ``seconds``
        so far.

    Returns
    -------
    Run
        Means, curves, standard errors and speed.

    Examples
    --------
    >>> from sklearn.neural_network import MLPClassifier
    >>> X, Y = [[1.0, 0.0], [0.0, 1.0]] * 50, [[1, 0], [0, 1]] * 50
    >>> learner = MLPClassifier(learning_rate_init=0.05, random_state=0)
    >>> run = progressive(learner, X, Y, costs=["f1"], window=10)
    >>> run.n_rows, float(run.windowed["f1"][-1])
    (100, 0.0)
    """
    _check(learner, batch, window, hide, judge)
    chunks = chunks_of(X, Y, complete, sparse=wants_sparse(learner))
    n_orders = _check_permutations(permutations, is_whole(X, Y))
    begin = partial(
        Progression,
        costs=_distinct(costs),
        batch=batch,
        window=window,
        hide=hide,
        judge=judge,
        watch=watch,
    )
    seeds = parallel.spawn_seeds(random_state, n_orders)
    if permutations is None:
        return begin(learner, seed=seeds[0]).follow(chunks).run()
    whole = list(chunks)
    tasks = [(begin(_fresh(learner), seed=seed),) for seed in seeds]
    ended = parallel.run(_follow_shuffled, tasks, n_jobs, common=(whole,))
    return Run.together([progression.run() for progression in ended])


def _follow_shuffled(chunks: list[Chunk], progression: Progression) -> Progression:
    return progression.follow(chunks, shuffle=True)


def _check(learner: Any, batch: int, window: int, hide: float, judge: str) -> None:
    missing = [v for v in ("partial_fit", "predict") if not hasattr(learner, v)]
    if missing or isinstance(learner, type):
        kind = f"the class {learner.__name__}" if not missing else repr(learner)
        raise TypeError(f"learner must have partial_fit and predict. Got {kind}.")
    if hasattr(learner, "vectorizer"):
        raise TypeError(
            "learner must be a learner of streams, as CSDPP(), of rows of features "
            f"that TextVectorizer makes of texts. Got a {type(learner).__name__}."
        )
    check_scalar(batch, "batch", Integral, min_val=1)
    check_scalar(window, "window", Integral, min_val=1)
    check_scalar(hide, "hide", Real, min_val=0, max_val=1)
    _validation.choice(judge, "judge", JUDGES)


def _check_permutations(permutations: int | None, whole: bool) -> int:
    """Return how many orders to run."""
    if permutations is None:
        return 1
    check_scalar(permutations, "permutations", Integral, min_val=1)
    if not whole:
        raise ValueError(
            "permutations must be None for a stream, whose rows are not all at hand; "
            f"read it into memory first. Got {permutations}."
        )
    return permutations


def _distinct(costs: Iterable[CostLike]) -> list[Cost]:
    """Return the costs, which must have different names, and be one at least."""
    given = [costs] if isinstance(costs, str) else costs
    resolved = [as_cost(cost) for cost in given]
    refuse_repeated([cost.name for cost in resolved])
    if not resolved:
        raise ValueError("costs must name at least one cost. Got none.")
    return resolved


def _fresh(learner: Any) -> Any:
    """Return a copy: of an estimator one that has learnt nothing."""
    is_estimator = isinstance(learner, BaseEstimator)
    return clone(learner) if is_estimator else deepcopy(learner)
