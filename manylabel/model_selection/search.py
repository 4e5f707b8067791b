"""Hyperparameter search: which settings are worth trying, and how good one is."""

from collections.abc import Callable, Collection
from itertools import product
from typing import Any

from sklearn.base import clone

from manylabel import _validation, parallel
from manylabel._typing import CSR, RandomState
from manylabel.base import set_jobs
from manylabel.losses.ranked import Ranked
from manylabel.metrics import as_metric
from manylabel.model_selection.holdout import FEWEST, hold_out
from manylabel.propensity import Propensity

Watch = Callable[[dict[str, Any], float], None]
COSTS = (0.1, 0.3, 1.0, 3.0, 10.0)
FOREST = {"C": ("auto", 0.5, 4.0), "leaf_size": (10, 30)}
TREE = {"C": ("auto", 0.3, 3.0), "budget": ("auto", 10, 50)}
CODE = {"n_components": (0.1, 0.25, 0.5)}
RANK = {"n_components": (50, 200, 500)}
RIDGE = {"l2_regularization": (0.1, 1.0, 10.0)}
GRADIENT = {"eta0": (0.3, 1.0, 3.0)}
# By class; what depends on a learner's parameters is added to it.
GRIDS: dict[str, dict[str, tuple[Any, ...]]] = {
    "OneVsRest": {"C": COSTS},
    "LabelPowerset": {"C": COSTS},
    "PLST": CODE | RIDGE,
    "CPLST": RANK | RIDGE,
    "CompressedSensing": RANK | RIDGE,
    "MLCSSP": RANK | RIDGE,
    "LEML": RANK | {"l2_regularization": (0.5, 2.0, 8.0)},
    "WSABIE": {"learning_rate": (0.01, 0.03, 0.1)},
    "SLEEC": {"n_neighbors": (10, 25, 50)},
    "LPSR": {"leaf_labels": (30, 100, 300)},
    "HOMER": {"n_clusters": (2, 3, 5), "C": (1.0, 4.0)},
    "PDSparse": {"C": (0.3, 1.0, 3.0), "l1_regularization": (0.05, 0.2)},
    "ClassifierChain": {"C": COSTS},
    "LabelTree": {"C": (0.3, 1.0, 3.0)},
    "FastXML": FOREST,
    "PfastXML": FOREST,
    "PfastreXML": FOREST,
    "PowersetTree": TREE,
    "AnnotationTree": TREE,
    "CSDPP": CODE,
    "OnlineBinaryRelevance": {},
    "OnlineRandomProjection": CODE,
    "OnlineCompressedSensing": CODE,
    "OnlineLabelTree": GRADIENT,
    "Blend": {},
}


def settings(
    learner: Any, metric: str, *, fixed: Collection[str] = ()
) -> list[dict[str, Any]]:
    """Return the settings of a learner to try for a metric, its own first.

    Parameters
    ----------
    learner : estimator
        The learner.
    metric : str
        Such as ``PSP@3``; learners that choose by a metric themselves get it.
    fixed : collection of str, default=()
        Parameters to leave as they are.

    Returns
    -------
    list of dict
        At least one. That of the learner comes first, so that it wins a tie.

    Examples
    --------
    >>> from manylabel import Blend, OneVsRest
    >>> [setting["C"] for setting in settings(OneVsRest(C=3.0), "P@1")]
    [3.0, 0.1, 0.3, 1.0, 10.0]
    >>> settings(Blend(), "PSP@3")
    [{'metrics': ('PSP@3',)}]
    """
    as_metric(metric)
    kind = type(learner).__name__
    if kind not in GRIDS:
        raise ValueError(f"learner must be one of {', '.join(GRIDS)}. Got {kind}.")
    grid = GRIDS[kind] | _of_parameters(learner.get_params(deep=False), metric)
    left = {name: values for name, values in grid.items() if name not in fixed}
    if not left:
        known = ", ".join(grid)
        raise ValueError(
            f"{kind} must have a parameter to try. All are fixed: {known}."
        )
    varied = [name for name, values in left.items() if len(values) > 1]
    tried = [dict(zip(left, values, strict=True)) for values in product(*left.values())]
    own = [getattr(learner, name) for name in varied]
    return sorted(tried, key=lambda setting: [setting[n] for n in varied] != own)


def value(
    learner: Any, X: CSR, Y: CSR, metric: str, *, random_state: RandomState = 0
) -> float:
    """Return how well a learner ranks one row in five, at most 5,000, by the others.

    Parameters
    ----------
    learner : estimator
        The learner, which is cloned.
    X : csr_array of shape (n_rows, n_features)
        Features.
    Y : csr_array of shape (n_rows, n_labels)
        Labels, 0/1.
    metric : str
        Such as ``PSP@3``, by the propensities that :class:`Propensity` finds in ``Y``.
    random_state : int, Generator, RandomState or None, default=0
        Seeds the choice of the validation set, rows that are held out.

    Returns
    -------
    float
        The metric's value on these rows.

    Examples
    --------
    >>> from manylabel import OneVsRest, make_corpus
    >>> corpus = make_corpus(n_rows=300, n_labels=10, random_state=0)
    >>> 0 < value(OneVsRest(), corpus.X, corpus.Y, "PSP@3") < 1
    True
    """
    if Y.shape[0] < FEWEST:
        raise ValueError(
            f"X must have at least {FEWEST} rows to hold out some of them. "
            f"Got {Y.shape[0]}."
        )
    train, held = hold_out(Y.shape[0], random_state)
    propensity = _validation.propensities(Propensity().fit(Y), Y.shape[1])
    judge = as_metric(metric, propensity)
    scores = clone(learner).fit(X[train], Y[train]).predict_topk(X[held], judge.k)
    return float(judge.add(Ranked.of(Y[held], scores, judge.k, propensity)).value)


def search(
    learner: Any,
    X: CSR,
    Y: CSR,
    metric: str,
    fixed: Collection[str] = (),
    random_state: RandomState = 0,
    watch: Watch | None = None,
) -> dict[str, Any]:
    """Return the settings of a learner that are best for a metric (a grid search).

    ``watch`` is called with each setting that was tried and its value.
    A single setting, as of a blend, which weighs its learners itself, is not tried.
    Where joblib's backend has other processes or machines, each gets whole settings,
    to be tried with one thread; else one comes after another, with the learner's.

    Examples
    --------
    >>> from manylabel import OneVsRest, make_corpus
    >>> corpus = make_corpus(n_rows=300, n_labels=10, random_state=0)
    >>> list(search(OneVsRest(), corpus.X, corpus.Y, "P@1"))
    ['C']
    """
    tried = settings(learner, metric, fixed=fixed)
    if len(tried) == 1:
        return tried[0]
    common, values = (X, Y, metric, random_state), []
    learners = [clone(learner).set_params(**setting) for setting in tried]
    if spread := parallel.leaves_process():
        for one in learners:
            set_jobs(one, 1)
        tasks = [(one,) for one in learners]
        values = parallel.run(_value, tasks, None, common=common)
    for number, (setting, one) in enumerate(zip(tried, learners, strict=True), 1):
        if not spread:
            with parallel.stage(f"setting {number} of {len(tried)}", 1 / len(tried)):
                values.append(_value(*common, one))
        if watch is not None:
            watch(setting, values[number - 1])
    return tried[values.index(max(values))]


def _value(X: CSR, Y: CSR, metric: str, seed: RandomState, learner: Any) -> float:
    return value(learner, X, Y, metric, random_state=seed)


def _of_parameters(parameters: dict[str, Any], metric: str) -> dict[str, Any]:
    """Return what a learner's own parameters add to its grid."""
    aims = {"metric": (metric,), "metrics": ((metric,),)}
    grid: dict[str, Any] = {name: aims[name] for name in aims if name in parameters}
    if "regressor" in parameters:
        grid |= RIDGE if parameters["regressor"] == "ridge" else GRADIENT
    return grid
