"""A random code of sparse labels, decoded by orthogonal matching pursuit."""

from numbers import Integral
from typing import Annotated

import numpy as np
from sklearn.utils import check_scalar

from manylabel import _validation, parallel
from manylabel._docstrings import described_like
from manylabel._kernels.cs_dpp import pursuit
from manylabel._typing import CSR, Floats, Ints, RandomState
from manylabel.online._regression import CodeRegression
from manylabel.persistence.records import Field, Finite

MIDWAY = 0.5  # between a label that is there, 1, and one that is not, 0


@described_like(CodeRegression)
class OnlineCompressedSensing(CodeRegression):
    """Linear regression to random sums of the labels, undone by sparse decoding.

    O-CS of Chu et al. [1]_ after Hsu et al. [2]_: labels are coded as y in {0, 1}, of
    which few are 1; the code is the sum of a random vector for each label that is
    there, and orthogonal matching pursuit finds few labels whose vectors make up the
    regressed code. A label is predicted when its coefficient is above one half.

    Parameters
    ----------
    sparsity : int or None, default=None
        Most labels that decoding may find; None is the mean number of labels of the
        rows so far, rounded up. Never more than the length of the code.

    Attributes
    ----------
    classes_ : ndarray of shape (n_labels,)
        Column numbers of ``Y``.
    code_ : ndarray of shape (n_labels, n_components)
        A random direction for each label, of length 1.

    Notes
    -----
    The paper says no more than that it follows Hsu et al., so these are our choices:
    Gaussian vectors scaled to unit length, the level of sparsity, and the threshold.
    The score of a label is its coefficient less one half; all labels that decoding does
    not find have the same score. A label that no row has had so far ranks last. More
    than 20,000 features need ``"gradient"``.

    References
    ----------
    .. [1] Chu, Huang & Lin, "Dynamic principal projection for cost-sensitive online
       multi-label classification", Machine Learning 108, 2019, section 5.4.
    .. [2] Hsu, Kakade, Langford & Zhang, "Multi-label prediction via compressed
       sensing", NIPS 2009.

    Examples
    --------
    >>> X, Y = [[3.0, 0.0], [0.0, 3.0]] * 3, [[1, 0], [0, 1]] * 3
    >>> OnlineCompressedSensing(n_components=2).fit(X, Y).predict([[3.0, 0.0]])
    array([[1, 0]])
    """

    code_: Annotated[Floats, Field("float64", "n_labels, n_targets", Finite())]

    def __init__(
        self,
        *,
        n_components: float = 0.1,
        sparsity: int | None = None,
        regressor: str = "ridge",
        l2_regularization: float = 1.0,
        learning_rate: str = "invscaling",
        eta0: float = 1.0,
        clip_step: bool = True,
        fit_intercept: bool = True,
        calibrate: str | None = None,
        random_state: RandomState = 0,
    ) -> None:
        self.n_components = n_components
        self.sparsity = sparsity
        self.regressor = regressor
        self.l2_regularization = l2_regularization
        self.learning_rate = learning_rate
        self.eta0 = eta0
        self.clip_step = clip_step
        self.fit_intercept = fit_intercept
        self.calibrate = calibrate
        self.random_state = random_state

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.sparsity is not None:
            check_scalar(self.sparsity, "sparsity", Integral, min_val=1)

    def _start_code(self, n_labels: int) -> None:
        size = _validation.code_size(self.n_components, n_labels)
        rng = np.random.default_rng(parallel.spawn_seeds(self.random_state, 1)[0])
        code = rng.standard_normal((n_labels, size))
        self.code_ = code / np.linalg.norm(code, axis=1, keepdims=True)

    def _n_targets(self) -> int:
        return int(self.code_.shape[-1])

    def _encode(self, Y: CSR) -> Floats:
        codes: Floats = Y @ self.code_
        return codes

    def _decode(self, codes: Floats, n_relevant: Floats) -> Floats:
        scores = np.empty((len(codes), len(self.classes_)))
        pursuit.decode(codes, self.code_, self._n_findable(n_relevant), scores)
        scores -= MIDWAY
        return scores

    def _n_findable(self, n_relevant: Floats) -> Ints:
        """Return how many labels decoding may find in each row."""
        if self.sparsity is None:
            most = np.ceil(n_relevant).astype(np.int64)
        else:
            most = np.full(len(n_relevant), self.sparsity, np.int64)
        return np.minimum(most, self._n_targets())
