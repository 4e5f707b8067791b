"""PfastXML."""

from typing import Any

from manylabel import _validation
from manylabel._typing import CSR, Floats, RandomState
from manylabel.propensity import Propensity
from manylabel.trees._forest import MOST_GAIN, ForestClassifier
from manylabel.trees._weighting import Weighting


class PfastXML(ForestClassifier):
    """FastXML for labels that are missing: a label counts 1 / its propensity.

    Splits maximise the propensity-scored DCG, an unbiased estimate of what complete
    labels would give [1]_, and leaves keep the mean of ``y / p``, so rare labels rank
    higher than in :class:`FastXML`. The mean over the trees estimates how probable it
    is that a label is true, and may exceed 1. The score is that, less one half:
    ``predict`` returns the labels that are more likely than not.

    Parameters
    ----------
    n_estimators : int, default=50
        How many trees; they differ by their random starts only.
    leaf_size : int, default=10
        A node of at most so many rows is a leaf.
    labels_per_leaf : int, default=100
        How many labels a leaf keeps, those of the largest scores.
    C : float or "auto", default="auto"
        Weight of the separators' loss against ``|w|_1``. The authors' program has 1.0;
        "auto" takes more for short rows, 1.6 for rows of unit length.
    intercept_scaling : float, default=1.0
        Value of a constant feature, whose weight is regularised as the others.
    propensity : Propensity, array of shape (n_labels,), float or None, default=None
        How probable it is that a true label is recorded, in (0, 1]. None fits
        ``Propensity()`` to ``Y``.
    cost : str, object with ``from_counts`` or None, default=None
        What ``predict`` is to make small, per row: its threshold is then chosen on a
        validation set, one row in ten, by a smaller forest grown on the others.
        ``"f1"``, ``"accuracy"``, ``"hamming"`` ...; see
        :func:`manylabel.losses.as_cost`. None, or fewer than 20 rows: the threshold is
        one half.
    calibrate : {"auto", "sigmoid", "isotonic"} or None, default=None
        Make scores probabilities, for ``predict_proba``, by rows held out; see
        :class:`Calibrated`. It takes about one more fit. Then ``predict`` gives the
        sets of the least expected ``cost``, if one is named.
    warm_start : bool, default=False
        Let ``fit`` keep the trees there are and grow those that ``n_estimators`` asks
        for. With an integer ``random_state``, and the same data, that is the same
        forest.
    n_jobs : int or None, default=None
        Threads; None is 1, -1 all cores. The forest does not depend on it.
    random_state : int, Generator, RandomState or None, default=0
        Seeds the trees.

    Attributes
    ----------
    classes_ : ndarray of shape (n_labels,)
        Column numbers of ``Y``.
    forest_ : NamedTuple
        The nodes of all trees as flat arrays: ``roots``, ``children``, ``intercept``,
        ``node_rows``, and the weights and leaves that the next two show.
    coef_ : csr_array of shape (n_nodes, n_features)
        Weights of the separators; kept in 16 bits each, and made when asked for.
    leaves_ : csr_array of shape (n_nodes, n_labels)
        Share of the training rows of a leaf that have a label; kept in 16 bits each.
    gain_ : ndarray of shape (n_labels,)
        Factor of each label's shares in its score.
    inverse_propensity_ : ndarray of shape (n_labels,)
        How many true labels a recorded one stands for.
    feature_importances_ : ndarray of shape (n_features,)
        Size of the weights times the rows routed by them; they sum to 1.
    threshold_ : float
        Labels of a larger mean are predicted; scores are means less this.
    seen_ : ndarray of shape (n_labels,)
        Whether a training row had the label. Others score 1 less than any other.
    calibration_ : Curves
        What scores mean; empty without ``calibrate``. See :class:`Calibrated`.

    Notes
    -----
    Without ``calibrate``, ``predict_proba`` is the mean over the trees of the label's
    frequency in the leaves, divided by its propensity, and at most 1.

    As in the authors' program, the DCG of a row is not divided by its ideal, so rows of
    many or rare labels weigh more.

    References
    ----------
    .. [1] Jain, Prabhu & Varma, "Extreme multi-label loss functions for recommendation,
       tagging, ranking & other missing label applications", KDD 2016.

    Examples
    --------
    >>> X = [[1.0, 0.0], [0.9, 0.0], [0.0, 1.0], [0.0, 0.8]]
    >>> Y = [[1, 0], [1, 0], [0, 1], [0, 1]]
    >>> model = PfastXML(n_estimators=5, leaf_size=2, C=10.0, propensity=[0.5, 0.8])
    >>> model.fit(X, Y).predict_topk([[1.0, 0.1]], k=1).toarray()
    array([[0.9, 0. ]], dtype=float32)
    """

    def __init__(
        self,
        *,
        n_estimators: int = 50,
        leaf_size: int = 10,
        labels_per_leaf: int = 100,
        C: float | str = "auto",
        intercept_scaling: float = 1.0,
        propensity: Any = None,
        cost: Any = None,
        calibrate: str | None = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: RandomState = 0,
    ) -> None:
        self.n_estimators = n_estimators
        self.leaf_size = leaf_size
        self.labels_per_leaf = labels_per_leaf
        self.C = C
        self.intercept_scaling = intercept_scaling
        self.propensity = propensity
        self.cost = cost
        self.calibrate = calibrate
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _settled(self) -> dict[str, Any]:
        return super()._settled() | {"propensity": 1 / self.inverse_propensity_}

    def _weighting(self, Y: CSR) -> Weighting:
        worth = self._inverse_propensities(Y)
        return Weighting(worth, worth, worth, is_ndcg=False)

    def _inverse_propensities(self, Y: CSR) -> Floats:
        given = Propensity().fit(Y) if self.propensity is None else self.propensity
        return 1 / _validation.propensities(given, Y.shape[1], least=1 / MOST_GAIN)
