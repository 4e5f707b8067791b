"""FastXML."""

from numbers import Real
from typing import Any

import numpy as np

from manylabel._typing import CSR, Floats, RandomState
from manylabel.trees._forest import MOST_GAIN, ForestClassifier
from manylabel.trees._weighting import Weighting


class FastXML(ForestClassifier):
    """A forest whose nodes split the rows such that both sides rank labels well.

    Each node puts its rows on two sides that maximise nDCG, one ranking of the labels
    a side, and sends them down by a sparse linear separator of the sides [1]_. A leaf
    keeps how often each label occurs among its rows. The score of a label is the mean
    over the trees, less one half: ``predict`` returns the labels above that.

    Parameters
    ----------
    n_estimators : int, default=50
        How many trees; they differ by their random starts only.
    leaf_size : int, default=10
        A node of at most so many rows is a leaf.
    labels_per_leaf : int, default=100
        How many labels a leaf keeps, the most frequent ones.
    C : float or "auto", default="auto"
        Weight of the separators' loss against ``|w|_1``. The authors' program has 1.0;
        "auto" takes more for short rows, 1.6 for rows of unit length.
    intercept_scaling : float, default=1.0
        Value of a constant feature, whose weight is regularised as the others.
    label_gain : array of shape (n_labels,), float or None, default=None
        What it is worth to rank a label high; also scales its score. None is 1.
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
    frequency in the leaves, at most 1.

    The procedure and defaults, but for ``C``, are those of the authors' program: the
    sides are settled first, then one separator is fitted roughly. A node whose rows
    would all go one way becomes a leaf, whatever its size; with ``C = 1`` that is
    common for rows of unit length. ``FastXML(**FastXML.AUTHORS)`` is their program.
    Margins in place of their exponentials keep rows of large values from overflowing.

    References
    ----------
    .. [1] Prabhu & Varma, "FastXML: a fast, accurate and stable tree-classifier for
       extreme multi-label learning", KDD 2014.

    Examples
    --------
    >>> X = [[1.0, 0.0], [0.9, 0.0], [0.0, 1.0], [0.0, 0.8]]
    >>> Y = [[1, 0], [1, 0], [0, 1], [0, 1]]
    >>> model = FastXML(n_estimators=5, leaf_size=2, C=10.0).fit(X, Y)
    >>> model.predict([[1.0, 0.1]])
    array([[1, 0]])
    """

    def __init__(
        self,
        *,
        n_estimators: int = 50,
        leaf_size: int = 10,
        labels_per_leaf: int = 100,
        C: float | str = "auto",
        intercept_scaling: float = 1.0,
        label_gain: Any = None,
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
        self.label_gain = label_gain
        self.cost = cost
        self.calibrate = calibrate
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _weighting(self, Y: CSR) -> Weighting:
        gain = self._gains(Y.shape[1])
        return Weighting(np.ones(Y.shape[1]), gain, gain, is_ndcg=True)

    def _gains(self, n_labels: int) -> Floats:
        if self.label_gain is None:
            return np.ones(n_labels)
        gain = np.asarray(self.label_gain, np.float64)
        if isinstance(self.label_gain, Real):
            gain = np.full(n_labels, gain)
        if gain.shape != (n_labels,):
            raise ValueError(
                f"label_gain must have {n_labels} values, one per label. "
                f"Got shape {gain.shape}."
            )
        wrong = ~((gain >= 1 / MOST_GAIN) & (gain <= MOST_GAIN))
        if wrong.any():
            label = int(np.flatnonzero(wrong)[0])
            raise ValueError(
                f"label_gain must lie in [{1 / MOST_GAIN:g}, {MOST_GAIN:g}]. "
                f"Got {gain[label]:g} for label {label}."
            )
        return gain
