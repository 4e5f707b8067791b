"""A tree of gated linear classifiers, learnt as one: LDKL."""

from itertools import product
from numbers import Integral
from typing import Annotated

import numpy as np
from sklearn.utils import check_scalar

from manylabel import _validation, parallel
from manylabel._kernels.binary import local_kernel
from manylabel._typing import CSR, Array, Floats, Ints, RandomState
from manylabel.binary import BinaryClassifier, Sides, draw_folds
from manylabel.persistence.records import Field, Finite, Number

ALPHAS, SIGMAS = (0.1, 0.01, 0.001), (1.0, 0.1, 0.01)  # tried where none is given
N_FOLDS = 5
MAX_VALUES = 1 << 20  # of rows whose every fold judges; of more, one does
DOUBLINGS = 10  # of the steepness of turns, from first to last pass
FIRST_SHARE = 0.1  # steepness of the first pass, times the mean size of projections
FIRST_LENGTH = 0.1  # of random parameters, projected on a row
N_PROBED = 200  # rows whose projections are measured
MOST_DEPTH = 10
Positive = Annotated[float, Number(least=0)]


class LocalDeepKernel(BinaryClassifier):
    """A tree of gated linear classifiers, learnt as one by gradient descent (LDKL).

    The score of a row x is the sum, over the nodes k of its way down a full binary
    tree, of ``tanh(sigma v_k . x) (w_k . x)``; at node k it turns by the sign of
    ``theta_k . x`` [1]_. All v, w and theta minimise the mean hinge loss plus
    ``alpha / 2`` times their squared lengths. To have gradients, rows are shared out
    between children by ``tanh(s theta_k . x)``, ever more steeply.

    Parameters
    ----------
    max_depth : int, default=3
        Turns on each way down, at most 10.
    alpha : float or None, default=None
        Weight of the squared lengths.
    sigma : float or None, default=None
        Steepness of the gates. Of ``alpha`` and ``sigma``, those that are None are
        chosen, from 0.1, 0.01, 0.001 and from 1, 0.1, 0.01, by the errors on five folds
        of the rows held out in turn, or on one of them where rows have more than a
        million values; equal errors by the hinge loss.
    max_iter : int, default=30
        Passes over the rows.
    n_jobs : int or None, default=None
        Choices that are tried at a time.
    random_state : int, Generator, RandomState or None, default=0
        Draws first parameters, the order of rows, and folds.

    Attributes
    ----------
    alpha_, sigma_ : float
        Given, or chosen.
    coef_ : ndarray of shape (n_features + 1, n_columns)
        theta of the inner nodes, then w and then v of all nodes, level by level; the
        last row has the intercepts.
    depth_ : int
        Turns on each way down.
    selected_features_ : ndarray of int
        Features of any weight: all that were not 0 in all rows.
    n_iter_ : int
        Passes that were made.

    Notes
    -----
    Features are taken as they are: those far from 0 should be centred first. Steps
    shrink as those of Pegasos, ``1 / (alpha t)``, but not from ``1 / alpha``, where
    gates and turns would be saturated at once: from the inverse of the mean squared
    length of rows. ``s`` starts at 0.1 over the mean size of ``theta . x`` and doubles
    ten times. The paper's further choices, and those of the authors' program, are not
    known to us.

    References
    ----------
    .. [1] Jose, Goyal, Aggrwal & Varma, "Local deep kernel learning for efficient
       non-linear SVM prediction", ICML 2013.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(1000, 2))
    >>> y = (X[:, 0] > 0) != (X[:, 1] > 0)
    >>> model = LocalDeepKernel(alpha=0.001, sigma=1.0).fit(X[:800], y[:800])
    >>> bool(model.score(X[800:], y[800:]) > 0.95)
    True
    """

    alpha_: Positive
    sigma_: Positive
    coef_: Annotated[Floats, Field("float64", "n_features + 1, n_columns", Finite())]
    n_iter_: Annotated[int, Number(least=1, whole=True)]

    def __init__(
        self,
        *,
        max_depth: int = 3,
        alpha: float | None = None,
        sigma: float | None = None,
        max_iter: int = 30,
        n_jobs: int | None = None,
        random_state: RandomState = 0,
    ) -> None:
        self.max_depth = max_depth
        self.alpha = alpha
        self.sigma = sigma
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _learn(self, rows: Sides) -> None:
        """Choose what is not given, then learn from all rows."""
        seeds = parallel.spawn_seeds(self.random_state, 2)
        X, side = rows.X.astype(np.float64), rows.side
        alphas = ALPHAS if self.alpha is None else (float(self.alpha),)
        sigmas = SIGMAS if self.sigma is None else (float(self.sigma),)
        choices = list(product(alphas, sigmas))
        if len(choices) > 1:
            fold = draw_folds(side, N_FOLDS, seeds[0])
            choices = [self._best(X, side, fold, choices, seeds[1])]
        ((self.alpha_, self.sigma_),) = choices
        self.coef_ = self._descend(X, side, *choices[0], seeds[1])
        self.n_iter_ = int(self.max_iter)

    @property
    def depth_(self) -> int:
        """Turns on each way down."""
        return int(np.log2((self.coef_.shape[1] - 2) // 5 + 1))

    @property
    def selected_features_(self) -> Ints:
        """Features of any weight, ascending."""
        return np.flatnonzero(self.coef_[:-1].any(axis=1))

    def _votes(self, X: CSR) -> Floats:
        return _scores(X.astype(np.float64), self.coef_, self.sigma_)

    def _best(
        self,
        X: CSR,
        side: Array,
        fold: Ints,
        choices: list[tuple[float, float]],
        seed: np.uint64,
    ) -> tuple[float, float]:
        """Return alpha and sigma of the fewest errors on rows held out."""
        n_held = N_FOLDS if X.nnz <= MAX_VALUES else 1

        def judge(alpha: float, sigma: float, held: int) -> tuple[int, float]:
            own, rest = fold == held, fold != held
            coef = self._descend(X[rest], side[rest], alpha, sigma, seed)
            margin = side[own] * _scores(X[own], coef, sigma)
            return int((margin <= 0).sum()), float(np.maximum(0, 1 - margin).sum())

        tasks = [(*choice, held) for choice in choices for held in range(n_held)]
        judged = np.array(parallel.run(judge, tasks, self.n_jobs))
        errors, hinge = judged.reshape(len(choices), n_held, 2).sum(axis=1).T
        return choices[int(np.lexsort((hinge, errors))[0])]

    def _descend(
        self, X: CSR, side: Array, alpha: float, sigma: float, seed: np.uint64
    ) -> Floats:
        """Return the parameters after the passes of gradient descent."""
        rng = np.random.default_rng(seed)
        n_inner = 2**self.max_depth - 1
        square = 1 + X.multiply(X).sum() / X.shape[0]
        shape = (X.shape[1] + 1, 5 * n_inner + 2)
        columns = rng.normal(0, FIRST_LENGTH / np.sqrt(square), shape)
        columns[:-1][np.bincount(X.indices, minlength=X.shape[1]) == 0] = 0
        parameters = local_kernel.Parameters(columns, np.ones(1))
        rows, room = (X.indptr, X.indices, X.data), local_kernel.make_room(shape[1])
        probe = X[rng.permutation(X.shape[0])[:N_PROBED]]
        for n_passes in range(self.max_iter):
            turns = probe @ columns[:-1, :n_inner] + columns[-1, :n_inner]
            size = max(float(np.abs(turns).mean() * parameters.scale[0]), 1e-12)
            steepness = FIRST_SHARE / size * 2 ** (DOUBLINGS * n_passes / self.max_iter)
            settings = (sigma, steepness, alpha, 1 / square)
            order, n_steps = rng.permutation(len(side)), n_passes * len(side)
            local_kernel.learn(rows, side, order, parameters, settings, n_steps, room)
        return np.asarray(columns * parameters.scale[0])

    def _check_parameters(self) -> None:
        check_scalar(
            self.max_depth, "max_depth", Integral, min_val=1, max_val=MOST_DEPTH
        )
        check_scalar(self.max_iter, "max_iter", Integral, min_val=1)
        for name in ("alpha", "sigma"):
            if getattr(self, name) is not None:
                _validation.number(getattr(self, name), name, above=0)

    def _check_state(self) -> None:
        super()._check_state()
        n_inner, rest = divmod(self.coef_.shape[1] - 2, 5)
        if rest or n_inner < 1:
            raise ValueError("coef_ must have 5 n + 2 columns, of n inner nodes.")


def _scores(X: CSR, coef: Floats, sigma: float) -> Floats:
    out = np.empty(X.shape[0])
    rows = X.indptr, X.indices, X.data
    parameters = local_kernel.Parameters(coef, np.ones(1))
    room = local_kernel.make_room(coef.shape[1])
    local_kernel.scores(rows, parameters, sigma, room, out)
    return out
