"""A random code of sparse labels, regressed in a batch and decoded by pursuit."""

from numbers import Integral
from typing import Annotated

import numpy as np
from sklearn.utils import check_scalar

from manylabel import _validation, parallel
from manylabel._docstrings import described_like
from manylabel._kernels.cs_dpp import pursuit
from manylabel._typing import CSR, Floats, RandomState
from manylabel.baselines._label_code import MIDWAY, LabelCode
from manylabel.persistence.records import Field, Finite


@described_like(LabelCode)
class CompressedSensing(LabelCode):
    """Ridge regression to random sums of the labels, undone by sparse decoding.

    Each label has a random vector, and the code of a row is the sum of those of its
    labels, y'A for y in {0, 1} [1]_. Orthogonal matching pursuit finds few labels whose
    vectors make up the regressed code. A label is predicted when its coefficient is
    above one half.

    Parameters
    ----------
    n_components : float or int, default=500
        Length of the code: a fraction of the labels, rounded up, or a number, at most
        that of the labels.
    sparsity : int, default=20
        Most labels that decoding may find, never more than the length of the code; a
        ranking is as deep. More of them, beyond what rows have, also divide the code
        better among those that they have.

    Attributes
    ----------
    code_ : ndarray of shape (n_labels, n_components)
        A random direction A for each label, of length 1.

    Notes
    -----
    The paper proposes several matrices and decoders; these are Gaussian vectors scaled
    to unit length, and its orthogonal matching pursuit. The score of a label is its
    coefficient less one half; all labels that decoding does not find have the same
    score. A label that no row had ranks last. Decoding a row takes
    O(sparsity n_components n_labels).

    References
    ----------
    .. [1] Hsu, Kakade, Langford & Zhang, "Multi-label prediction via compressed
       sensing", NIPS 2009, Algorithms 1 and 2.

    Examples
    --------
    >>> X, Y = [[1.0, 0.0], [0.0, 1.0]] * 3, [[1, 0], [0, 1]] * 3
    >>> CompressedSensing().fit(X, Y).predict([[1.0, 0.0]])
    array([[1, 0]])
    """

    code_: Annotated[Floats, Field("float64", "n_labels, n_components", Finite())]

    def __init__(
        self,
        *,
        n_components: float = 500,
        sparsity: int = 20,
        l2_regularization: float = 1.0,
        normalize: bool = True,
        fit_intercept: bool = True,
        calibrate: str | None = None,
        n_jobs: int | None = None,
        random_state: RandomState = 0,
    ) -> None:
        self.n_components = n_components
        self.sparsity = sparsity
        self.l2_regularization = l2_regularization
        self.normalize = normalize
        self.fit_intercept = fit_intercept
        self.calibrate = calibrate
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_scalar(self.sparsity, "sparsity", Integral, min_val=1)

    def _encode(self, Y: CSR, weight: Floats) -> Floats:
        size = _validation.code_size(self.n_components, Y.shape[1])
        rng = np.random.default_rng(parallel.spawn_seeds(self.random_state, 1)[0])
        code = rng.standard_normal((Y.shape[1], size))
        self.code_ = code / np.linalg.norm(code, axis=1, keepdims=True)
        codes: Floats = Y @ self.code_
        return codes

    def _decode(self, codes: Floats) -> Floats:
        scores = np.empty((len(codes), len(self.classes_)))
        most = np.full(len(codes), min(self.sparsity, codes.shape[1]))
        pursuit.decode(codes, self.code_, most, scores)
        scores -= MIDWAY
        return scores
