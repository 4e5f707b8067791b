"""Low-rank empirical risk minimisation: features to labels through a narrow middle."""

from itertools import pairwise
from numbers import Integral, Real
from typing import Annotated, Any, NamedTuple

import joblib
import numpy as np
import scipy.linalg
import scipy.sparse as sp
from sklearn.utils import check_scalar

from manylabel import _validation, parallel
from manylabel._docstrings import described_like
from manylabel._kernels.low_rank import observed
from manylabel._typing import CSR, Array, Floats, MatrixLike, RandomState
from manylabel.baselines._label_code import LabelCode, LinearCode, scale_rows
from manylabel.persistence.records import Number
from manylabel.solvers import conjugate
from manylabel.solvers.ridge import Products

LEAST_PROPENSITY = 1e-6
STEPS = 5  # of conjugate gradients between two solutions for the labels
NUMBERS_AT_ONCE = 1 << 20  # of the squares of some labels, 8 MB


class Entries(NamedTuple):
    """What is known of rows and labels, and the weight of the rest.

    The loss is half the sum of ``rest s^2`` over all scores s, and of
    ``weight s^2 - 2 target s`` over the entries of the matrices.
    """

    rest: float
    targets: CSR
    weights: CSR  # empty if all weigh the same
    targets_by_label: CSR
    weights_by_label: CSR
    share: Floats  # of each label's weights in those of all rows


@described_like(LabelCode)
class LEML(LinearCode):
    """Linear scores of low rank, the features' and the labels' part learnt in turn.

    The score of label l for a row x is x'W h_l, with W of n_components columns, and

        sum over (i, l) of c_il (y_il - x_i'W h_l)^2 / 2 + reg (|W|^2 + |H|^2) / 2

    is minimised by turns [1]_: each h_l has a small ridge regression, and W a few
    steps of conjugate gradients. Where all weights c are 1, sums over all rows and
    labels are Gram matrices, and a pass takes O(n_components) for each stored entry of
    X and Y. A label is predicted when its score is above one half.

    Parameters
    ----------
    n_components : float or int, default=200
        Rank: a fraction of the labels, rounded up, or a number, at most that of the
        labels.
    l2_regularization : float, default=2.0
        Weight reg of the squared lengths of both parts. The default suits sets of few
        features, as bibtex; try 8 where features are about as many as rows, or more,
        as in text, and choose on rows held out.
    max_iter : int, default=20
        How often both parts are learnt, at most.
    tol : float, default=0.001
        They are done when a turn lowers the objective by less than this share of what
        the labels lower it by in all.
    missing_weight : float, default=1.0
        Weight c in [0, 1] of what is not observed. Observed are the ones of ``Y``, and
        zeros that a sparse ``Y`` stores: labels that are known not to be there. Any
        other zero may be a label that nobody looked for. 1 takes all as zeros, 0 learns
        from what is observed only, which needs stored zeros, and a weight between is
        what a sample of the other zeros would give on average.
    propensity : Propensity, array of shape (n_labels,), float or None, default=None
        How probable it is that a true label is recorded, in [1e-6, 1]. The loss on
        recorded labels then has the expectation of that on complete ones, where true
        labels weigh 1 and others ``missing_weight``. None, or 1, trusts the labels.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_labels)
        H', a vector h_l in each column.
    coef_ : ndarray of shape (n_features + 1, n_components)
        W, the intercepts last.
    n_iter_ : int
        How often the labels' part was learnt.

    Notes
    -----
    With ``propensity`` p, an observed label stands for 1 / p true ones, of which the
    others were counted as not there [2]_: its terms are
    ``((1 - s)^2 - c s^2) / p + c s^2``. With c = 1 that is a regression to y / p.

    The paper has other losses too, and leaves to the reader in which basis the steps
    for W are taken: here H'H is made diagonal first, which changes neither scores nor
    lengths, and each weight is scaled by the diagonal of its quadratic form. Then 5
    steps do what 100 do without. W starts at random. A label that no row had ranks
    last.

    References
    ----------
    .. [1] Yu, Jain, Kar & Dhillon, "Large-scale multi-label learning with missing
       labels", ICML 2014, section 3.
    .. [2] Jain, Prabhu & Varma, "Extreme Multi-label Loss Functions for Recommendation,
       Tagging, Ranking & Other Missing Label Applications", KDD 2016.

    Examples
    --------
    >>> X, Y = [[1.0, 0.0], [0.0, 1.0]] * 9, [[1, 0], [0, 1]] * 9
    >>> LEML(l2_regularization=0.1).fit(X, Y).predict([[1.0, 0.0]])
    array([[1, 0]])

    Two rows, of which the second says that it has not the first label:

    >>> Y = sp.csr_array(([1, 0, 1], [0, 0, 1], [0, 1, 3]), shape=(2, 2))
    >>> model = LEML(l2_regularization=0.1, missing_weight=0.1)
    >>> model.fit([[1.0, 0.0], [0.0, 1.0]], Y).predict([[0.0, 1.0]]).toarray()
    array([[0, 1]])
    """

    n_iter_: Annotated[int, Number(least=1, whole=True)]

    def __init__(
        self,
        *,
        n_components: float = 200,
        l2_regularization: float = 2.0,
        max_iter: int = 20,
        tol: float = 1e-3,
        missing_weight: float = 1.0,
        propensity: Any = None,
        normalize: bool = True,
        fit_intercept: bool = True,
        calibrate: str | None = None,
        n_jobs: int | None = None,
        random_state: RandomState = 0,
    ) -> None:
        self.n_components = n_components
        self.l2_regularization = l2_regularization
        self.max_iter = max_iter
        self.tol = tol
        self.missing_weight = missing_weight
        self.propensity = propensity
        self.normalize = normalize
        self.fit_intercept = fit_intercept
        self.calibrate = calibrate
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _begin_rows(
        self, X: MatrixLike, Y: MatrixLike, sample_weight: Any
    ) -> tuple[CSR, CSR, Floats]:
        rows, ones = self._begin_fit(X, Y)
        weight = _validation.row_weights(sample_weight, rows.shape[0])
        return rows, sp.csr_array(Y) if sp.issparse(Y) else ones, weight

    def _learn(self, X: CSR, Y: CSR, weight: Floats) -> None:
        ones = _validation.labels(Y)
        self._count(ones[weight > 0])
        products = Products(scale_rows(self._padded(X), np.sqrt(weight)), self.n_jobs)
        self._descend(products, self._entries(ones, Y, weight))

    def _calibrate(self, X: CSR, Y: CSR, weight: Any = None) -> None:
        if self.calibrate is not None:  # rows of no weight say nothing
            counts = weight > 0
            super()._calibrate(X[counts], Y[counts], weight[counts])

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_scalar(self.max_iter, "max_iter", Integral, min_val=1)
        _validation.number(self.tol, "tol", least=0)
        check_scalar(self.missing_weight, "missing_weight", Real, min_val=0, max_val=1)

    def _entries(self, ones: CSR, Y: CSR, weight: Floats) -> Entries:
        """Return targets and weights of what is observed."""
        rest, n_labels = float(self.missing_weight), ones.shape[1]
        inverse = np.ones(n_labels)
        if self.propensity is not None:
            given = self.propensity, n_labels, LEAST_PROPENSITY
            inverse = 1 / _validation.propensities(*given)
        targets = ones.astype(np.float64) * inverse
        zeros = _validation.stored_zeros(Y)
        if rest == 0 and zeros.nnz == 0:
            raise ValueError(
                "missing_weight must be above 0 unless Y is sparse and stores zeros, "
                "labels that are known not to be there. Got 0, and only ones."
            )
        weights = sp.csr_array((1 - rest) * (targets + zeros))
        weights.eliminate_zeros()
        targets = scale_rows(sp.csr_array(targets), np.sqrt(weight))
        turned = targets.T.tocsr(), weights.T.tocsr()
        share = weight @ weights / weight.sum()
        return Entries(rest, targets, weights, *turned, share)

    def _descend(self, products: Products, entries: Entries) -> None:
        """Learn the labels' part and the features' part in turn."""
        n_labels = len(self.classes_)
        size = _validation.code_size(self.n_components, n_labels)
        rng = np.random.default_rng(parallel.spawn_seeds(self.random_state, 1)[0])
        coef = rng.standard_normal((len(products.squares), size)) / np.sqrt(size)
        reg, before = float(self.l2_regularization), np.inf
        for turn in range(1, self.max_iter + 1):
            self.n_iter_ = turn
            codes = products.times(coef)
            factors = self._solve_labels(codes, entries)
            # What is best for the labels lowers the loss by half of this product.
            gain = np.vdot(entries.targets @ factors, codes)
            now = (reg * np.vdot(coef, coef) - gain) / 2
            if before - now <= self.tol * abs(now):
                break
            before = now
            coef, factors = self._step_features(products, coef, factors, entries)
        self.coef_ = np.ascontiguousarray(coef)
        self.components_ = np.ascontiguousarray(factors.T)

    def _solve_labels(self, codes: Floats, entries: Entries) -> Floats:
        """Return the vector of each label, by ridge regression from the codes."""
        moments: Floats = entries.targets_by_label @ codes
        square = entries.rest * codes.T @ codes
        square[np.diag_indices_from(square)] += self.l2_regularization
        weights = entries.weights_by_label
        if weights.nnz == 0:
            solved: Floats = scipy.linalg.solve(square, moments.T, assume_a="pos").T
            return solved
        n_some = max(1, NUMBERS_AT_ONCE // square.size)
        tasks = [
            (weights[a : a + n_some], moments[a : a + n_some])
            for a in range(0, len(moments), n_some)
        ]
        common = codes, square
        return np.vstack(parallel.run(_solve_some, tasks, self.n_jobs, common=common))

    def _step_features(
        self, products: Products, coef: Floats, factors: Floats, entries: Entries
    ) -> tuple[Floats, Floats]:
        """Return a better ``coef``, and both parts in a basis of their own."""
        lengths, turn = scipy.linalg.eigh(factors.T @ factors)
        coef, factors = coef @ turn, factors @ turn
        lengths, weights = entries.rest * np.maximum(lengths, 0), entries.weights
        reg = float(self.l2_regularization)

        def apply(change: Floats) -> Floats:
            codes = products.times(change)
            pulled = codes * lengths
            self._add_products(weights, codes, factors, pulled)
            return products.turned(pulled) + reg * change

        scale = products.squares * (lengths + entries.share @ factors**2) + reg
        target = products.turned(entries.targets @ factors)
        return conjugate.descend(apply, target, coef, scale, max_iter=STEPS)[0], factors

    def _add_products(
        self, weights: CSR, codes: Floats, factors: Floats, out: Floats
    ) -> None:
        if weights.nnz == 0:
            return
        n_parts = max(1, min(joblib.effective_n_jobs(self.n_jobs), len(codes)))
        edges = np.linspace(0, len(codes), n_parts + 1).astype(int)
        tasks = [
            (weights.indptr[a : b + 1], codes[a:b], out[a:b])
            for a, b in pairwise(edges)
        ]
        common = weights.indices, weights.data, factors
        found = parallel.run(_add_some, tasks, self.n_jobs, common=common)
        for (*_, part), added in zip(tasks, found, strict=True):
            if added is not part:  # it is a copy, of another process
                part[:] = added


def _add_some(
    labels: Array,
    values: Array,
    factors: Floats,
    starts: Array,
    codes: Floats,
    out: Floats,
) -> Floats:
    """Return sums of some rows with the products of their entries added."""
    observed.add_products(starts, labels, values, codes, factors, out)
    return out


def _solve_some(codes: Floats, square: Floats, weights: CSR, moments: Floats) -> Floats:
    """Return the vectors of some labels, each with weights of its own."""
    squares = np.tile(square, (len(moments), 1, 1))
    observed.add_squares(
        *(weights.indptr, weights.indices, weights.data), codes, squares
    )
    solved = np.linalg.solve(squares, moments[:, :, np.newaxis])
    return np.asarray(solved[:, :, 0], np.float64)
