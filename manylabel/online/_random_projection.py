"""A random code of the labels, decoded by its pseudo-inverse."""

from typing import Annotated

import numpy as np

from manylabel import _validation, parallel
from manylabel._docstrings import described_like
from manylabel._kernels.cs_dpp import regression
from manylabel._typing import CSR, Floats, RandomState
from manylabel.online._regression import CodeRegression
from manylabel.persistence.records import Field, Finite


@described_like(CodeRegression)
class OnlineRandomProjection(CodeRegression):
    """Linear regression to random sums of the labels, undone by the pseudo-inverse.

    O-RAND of Chu et al. [1]_: what a code that is learnt from the labels must beat.
    Labels are coded as y in {-1, +1}; the code is P y with a Gaussian P that is drawn
    once, and a label is predicted when its part of P^+ z, for the regressed code z, is
    above 0.

    Attributes
    ----------
    classes_ : ndarray of shape (n_labels,)
        Column numbers of ``Y``.
    code_ : ndarray of shape (n_labels, n_components)
        The transpose of P, with independent entries of variance 1 / n_components.
    decoder_ : ndarray of shape (n_components, n_labels)
        The transpose of the pseudo-inverse of P.

    Notes
    -----
    The paper names neither the distribution of P nor its scale: Gaussian is our choice,
    and the pseudo-inverse undoes any scale. A label that no row has had so far ranks
    last. More than 20,000 features need ``"gradient"``.

    References
    ----------
    .. [1] Chu, Huang & Lin, "Dynamic principal projection for cost-sensitive online
       multi-label classification", Machine Learning 108, 2019, section 5.4.

    Examples
    --------
    >>> X, Y = [[1.0, 0.0], [0.0, 1.0]] * 3, [[1, 0], [0, 1]] * 3
    >>> OnlineRandomProjection(n_components=2).fit(X, Y).predict([[1.0, 0.0]])
    array([[1, 0]])
    """

    code_: Annotated[Floats, Field("float64", "n_labels, n_targets", Finite())]
    decoder_: Annotated[Floats, Field("float64", "n_targets, n_labels", Finite())]

    def __init__(
        self,
        *,
        n_components: float = 0.1,
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
        self.regressor = regressor
        self.l2_regularization = l2_regularization
        self.learning_rate = learning_rate
        self.eta0 = eta0
        self.clip_step = clip_step
        self.fit_intercept = fit_intercept
        self.calibrate = calibrate
        self.random_state = random_state

    def _start_code(self, n_labels: int) -> None:
        size = _validation.code_size(self.n_components, n_labels)
        rng = np.random.default_rng(parallel.spawn_seeds(self.random_state, 1)[0])
        self.code_ = rng.standard_normal((n_labels, size)) / np.sqrt(size)
        # A Gaussian code has full rank, so this is its pseudo-inverse, and soon made.
        basis, triangle = np.linalg.qr(self.code_)
        self.decoder_ = np.linalg.solve(triangle, basis.T)

    def _n_targets(self) -> int:
        return int(self.code_.shape[-1])

    def _encode(self, Y: CSR) -> Floats:
        codes: Floats = Y @ self.code_
        codes *= 2
        codes -= self.code_.sum(axis=0)
        return codes

    def _decode(self, codes: Floats, n_relevant: Floats) -> Floats:
        scores = np.empty((len(codes), len(self.classes_)))
        regression.decode(codes, self.decoder_, scores)
        return scores
