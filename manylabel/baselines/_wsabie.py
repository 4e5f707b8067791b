"""WSABIE: features and labels in one space, ranked by dot products."""

from numbers import Integral
from typing import Annotated

import numpy as np
from sklearn.utils import check_scalar

from manylabel import _validation, parallel
from manylabel._docstrings import described_like
from manylabel._kernels.cs_dpp import regression
from manylabel._kernels.embedding import warp
from manylabel._kernels.forest.router import Rows
from manylabel._kernels.ranking import UNSEEN
from manylabel._typing import CSR, Array, RandomState, Singles
from manylabel.lists import Lists
from manylabel.model_selection import thresholds
from manylabel.model_selection.probable import CalibratedBatchClassifier
from manylabel.persistence.records import Field, Finite, Number
from manylabel.solvers import linear


@described_like(CalibratedBatchClassifier)
class WSABIE(CalibratedBatchClassifier):
    """Features and labels embedded together, by the WARP loss.

    Feature j has a vector w_j and label l a vector v_l; the score of l for a row x is
    (sum of x_j w_j) . v_l. Stochastic gradients make the ranks of the labels that a row
    has small: for each such label others are drawn until one is ranked too high, and
    the fewer draws that took, the more both move [1]_.

    Parameters
    ----------
    n_components : int, default=100
        Length of the vectors.
    learning_rate : float, default=0.03
        First step of AdaGrad.
    n_iter : int, default=20
        Passes over the rows.
    max_norm : float, default=10.0
        Vectors of features and labels are kept at most so long.
    random_state : int, Generator, RandomState or None, default=0
        Seeds the first vectors, the order of the rows and the labels drawn.

    Attributes
    ----------
    classes_ : ndarray of shape (n_labels,)
        Column numbers of ``Y``.
    feature_vectors_ : ndarray of shape (n_features + 1, n_components)
        Vectors of the features, that of a constant one last.
    label_vectors_ : ndarray of shape (n_components, n_labels)
        Vectors of the labels; zeros for a label never seen.
    threshold_ : float
        What a label's dot product must exceed for the label to be predicted: as many
        do on the training rows as these have labels.

    Notes
    -----
    ``decision_function`` is the dot product less ``threshold_``, and the smallest
    float32 for a label never seen. Rows are scaled to length 1 and have a constant
    feature.

    The paper takes a fixed step and one label of a row at a time. We take AdaGrad's
    steps, one rate for a vector, and the features of a row move once, after all its
    labels: the code of a row is then made once for all its labels.

    Training takes one thread: each step depends on the one before.

    References
    ----------
    .. [1] Weston, Bengio & Usunier, "WSABIE: scaling up to large vocabulary image
       annotation", IJCAI 2011, Algorithm 1.

    Examples
    --------
    >>> X, Y = [[1.0, 0.0], [0.0, 1.0]] * 3, [[1, 0], [0, 1]] * 3
    >>> WSABIE(n_components=2).fit(X, Y).predict([[1.0, 0.0]])
    array([[1, 0]])
    """

    _unweighted = "it takes one step for each row"
    feature_vectors_: Annotated[
        Singles, Field("float32", "n_features + 1, n_components", Finite())
    ]
    label_vectors_: Annotated[
        Singles, Field("float32", "n_components, n_labels", Finite())
    ]
    threshold_: Annotated[float, Number()]

    def __init__(
        self,
        *,
        n_components: int = 100,
        learning_rate: float = 0.03,
        n_iter: int = 20,
        max_norm: float = 10.0,
        calibrate: str | None = None,
        random_state: RandomState = 0,
    ) -> None:
        self.n_components = n_components
        self.learning_rate = learning_rate
        self.n_iter = n_iter
        self.max_norm = max_norm
        self.calibrate = calibrate
        self.random_state = random_state

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_scalar(self.n_components, "n_components", Integral, min_val=1)
        check_scalar(self.n_iter, "n_iter", Integral, min_val=1)
        _validation.number(self.learning_rate, "learning_rate", above=0)
        _validation.number(self.max_norm, "max_norm", above=0)

    def _learn(self, X: CSR, Y: CSR) -> None:
        n_rows, n_labels = Y.shape
        size = int(self.n_components)
        seeds = parallel.spawn_seeds(self.random_state, 2)
        rng = np.random.default_rng(seeds[0])
        vectors = warp.Vectors(
            *(_start(rng, n, size) for n in (X.shape[1] + 1, n_labels)),
            *(np.zeros(n, np.float32) for n in (X.shape[1] + 1, n_labels)),
        )
        code, gradient = np.empty((2, size), np.float32)
        row = warp.Row(code, gradient, np.zeros(n_labels, np.bool_))
        rows = Rows(X.indptr, X.indices, linear.unit_values(X))
        order, state = np.arange(n_rows), seeds[1:]
        ranks = np.maximum(np.arange(n_labels + 1), 1)
        harmonic = np.cumsum(1 / ranks).astype(np.float32) - 1  # 1 stands there twice
        settings = np.float32(self.learning_rate), np.float32(self.max_norm)
        labels = Rows(Y.indptr, Y.indices, Y.data)
        for _ in range(int(self.n_iter)):
            warp.learn_pass(
                rows, labels, order, state, harmonic, settings, vectors, row
            )
        seen = np.bincount(Y.indices, minlength=n_labels) > 0
        self.feature_vectors_ = vectors.features
        self.label_vectors_ = np.ascontiguousarray((vectors.labels * seen[:, None]).T)
        self._choose_threshold(X, Y)

    def _choose_threshold(self, X: CSR, Y: CSR) -> None:
        self.threshold_ = 0.0
        best = self.predict_topk(X, k=thresholds.DEPTH)
        lists = Lists(best.indptr, best.indices, best.data)
        self.threshold_ = float(thresholds.matching_threshold(lists, Y.nnz))

    def _scores(self, X: CSR) -> Array:
        rows = Rows(X.indptr, X.indices, linear.unit_values(X))
        codes = np.empty((X.shape[0], len(self.label_vectors_)), np.float32)
        warp.encode(rows, self.feature_vectors_, codes)
        scores = np.empty((X.shape[0], len(self.classes_)), np.float32)
        regression.decode(codes, self.label_vectors_, scores)
        scores -= np.float32(self.threshold_)
        scores[:, ~self.label_vectors_.any(axis=0)] = UNSEEN
        return scores


def _start(rng: np.random.Generator, n_vectors: int, size: int) -> Singles:
    """Return random vectors of length 1, nearly."""
    drawn: Singles = rng.standard_normal((n_vectors, size), np.float32)
    return drawn / np.float32(np.sqrt(size))
