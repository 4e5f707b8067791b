"""Binary relevance on a stream: one linear regression per label."""

import numpy as np

from manylabel._typing import CSR, Floats
from manylabel.online._regression import CodeRegression


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
    l2_regularization : float, default=1.0
        Weight of the squared length of the solution (ridge).
    learning_rate : {"invscaling", "adagrad"}, default="invscaling"
        Rates of gradient descent, though never so high that a row is overshot:
        ``"invscaling"`` learns row t at ``eta0 / sqrt(t)``; ``"adagrad"`` gives each
        feature a rate of its own that falls as the feature is met, so rare features
        keep a high one and the scale of the rows does not matter.
    eta0 : float, default=1.0
        Multiplies the rates of gradient descent.
    fit_intercept : bool, default=True
        Add a constant feature, regularised as the others.

    Attributes
    ----------
    classes_ : ndarray of shape (n_labels,)
        Column numbers of ``Y``.
    coef_ : ndarray of shape (n_features + 1, n_labels)
        Weights, the intercepts last.
    state_ : Regression
        What was learnt, as a record: ``coef``; ``inverse``, that of
        ``l2_regularization`` I + the sum of x x', of shape (0, 0) for gradient descent;
        ``spread``, the sum of x_j^2 |x|^2 for each feature j, of shape (0,) unless
        adaptive; ``counts``, the rows that had each label; ``n_seen``.
    n_seen_ : int
        Rows learnt so far.

    Notes
    -----
    A score of exactly 0 predicts nothing, as in scikit-learn; Lemma 6 of the paper maps
    it to +1. A label that no row has had so far ranks last. The bound on the rate is
    ours: at the paper's ``1 / sqrt(t)`` rows longer than 1 overshoot at first, and long
    ones until the weights are lost. More than 20,000 features need ``"gradient"``.

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
        fit_intercept: bool = True,
    ) -> None:
        self.regressor = regressor
        self.l2_regularization = l2_regularization
        self.learning_rate = learning_rate
        self.eta0 = eta0
        self.fit_intercept = fit_intercept

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
