"""Classifier chains that decide for a cost."""

from numbers import Integral
from typing import Annotated, Any

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_scalar

from manylabel import _validation, parallel
from manylabel._docstrings import described_like
from manylabel._kernels.linear import chain, svm
from manylabel._kernels.ranking import UNSEEN
from manylabel._typing import CSR, Array, Floats, RandomState, Singles
from manylabel._warning import warn
from manylabel.base import PAIRS_AT_ONCE, WeighingClassifier
from manylabel.baselines._chain_training import (
    Lesson,
    learn_chain,
    learn_filter_tree,
)
from manylabel.baselines._expected_cost import least_costly
from manylabel.losses import as_cost
from manylabel.model_selection.probable import CalibratedBatchClassifier
from manylabel.persistence.records import Field, Finite, Matrix, Within
from manylabel.solvers import linear

PROBABILISTIC, FILTER_TREE, GREEDY = METHODS = "pcc", "cft", "greedy"
MAX_LABELS = 5000  # links between them take 100 MB
MAX_SAMPLES = 2000  # the costs of each by each take 32 MB
LEAST = 1e-9  # score of a label that is given


@described_like(CalibratedBatchClassifier)
class ClassifierChain(CalibratedBatchClassifier, WeighingClassifier):
    """Logistic classifiers in a row: each is told the labels that come before it.

    The classifier of label l estimates P(y_l = 1 | x, y_1, ..., y_{l-1}), so that the
    chain has the probability of every label set [1]_. The methods differ in how a set
    is chosen:

    - ``"pcc"``, a probabilistic chain [2]_: label sets are drawn from the chain, and
      the set of the least mean cost over them is given;
    - ``"cft"``, the condensed filter tree [3]_: in training, a row counts for a label
      as much as it costs to take the worse of 0 and 1 for it, the rest of the chain
      following either way; the chain then decides label by label;
    - ``"greedy"``: the plain chain, label by label.

    Parameters
    ----------
    method : {"pcc", "cft", "greedy"}, default="pcc"
        How label sets are chosen.
    cost : str, cost, object with ``from_counts`` or callable, default="f1"
        What sets are chosen for, by ``"pcc"`` and ``"cft"``: ``"hamming"``, ``"f1"``,
        ``"accuracy"``, ``"rank"``, ``"subset"`` or one's own.
    n_samples : int, default=100
        Label sets that ``"pcc"`` draws for a row, at most 2,000.
    n_rounds : int, default=8
        How often ``"cft"`` learns the chain; from the second time on also from the
        labels that it gives to the training rows.
    C : float, default=1.0
        Weight of the loss, as in :class:`OneVsRest`.
    tol : float, default=0.1
        When a classifier is done, as in :class:`OneVsRest`.
    normalize : bool, default=True
        Scale every row to unit length, in ``fit`` and when predicting.
    n_jobs : int or None, default=None
        Threads; None is 1, -1 all cores. ``"cft"`` learns by one.
    random_state : int, Generator, RandomState or None, default=0
        Seeds the order in which rows are visited and the samples.

    Attributes
    ----------
    classes_ : ndarray of shape (n_labels,)
        Column numbers of ``Y``, which is also their order in the chain.
    coef_ : csr_array of shape (n_features, n_labels)
        Weights of the features.
    links_ : ndarray of shape (n_labels, n_labels)
        Weights of labels, by row, in the classifiers of later labels.
    intercept_ : ndarray of shape (n_labels,)
        Intercepts; of a label never seen, the smallest float32.
    draws_ : ndarray of shape (n_samples, n_labels)
        What probabilities are compared with to draw the samples of any row; none if
        the method draws none. In each column they are evenly spread over [0, 1].

    Notes
    -----
    By ``"pcc"`` the labels of the set that is given score how probable they are, the
    others that less 1. Probabilities are means over the samples, not of their 0/1
    labels but of the probabilities by which these were drawn; ``predict_proba`` returns
    them, unless ``calibrate`` makes others. For Hamming, F1, rank and subset loss no
    set has a smaller mean cost over the samples than the one given [4]_.

    By ``"cft"`` paths are the true labels and those that the round before gave. Scores
    of ``"cft"`` and ``"greedy"`` are margins.

    References
    ----------
    .. [1] Read, Pfahringer, Holmes & Frank, "Classifier chains for multi-label
       classification", Machine Learning 85, 2011.
    .. [2] Dembczynski, Cheng & Huellermeier, "Bayes optimal multilabel classification
       via probabilistic classifier chains", ICML 2010, section 4.
    .. [3] Li & Lin, "Condensed filter tree for cost-sensitive multi-label
       classification", ICML 2014, Algorithm 1.
    .. [4] Dembczynski, Waegeman, Cheng & Huellermeier, "An exact algorithm for
       F-measure maximization", NIPS 2011.

    Examples
    --------
    >>> X = [[1.0, 0.0], [1.0, 0.2], [0.0, 1.0], [0.1, 1.0]] * 3
    >>> Y = [[1, 1], [1, 1], [0, 1], [0, 1]] * 3
    >>> chain = ClassifierChain(cost="hamming").fit(X, Y)
    >>> chain.predict([[0.9, 0.1], [0.1, 0.8]])
    array([[1, 1],
           [0, 1]])
    """

    coef_: Annotated[CSR, Matrix("float32", "n_features, n_labels")]
    links_: Annotated[Singles, Field("float32", "n_labels, n_labels", Finite())]
    intercept_: Annotated[Singles, Field("float32", "n_labels", Finite())]
    draws_: Annotated[Singles, Field("float32", "n_draws, n_labels", Within(0, 1))]

    def __init__(
        self,
        *,
        method: str = "pcc",
        cost: Any = "f1",
        n_samples: int = 100,
        n_rounds: int = 8,
        C: float = 1.0,
        tol: float = 0.1,
        normalize: bool = True,
        calibrate: str | None = None,
        n_jobs: int | None = None,
        random_state: RandomState = 0,
    ) -> None:
        self.method = method
        self.cost = cost
        self.n_samples = n_samples
        self.n_rounds = n_rounds
        self.C = C
        self.tol = tol
        self.normalize = normalize
        self.calibrate = calibrate
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _has_own_probabilities(self) -> bool:
        return bool(self.method == PROBABILISTIC)

    def _own_probabilities(self, X: CSR) -> Array:
        scores = self._scores(X)
        return np.where(scores > 0, scores, np.maximum(scores + 1, 0))

    def _check_parameters(self) -> None:
        super()._check_parameters()
        _validation.choice(self.method, "method", METHODS)
        as_cost(self.cost)
        most = MAX_SAMPLES
        check_scalar(self.n_samples, "n_samples", Integral, min_val=1, max_val=most)
        check_scalar(self.n_rounds, "n_rounds", Integral, min_val=1)
        linear.check_cost(self.C)
        _validation.number(self.tol, "tol", above=0)

    def _learn(self, X: CSR, Y: CSR, weight: Floats) -> None:
        n_labels = Y.shape[1]
        if n_labels > MAX_LABELS:
            raise ValueError(
                "A chain links each label to each, so Y must have at most "
                f"{MAX_LABELS} labels. Got {n_labels}: use OneVsRest."
            )
        visits, draws = parallel.spawn_seeds(self.random_state, 2)
        n_draws = int(self.n_samples) if self.method == PROBABILISTIC else 0
        self.draws_ = _spread(n_draws, n_labels, np.random.default_rng(int(draws)))
        rows = sp.csr_array((self._values(X), X.indices, X.indptr), shape=X.shape)
        settings = linear.Settings(self.C, self.tol, loss="log_loss")
        lesson = Lesson(rows, Y, weight, settings, visits)
        if self.method == FILTER_TREE:
            learnt = learn_filter_tree(lesson, as_cost(self.cost), int(self.n_rounds))
        else:
            learnt = learn_chain(lesson, self.n_jobs)
        self.coef_, self.links_, self.intercept_, n_late = learnt
        if n_late:
            warn(
                f"{n_late} of {n_labels} labels did not converge in "
                f"{settings.max_iter} passes: raise tol, or scale the features.",
                ConvergenceWarning,
            )

    def _values(self, X: CSR) -> Array:
        return linear.unit_values(X) if self.normalize else X.data

    def _scores(self, X: CSR) -> Array:
        W, shape = self.coef_, (X.shape[0], len(self.classes_))
        features = np.empty(shape, np.float32)
        svm.scores(
            *(X.indptr, X.indices, self._values(X)),
            *(W.indptr, W.indices, W.data, self.intercept_, features),
        )
        if self.method == PROBABILISTIC:
            n_rows = max(1, PAIRS_AT_ONCE // self._n_costs())
            parts = [features[i : i + n_rows] for i in range(0, len(features), n_rows)]
            return np.concatenate([features[:0], *map(self._decide, parts)])
        given, margin = np.zeros(shape, np.uint8), np.empty(shape, np.float32)
        chain.follow(features, self.links_, np.int64(0), given, margin)
        return margin

    def _decide(self, features: Singles) -> Array:
        """Return how probable labels are, less 1 outside of the set that is given."""
        n_rows, n_labels = features.shape
        samples = np.empty((n_rows, len(self.draws_), n_labels), np.uint8)
        room, probable = np.empty(n_labels, np.float32), np.empty(features.shape)
        chain.sample(features, self.links_, self.draws_, room, samples, probable)
        is_seen = self.intercept_ > UNSEEN
        given = least_costly(samples, as_cost(self.cost)) & is_seen
        scores = np.where(given, np.maximum(probable, LEAST), probable - 1)
        return np.where(is_seen, scores, UNSEEN).astype(np.float32)

    def _n_costs(self) -> int:
        """Return how many costs of a row are at hand: of each set, by each sample."""
        n_labels, n_draws = len(self.classes_), len(self.draws_)
        return (n_labels + 1 + n_draws) * max(n_draws, n_labels)

    def _check_state(self) -> None:
        super()._check_state()
        n_draws = int(self.n_samples) if self.method == PROBABILISTIC else 0
        if len(self.draws_) != n_draws:
            raise ValueError(f"draws_ must have {n_draws} rows.")


def _spread(n_draws: int, n_labels: int, rng: np.random.Generator) -> Singles:
    """Return draws from [0, 1), one of each n-th part of it in each column."""
    parts = np.tile(np.arange(n_draws)[:, None], (1, n_labels))
    draws = rng.permuted(parts, axis=0) + rng.random(parts.shape)
    return (draws / max(n_draws, 1)).astype(np.float32)
