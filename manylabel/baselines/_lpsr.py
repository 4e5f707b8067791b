"""Label partitioning for sublinear ranking."""

from math import ceil
from numbers import Integral
from typing import Annotated, Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.utils import check_scalar

from manylabel import _validation, parallel
from manylabel._docstrings import described_like
from manylabel._kernels import topk
from manylabel._kernels.csr import with_full_rows
from manylabel._kernels.forest.router import Rows
from manylabel._kernels.linear import listed, svm
from manylabel._kernels.ranking import UNSEEN
from manylabel._typing import CSR, Array, Bools, Floats, Ints, RandomState, Singles
from manylabel.base import WeighingClassifier
from manylabel.baselines._naive_bayes import LinearScores, naive_bayes
from manylabel.baselines._one_vs_rest import OneVsRest
from manylabel.lists import Lists
from manylabel.model_selection.probable import CalibratedBatchClassifier
from manylabel.persistence.records import Columns, Field, Finite, Matrix
from manylabel.solvers import linear
from manylabel.solvers.clustering import part_points

NAIVE_BAYES = "naive_bayes"
ROWS_OF_A_CLUSTER = 200  # usually
MOST_CLUSTERS = 1024  # usually
# Scores of labels that a row's cluster does not list: those seen in training, the rest.
OTHERS = np.array([UNSEEN / 2, UNSEEN], np.float32)


@described_like(CalibratedBatchClassifier)
class LPSR(CalibratedBatchClassifier, WeighingClassifier):
    """A partition of the rows, whose parts say which labels a ranker has to score.

    Rows are parted by k-means, and each cluster keeps the labels that most of its rows
    have [1]_. A row is ranked by a linear ranker, which scores the labels of the row's
    cluster alone: with m kept of L labels, a row takes n_clusters + m products in place
    of L. With naive Bayes as its ranker it is known as LPSR-NB.

    Parameters
    ----------
    ranker : OneVsRest, "naive_bayes" or None, default=None
        What scores labels; None is ``OneVsRest()``. It is cloned. Naive Bayes is
        multinomial, of features that are not negative.
    n_clusters : int or None, default=None
        Parts of the rows. None is one for 200 rows, at most 1024.
    leaf_labels : int, default=100
        Labels that a cluster keeps: those of most of its rows, then the most frequent
        of all.
    n_jobs : int or None, default=None
        Threads, of the ranker too if it names none; None is 1, -1 all cores.
    random_state : int, Generator, RandomState or None, default=0
        Seeds the first centres of k-means.

    Attributes
    ----------
    classes_ : ndarray of shape (n_labels,)
        Column numbers of ``Y``.
    centres_ : csr_array of shape (n_features, n_clusters)
        Centres of the clusters, of length 1. A row goes to that of the largest product.
    leaf_labels_ : ndarray of shape (n_clusters, n_kept)
        Labels that each cluster keeps, ascending.
    coef_ : csr_array of shape (n_labels, n_features)
        Weights of the ranker, by label. Of a label that uses more than a third of the
        features, zeros are stored too.
    slope_ : ndarray of shape (n_labels,)
        What the sum of a row counts, with naive Bayes; else 0.
    intercept_ : ndarray of shape (n_labels,)
        Intercepts; of a label never seen, the smallest float32.

    Notes
    -----
    [1]_ weighs the rows of k-means by how well the ranker does on them, and chooses the
    labels of a part by a relaxed integer program that discounts rows that the ranker
    gets wrong; rows count alike here. Clusters are flat, and k-means is spherical.

    Labels that a cluster does not keep rank behind those that it does, and are not
    predicted.

    References
    ----------
    .. [1] Weston, Makadia & Yee, "Label partitioning for sublinear ranking", ICML 2013,
       sections 3.1 and 3.2.

    Examples
    --------
    >>> X = [[1.0, 0.0], [1.0, 0.2], [0.0, 1.0], [0.1, 1.0]]
    >>> Y = [[1, 0, 1], [1, 0, 1], [0, 1, 0], [0, 1, 0]]
    >>> model = LPSR(n_clusters=2, leaf_labels=2).fit(X, Y)
    >>> model.predict([[0.9, 0.1], [0.0, 0.8]])
    array([[1, 0, 1],
           [0, 1, 0]])
    """

    centres_: Annotated[CSR, Matrix("float32", "n_features, n_clusters")]
    leaf_labels_: Annotated[
        Array, Field("int32", "n_clusters, n_kept", Columns("n_labels"))
    ]
    coef_: Annotated[CSR, Matrix("float32", "n_labels, n_features")]
    slope_: Annotated[Singles, Field("float32", "n_labels", Finite())]
    intercept_: Annotated[Singles, Field("float32", "n_labels", Finite())]

    def __init__(
        self,
        *,
        ranker: Any = None,
        n_clusters: int | None = None,
        leaf_labels: int = 100,
        calibrate: str | None = None,
        n_jobs: int | None = None,
        random_state: RandomState = 0,
    ) -> None:
        self.ranker = ranker
        self.n_clusters = n_clusters
        self.leaf_labels = leaf_labels
        self.calibrate = calibrate
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if isinstance(self.ranker, str):
            _validation.choice(self.ranker, "ranker", [NAIVE_BAYES])
        elif not isinstance(self.ranker, OneVsRest | None):
            raise TypeError(
                f'ranker must be a OneVsRest or "{NAIVE_BAYES}". Got {self.ranker!r}.'
            )
        if self.n_clusters is not None:
            check_scalar(self.n_clusters, "n_clusters", Integral, min_val=1)
        check_scalar(self.leaf_labels, "leaf_labels", Integral, min_val=1)

    def _learn(self, X: CSR, Y: CSR, weight: Floats) -> None:
        with parallel.stage("partition", 0.2):
            cluster = self._part(X, weight)
            n_clusters = self.centres_.shape[1]
            members = _members(cluster, n_clusters, weight)
            self.leaf_labels_ = _keep_labels(members, Y, weight, self.leaf_labels)
        with parallel.stage("ranker"):
            weights = self._fit_ranker(X, Y, weight)
        parts = (weights.coef.indptr, weights.coef.indices, weights.coef.data)
        starts, columns, values = with_full_rows(*parts, X.shape[1])
        self.coef_ = sp.csr_array((values, columns, starts), shape=weights.coef.shape)
        self.slope_, self.intercept_ = weights.slope, weights.intercept.copy()
        self.intercept_[np.bincount(Y.indices, minlength=Y.shape[1]) == 0] = UNSEEN

    def _part(self, X: CSR, weight: Floats) -> Ints:
        """Find the centres; return the cluster of each row."""
        usual = min(ceil(X.shape[0] / ROWS_OF_A_CLUSTER), MOST_CLUSTERS)
        k = min(usual if self.n_clusters is None else int(self.n_clusters), X.shape[0])
        rng = np.random.default_rng(int(parallel.spawn_seeds(self.random_state, 1)[0]))
        # The nearest centre does not depend on the length of a row, a mean does.
        unit = linear.unit_values(X) * np.repeat(weight, np.diff(X.indptr))
        parts = (unit.astype(np.float32), X.indices, X.indptr)
        rows = sp.csr_array(parts, shape=X.shape)
        _, centres = part_points(rows, np.arange(X.shape[0]), k, rng)
        self.centres_ = sp.csr_array(centres)
        return self._clusters(X)

    def _fit_ranker(self, X: CSR, Y: CSR, weight: Floats) -> LinearScores:
        if self.ranker == NAIVE_BAYES:
            return naive_bayes(X, Y, weight)
        ranker = OneVsRest() if self.ranker is None else clone(self.ranker)
        if ranker.n_jobs is None:
            ranker.n_jobs = self.n_jobs
        ranker.fit(X, Y, weight)
        by_label = sp.csr_array(ranker.coef_.T.tocsr())
        by_label.eliminate_zeros()
        return LinearScores(
            by_label, np.zeros(Y.shape[1], np.float32), ranker.intercept_
        )

    def _normalizes(self) -> bool:
        return self.ranker is None or bool(getattr(self.ranker, "normalize", False))

    def _clusters(self, X: CSR) -> Ints:
        """Return the cluster of each row, the first of equals."""
        W = self.centres_
        out = np.empty((X.shape[0], W.shape[1]), np.float32)
        none = np.zeros(W.shape[1], np.float32)
        svm.scores(X.indptr, X.indices, X.data, W.indptr, W.indices, W.data, none, out)
        return np.asarray(out.argmax(axis=1))

    def _listed(self, X: CSR) -> Lists:
        """Return the labels that each row's cluster keeps, and their scores."""
        group, W = self._clusters(X), self.coef_
        values = linear.unit_values(X) if self._normalizes() else X.data
        out = np.empty((X.shape[0], self.leaf_labels_.shape[1]), np.float32)
        listed.score_listed(
            Rows(X.indptr, X.indices, values),
            *(group, self.leaf_labels_, Rows(W.indptr, W.indices, W.data)),
            *(self.intercept_, self.slope_, np.zeros(X.shape[1], np.float32), out),
        )
        indptr = np.arange(0, out.size + 1, out.shape[1])
        return Lists(indptr, self.leaf_labels_[group].ravel(), out.ravel())

    def _seen(self) -> Bools:
        return np.asarray(self.intercept_ > UNSEEN)

    def _scores(self, X: CSR) -> Array:
        return self._listed(X).dense(self._seen(), OTHERS)

    def _topk(self, X: CSR, k: int) -> CSR:
        return self._listed(X).best(k, self._seen(), OTHERS)

    def _labels(self, X: CSR) -> CSR:
        found = self._listed(X).above(0)
        ones = np.ones(len(found.labels), np.int64)
        return found._replace(values=ones).csr(len(self.classes_))

    def _n_scores(self) -> int:
        return int(max(self.centres_.shape[1], self.leaf_labels_.shape[1]))

    def _check_state(self) -> None:
        super()._check_state()
        if not self.centres_.shape[1] or not self.leaf_labels_.shape[1]:
            raise ValueError("leaf_labels_ must have a cluster and a label in it.")
        if (np.diff(self.leaf_labels_, axis=1) <= 0).any():
            raise ValueError("leaf_labels_ must ascend in each cluster.")


def _members(cluster: Ints, n_clusters: int, weight: Floats) -> CSR:
    """Return the weights of the rows of each cluster, shape (n_clusters, n_rows)."""
    n_rows = len(cluster)
    return sp.csr_array((weight, (cluster, np.arange(n_rows))), (n_clusters, n_rows))


def _keep_labels(members: CSR, Y: CSR, weight: Floats, n_kept: int) -> Array:
    """Return for each cluster the labels of most of its rows, ascending.

    Of labels that as many of them have, those of more rows in all come first.
    """
    counts = sp.csr_array(members @ Y.astype(np.float64))
    total = Y.T @ weight
    share = total / (total.max() + 1) * weight.min()  # less than any row
    kept = np.empty((members.shape[0], min(n_kept, Y.shape[1])), np.int32)
    for c in range(len(kept)):
        entries = slice(*counts.indptr[c : c + 2])
        worth = share.copy()
        worth[counts.indices[entries]] += counts.data[entries]
        topk.dense_rows(worth[None], kept.shape[1], kept[c : c + 1])
    return np.sort(kept, axis=1)
