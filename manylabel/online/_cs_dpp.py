"""Cost-sensitive dynamic principal projection."""

from typing import Any

import numpy as np

from manylabel import _validation, parallel
from manylabel._kernels import cs_dpp
from manylabel._typing import CSR, Array, Floats, RandomState
from manylabel.base import OnlineClassifier
from manylabel.losses import as_cost

BASES = {"transform": cs_dpp.TRANSFORM, "correct": cs_dpp.CORRECT, "none": cs_dpp.NONE}
REGRESSORS = {"ridge": cs_dpp.RIDGE, "gradient": cs_dpp.GRADIENT}
ORDERS = {
    "frequent": cs_dpp.FREQUENT_FIRST,
    "given": cs_dpp.AS_GIVEN,
    "random": cs_dpp.RANDOM,
}
SELECTIONS = {"greedy": False, "sampled": True}
LAW = (0.55, 1.5)  # of running propensities


class CSDPP(OnlineClassifier):
    """Learn a stream in a low-dimensional code of the labels, for any cost.

    Each row is predicted, charged and learnt once. Labels are weighed by what a mistake
    would cost just now, projected to the principal directions seen so far, and
    regressed on the features; a label is predicted where the regression, projected
    back, is positive [1]_. With ``cost="hamming"`` this is DPP.

    Parameters
    ----------
    cost : str, object with ``from_counts`` or callable, default="hamming"
        What predictions are charged; see :func:`manylabel.losses.as_cost`. A function
        costs a call per label and row.
    n_components : int or float, default=0.1
        Dimension M of the code; a float is a fraction of the labels, rounded up.
    basis : {"transform", "correct", "none"}, default="transform"
        What happens to the regressor when the code turns: it is turned along (PBT), or
        made anew from a regressor to all labels, which takes more memory (PBC), or it
        is left alone.
    selection : {"greedy", "sampled"}, default="greedy"
        Which M of the M + 1 directions make the code: the strongest, or all but one
        drawn as in Lemma 2.
    regressor : {"ridge", "gradient"}, default="ridge"
        Online ridge regression, whose state is quadratic in the number of features, or
        gradient descent with steps of ``step / sqrt(t)``.
    reg : float, default=1.0
        Ridge penalty lambda.
    step : float, default=1.0
        Step size of gradient descent.
    order : {"frequent", "given", "random"}, default="frequent"
        Order in which the cost is decomposed into label weights: most frequent label
        first by the counts so far, columns as they are, or anew at random for each row.
    fit_intercept : bool, default=True
        Add a constant feature. Without it the paper's figures are far off.
    propensity : Propensity, array of shape (n_labels,), float, "running" or None
        Chance that a true label is recorded. Targets become ``2 y / p - 1``, whose
        expectation is the complete label; "running" applies the law of Jain et al. to
        the counts so far. None trusts the labels.
    max_boost : float, default=10.0
        Largest ``1 / p``; a few very rare labels would otherwise rule the regression.
    random_state : int, Generator, RandomState or None, default=0
        Seeds sampled selection and random orders.

    Attributes
    ----------
    classes_ : ndarray of shape (n_labels,)
        Column numbers of ``Y``.
    n_seen_ : int
        Rows learnt so far.
    basis_ : ndarray of shape (n_components + 2, n_labels)
        Orthonormal directions of the labels, strongest first.
    sigma_ : ndarray of shape (n_components + 2,)
        Their eigenvalues in the online PCA.
    weights_ : ndarray of shape (n_features + 1, n_components)
        The regressor, intercept last; for ``basis="correct"`` of shape
        (n_features + 1, n_labels).

    Notes
    -----
    A label that no row has had so far is not predicted and ranks last. The directions
    start empty and grow by one a row, and the input of the online PCA is cut to norm 1,
    which the cost weights do not guarantee.

    Unbiasedness of the targets: a true label is recorded with probability p, so
    ``E[2 y / p - 1]`` is +1 where it is true and -1 where it is not, and the squared
    error to it differs from that to the complete label by a constant (Jain et al. 2016,
    Theorem 4.4, applied to Theorem 1 of [1]_). ``max_boost`` trades bias for variance.

    References
    ----------
    .. [1] Chu, Huang & Lin, "Dynamic principal projection for cost-sensitive online
       multi-label classification", Machine Learning 2019, Algorithm 1.

    Examples
    --------
    >>> X = [[1.0, 0.0], [0.0, 1.0]] * 10
    >>> Y = [[1, 0, 1], [0, 1, 0]] * 10
    >>> learner = CSDPP(cost="f1", n_components=2).fit(X, Y)
    >>> sorted(learner.learn_one({0: 1.0}, {0, 2}).predict_one({0: 1.0}))
    [0, 2]
    """

    counters_: Array
    basis_: Floats
    sigma_: Floats
    picked_: Array
    weights_: Floats
    inverse_: Floats
    counts_: Array
    order_: Array
    place_: Array
    boost_: Floats
    random_: Array

    def __init__(
        self,
        *,
        cost: Any = "hamming",
        n_components: float = 0.1,
        basis: str = "transform",
        selection: str = "greedy",
        regressor: str = "ridge",
        reg: float = 1.0,
        step: float = 1.0,
        order: str = "frequent",
        fit_intercept: bool = True,
        propensity: Any = None,
        max_boost: float = 10.0,
        random_state: RandomState = 0,
    ) -> None:
        self.cost = cost
        self.n_components = n_components
        self.basis = basis
        self.selection = selection
        self.regressor = regressor
        self.reg = reg
        self.step = step
        self.order = order
        self.fit_intercept = fit_intercept
        self.propensity = propensity
        self.max_boost = max_boost
        self.random_state = random_state

    def _start(self, n_features: int, n_labels: int) -> None:
        n_components = _validation.code_size(self.n_components, n_labels)
        ridge, correct = self.regressor == "ridge", self.basis == "correct"
        if ridge:
            _validation.ridge_size(n_features, 'use regressor="gradient"')
        size = n_features + 1
        self.counters_ = np.zeros(3, np.int64)
        self.basis_ = np.zeros((n_components + 2, n_labels))
        self.sigma_ = np.zeros(n_components + 2)
        self.picked_ = np.zeros(n_components, np.int64)
        self.weights_ = np.zeros((size, n_labels if correct else n_components))
        self.inverse_ = np.eye(size) / self.reg if ridge else np.empty((0, 0))
        self.counts_ = np.zeros(n_labels, np.int64)
        self.order_, self.place_ = np.arange(n_labels), np.arange(n_labels)
        self.boost_ = self._boosts(n_labels)
        self.random_ = parallel.spawn_seeds(self.random_state, 1)

    def _learn(self, X: CSR, Y: CSR) -> None:
        self._progress_into(X, Y, np.empty((0, 0), np.int64))

    def _progress(self, X: CSR, Y: CSR) -> Array:
        """Return the labels predicted for each row before it was learnt."""
        predicted = np.empty(Y.shape, np.int64)
        self._progress_into(X, Y, predicted)
        self.n_seen_ += X.shape[0]
        return predicted

    def _progress_into(self, X: CSR, Y: CSR, predicted: Array) -> None:
        cost = as_cost(self.cost)
        code = getattr(cost, "code", None)
        rows = (X.indptr, X.indices, X.data)
        if code is not None:
            cs_dpp.progress(
                *(*rows, Y.indptr, Y.indices, self._rule(code)),
                *(self._state(), predicted),
            )
            return
        rule, state = self._rule(0), self._state()
        room = cs_dpp.make_room(state)
        for i in range(X.shape[0]):
            row = (X.indptr[i], X.indptr[i + 1], X.indices, X.data)
            cs_dpp.guess_row(*row, rule, state, room)
            if len(predicted):
                predicted[i] = room.y_hat
            room.y[:] = 0
            room.y[Y.indices[Y.indptr[i] : Y.indptr[i + 1]]] = 1
            cs_dpp.set_order(rule, state)
            room.delta[:] = cost.label_weights(room.y, room.y_hat, self.order_)
            cs_dpp.learn_row(*row, rule, state, room)

    def _scores(self, X: CSR) -> Array:
        out = np.empty((X.shape[0], len(self.classes_)))
        rule, state = self._rule(0), self._state()
        cs_dpp.score_rows(X.indptr, X.indices, X.data, rule, state, out)
        return out

    def _rule(self, code: int) -> cs_dpp.Rule:
        law_a, law_b = LAW if self._is_running() else (0.0, 0.0)
        return cs_dpp.Rule(
            cost=code,
            basis=BASES[self.basis],
            regressor=REGRESSORS[self.regressor],
            order=ORDERS[self.order],
            sampled=SELECTIONS[self.selection],
            bias=float(bool(self.fit_intercept)),
            step=float(self.step),
            law_a=law_a,
            law_b=law_b,
            most=float(self.max_boost),
        )

    def _state(self) -> cs_dpp.State:
        names = cs_dpp.State._fields
        return cs_dpp.State(**{name: getattr(self, f"{name}_") for name in names})

    def _boosts(self, n_labels: int) -> Floats:
        if self.propensity is None or self._is_running():
            return np.ones(n_labels)
        return 1 / _validation.propensities(self.propensity, n_labels)

    def _is_running(self) -> bool:
        return isinstance(self.propensity, str) and self.propensity == "running"

    def _state_shapes(self) -> dict[str, tuple[int, ...]]:
        n_labels, size = len(self.classes_), self.n_features_in_ + 1
        n_components = _validation.code_size(self.n_components, n_labels)
        width = n_labels if self.basis == "correct" else n_components
        square = size if self.regressor == "ridge" else 0
        per_label = ("counts_", "order_", "place_", "boost_")
        return dict.fromkeys(per_label, (n_labels,)) | {
            "counters_": (3,),
            "basis_": (n_components + 2, n_labels),
            "sigma_": (n_components + 2,),
            "picked_": (n_components,),
            "weights_": (size, width),
            "inverse_": (square, square),
            "random_": (1,),
        }

    def _check_state(self) -> None:
        super()._check_state()
        n_labels, n_rows = len(self.classes_), len(self.basis_)
        fits = (
            np.array_equal(np.sort(self.order_), np.arange(n_labels))
            and np.array_equal(self.order_[self.place_], np.arange(n_labels))
            and ((self.picked_ >= 0) & (self.picked_ < n_rows)).all()
            and 0 <= self.counters_[1] < n_rows
            and 0 <= self.counters_[2] <= len(self.picked_)
        )
        if not fits:
            raise ValueError("counters_, picked_, order_ and place_ must fit together.")

    def _check_parameters(self) -> None:
        as_cost(self.cost)
        for name, known in (
            ("basis", BASES),
            ("selection", SELECTIONS),
            ("regressor", REGRESSORS),
            ("order", ORDERS),
        ):
            value = getattr(self, name)
            if value not in known:
                raise ValueError(
                    f"{name} must be one of {', '.join(known)}. Got {value!r}."
                )
        _validation.number(self.reg, "reg", above=0)
        _validation.number(self.step, "step", above=0)
        _validation.number(self.max_boost, "max_boost", least=1)
