"""What a predicted label set costs, from counts alone, and the counts themselves.

A cost is chosen by an integer code, so that compiled loops can call it without
functions as arguments.
"""

import numpy as np

from manylabel._kernels._jit import inner, kernel

HAMMING, F1, ACCURACY, RANK, SUBSET = range(5)


@inner
def cost(code, hits, n_true, n_predicted, n_labels):
    """Return the cost of one row (Chu, Huang & Lin 2019, section 5.1).

    The rank loss charges 1 for a (true, false) pair in the wrong order and 1/2 for a
    tie. With 0/1 predictions a wrong pair is a missed and a wrongly predicted label;
    ties are hit with wrongly predicted and missed with correctly left out. Summed,
    that is ``(missed / n_true + wrong / n_false) / 2``.
    """
    errors = n_true + n_predicted - 2 * hits
    if errors == 0:  # also the empty set predicted for the empty set
        return 0.0
    if code == HAMMING:
        return errors / n_labels
    if code == F1:
        return errors / (n_true + n_predicted)
    if code == ACCURACY:
        return errors / (n_true + n_predicted - hits)
    if code == SUBSET:
        return 1.0
    n_false = n_labels - n_true
    if n_true == 0 or n_false == 0:
        return 0.0
    return 0.5 * ((n_true - hits) / n_true + (n_predicted - hits) / n_false)


@kernel
def row_costs(code, hits, n_true, n_predicted, n_labels, out):
    """Write the cost of each row into ``out``; all but ``code`` are vectors."""
    for i in range(out.shape[0]):
        out[i] = cost(code, hits[i], n_true[i], n_predicted[i], n_labels[i])


@kernel
def count_hits(
    y_indptr, y_indices, predicted_indptr, predicted_indices, row_hits, label_hits
):
    """Count the labels that both matrices hold, by row and by label.

    ``row_hits`` is overwritten; ``label_hits`` is added to.
    """
    for i in range(row_hits.shape[0]):
        p, q = np.int64(y_indptr[i]), np.int64(predicted_indptr[i])
        hits = 0
        while p < y_indptr[i + 1] and q < predicted_indptr[i + 1]:
            label, predicted = y_indices[p], predicted_indices[q]
            if label == predicted:
                hits += 1
                label_hits[label] += 1
            p += label <= predicted
            q += predicted <= label
        row_hits[i] = hits
