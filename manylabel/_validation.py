"""The border: everything a user passes is checked and converted here, once."""

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Set
from contextlib import contextmanager
from math import ceil, isfinite
from numbers import Integral, Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import assert_all_finite, check_scalar, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array, validate_data

from manylabel._canonical import canonical, check_finite, check_indices, is_ready
from manylabel._suggestion import suggest
from manylabel._typing import CSR, Array, Floats, Ints, MatrixLike

MAX_DEPTH = 1 << 31  # of a ranking; sums of two depths fit an int64
# A square matrix of float64 of this width takes 3.2 GB.
MAX_RIDGE_FEATURES = 20_000
MAX_COLUMN = (1 << 31) - 1  # of a row that may bring new columns
MAX_BYTES = 1 << 33  # of dense scores, or of what one step of a stream may add
MAX_SINGLE = float(np.finfo(np.float32).max)
WAYS_OUT = (
    "Tagger takes names as they are, and scikit-learn's "
    "MultiLabelBinarizer().fit_transform makes a matrix of lists"
)
NO_NUMBER = "could not convert string to float: "  # what NumPy says
TEXTS = "Tagger takes them as they are, and TextVectorizer makes rows of them"


def features(estimator: Any, X: Any, *, reset: bool) -> CSR:
    """Return ``X`` as a canonical float32 CSR array, or raise ValueError."""
    # It takes scikit-learn 0.2 ms to look at new rows, mostly for names that neither a
    # sparse matrix nor a plain array can have.
    is_plain = type(X) is np.ndarray and X.dtype == np.float32
    known = (
        not reset
        and (is_plain or isinstance(X, (sp.csr_array, sp.csr_matrix)))
        and X.dtype.kind == "f"
        and X.shape[1:] == (getattr(estimator, "n_features_in_", None),)
        and not hasattr(estimator, "feature_names_in_")
    )
    if known and is_ready(X):
        return X
    if sp.issparse(X):
        check_indices(X, "X")
    if known:
        return check_finite(canonical(X, np.float32), "X")
    if X is None:
        raise ValueError(
            "X must be a matrix of shape (n_rows, n_features). Got None, as a Dataset "
            "of texts has: Tagger takes it whole."
        )
    if _holds_texts(X):
        raise ValueError(f"X must hold numbers. Got texts: {TEXTS}.")
    with _numbers_only("X"):
        checked = validate_data(
            estimator,
            X,
            accept_sparse="csr",
            dtype=np.float32,
            ensure_all_finite=False,
            ensure_min_samples=1 if reset else 0,
            reset=reset,
        )
    return check_finite(canonical(checked, np.float32), "X")


def feature_matrix(X: Any, *, n_rows: int | None = None, name: str = "X") -> CSR:
    """Return ``X``, of no estimator, as a canonical float32 CSR array."""
    if is_ready(X) and n_rows in (None, X.shape[0]):
        return X
    with _numbers_only(name):
        matrix = _matrix(X, name, n_rows, columns="n_features")
        return check_finite(canonical(matrix, np.float32), name)


def labels(
    Y: Any,
    *,
    n_rows: int | None = None,
    n_labels: int | None = None,
    name: str = "Y",
) -> CSR:
    """Return ``Y`` as a canonical CSR array of float32 ones, or raise ValueError."""
    if Y is None:
        raise ValueError(
            f"{name} must be a 0/1 matrix: the estimator requires y to be passed, but "
            "the target y is None."
        )
    fits = is_ready(Y) and n_rows in (None, Y.shape[0]) and bool((Y.data == 1).all())
    if fits and n_labels in (None, Y.shape[1]):
        return Y
    refuse_lists(Y, name, "0/1 matrix")
    matrix = _matrix(Y, name, n_rows, n_labels)
    result = canonical(matrix, matrix.dtype)  # rounding first would hide a 1.00000001
    if not (result.data == 1).all():
        result = result.copy()
        result.eliminate_zeros()
        _check_binary(result.data, name, isinstance(Y, (list, tuple)))
    return result.astype(np.float32)


def refuse_lists(M: Any, name: str, kind: str = "matrix") -> None:
    """Refuse lists of labels where a matrix is needed, and say the ways out."""
    if _lists_labels(M):
        expected = f"{name} must be a {kind} of rows and labels"
        raise ValueError(f"{expected}. Got lists of labels: {WAYS_OUT}.")


def stored_zeros(Y: Any) -> CSR:
    """Return ones where a sparse ``Y``, already checked, stores zeros; else none."""
    if not sp.issparse(Y):
        return sp.csr_array(np.shape(Y), dtype=np.float64)
    stored = canonical(Y, np.float64)
    zeros = stored.copy()
    zeros.data = (stored.data == 0).astype(np.float64)
    zeros.eliminate_zeros()
    return zeros


def row(entries: Mapping[int, float], width: int, name: str) -> CSR:
    """Return one row, given as a mapping of columns to values, as a CSR array."""
    if not isinstance(entries, Mapping):
        kind = type(entries).__name__
        raise TypeError(f"{name} must be a mapping of columns to numbers. Got {kind}.")
    for column in entries:
        if not _is_column(column) or not 0 <= column < width:
            raise ValueError(
                f"{name} must have columns from 0 to {width - 1}. Got {_brief(column)}."
            )
    columns = sorted(entries)
    values = [entries[column] for column in columns]
    for column, value in zip(columns, values, strict=True):
        if not isinstance(value, Real) or not -MAX_SINGLE <= value <= MAX_SINGLE:
            reason = f"finite float32 numbers. Got {_brief(value)} for {column}."
            raise ValueError(f"{name} must have {reason}")
    columns = [int(column) for column in columns]
    row = np.array(values, np.float64), columns, [0, len(columns)]
    return sp.csr_array(row, shape=(1, width))


def width(entries: Mapping[int, float], known: int, name: str) -> int:
    """Return how many columns there are with those of a row, which may be new."""
    last = max(filter(_is_column, entries), default=0)
    if last > MAX_COLUMN:
        raise ValueError(
            f"{name} must have columns of at most {MAX_COLUMN}. Got {_brief(last)}."
        )
    return max(known, int(last) + 1)


def dense_rows(X: CSR, n_labels: int) -> CSR:
    """Return rows of which a dense matrix of all labels may be made, or refuse it."""
    most = most_bytes() // (8 * max(1, n_labels))
    if X.shape[0] > most:
        raise ValueError(
            f"X must have at most {most} rows for dense scores of {n_labels} labels; "
            f"use predict_topk, or fewer rows at a time. Got {X.shape[0]} rows."
        )
    return X


def most_bytes() -> int:
    """Return what one call may take: half of the memory, and at most 8 GB."""
    if not hasattr(os, "sysconf"):
        return MAX_BYTES
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return min(MAX_BYTES, memory // 2)


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
    matrix = _matrix(S, name, n_rows, n_labels)
    dtype = np.promote_types(matrix.dtype, np.float32)
    if sp.issparse(matrix):
        matrix = canonical(matrix, dtype)
    else:
        matrix = np.ascontiguousarray(matrix, dtype=dtype)
    if np.isnan(matrix.data if sp.issparse(matrix) else matrix).any():
        raise ValueError(f"{name} must hold numbers. Got NaN.")
    return matrix


def probabilities(P: MatrixLike, name: str = "proba") -> CSR:
    """Return probabilities of rows and labels as a canonical CSR array."""
    matrix = scores(P, name=name)
    matrix = matrix if sp.issparse(matrix) else sp.csr_array(matrix)
    low, high = matrix.data.min(initial=0.0), matrix.data.max(initial=1.0)
    if low < 0 or high > 1:
        wrong = low if low < 0 else high
        raise ValueError(f"{name} must lie in [0, 1]. Got {wrong:g}.")
    return matrix


def sides(y: Any, n_rows: int) -> tuple[Array, Array]:
    """Return the two classes of a vector, and each row's side: -1 and +1 in order."""
    if y is None:
        raise ValueError(
            "y must be a vector of two classes: the estimator requires y to be passed, "
            "but the target y is None."
        )
    if _lists_labels(y):
        raise ValueError("y must be a vector of two classes. Got lists of labels.")
    shape = y.shape if hasattr(y, "shape") else np.asarray(y).shape
    if len(shape) == 2 and shape[1] > 1:  # noqa: PLR2004 - a matrix
        raise ValueError(
            f"y must be a vector of two classes. Got a matrix of {shape[1]} columns: "
            "OneVsRest, PowersetTree and AnnotationTree learn many labels."
        )
    target = column_or_1d(y, warn=True)
    if target.dtype.kind == "f":
        assert_all_finite(target, input_name="y")
    check_classification_targets(target)
    if len(target) != n_rows:
        raise ValueError(f"y must have {n_rows} rows. Got {len(target)}.")
    classes, place = np.unique(target, return_inverse=True)
    if len(classes) > 2:  # noqa: PLR2004 - -1 and +1
        raise ValueError(
            "Only binary classification is supported. y must have two classes. "
            f"Got {len(classes)}."
        )
    if len(classes) == 1:
        raise ValueError(f"y must have two classes. Got one class, {classes[0]}.")
    return classes, (2 * place - 1).astype(np.int8)


def row_weights(sample_weight: Any, n_rows: int) -> Floats:
    """Return the weights of the rows, 1 if none are given, or raise ValueError."""
    if sample_weight is None:
        return np.ones(n_rows)
    weights = np.asarray(sample_weight, np.float64)
    if weights.shape != (n_rows,):
        raise ValueError(
            f"sample_weight must have {n_rows} values, one per row. "
            f"Got shape {weights.shape}."
        )
    wrong = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if len(wrong):
        raise ValueError(
            "sample_weight must hold finite numbers of 0 or more. "
            f"Got {weights[wrong[0]]:g} for row {wrong[0]}."
        )
    if not weights.any():
        raise ValueError("sample_weight must be above 0 for a row. Got zeros only.")
    return weights


def propensities(propensity: Any, n_labels: int, least: float = 0.0) -> Floats:
    """Return propensities as ``n_labels`` float64 values in (0, 1].

    ``propensity`` is a fitted ``Propensity`` (anything with ``values_``), one value
    per label, or one value for all. Values below ``least`` are refused.
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
    if values.min(initial=1) < least:
        raise ValueError(
            f"propensity must be at least {least:g}. "
            f"Got {values.min():g} for label {values.argmin()}."
        )
    return values.astype(np.float64)


def choice(value: Any, name: str, known: Iterable[str]) -> None:
    """Refuse what is not one of the ``known`` words."""
    words = list(known)
    if not isinstance(value, str) or value not in words:
        raise ValueError(
            f"{name} must be one of {', '.join(words)}. Got {value!r}."
            f"{suggest(value, words)}"
        )


def widened(matrix: CSR, n_columns: int) -> CSR:
    """Return a matrix of so many columns; new ones are empty, others are cut off."""
    if matrix.shape[1] == n_columns:
        return matrix
    other = matrix.copy()
    other.resize(matrix.shape[0], n_columns)
    return other


def number(
    value: Any, name: str, *, above: float | None = None, least: float | None = None
) -> float:
    """Return a finite number above one bound, or not below another."""
    bound, strict = (above, "neither") if above is not None else (least, "left")
    check_scalar(value, name, Real, min_val=bound, include_boundaries=strict)
    if not isfinite(value):
        raise ValueError(f"{name} must be finite. Got {value}.")
    return float(value)


def depths(k: Any, name: str = "k") -> tuple[int, ...]:
    """Return ranking depths as a tuple of positive integers."""
    given = k if isinstance(k, (tuple, list, range, np.ndarray)) else (k,)
    for one in given:
        if isinstance(one, bool) or not isinstance(one, Integral) or one < 1:
            raise ValueError(f"{name} must be a positive integer. Got {one!r}.")
        if int(one) > MAX_DEPTH:
            raise ValueError(f"{name} must be at most {MAX_DEPTH}. Got {one}.")
    if not len(given):
        raise ValueError(f"{name} must name at least one depth. Got none.")
    return tuple(int(one) for one in given)


def code_size(n_components: Any, n_labels: int) -> int:
    """Return the length of a code of the labels, at most ``n_labels``.

    A float is a fraction of the labels, rounded up; an integer a number of components.
    """
    name = "n_components"
    if isinstance(n_components, Integral):
        check_scalar(n_components, name, Integral, min_val=1)
        return min(int(n_components), n_labels)
    check_scalar(
        n_components, name, Real, min_val=0, max_val=1, include_boundaries="right"
    )
    # Less a little: 0.07 * 100 exceeds 7 by rounding.
    return max(1, ceil(float(n_components) * n_labels - 1e-9))


def ridge_size(n_features: int, way_out: str) -> None:
    """Refuse ridge regression where its square matrix would fill the memory."""
    if n_features > MAX_RIDGE_FEATURES:
        raise ValueError(
            f"Ridge regression keeps a matrix of n_features x n_features, so X must "
            f"have at most {MAX_RIDGE_FEATURES} features. Got {n_features}: {way_out}."
        )


def _matrix(
    M: MatrixLike,
    name: str,
    n_rows: int | None = None,
    n_columns: int | None = None,
    columns: str = "n_labels",
) -> Any:
    """Return a 2-D numeric array or sparse matrix of some shape, values untouched."""
    if sp.issparse(M):
        check_indices(M, name)
    # An object that only has __array__ need not answer np.shape.
    shape = M.shape if hasattr(M, "shape") else np.asarray(M).shape
    if len(shape) != 2:  # noqa: PLR2004 - a matrix has two dimensions
        raise ValueError(
            f"{name} must be a matrix of shape (n_rows, {columns}). Got shape {shape}. "
            "Reshape your data."
        )
    # Of such a matrix there is nothing more to check, which takes 0.3 ms.
    matrix = M if isinstance(M, sp.csr_array) and M.dtype.kind in "fiu" else None
    if matrix is None:
        matrix = check_array(
            M,
            accept_sparse="csr",
            dtype="numeric",
            ensure_all_finite=False,
            ensure_min_samples=0,
            ensure_min_features=0,
            input_name=name,
        )
    if n_rows is not None and matrix.shape[0] != n_rows:
        raise ValueError(f"{name} must have {n_rows} rows. Got {matrix.shape[0]}.")
    if n_columns is not None and matrix.shape[1] != n_columns:
        found = matrix.shape[1]
        raise ValueError(f"{name} must have {n_columns} columns. Got {found}.")
    return matrix


def check_columns(columns: Array, width: int, name: str) -> None:
    """Refuse columns that a matrix of some width does not have."""
    if len(columns) and not 0 <= columns.min() <= columns.max() < width:
        raise ValueError(f"{name} must be under {width}.")


@contextmanager
def _numbers_only(name: str) -> Iterator[None]:
    """Say which argument has texts in it, and who takes these."""
    try:
        yield
    except ValueError as error:
        if not str(error).startswith(NO_NUMBER):
            raise
        found = f"{str(error).removeprefix(NO_NUMBER):.60}"
        way = "Tagger takes a column of texts, as df['text'], not the frame"
        raise ValueError(f"{name} must hold numbers. Got {found}: {way}.") from None


def _holds_texts(X: Any) -> bool:
    """Return whether rows are texts, as those that a Tagger takes."""
    return isinstance(X, list | tuple) and len(X) > 0 and isinstance(X[0], str)


def _is_column(column: Any) -> bool:
    return isinstance(column, Integral) and not isinstance(column, bool)


def _brief(value: Any) -> str:
    """Return the first letters of a value."""
    try:
        return f"{value!r:.60}"
    except ValueError:  # of thousands of digits
        return "an integer too long to be printed"


def _check_binary(values: Any, name: str, is_listed: bool = False) -> None:
    wrong = values[values != 1]
    if len(wrong):
        way_out = f" If these are lists of labels: {WAYS_OUT}." if is_listed else ""
        raise ValueError(f"{name} must hold only 0 and 1. Got {wrong[0]:g}.{way_out}")


def _lists_labels(Y: Any) -> bool:
    """Return whether the labels of each row are listed, by name or of any number."""
    shape = getattr(Y, "shape", None)
    if not isinstance(Y, Collection) or len(shape or (0,)) != 1:
        return False
    rows = [each for each in Y if isinstance(each, Collection)]
    if not rows or len(rows) < len(Y) or any(isinstance(row, str) for row in rows):
        return False
    return (
        len(set(map(len, rows))) > 1
        or any(isinstance(row, Set) for row in rows)
        or any(isinstance(next(iter(row), None), str) for row in rows)
    )
