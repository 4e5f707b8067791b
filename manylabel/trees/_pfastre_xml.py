"""PfastreXML."""

from collections.abc import Iterable, Sequence
from numbers import Integral, Real
from typing import Annotated, Any, Self

import numpy as np
from sklearn.utils import check_scalar
from sklearn.utils.validation import check_is_fitted

from manylabel import _validation
from manylabel._docstrings import described_like
from manylabel._typing import CSR, Array, Floats, RandomState, Singles
from manylabel.lists import Lists
from manylabel.metrics import as_metric
from manylabel.model_selection import thresholds
from manylabel.persistence.records import Number
from manylabel.trees import _tail_weight
from manylabel.trees._grower import Plan
from manylabel.trees._nodes import Forest
from manylabel.trees._pfast_xml import PfastXML
from manylabel.trees._tail import CENTROIDS, Surface, Tail, cosine_tail
from manylabel.trees._weighting import Weighting

STEEPNESS = {"cosine": 0.0, "program": 1.0, "paper": 0.5}  # times gamma
MAX_GAMMA = 1e6
MAX_TEMPERATURE = 100.0
MAX_BETA = 1e6  # and 1 / least: P of 1 would rule out what was not recorded


@described_like(PfastXML)
class PfastreXML(PfastXML):
    """A forest whose best labels are re-ranked by how near the row is to theirs.

    Trees seldom tell rare labels apart. So each label also has a centroid, the mean of
    its rows, and P says how near a row is to it [1]_. With Q the mean over the trees, a
    label scores ``alpha log Q + (1 - alpha) log P``, less a threshold: ``predict``
    returns the labels above that. The defaults are ours; the authors' program is
    ``PfastreXML(**PfastreXML.AUTHORS)``.

    Parameters
    ----------
    splits : {"balanced", "program"}, default="balanced"
        What trees make large. The authors' program has the trees of :class:`PfastXML`:
        DCG in which a label gains 1 / p, also in the leaves. "balanced" is nDCG in
        which it gains the root of that, and Q is how frequent it is in the leaves.
    tail : {"cosine", "program", "paper"}, default="cosine"
        What P is. The authors' program has ``1 / (1 + exp(gamma |x - centroid|^2))``
        of rows brought to unit length with their constant feature, the paper gamma / 2
        in its place; ``beta`` multiplies exp. "cosine" is 0.1 plus the cosine of row
        and centroid, features weighed by their rarity.
    alpha : float or "auto", default="auto"
        Weight of the trees, in [0, 1]. The authors' program has 0.8; "auto" chooses it
        on a validation set, one row in ten, by a smaller forest grown on the others.
        With fewer than 20 rows "auto" is 0.8.
    temperature : float, "auto" or None, default="auto"
        How scores of a row are made comparable with those of another: they are taken
        for logarithms of ``probability^t``, and moved, all by as much, so that the
        probabilities of a row have the sum of Q. "auto" chooses it by the likelihood of
        the labels of the validation set; of fewer than 20 rows, and in the authors'
        program, scores stay as they are: None.
    metric : str or None, default=None
        What "auto" makes large, for instance ``"PSP@3"``: see
        :func:`manylabel.metrics.as_metric`. None is the mean of P@1, P@3, P@5, each
        counted twice, and PSP@1, PSP@3, PSP@5.
    gamma : float, default=30.0
        How fast P falls with the distance; a cosine has no use for it.
    beta : float, default=1.0
        Odds against a label at its very centroid, in [1e-6, 1e6]: P there is
        ``1 / (1 + beta)`` (equation 41 of the paper's supplement; its Algorithm 3 has
        1). A cosine has no use for it.
    centroids : {"mean", "exact"}, default="mean"
        "exact" takes the points of maximum likelihood (section 2.2 of the paper's
        supplement) in place of the means, for ``tail="program"`` or ``"paper"``; each
        of at most 100 steps for a label passes over all of ``X``.
    n_ranked : int, default=1000
        How many labels of a row, those of the largest Q, are ranked; the others follow
        by column.
    cost : str, object with ``from_counts`` or None, default=None
        What ``predict`` is to make small, per row, by a threshold chosen on the
        validation set: ``"f1"``, ``"accuracy"``, ``"hamming"`` ...; see
        :func:`manylabel.losses.as_cost`. With None, or fewer than 20 rows, rows get as
        many labels as they are estimated to have, on average.
    random_state : int, Generator, RandomState or None, default=0
        Seeds the trees, and chooses the rows to hold out.

    Attributes
    ----------
    alpha_ : float
        Weight of the trees.
    temperature_ : float
        What is chosen for ``temperature``; 0 where scores stay as they are.
    threshold_ : float
        Logarithm that a label must exceed to be predicted.
    centroids_ : csr_array of shape (n_features, n_labels)
        Centroids by feature; kept in fixed point, and made when asked for.
    tail_ : NamedTuple
        The centroids as flat arrays; ``scale``, ``constant``, ``square`` and ``weight``
        have what 1 stands for in a centroid, its value for the constant feature, its
        squared length, and the factor of each feature in rows and centroids.
    seen_ : ndarray of shape (n_labels,)
        Whether a training row had the label. Others rank last.

    Notes
    -----
    Without ``calibrate``, ``predict_proba`` is by the trees alone. Nearness may
    outweigh them: a label on every training row need not be predicted for all.

    The default metric weighs frequent against rare labels: P@1 alone leads to values of
    alpha near 1 and gives rare labels up, PSP@1 alone to small ones and gives up the
    others.

    At a gamma of 30 the exact centroids are the means, to many digits. They differ from
    about 3 downwards: on bibtex, at gamma = 1, P@1 is 64.3 in place of 63.4, and PSP@1
    51.1 in place of 51.9.

    References
    ----------
    .. [1] Jain, Prabhu & Varma, "Extreme multi-label loss functions for recommendation,
       tagging, ranking & other missing label applications", KDD 2016.

    Examples
    --------
    >>> X = [[1.0, 0.0], [0.9, 0.0], [0.0, 1.0], [0.0, 0.8]]
    >>> Y = [[1, 0], [1, 0], [0, 1], [0, 1]]
    >>> model = PfastreXML(n_estimators=5, leaf_size=2, C=10.0, alpha=0.5).fit(X, Y)
    >>> model.predict_topk([[1.0, 0.1]], k=1).indices
    array([0], dtype=int32)
    """

    tail_: Tail
    alpha_: Annotated[float, Number(0, 1)]
    temperature_: Annotated[float, Number(0, MAX_TEMPERATURE)] = 0.0  # as 0.1.0 had it

    AUTHORS = PfastXML.AUTHORS | {
        "splits": "program",
        "tail": "program",
        "alpha": 0.8,
        "temperature": None,
    }

    def __init__(
        self,
        *,
        n_estimators: int = 50,
        leaf_size: int = 10,
        labels_per_leaf: int = 100,
        C: float | str = "auto",
        intercept_scaling: float = 1.0,
        propensity: Any = None,
        splits: str = "balanced",
        tail: str = "cosine",
        alpha: float | str = "auto",
        temperature: float | str | None = "auto",
        metric: str | None = None,
        gamma: float = 30.0,
        beta: float = 1.0,
        centroids: str = "mean",
        n_ranked: int = 1000,
        cost: Any = None,
        calibrate: str | None = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: RandomState = 0,
    ) -> None:
        super().__init__(
            n_estimators=n_estimators,
            leaf_size=leaf_size,
            labels_per_leaf=labels_per_leaf,
            C=C,
            intercept_scaling=intercept_scaling,
            propensity=propensity,
            cost=cost,
            calibrate=calibrate,
            warm_start=warm_start,
            n_jobs=n_jobs,
            random_state=random_state,
        )
        self.splits = splits
        self.tail = tail
        self.alpha = alpha
        self.temperature = temperature
        self.metric = metric
        self.gamma = gamma
        self.beta = beta
        self.centroids = centroids
        self.n_ranked = n_ranked

    def merged(self, other: Self) -> Self:
        """Return a new forest of the trees of two, grown apart on the same data.

        Parameters
        ----------
        other : PfastreXML
            A fitted forest of the same class, features, labels and centroids.

        Returns
        -------
        PfastreXML
            Has this forest's parameters but for ``n_estimators``, and what it chose.
        """
        model = super().merged(other)
        pairs: Iterable[tuple[Any, Any]] = zip(self.tail_, other.tail_, strict=True)
        if not all(np.array_equal(own, others) for own, others in pairs):
            raise ValueError(
                "other must have been grown on the same data: its centroids differ."
            )
        return model

    @property
    def centroids_(self) -> CSR:
        """Centroids by feature, shape (n_features, n_labels); made when asked."""
        check_is_fitted(self)
        return self.tail_.csr()

    def _weighting(self, Y: CSR) -> Weighting:
        if self.splits != "balanced":
            return super()._weighting(Y)
        worth = self._inverse_propensities(Y)
        return Weighting(worth, np.sqrt(worth), np.ones_like(worth), is_ndcg=True)

    def _chooses(self) -> bool:
        return "auto" in (self.alpha, self.temperature) or self._seeks_threshold()

    def _finish(self, plan: Plan, seeds: Array, pilots: Sequence[Forest]) -> None:
        """Learn the tail, then choose how scores are made, then the threshold."""
        self.tail_ = self._learn_tail(plan)
        if pilots:
            model, part, held = self._pilot(plan, seeds, pilots)
            model.tail_ = self._learn_tail(part)
        else:
            model, held = self, plan.of(_tail_weight.sample(plan.X.shape[0], seeds[0]))
        trees, tail = model._ranked(held.X)
        self._choose(trees, tail, held.Y, may_choose=bool(pilots))
        scores = self._weigh(trees, tail)
        if not pilots or not self._seeks_threshold():
            n_true = (held.Y @ self.inverse_propensity_).sum()
            self.threshold_ = thresholds.matching_threshold(scores, n_true)
        else:
            self.threshold_ = self._best_threshold(scores, held.Y)

    def _choose(self, trees: Lists, tail: Floats, Y: CSR, *, may_choose: bool) -> None:
        """Take or choose the weight of the trees, then the temperature."""
        if self.alpha != "auto":
            self.alpha_ = float(self.alpha)
        elif may_choose:
            self.alpha_ = _tail_weight.best_alpha(
                trees, tail, Y, self.metric, self.inverse_propensity_
            )
        else:
            self.alpha_ = _tail_weight.USUAL
        if self.temperature != "auto":
            self.temperature_ = float(self.temperature or 0)
        elif may_choose:
            scores = _tail_weight.blended(trees, tail, self.alpha_)
            gain = self._label_gain(Y.shape[1])
            self.temperature_ = _tail_weight.best_temperature(scores, Y, gain)
        else:
            self.temperature_ = 0.0

    def _weigh(self, trees: Lists, tail: Floats) -> Lists:
        """Return the scores that log Q and log P make."""
        scores = _tail_weight.blended(trees, tail, self.alpha_)
        if self.temperature_ == 0:
            return scores
        return _tail_weight.comparable(scores, np.exp(trees.values), self.temperature_)

    def _settled(self) -> dict[str, Any]:
        chosen = {"alpha": self.alpha_, "temperature": self.temperature_ or None}
        return super()._settled() | chosen

    def _learn_tail(self, plan: Plan) -> Tail:
        if self.tail == "cosine":
            return cosine_tail(plan)
        learn, propensity = CENTROIDS[self.centroids], 1 / self.inverse_propensity_
        return Tail.of(learn(plan, propensity, self._surface(), self.n_jobs))

    def _ranked(self, X: CSR) -> tuple[Lists, Floats]:
        """Return the best labels of each row by the trees, log Q, and their log P."""
        best, tail = self._listed(X, int(self.n_ranked)), self.tail_
        trees = best._replace(values=np.log(best.values))
        if self.tail == "cosine":
            return trees, tail.log_cosines(X, best)
        bias = float(self.intercept_scaling)
        return trees, tail.log_shares(X, best, bias=bias, surface=self._surface())

    def _listed_scores(self, X: CSR) -> Lists:
        scores = self._weigh(*self._ranked(X))
        values = (scores.values - self.threshold_).astype(np.float32)
        return scores._replace(values=values)

    def _scores(self, X: CSR) -> Array:
        return self._listed_scores(X).dense(self.seen_, self._others())

    def _topk(self, X: CSR, k: int) -> CSR:
        return self._listed_scores(X).best(k, self.seen_, self._others())

    def _others(self) -> Singles:
        """Return the scores of labels not ranked: those seen in training, and the rest.

        Ranked ones score more: log Q > -100, and log P > -3 - 4 x steepness - log beta
        because two points of the unit ball are at most 2 apart. To be comparable they
        fall by less than the best, log Q < 70, and the temperature times 100, for the
        sum of Q, and log ``n_ranked``.
        """
        steepness, shift = self._surface()
        least = -(103.0 + 4.0 * steepness + max(shift, 0.0))
        if self.temperature_ > 0:
            least -= 70.0 + self.temperature_ * (100.0 + np.log(float(self.n_ranked)))
        return np.array([least, 2 * least], np.float32) - np.float32(self.threshold_)

    def _surface(self) -> Surface:
        steepness = STEEPNESS[self.tail] * float(self.gamma)
        return Surface(steepness, float(np.log(self.beta)))

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if isinstance(self.alpha, str):
            _validation.choice(self.alpha, "alpha", ["auto"])
        else:
            _validation.number(self.alpha, "alpha", least=0)
            check_scalar(self.alpha, "alpha", Real, max_val=1)
        if isinstance(self.temperature, str):
            _validation.choice(self.temperature, "temperature", ["auto"])
        elif self.temperature is not None:
            _validation.number(self.temperature, "temperature", above=0)
            check_scalar(self.temperature, "temperature", Real, max_val=MAX_TEMPERATURE)
        _validation.number(self.gamma, "gamma", above=0)
        check_scalar(self.gamma, "gamma", Real, max_val=MAX_GAMMA)
        _validation.number(self.beta, "beta", least=1 / MAX_BETA)
        check_scalar(self.beta, "beta", Real, max_val=MAX_BETA)
        _validation.choice(self.splits, "splits", ["balanced", "program"])
        _validation.choice(self.tail, "tail", STEEPNESS)
        _validation.choice(self.centroids, "centroids", CENTROIDS)
        if self.tail == "cosine" and self.centroids == "exact":
            raise ValueError('centroids="exact" needs tail="program" or "paper".')
        check_scalar(self.n_ranked, "n_ranked", Integral, min_val=1)
        if self.metric is not None:
            as_metric(self.metric)
