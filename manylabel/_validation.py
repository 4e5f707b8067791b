"""The border: everything a user passes is checked and converted here, once."""

from numbers import Integral
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_array, validate_data

from manylabel._typing import CSR, Floats, Ints, MatrixLike


def features(estimator: Any, X: MatrixLike, *, reset: bool) -> CSR:
    """Return ``X`` as a canonical float32 CSR array, or raise ValueError."""
    X = validate_data(
        estimator,
        X,
        accept_sparse="csr",
        dtype=np.float32,
        ensure_all_finite=False,
        reset=reset,
    )
    X = _canonical(X, "X", np.float32)
    _check_finite(X, "X")
    return X


def feature_matrix(X: MatrixLike, *, n_rows: int | None = None, name: str = "X") -> CSR:
    """Return ``X``, of no estimator, as a canonical float32 CSR array of finite values."""
    X = _matrix(X, name)
    _check_shape(X.shape, n_rows, None, name)
    X = _canonical(X, name, np.float32)
    _check_finite(X, name)
    return X


def labels(
    Y: MatrixLike | None,
    *,
    n_rows: int | None = None,
    n_labels: int | None = None,
    name: str = "Y",
) -> CSR:
    """Return ``Y`` as a canonical CSR array of float32 ones, or raise ValueError."""
    if Y is None:
        raise ValueError(f"{name} must be a 0/1 matrix: requires y to be passed.")
    Y = _matrix(Y, name)
    _check_shape(Y.shape, n_rows, n_labels, name)
    if not sp.issparse(Y):
        _check_binary(Y[Y != 0], name)
    Y = _canonical(Y, name, np.float32)
    if sp.issparse(Y) and not (Y.data == 1).all():
        Y = Y.copy() if not Y.data.flags.owndata else Y
        Y.eliminate_zeros()
        _check_binary(Y.data, name)
    return Y


def label_vector(y: Any, n_labels: int | None = None, *, name: str = "y") -> Ints:
    """Return the labels of one row as an int64 vector of 0 and 1."""
    y = np.asarray(y)
    if y.ndim != 1 or y.dtype.kind not in "biuf":
        raise ValueError(
            f"{name} must be a vector of numbers, one per label. "
            f"Got shape {y.shape} and dtype {y.dtype}."
        )
    if n_labels is not None and len(y) != n_labels:
        raise ValueError(f"{name} must have {n_labels} labels. Got {len(y)}.")
    _check_binary(y[y != 0], name)
    return np.asarray(y, np.int64)


def scores(
    S: MatrixLike,
    *,
    n_rows: int | None = None,
    n_labels: int | None = None,
    name: str = "scores",
) -> Any:
    """Return scores as a dense float array or a canonical CSR array without NaN.

    In a CSR array the stored entries are the predictions, zero and negative ones too;
    what is not stored is not predicted.
    """
    S = _matrix(S, name)
    _check_shape(S.shape, n_rows, n_labels, name)
    if not sp.issparse(S):
        S = np.ascontiguousarray(S, dtype=np.promote_types(S.dtype, np.float32))
    else:
        S = _canonical(S, name, np.promote_types(S.dtype, np.float32))
    if np.isnan(S.data if sp.issparse(S) else S).any():
        raise ValueError(f"{name} must hold numbers. Got NaN.")
    return S


def propensities(propensity: Any, n_labels: int) -> Floats:
    """Return propensities as ``n_labels`` float64 values in (0, 1].

    ``propensity`` is a fitted ``Propensity`` (anything with ``values_``), one value
    per label, or one value for all.
    """
    values = np.asarray(getattr(propensity, "values_", propensity))
    if values.dtype.kind not in "fiu":
        raise TypeError(
            "propensity must be a fitted Propensity or numbers in (0, 1]. "
            f"Got {type(propensity).__name__}."
        )
    if values.ndim == 0:
        values = np.full(n_labels, values)
    if values.shape != (n_labels,):
        raise ValueError(
            f"propensity must have {n_labels} values, one per label. "
            f"Got shape {values.shape}."
        )
    wrong = ~((values > 0) & (values <= 1))
    if wrong.any():
        label = int(np.flatnonzero(wrong)[0])
        raise ValueError(
            f"propensity must lie in (0, 1]. Got {values[label]:g} for label {label}."
        )
    return values.astype(np.float64)


def cutoffs(k: Any, name: str = "k") -> tuple[int, ...]:
    """Return ranking depths as a tuple of positive integers."""
    given = k if isinstance(k, (tuple, list, range, np.ndarray)) else (k,)
    for one in given:
        if isinstance(one, bool) or not isinstance(one, Integral) or one < 1:
            raise ValueError(f"{name} must be a positive integer. Got {one!r}.")
    if not len(given):
        raise ValueError(f"{name} must name at least one depth. Got none.")
    return tuple(int(one) for one in given)


def _matrix(M: MatrixLike, name: str) -> Any:
    """Return a 2-D numeric array or sparse matrix, values untouched."""
    if sp.issparse(M):
        _check_indices(M, name)
    shape = np.shape(M) if not sp.issparse(M) else M.shape
    if len(shape) != 2:  # noqa: PLR2004 - a matrix has two dimensions
        raise ValueError(
            f"{name} must be a matrix of shape (n_rows, n_labels). Got shape {shape}."
        )
    return check_array(
        M,
        accept_sparse="csr",
        dtype="numeric",
        ensure_all_finite=False,
        ensure_min_samples=0,
        ensure_min_features=0,
        input_name=name,
    )


def _canonical(matrix: Any, name: str, dtype: Any) -> CSR:
    """Return a CSR array with sorted, unique, checked indices; the input is not touched."""
    if sp.issparse(matrix):
        _check_indices(matrix, name)
    result = sp.csr_array(matrix, dtype=dtype)
    if not result.has_canonical_format:
        result = result.copy()
        result.sum_duplicates()
    return result


def _check_indices(matrix: Any, name: str) -> None:
    """Refuse a compressed matrix whose indices point outside: SciPy accepts them."""
    if matrix.format not in ("csr", "csc", "bsr"):
        return
    try:
        matrix.check_format(full_check=True)
    except ValueError as error:
        raise ValueError(f"{name} must be a valid sparse matrix: {error}.") from None


def _check_finite(X: CSR, name: str) -> None:
    bad = ~np.isfinite(X.data)
    if not bad.any():
        return
    position = int(np.flatnonzero(bad)[0])
    row = int(np.searchsorted(X.indptr, position, side="right")) - 1
    value = X.data[position]
    raise ValueError(
        f"{name} must hold finite float32 numbers. "
        f"Got {'NaN' if np.isnan(value) else 'inf'} at row {row}, "
        f"column {int(X.indices[position])}."
    )


def _check_shape(
    shape: tuple[int, int], n_rows: int | None, n_labels: int | None, name: str
) -> None:
    if n_rows is not None and shape[0] != n_rows:
        raise ValueError(f"{name} must have {n_rows} rows. Got {shape[0]}.")
    if n_labels is not None and shape[1] != n_labels:
        raise ValueError(f"{name} must have {n_labels} columns. Got {shape[1]}.")


def _check_binary(values: Any, name: str) -> None:
    wrong = values[values != 1]
    if len(wrong):
        raise ValueError(f"{name} must hold only 0 and 1. Got {wrong[0]:g}.")
