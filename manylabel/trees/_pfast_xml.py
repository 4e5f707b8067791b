"""PfastXML."""

from typing import Any

from manylabel import _validation
from manylabel._docstrings import described_like
from manylabel._typing import CSR, Floats, RandomState
from manylabel.propensity import Propensity
from manylabel.trees._fast_xml import FastXML
from manylabel.trees._forest import MOST_GAIN, ForestClassifier
from manylabel.trees._weighting import Weighting


@described_like(FastXML)
class PfastXML(ForestClassifier):
    """FastXML for labels that are missing: a label counts 1 / its propensity.

    Splits maximise the propensity-scored DCG, an unbiased estimate of what complete
    labels would give [1]_, and leaves keep the mean of ``y / p``, so rare labels rank
    higher than in :class:`FastXML`. The mean over the trees estimates how probable it
    is that a label is true, and may exceed 1. The score is that, less one half:
    ``predict`` returns the labels that are more likely than not.

    Parameters
    ----------
    labels_per_leaf : int, default=100
        How many labels a leaf keeps, those of the largest scores.
    propensity : Propensity, array of shape (n_labels,), float or None, default=None
        How probable it is that a true label is recorded, in (0, 1]. None fits
        ``Propensity()`` to ``Y``.

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
