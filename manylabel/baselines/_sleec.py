"""SLEEC: codes that keep near neighbours, and a vote among neighbours."""

from numbers import Integral
from typing import Annotated, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_scalar

from manylabel import _validation, parallel
from manylabel._docstrings import described_like
from manylabel._kernels.embedding import neighbours
from manylabel._kernels.forest.router import Rows
from manylabel._kernels.ranking import UNSEEN
from manylabel._typing import CSR, Array, Floats, Ints, RandomState, Singles
from manylabel.baselines._sleec_embedding import cluster_rows, embed, solve_ridge
from manylabel.model_selection.probable import CalibratedBatchClassifier
from manylabel.persistence.records import (
    Columns,
    Field,
    Finite,
    Matrix,
    Offsets,
    Sizes,
)
from manylabel.solvers import linear

ROWS_PER_CLUSTER = 6000  # of the paper
POWER = 4.0  # of the cosine by which a neighbour weighs


class Embedding(NamedTuple):
    """Regressors and codes of all learners, each of which parts the rows.

    Attributes
    ----------
    centres : ndarray of shape (n_features, n_parts)
        A row belongs to the part of the largest dot product.
    weights : ndarray of shape (n_weights, n_components)
        Regressors, a row for each feature that a part has.
    places : ndarray of shape (n_parts, n_features + 1)
        Where the features of a part, and the constant one, stand in ``weights``; or -1.
    learners : ndarray of shape (n_learners + 1,)
        First part of each learner.
    rows : ndarray of shape (n_codes,)
        Training rows, those of a part together.
    starts : ndarray of shape (n_parts + 1,)
        Where the rows of a part start.
    codes : ndarray of shape (n_components, n_codes)
        What is regressed for these rows, of length 1.
    """

    centres: Annotated[Singles, Field("float32", "n_features, n_parts", Finite())]
    weights: Annotated[Singles, Field("float32", "n_weights, n_components", Finite())]
    places: Annotated[
        Array, Field("int32", "n_parts, n_features + 1", Columns("n_weights", least=-1))
    ]
    learners: Annotated[Ints, Field("int64", "n_learners + 1", Offsets("places"))]
    rows: Annotated[Ints, Field("int64", "n_codes", Columns("n_rows"))]
    starts: Annotated[Ints, Field("int64", "n_parts + 1", Offsets("rows"))]
    codes: Annotated[Singles, Field("float32", "n_components, n_codes", Finite())]

    def check(self, sizes: Sizes) -> None:
        """Raise ValueError if there is no learner, or one without parts."""
        if len(self.learners) == 1 or (np.diff(self.learners) < 1).any():
            raise ValueError("embedding_.learners must have a part each.")


class Part(NamedTuple):
    """What one learner knows of some rows."""

    features: Ints
    weights: Singles
    rows: Ints
    codes: Singles


@described_like(CalibratedBatchClassifier)
class SLEEC(CalibratedBatchClassifier):
    """Sparse local embeddings: nearest neighbours in a space learnt from labels.

    The rows are parted into clusters. In each, rows get codes whose dot products are
    the cosines of their label vectors, for pairs of rows that are neighbours by labels
    only: so the code need not keep all labels, as those of a linear code have to. Ridge
    regression predicts the code of a row, and the labels of the training rows with the
    nearest predicted codes are its labels [1]_. Several such learners, of other
    clusters and other codes, vote.

    Parameters
    ----------
    n_estimators : int, default=10
        Learners.
    n_clusters : int or None, default=None
        Clusters of rows that each learner makes; None is one for every 6000 rows.
    n_components : int, default=100
        Length of a code.
    n_label_neighbors : int, default=15
        Rows, with the row itself, whose likeness by labels the code of a row keeps.
    n_neighbors : int, default=25
        Training rows that vote for the labels of a row, for each learner.
    n_iter : int, default=15
        Steps of singular value projection.
    l2_regularization : float, default=2.0
        Weight of the squared length of the solution of ridge regression.
    n_jobs : int or None, default=None
        Threads; None is 1, -1 all cores.
    random_state : int, Generator, RandomState or None, default=0
        Seeds clusters and codes.

    Attributes
    ----------
    classes_ : ndarray of shape (n_labels,)
        Column numbers of ``Y``.
    labels_ : csr_array of shape (n_rows, n_labels)
        Labels of the training rows.
    embedding_ : NamedTuple of arrays
        Centres, regressors and codes.

    Notes
    -----
    A score is the mean share of the neighbours that have a label, less one half; that
    of a label never seen is the smallest float32. Rows are scaled to length 1 and have
    a constant feature.

    The paper counts common labels where we take the cosine, finds regressors by ADMM
    with an L1 penalty on the codes, and lets neighbours by Euclidean distance vote
    alike. Here neighbours are those of the largest cosine c of codes, and weigh
    max(c, 0)^4. Memory is that of the codes, ``n_estimators * n_rows * n_components``,
    and of dense regressors for the features that a cluster has.

    References
    ----------
    .. [1] Bhatia, Jain, Kar, Varma & Jain, "Sparse local embeddings for extreme
       multi-label classification", NIPS 2015, Algorithms 1 and 2.

    Examples
    --------
    >>> X, Y = [[1.0, 0.0], [0.0, 1.0]] * 3, [[1, 0], [0, 1]] * 3
    >>> SLEEC(n_neighbors=3).fit(X, Y).predict([[1.0, 0.1]])
    array([[1, 0]])
    """

    _unweighted = "a neighbour is one row"
    labels_: Annotated[CSR, Matrix("float32", "n_rows, n_labels")]
    embedding_: Embedding

    def __init__(
        self,
        *,
        n_estimators: int = 10,
        n_clusters: int | None = None,
        n_components: int = 100,
        n_label_neighbors: int = 15,
        n_neighbors: int = 25,
        n_iter: int = 15,
        l2_regularization: float = 2.0,
        calibrate: str | None = None,
        n_jobs: int | None = None,
        random_state: RandomState = 0,
    ) -> None:
        self.n_estimators = n_estimators
        self.n_clusters = n_clusters
        self.n_components = n_components
        self.n_label_neighbors = n_label_neighbors
        self.n_neighbors = n_neighbors
        self.n_iter = n_iter
        self.l2_regularization = l2_regularization
        self.calibrate = calibrate
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _check_parameters(self) -> None:
        super()._check_parameters()
        counts = ["n_estimators", "n_components", "n_label_neighbors", "n_neighbors"]
        counts += ["n_iter"] + ["n_clusters"] * (self.n_clusters is not None)
        for name in counts:
            check_scalar(getattr(self, name), name, Integral, min_val=1)
        _validation.number(self.l2_regularization, "l2_regularization", above=0)

    @parallel.with_one_blas_thread
    def _learn(self, X: CSR, Y: CSR) -> None:
        rows = sp.csr_array((linear.unit_values(X), X.indices, X.indptr), X.shape)
        self.labels_ = Y
        n_clusters = self.n_clusters or X.shape[0] // ROWS_PER_CLUSTER
        n_clusters = min(max(1, n_clusters), X.shape[0])
        seeds = parallel.spawn_seeds(self.random_state, int(self.n_estimators))
        tasks, centres, n_parts = [], [], [0]
        for seed in seeds:
            rng = np.random.default_rng(seed)
            found, nearest = cluster_rows(rows, n_clusters, rng)
            centres.append(found)
            n_parts.append(found.shape[1])
            order = rng.permutation(X.shape[0])
            for part in range(found.shape[1]):
                members = order[nearest[order] == part]
                tasks.append((members, int(rng.integers(2**32))))
        parts = parallel.run(self._learn_part, tasks, self.n_jobs, common=(rows, Y))
        self.embedding_ = _joined(parts, np.hstack(centres), np.cumsum(n_parts))

    def _learn_part(self, X: CSR, Y: CSR, members: Ints, seed: int) -> Part:
        """Embed some rows by their labels, and learn to predict the codes."""
        size = min(int(self.n_components), Y.shape[0])
        kept = int(self.n_label_neighbors), size, int(self.n_iter)
        codes = embed(Y[members], *kept, seed)
        some = _with_constant(X[members])
        features = np.unique(some.indices)
        narrow = sp.csr_array(some.tocsc()[:, features])
        weights = solve_ridge(narrow, codes, float(self.l2_regularization))
        return Part(
            features=features,
            weights=weights.astype(np.float32),
            rows=members,
            codes=_unit(narrow @ weights),
        )

    def _scores(self, X: CSR) -> Array:
        rows = Rows(X.indptr, X.indices, linear.unit_values(X))
        labels = Rows(self.labels_.indptr, self.labels_.indices, self.labels_.data)
        out = np.zeros((X.shape[0], len(self.classes_)))
        parts = neighbours.Parts(**self.embedding_._asdict())
        n_codes = int(np.diff(parts.starts).max())
        queries = neighbours.Queries(
            part=np.empty(X.shape[0], np.int64),
            codes=np.empty((X.shape[0], len(parts.codes)), np.float32),
            alike=np.empty((X.shape[0], n_codes), np.float32),
            best=np.empty(min(int(self.n_neighbors), n_codes), np.int64),
            near=np.empty(len(parts.places), np.float32),
        )
        neighbours.vote(rows, labels, np.float32(1), parts, POWER, queries, out)
        out -= 0.5
        n_rows = np.bincount(self.labels_.indices, minlength=out.shape[1])
        out[:, n_rows == 0] = UNSEEN
        return out

    def _n_scores(self) -> int:
        """Return how many numbers ``_scores`` holds for one row."""
        return max(len(self.classes_), int(np.diff(self.embedding_.starts).max()))


def _with_constant(X: CSR) -> CSR:
    return sp.csr_array(sp.hstack([X, np.ones((X.shape[0], 1), np.float32)]))


def _unit(codes: Floats) -> Singles:
    lengths = np.sqrt((codes**2).sum(axis=1, keepdims=True))
    unit: Singles = (codes / np.where(lengths > 0, lengths, 1)).astype(np.float32)
    return unit


def _joined(parts: list[Part], centres: Singles, learners: Ints) -> Embedding:
    n_features = len(centres)
    places = np.full((len(parts), n_features + 1), -1, np.int32)
    at = 0
    for place, part in zip(places, parts, strict=True):
        place[part.features] = np.arange(at, at + len(part.features))
        at += len(part.features)
    return Embedding(
        centres=np.ascontiguousarray(centres),
        weights=np.concatenate([part.weights for part in parts]),
        places=places,
        learners=learners,
        rows=np.concatenate([part.rows for part in parts]),
        starts=np.cumsum([0, *(len(part.rows) for part in parts)]),
        codes=np.ascontiguousarray(np.concatenate([part.codes for part in parts]).T),
    )
