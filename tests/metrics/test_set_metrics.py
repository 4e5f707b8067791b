"""Set metrics against scikit-learn and slow references, and the laws."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose
from sklearn import metrics as peer

from manylabel import metrics
from manylabel.losses import NAMED

PAIRS = st.tuples(st.integers(1, 6), st.integers(1, 6)).flatmap(
    lambda shape: st.tuples(*[arrays(np.int64, shape, elements=st.integers(0, 1))] * 2)
)


def row_mean(name):
    def reference(Y, P):
        return np.mean([NAMED[name](y, p) for y, p in zip(Y, P, strict=True)])

    return reference


def micro_f1(Y, P):
    both, either = (Y & P).sum(), Y.sum() + P.sum()
    return 2 * both / either if either else 0.0


def macro_f1(Y, P):
    return np.mean([micro_f1(y, p) for y, p in zip(Y.T, P.T, strict=True)])


def disagreement(y, y_hat):
    """Charge by no counts: the number of the first wrong label."""
    return float(np.argmax(np.append(y != y_hat, True)))


def first_wrong(Y, P):
    return np.mean([disagreement(y, p) for y, p in zip(Y, P, strict=True)])


CASES = {name: (lambda n=name: metrics.MeanCost(n), row_mean(name)) for name in NAMED}
CASES["micro-F1"] = metrics.MicroF1, micro_f1
CASES["macro-F1"] = metrics.MacroF1, macro_f1
CASES["disagreement"] = (lambda: metrics.MeanCost(disagreement)), first_wrong
each_metric = pytest.mark.parametrize("name", CASES)


@each_metric
@given(pair=PAIRS)
def test_dense_and_sparse_input_follow_the_reference(name, pair):
    kind, reference = CASES[name]
    expected = reference(*pair)
    for wrap_truth in (np.asarray, sp.csr_array, sp.csc_matrix):
        for wrap in (np.asarray, sp.csr_array):
            metric = kind().update(wrap_truth(pair[0]), wrap(pair[1]))
            assert_allclose(metric.value, expected, atol=1e-12)


@each_metric
@given(pair=PAIRS, data=st.data())
def test_chunks_do_not_matter(name, pair, data):
    kind, _ = CASES[name]
    Y, P = pair
    cut = data.draw(st.integers(0, len(Y)))
    parts = kind().update(Y[:cut], P[:cut]).update(Y[cut:], P[cut:])
    assert parts.value == kind().update(Y, P).value  # bits, not closeness


@each_metric
@given(pair=PAIRS, data=st.data())
def test_merging_is_seeing_both(name, pair, data):
    kind, _ = CASES[name]
    Y, P = pair
    cut = data.draw(st.integers(0, len(Y)))
    merged = kind().update(Y[:cut], P[:cut]).merge(kind().update(Y[cut:], P[cut:]))
    assert merged.value == kind().update(Y, P).value


@given(PAIRS.filter(lambda pair: pair[0].shape[1] > 1))
def test_values_agree_with_scikit_learn(pair):  # which takes one column for no matrix
    Y, P = pair
    peers = {
        "hamming": peer.hamming_loss(Y, P),
        "subset": peer.zero_one_loss(Y, P),
        "f1": 1 - peer.f1_score(Y, P, average="samples", zero_division=1),
        "accuracy": 1 - peer.jaccard_score(Y, P, average="samples", zero_division=1),
        "micro-F1": peer.f1_score(Y, P, average="micro", zero_division=0),
        "macro-F1": peer.f1_score(Y, P, average="macro", zero_division=0),
    }
    for name, expected in peers.items():
        assert_allclose(CASES[name][0]().update(Y, P).value, expected, atol=1e-12)


def test_functions_are_shells_over_the_objects():
    Y, P = [[1, 0], [0, 1]], [[1, 1], [0, 0]]
    assert metrics.mean_cost(Y, P, "f1") == metrics.MeanCost("f1").update(Y, P).value
    assert metrics.micro_f1(Y, P) == metrics.MicroF1().update(Y, P).value
    assert metrics.macro_f1(Y, P) == metrics.MacroF1().update(Y, P).value


def test_no_rows_have_no_value():
    empty = np.zeros((0, 3))
    for kind, _ in CASES.values():
        assert np.isnan(kind().update(empty, empty).value)


@pytest.mark.parametrize(
    ("predictions", "message"),
    [
        ([[0.5, 1.0]], "predictions must hold only 0 and 1. Got 0.5"),
        ([[0, 1], [1, 0]], "predictions must have 1 rows. Got 2"),
        ([[1]], "predictions must have 2 columns. Got 1"),
    ],
)
def test_wrong_predictions_are_refused(predictions, message):
    with pytest.raises(ValueError, match=message):
        metrics.micro_f1([[1, 0]], predictions)


def test_an_unknown_cost_is_refused():
    with pytest.raises(ValueError, match="cost must be one of hamming, f1, accuracy"):
        metrics.mean_cost([[1]], [[1]], "f2")
