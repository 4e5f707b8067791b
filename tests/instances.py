"""Every public estimator, and the checks that it is excused from, with the reason."""

from sklearn.utils.validation import has_fit_parameter

import manylabel
from manylabel.base import MultiLabelClassifier

# In place of defaults that take long to fit.
SMALL = {
    "Thresholds": manylabel.Thresholds(manylabel.OneVsRest()),
    "Blend": manylabel.Blend(
        [manylabel.OneVsRest(), manylabel.PfastreXML(n_estimators=4)]
    ),
}
ESTIMATORS = [
    SMALL.get(name) or thing()
    for name in manylabel.__all__
    if isinstance(thing := getattr(manylabel, name), type)
    and issubclass(thing, MultiLabelClassifier)
]

SINGLE_OUTPUT = "feeds a single-output target; the target here is a 0/1 matrix"
EXCUSED_BY_SKLEARN = dict.fromkeys(
    [
        "check_classifier_data_not_an_array",
        "check_classifier_not_supporting_multiclass",
        "check_classifiers_classes",
        "check_classifiers_one_label",
        "check_classifiers_one_label_sample_weights",
        "check_classifiers_regression_target",
        "check_classifiers_train",
        "check_estimators_dtypes",
        "check_fit2d_1feature",
        "check_sample_weight_equivalence_on_dense_data",
        "check_sample_weight_equivalence_on_sparse_data",
        "check_sample_weights_not_an_array",
        "check_sample_weights_not_overwritten",
        "check_sample_weights_shape",
    ],
    SINGLE_OUTPUT,
)

# Of classes that have predict_proba.
PROBABILITIES = dict.fromkeys(
    [
        "check_decision_proba_consistency",
        "check_estimator_sparse_array",
        "check_estimator_sparse_matrix",
    ],
    SINGLE_OUTPUT,
)
# Of those whose probabilities are sums of 1 / propensity.
CUT = {
    "check_classifier_multioutput": "scores go on where probabilities are cut to 1",
    "check_classifiers_multilabel_output_format_predict_proba": "asks for less than 1",
}


def excused_by_sklearn(estimator):
    """Return the checks of scikit-learn that an estimator is excused from."""
    excused = dict(EXCUSED_BY_SKLEARN)
    if not has_fit_parameter(estimator, "sample_weight"):
        # Passes where the weights are refused, before anything looks at the target.
        del excused["check_classifiers_one_label_sample_weights"]
    if hasattr(estimator, "predict_proba"):
        excused |= PROBABILITIES
    if isinstance(estimator, manylabel.PfastXML):
        excused |= CUT
    return excused


# Our own laws that a class cannot keep: its name, the check, and why.
RANDOM_CODE = {
    "check_label_order_does_not_matter": "each column of Y has its own random code",
    "check_a_label_on_every_row": "a code of one component confuses the labels",
}
TIES_BY_COLUMN = {
    "check_label_order_does_not_matter": "a split ranks labels of equal mass by column"
}
EXCUSED = {
    "Blend": TIES_BY_COLUMN,
    "CSDPP": {
        "check_a_label_on_every_row": RANDOM_CODE["check_a_label_on_every_row"],
    },
    "FastXML": TIES_BY_COLUMN,
    "OnlineCompressedSensing": RANDOM_CODE,
    "OnlineRandomProjection": RANDOM_CODE,
    "PfastXML": TIES_BY_COLUMN,
    "PfastreXML": TIES_BY_COLUMN,
}
