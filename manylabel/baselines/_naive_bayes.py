"""Naive Bayes as linear weights that are sparse."""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from manylabel._typing import CSR, Floats, Singles

PRIOR_ROWS = 20  # usual rows that the prior counts beside those of a label


class LinearScores(NamedTuple):
    """What scores a label: ``coef[l] @ x + slope[l] * sum(x) + intercept[l]``."""

    coef: CSR  # (n_labels, n_features)
    slope: Singles
    intercept: Singles


def naive_bayes(X: CSR, Y: CSR, weight: Floats) -> LinearScores:
    """Return the log odds of labels by multinomial naive Bayes.

    In rows with label l, feature j has the probability

        t_jl = (c_jl + a t_j) / (n_l + a),

    where c_jl is the sum of feature j over these rows, n_l that of c_jl over j, t_j the
    share of j in all rows and a the sum of 20 usual rows; in rows without it likewise,
    t'_jl. Then log(t_jl / t'_jl) is the same, slope_l, for all features that no row
    with the label has. The others have weights beside that: so these are sparse, and
    the slope counts the sum of a row.
    """
    if X.nnz and X.data.min() < 0:
        raise ValueError(
            "X must hold no negative number for naive Bayes. "
            f"Got {X.data.min():g}: let the ranker be OneVsRest()."
        )
    values = X.data * np.repeat(weight, np.diff(X.indptr))
    rows = sp.csr_array((values, X.indices, X.indptr), shape=X.shape)
    coef = sp.csr_array(Y.T.astype(np.float64) @ rows)
    coef.sort_indices()
    coef.eliminate_zeros()  # that the user stored
    total = np.bincount(X.indices, values, X.shape[1])
    mass = max(total.sum(), 1e-30)
    a = PRIOR_ROWS * mass / weight.sum()
    inside, overall = coef.sum(axis=1), total[coef.indices]
    prior = a / mass * overall
    coef.data = np.log1p(coef.data / prior) - np.log1p(-coef.data / (overall + prior))
    slope = np.log(a / (inside + a)) + np.log((mass - inside + a) / (mass + a))
    n_rows, count = weight.sum(), Y.T @ weight
    intercept = np.log((count + 0.5) / (n_rows - count + 0.5))
    return LinearScores(
        *(coef.astype(np.float32), slope.astype(np.float32)),
        intercept.astype(np.float32),
    )
