"""Cost-sensitive dynamic principal projection."""

from numbers import Integral
from typing import Any

import numpy as np

from manylabel import _validation, parallel
from manylabel._kernels.costs import SUBSET
from manylabel._kernels.cs_dpp import capped_msg, factored
from manylabel._kernels.cs_dpp import learning as cs_dpp
from manylabel._typing import CSR, Array, Floats, RandomState
from manylabel._warning import warn
from manylabel.losses import as_cost
from manylabel.online._growing import GrowingClassifier
from manylabel.online._memory import Plan, State, begin, grow, shapes
from manylabel.online._regression import largest_step
from manylabel.sharing import reading

BASES = {
    "transform": cs_dpp.TRANSFORM,
    "correct": cs_dpp.CORRECT,
    "none": cs_dpp.NONE,
    "unaligned": cs_dpp.UNALIGNED,
}
REGRESSORS = {"ridge": cs_dpp.RIDGE, "gradient": cs_dpp.GRADIENT}
ORDERS = {
    "frequent": cs_dpp.FREQUENT_FIRST,
    "given": cs_dpp.AS_GIVEN,
    "random": cs_dpp.RANDOM,
}
SELECTIONS = {"greedy": False, "sampled": True}
LEARNING_RATES = ("invscaling", "adagrad")
REFERENCES = {"zero": False, "mean": True}
LABEL_WEIGHTS = {"recorded": False, "expected": True}
OWN_COST = -1  # no code that a kernel knows
LONG = 300  # components from which on rows take long: 3 ms by 200, 20 ms by 400


class CSDPP(GrowingClassifier):
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
    basis : {"transform", "correct", "none", "unaligned"}, default="transform"
        What happens to the regressor when the code turns: it is turned along (PBT), or
        made anew from a regressor to all labels, which takes more memory (PBC), or it
        is left alone. Then the signs of the directions matter, which are free: "none"
        aligns each with the one before, "unaligned" takes them as LAPACK returns them,
        as the figures of the paper for neither PBT nor PBC show.
    selection : {"greedy", "sampled"}, default="greedy"
        Which M of the M + 1 directions make the code: the strongest, or all but one
        drawn as in Lemma 2.
    regressor : {"ridge", "gradient"}, default="ridge"
        Online ridge regression, whose state is quadratic in the number of features, or
        gradient descent, where a sparse row costs nothing in the number of features.
    l2_regularization : float, default=1.0
        Ridge penalty lambda, for complete labels; with a ``propensity`` that is given,
        the penalty is lambda divided by its mean, as targets are so much noisier.
    eta0 : float, default=1.0
        Step size of gradient descent.
    learning_rate : {"invscaling", "adagrad"}, default="invscaling"
        Row t moves by ``eta0 / sqrt(t)``, the same for all features, or each feature
        moves by less the more it has been seen (AdaGrad).
    clip_step : bool, default=True
        Clip a step of gradient descent where it would overshoot its row. False takes
        the plain steps of the paper, which can diverge on rows longer than 1.
    reference : {"zero", "mean"}, default="zero"
        Point from which labels are coded: the origin, or the mean of the weighed
        labels so far, which is then added to what is predicted.
    order : {"frequent", "given", "random"}, default="frequent"
        Order in which the cost is decomposed into label weights: most frequent label
        first by the counts so far, columns as they are, or anew at random for each row.
    fit_intercept : bool, default=True
        Add a constant feature. Without it the paper's figures are far off.
    propensity : Propensity, array of shape (n_labels,), float, "running" or None
        Chance that a true label is recorded. Targets are then those of which the
        complete labels are the expectation; "running" applies the law of Jain et al.
        to the counts so far. None trusts the labels.
    label_weights : {"recorded", "expected"}, default="recorded"
        Labels by which the cost is weighed where some are missing: those recorded, or
        the number expected given these, the counts so far and ``propensity``. Expected
        ones suit long streams of rows that have few of many labels.
    max_inverse_propensity : float, default=10.0
        Largest ``1 / p``; a few very rare labels would otherwise rule the regression.
    calibrate : {"auto", "sigmoid", "isotonic"} or None, default=None
        Make scores probabilities, for ``predict_proba``: one row in eight is ranked
        before it is learnt, and the last 1,024 of these say how often labels of some
        score are true; see :class:`Calibrated`. Sets and rankings stay as they are.
    grow : bool, default=False
        Accept new labels and features in mid-stream: rows may have more columns than
        those before, and fewer. A label begins as one that no row had so far; features
        that were never learnt are ignored in prediction. A fraction ``n_components``
        follows the number of labels, so the code is small while they are few. New
        columns may take half of the memory at once, and at most 8 GB.
    random_state : int, Generator, RandomState or None, default=0
        Seeds sampled selection and random orders.

    Attributes
    ----------
    classes_ : ndarray of shape (n_labels,)
        Column numbers of ``Y``.
    n_seen_ : int
        Rows learnt so far.
    state_ : State
        What was learnt, a record of arrays that change from row to row: the online
        ``pca`` with its eigenvalues ``sigma``, ``picked``, which of the directions make
        the code, the ``regressor``, ``counts`` of the labels and more.
    window_ : Window
        Best labels of the rows that were ranked last; empty without ``calibrate``.
    basis_ : ndarray of shape (n_directions, n_labels)
        Orthonormal directions of the labels, strongest first; at most one more than
        there are components. With ``grow`` a faint part of them is not shown, that of
        the labels not met yet.
    coef_ : ndarray of shape (n_features + 1, n_components)
        The regressor, intercept last; for ``basis="correct"`` of shape
        (n_features + 1, n_labels).

    Notes
    -----
    A label that no row has had so far is not predicted and ranks last. The directions
    start empty and grow by one a row, and the input of the online PCA is cut to norm 1,
    which the cost weights do not guarantee.

    Missing labels: a true label is recorded with probability p, so ``y / p`` has the
    complete label as its expectation. With a the root of a label's weight if it is
    true and b if it is false, the regression wants a or -b; the target ``(y / p) a -
    (1 - y / p) b`` has that expectation (for Hamming loss it is ``2 y / p - 1``), and
    the squared error to it differs by a constant (Jain et al. 2016, Theorem 4.4,
    applied to Theorem 5 of [1]_). Its variance ``(1 / p - 1) (a + b)^2`` would draw the
    online PCA towards labels that are often missing, so an unbiased estimate of it is
    taken off the diagonal of the step. ``max_inverse_propensity`` trades bias for
    variance. Steps less noise take O(M^3).

    a and b depend on the other labels of the row; an unbiased estimate of them would be
    far too noisy. ``label_weights="recorded"`` takes recorded labels for the others, so
    a row that has lost all its labels is charged as one that has none. "expected" puts
    means in the place of counts: a label counts 1 where it is recorded, elsewhere
    ``s (1 - p) / (1 - s p)``, with s the share of the rows that have it, by their
    counts so far over p. A label's own chance has no part in its a and b, so its target
    stays unbiased for the weights that it has.

    For a label that a share s of the rows has, the target has ``(1 / p - s) / (1 - s)``
    times the variance that complete labels leave, at least ``1 / p``; a penalty that
    many times as large is the same belief about the regressor.

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

    state_: State

    def __init__(
        self,
        *,
        cost: Any = "hamming",
        n_components: float = 0.1,
        basis: str = "transform",
        selection: str = "greedy",
        regressor: str = "ridge",
        l2_regularization: float = 1.0,
        eta0: float = 1.0,
        learning_rate: str = "invscaling",
        clip_step: bool = True,
        reference: str = "zero",
        order: str = "frequent",
        fit_intercept: bool = True,
        propensity: Any = None,
        label_weights: str = "recorded",
        max_inverse_propensity: float = 10.0,
        calibrate: str | None = None,
        grow: bool = False,
        random_state: RandomState = 0,
    ) -> None:
        self.cost = cost
        self.n_components = n_components
        self.basis = basis
        self.selection = selection
        self.regressor = regressor
        self.l2_regularization = l2_regularization
        self.eta0 = eta0
        self.learning_rate = learning_rate
        self.clip_step = clip_step
        self.reference = reference
        self.order = order
        self.fit_intercept = fit_intercept
        self.propensity = propensity
        self.label_weights = label_weights
        self.max_inverse_propensity = max_inverse_propensity
        self.calibrate = calibrate
        self.grow = grow
        self.random_state = random_state

    @property
    def n_seen_(self) -> int:
        """Rows learnt so far."""
        return int(self.state_.counters[cs_dpp.N_SEEN])

    @property
    @reading
    def basis_(self) -> Floats:
        """Orthonormal directions of the labels, strongest first."""
        pca = self.state_.pca
        rows: Floats = pca.mix[: pca.sizes[capped_msg.SIZE]] @ pca.block
        return rows[:, : len(self.classes_)]

    @property
    @reading
    def coef_(self) -> Floats:
        """The regressor, intercept last."""
        ages, raw, turned, _, epochs, stamp = self.state_.regressor
        weights: Floats = raw.copy()
        n_turned = len(turned)
        for epoch, turn in enumerate(epochs[: ages[factored.N_EPOCHS]]):
            behind = stamp <= epoch
            weights[behind, :n_turned] = weights[behind] @ turn.T
        width = len(self.classes_ if self._is_wide() else self.state_.picked)
        weights = weights @ turned.T if n_turned else weights[:, :width]
        return np.vstack([weights[: self.n_features_in_], weights[-1:]])

    def _start(self, n_features: int, n_labels: int) -> None:
        plan = self._plan(n_features, n_labels)
        if self.grow:
            self._check_room(n_features, n_labels)
        self._warn_of_long_codes(plan.n_components, n_labels)
        self._boosts(n_labels)
        random = parallel.spawn_seeds(self.random_state, 1)
        self.state_ = begin(plan, self._penalty(), random)
        self._begin_calibration()
        if self.grow:
            self.__dict__.pop("feature_names_in_", None)

    def _grow(self, n_features: int, n_labels: int) -> None:
        old = self._plan(self.n_features_in_, len(self.classes_))
        new = self._plan(n_features, n_labels)
        self._check_plan()
        if new != old:
            self._check_room(n_features, n_labels)
        self._boosts(n_labels)
        if new != old:
            self.state_ = grow(self.state_, old, new, self._penalty())
        self.n_features_in_, self.classes_ = n_features, np.arange(n_labels)

    def _learn_rows(self, X: CSR, Y: CSR) -> None:
        self._progress_into(X, Y, np.empty((0, 0), np.bool_))

    def _progress(self, X: CSR, Y: CSR) -> Array:
        """Return the labels predicted for each row before it was learnt."""
        found = []
        for rows, labels in self._turns(X, Y):
            found.append(np.empty(labels.shape, np.bool_))
            self._progress_into(rows, labels, found[-1])
        return np.concatenate(found)

    def _progress_into(self, X: CSR, Y: CSR, predicted: Array) -> None:
        self._check_plan()
        try:
            self._pass_rows(X, Y, predicted)
        except np.linalg.LinAlgError:
            raise ValueError(
                "X must have smaller values, or the model others: what is learnt "
                "exceeds the largest float64."
            ) from None

    def _pass_rows(self, X: CSR, Y: CSR, predicted: Array) -> None:
        """Predict each row, then learn it."""
        cost = as_cost(self.cost)
        code = getattr(cost, "code", None)
        stream = cs_dpp.Stream(X.indptr, X.indices, X.data, Y.indptr, Y.indices)
        settings = self._settings(OWN_COST if code is None else code)
        scratch = cs_dpp.make_scratch(settings, self.state_)
        known = settings, self.state_, scratch, predicted
        if code is not None:
            cs_dpp.progress(stream, 0, X.shape[0], cs_dpp.BOTH, *known)
            return
        for i in range(X.shape[0]):
            cs_dpp.progress(stream, i, i + 1, cs_dpp.GUESS, *known)
            self._weigh_labels(cost, Y.indices[Y.indptr[i] : Y.indptr[i + 1]], scratch)
            cs_dpp.progress(stream, i, i + 1, cs_dpp.LEARN, *known)

    def _weigh_labels(self, cost: Any, relevant: Array, scratch: Any) -> None:
        """Write what a mistake in each label costs, by a cost of the user's own."""
        n_labels = len(self.classes_)
        y, y_hat = scratch.y[:n_labels], scratch.y_hat[:n_labels]
        order = scratch.order[scratch.order < n_labels]
        scratch.delta[:n_labels] = cost.label_weights(y, y_hat, order)
        for k in relevant if self.propensity is not None else ():
            y[k] = 0
            scratch.if_false[k] = cost.label_weights(y, y_hat, order)[k]
            y[k] = 1
        scratch.delta[n_labels:] = scratch.delta[order[-1]]  # a label not met yet

    def _scores(self, X: CSR) -> Array:
        self._check_plan()
        out = np.empty((X.shape[0], len(self.classes_)))
        settings = self._settings(OWN_COST)
        scratch = cs_dpp.make_scratch(settings, self.state_)
        rows = (X.indptr, X.indices, X.data)
        cs_dpp.score_rows(*rows, settings, self.state_, scratch, out)
        return out

    def _settings(self, code: int) -> cs_dpp.Settings:
        law_a, law_b = self._law()
        boost = self._boosts(len(self.classes_))
        return cs_dpp.Settings(
            cost=code,
            basis=BASES[self.basis],
            regressor=REGRESSORS[self.regressor],
            order=ORDERS[self.order],
            sampled=SELECTIONS[self.selection],
            centred=REFERENCES[self.reference],
            bias=float(bool(self.fit_intercept)),
            step=float(self.eta0),
            clip=largest_step(self.clip_step),
            law_a=law_a,
            law_b=law_b,
            most=float(self.max_inverse_propensity),
            grows=bool(self.grow),
            expects=LABEL_WEIGHTS[self.label_weights],
            boost=np.append(boost, np.ones(int(self.grow))),
        )

    def _penalty(self) -> float:
        """Return the ridge penalty: the noisier the targets, the larger.

        By all propensities as given, so that it does not depend on labels met so far.
        """
        if self.propensity is None or self._is_running():
            return self.l2_regularization
        values = np.asarray(getattr(self.propensity, "values_", self.propensity))
        most = float(self.max_inverse_propensity)
        return float(self.l2_regularization / np.maximum(values, 1 / most).mean())

    def _plan(self, n_features: int, n_labels: int) -> Plan:
        is_ridge = self.regressor == "ridge"
        if is_ridge:
            _validation.ridge_size(n_features, 'use regressor="gradient"')
        if self.grow and not is_ridge:
            n_features = 1 << (n_features - 1).bit_length()  # room to grow into
        return Plan(
            n_features=n_features,
            n_labels=n_labels + self.grow,
            n_components=_validation.code_size(self.n_components, n_labels),
            is_ridge=is_ridge,
            is_adaptive=not is_ridge and self.learning_rate == "adagrad",
            turns=self.basis == "transform",
            is_wide=self._is_wide(),
        )

    def _check_room(self, n_features: int, n_labels: int) -> None:
        """Refuse new columns that would fill the memory: a row may name any number."""
        known = hasattr(self, "state_")
        sizes = (self.n_features_in_, len(self.classes_)) if known else (1, 1)
        more = self._plan(n_features, n_labels).n_bytes() - self._plan(*sizes).n_bytes()
        if more > (most := _validation.most_bytes()):
            raise ValueError(
                f"New columns must not take more than {most:,} bytes at once. Got "
                f"{n_features} features and {n_labels} labels, for {more:,} bytes."
            )

    def _warn_of_long_codes(self, n_components: int, n_labels: int) -> None:
        """Say why a stream of many labels is slow, unless the user chose a number."""
        if n_components > LONG and not isinstance(self.n_components, Integral):
            warn(
                f"n_components={self.n_components} of {n_labels:,} labels is "
                f"{n_components:,}, and the time that a row takes grows with its cube: "
                "a whole number, as n_components=100, is quicker.",
            )

    def _is_wide(self) -> bool:
        return self.basis == "correct"

    def _check_plan(self) -> None:
        """Refuse parameters that what is learnt does not fit."""
        plan = self._plan(self.n_features_in_, len(self.classes_))
        if shapes(self.state_) != plan.shapes():
            raise ValueError(
                "n_components, basis, regressor, learning_rate and grow must stay "
                "as they were when the stream began; fit begins anew."
            )

    def _check_state(self) -> None:
        super()._check_state()
        self._check_plan()

    def _check_parameters(self) -> None:
        super()._check_parameters()
        as_cost(self.cost)
        for name, known in (
            ("basis", BASES),
            ("selection", SELECTIONS),
            ("regressor", REGRESSORS),
            ("order", ORDERS),
            ("learning_rate", LEARNING_RATES),
            ("reference", REFERENCES),
            ("label_weights", LABEL_WEIGHTS),
        ):
            _validation.choice(getattr(self, name), name, known)
        code = getattr(as_cost(self.cost), "code", None)
        if self.label_weights == "expected" and code in (None, SUBSET):
            raise ValueError(
                'label_weights="expected" needs cost="hamming", "f1", "accuracy" or '
                f'"rank". Got {self.cost!r}.'
            )
        if not isinstance(self.grow, bool | np.bool_):
            raise ValueError(f"grow must be True or False. Got {self.grow!r}.")
        self._check_propensity()
        _validation.number(self.l2_regularization, "l2_regularization", above=0)
        _validation.number(self.eta0, "eta0", above=0)
        most = self.max_inverse_propensity
        _validation.number(most, "max_inverse_propensity", least=1)
