"""Laws of multi-label estimators, beside those that scikit-learn checks.

Each check takes an unfitted estimator, leaves it untouched and raises AssertionError
where the law is broken.
"""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from manylabel import persistence
from manylabel._typing import Array
from manylabel.base import MultiLabelClassifier

Check = Callable[[MultiLabelClassifier], None]
N_ROWS, N_FEATURES, N_LABELS, DENSITY = 60, 12, 7, 0.6


def check_dense_and_sparse_agree(estimator: MultiLabelClassifier) -> None:
    """Let the form of X and Y change the form of the output, not its content."""
    X, Y = _problem()
    dense = clone(estimator).fit(X, Y)
    sparse = clone(estimator).fit(sp.csr_array(X), sp.csc_array(Y))
    assert_array_equal(_scores(dense, X), _scores(sparse, sp.coo_array(X)))
    assert isinstance(dense.predict(X), np.ndarray), "dense Y, so dense predictions"
    assert sp.issparse(sparse.predict(X)), "sparse Y, so sparse predictions"
    assert_array_equal(dense.predict(X), sparse.predict(X).toarray())


def check_label_types_agree(estimator: MultiLabelClassifier) -> None:
    """Take labels of any integer, boolean or float type."""
    X, Y = _problem()
    expected = _scores(clone(estimator).fit(X, Y), X)
    for dtype in (bool, np.int8, np.uint64, np.float64):
        assert_array_equal(
            _scores(clone(estimator).fit(X, Y.astype(dtype)), X), expected
        )


def check_rows_are_judged_alone(estimator: MultiLabelClassifier) -> None:
    """Score a row, and predict its labels, alone as among others."""
    X, Y = _problem()
    model = clone(estimator).fit(X, Y)
    order = np.random.default_rng(1).permutation(len(X))
    for verb in (model.decision_function, model.predict):
        assert_array_equal(verb(X[order]), verb(X)[order])
        assert_array_equal(verb(X[:1]), verb(X)[:1])


def check_label_order_does_not_matter(estimator: MultiLabelClassifier) -> None:
    """Permute the scores as the columns of Y are permuted."""
    X, Y = _problem()
    order = np.random.default_rng(2).permutation(Y.shape[1])
    expected = _scores(clone(estimator).fit(X, Y), X)[:, order]
    assert_allclose(
        _scores(clone(estimator).fit(X, Y[:, order]), X), expected, rtol=1e-5, atol=1e-7
    )


def check_n_jobs_does_not_matter(estimator: MultiLabelClassifier) -> None:
    """Learn and predict the same bits by two jobs as by one."""
    if "n_jobs" not in estimator.get_params():
        return
    X, Y = _problem()
    one = clone(estimator).set_params(n_jobs=1).fit(X, Y)
    two = clone(estimator).set_params(n_jobs=2).fit(X, Y)
    _assert_same_state(one, two)
    assert_array_equal(_scores(one, X), _scores(two, X))


def check_fit_repeats_and_forgets(estimator: MultiLabelClassifier) -> None:
    """Learn the same bits from the same data, whatever was learnt before."""
    X, Y = _problem()
    model = clone(estimator).fit(X[: N_ROWS // 2], Y[: N_ROWS // 2, ::-1])
    _assert_same_state(model.fit(X, Y), clone(estimator).fit(X, Y))


def check_chunks_do_not_matter(estimator: MultiLabelClassifier) -> None:
    """Learn the same bits from a stream however it is cut into chunks."""
    if not hasattr(estimator, "partial_fit"):
        return
    X, Y = _problem()
    whole, parts = clone(estimator).fit(X, Y), clone(estimator)
    for start, end in ((0, 1), (1, 2), (2, 20), (20, N_ROWS)):
        parts.partial_fit(X[start:end], Y[start:end])
    _assert_same_state(whole, parts)


def check_saving_keeps_every_bit(estimator: MultiLabelClassifier) -> None:
    """Load the parameters, state and predictions that were saved."""
    X, Y = _problem()
    model = clone(estimator).fit(X, Y)
    with tempfile.TemporaryDirectory() as folder:
        model.save(Path(folder) / "model")
        loaded = persistence.load(Path(folder) / "model")
    assert type(loaded) is type(model)
    assert str(loaded.get_params()) == str(model.get_params())
    _assert_same_state(model, loaded)
    assert_array_equal(_scores(model, X), _scores(loaded, X))


def check_topk_is_the_head_of_the_scores(estimator: MultiLabelClassifier) -> None:
    """Keep, in ``predict_topk``, the k best labels with the scores they have."""
    X, Y = _problem()
    model = clone(estimator).fit(X, Y)
    scores = _scores(model, X)
    order = np.argsort(-scores, axis=1, kind="stable")
    for k in (1, 3, N_LABELS, N_LABELS + 5):
        best = model.predict_topk(X, k=k)
        kept = np.zeros_like(scores, dtype=bool)
        np.put_along_axis(kept, order[:, :k], True, axis=1)
        assert best.shape == scores.shape
        assert best.nnz == kept.sum(), f"k={k}: wrong number of entries"
        assert_array_equal(best.toarray(), np.where(kept, scores, 0))


def check_no_rows(estimator: MultiLabelClassifier) -> None:
    """Predict nothing for no rows, and refuse to learn from none."""
    X, Y = _problem()
    model = clone(estimator).fit(X, Y)
    for verb in (model.predict, model.predict_topk, model.decision_function):
        assert verb(X[:0]).shape == (0, N_LABELS), verb
    try:
        clone(estimator).fit(X[:0], Y[:0])
    except ValueError:
        return
    raise AssertionError("fit must refuse 0 rows")


def check_one_label(estimator: MultiLabelClassifier) -> None:
    """Take a single label."""
    X, Y = _problem()
    model = clone(estimator).fit(X, Y[:, :1])
    assert model.predict(X).shape == (N_ROWS, 1)
    assert model.predict_topk(X, k=5).nnz == N_ROWS


def check_labels_without_rows_rank_last(estimator: MultiLabelClassifier) -> None:
    """Rank a label never seen in training below every label that was."""
    X, Y = _problem()
    Y[:, [1, 4]] = 0
    model = clone(estimator).fit(X, Y)
    scores = _scores(model, X)
    seen = np.delete(scores, [1, 4], axis=1)
    assert (scores[:, [1, 4]].max(axis=1) < seen.min(axis=1)).all()
    assert not model.predict(X)[:, [1, 4]].any(), "an unseen label was predicted"


def check_no_labels_at_all(estimator: MultiLabelClassifier) -> None:
    """Learn from rows without any label that there are none."""
    X, Y = _problem()
    assert not clone(estimator).fit(X, np.zeros_like(Y)).predict(X).any()


def check_a_label_on_every_row(estimator: MultiLabelClassifier) -> None:
    """Predict a label that all rows have."""
    X, Y = _problem()
    Y[:, 2] = 1
    assert clone(estimator).fit(X, Y).predict(X)[:, 2].all()


def check_rows_without_features(estimator: MultiLabelClassifier) -> None:
    """Learn from rows of zeros and judge them."""
    X, Y = _problem()
    X[::3] = 0
    assert np.isfinite(_scores(clone(estimator).fit(X, Y), X)).all()


def check_input_is_read_only(estimator: MultiLabelClassifier) -> None:
    """Take memory-mapped input, and change nothing that is passed."""
    X, Y = _problem()
    X, Y = sp.csr_array(X, dtype=np.float32), sp.csr_array(Y)
    for matrix in (X, Y):
        for array in (matrix.data, matrix.indices, matrix.indptr):
            array.flags.writeable = False
    try:
        model = clone(estimator).fit(X, Y)
        model.predict(X)
        model.predict_topk(X)
    except ValueError as error:
        raise AssertionError("read-only input was refused or written to") from error


def check_bad_indices_are_refused(estimator: MultiLabelClassifier) -> None:
    """Refuse a sparse matrix that points outside itself, before any kernel."""
    X, Y = _problem()
    model = clone(estimator).fit(X, Y)
    bad = sp.csr_array(X)
    bad.indices[0] = N_FEATURES + 99
    for verb in (model.predict, lambda bad: clone(estimator).fit(bad, Y)):
        try:
            verb(bad)
        except ValueError:
            continue
        raise AssertionError("a column index out of range was accepted")


CHECKS: tuple[Check, ...] = tuple(  # all of the above, in their order
    check for name, check in globals().items() if name.startswith("check_")
)


def check_estimator(estimator: MultiLabelClassifier) -> None:
    """Run all checks; raise AssertionError at the first broken law.

    Parameters
    ----------
    estimator : MultiLabelClassifier
        An unfitted estimator. Its class must be a public name of the library, or
        saving cannot be checked.

    Examples
    --------
    >>> import manylabel
    >>> check_estimator(manylabel.Popularity())
    """
    for check in CHECKS:
        check(estimator)


def _problem() -> tuple[Array, Array]:
    """Return rows whose labels depend on their features, every label seen."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_ROWS, N_FEATURES))
    X *= rng.random(X.shape) < DENSITY
    Y = (X @ rng.normal(size=(N_FEATURES, N_LABELS)) > 1).astype(int)
    Y[:N_LABELS] |= np.eye(N_LABELS, dtype=int)
    return X, Y


def _scores(model: MultiLabelClassifier, X: Any) -> Array:
    return model.decision_function(X)


def _assert_same_state(one: MultiLabelClassifier, other: MultiLabelClassifier) -> None:
    mine, theirs = one.get_state(), other.get_state()
    assert mine.keys() == theirs.keys()
    for name, value in mine.items():
        if name.endswith("n_jobs"):  # of an estimator within: no part of what it learnt
            continue
        assert_array_equal(value, theirs[name], err_msg=name)
