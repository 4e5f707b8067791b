"""Binary relevance on a stream: one linear regression per label."""

import numpy as np

from manylabel._docstrings import described_like
from manylabel._typing import CSR, Floats
from manylabel.online._regression import CodeRegression


@described_like(CodeRegression)
class OnlineBinaryRelevance(CodeRegression):
    """One linear regression per label, learnt in a single pass.

    The targets are +1 for a relevant label and -1 for any other; a label is predicted
    when its regression is above 0. This is O-BR of Chu et al. [1]_, what codes of the
    labels must beat: it costs the number of labels for each row.

    Parameters
    ----------
    regressor : {"ridge", "gradient"}, default="ridge"
        ``"ridge"`` has the exact solution of ridge regression after every row [1]_
        (equation 7), for O(d^2 + d K) a row with d features and K labels;
        ``"gradient"`` descends along each row, for O(nnz K).

    Attributes
    ----------
    classes_ : ndarray of shape (n_labels,)
        Column numbers of ``Y``.
    coef_ : ndarray of shape (n_features + 1, n_labels)
        Weights, the intercepts last.

    Notes
    -----
    A score of exactly 0 predicts nothing, as in scikit-learn; Lemma 6 of the paper maps
    it to +1. A label that no row has had so far ranks last. ``clip_step`` is ours: at
    the paper's ``1 / sqrt(t)`` rows longer than 1 overshoot at first, and long ones
    until the weights are lost. More than 20,000 features need ``"gradient"``; there are
    8 bytes for each feature and label, 4.1 GB for 28,438 features and 18,152 labels:
    where that is too much, :class:`CSDPP` with few components or
    :class:`OnlineLabelTree` take less.

    References
    ----------
    .. [1] Chu, Huang & Lin, "Dynamic principal projection for cost-sensitive online
       multi-label classification", Machine Learning 108, 2019, section 5.2.

    Examples
    --------
    >>> model = OnlineBinaryRelevance()
    >>> model.partial_fit([[1.0, 0.0], [0.0, 1.0]], [[1, 0], [0, 1]]).n_seen_
    2
    >>> model.learn_one({0: 1.0}, {0}).predict_one({0: 1.0})
    {0}
    """

    def __init__(
        self,
        *,
        regressor: str = "ridge",
        l2_regularization: float = 1.0,
        learning_rate: str = "invscaling",
        eta0: float = 1.0,
        clip_step: bool = True,
        fit_intercept: bool = True,
        calibrate: str | None = None,
    ) -> None:
        self.regressor = regressor
        self.l2_regularization = l2_regularization
        self.learning_rate = learning_rate
        self.eta0 = eta0
        self.clip_step = clip_step
        self.fit_intercept = fit_intercept
        self.calibrate = calibrate

    def _start_code(self, n_labels: int) -> None:
        """Draw nothing: the labels are their own code."""

    def _n_targets(self) -> int:
        return len(self.classes_)

    def _encode(self, Y: CSR) -> Floats:
        signs: Floats = Y.toarray().astype(np.float64)
        signs *= 2
        signs -= 1
        return signs

    def _decode(self, codes: Floats, n_relevant: Floats) -> Floats:
        return codes
