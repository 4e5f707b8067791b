"""Every public estimator, and the checks that it is excused from, with the reason."""

from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

import manylabel
from manylabel.base import (
    BatchClassifier,
    MultiLabelClassifier,
    WeighingClassifier,
)

# In place of defaults that take long to fit.
SMALL = {
    "Calibrated": manylabel.Calibrated(manylabel.OneVsRest()),
    "MacroAtK": manylabel.MacroAtK(manylabel.OneVsRest()),
    "SLEEC": manylabel.SLEEC(n_estimators=2, n_clusters=2, n_neighbors=7),
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
ESTIMATORS.append(manylabel.OneVsRest(loss="log_loss"))
CALIBRATED = [
    manylabel.OneVsRest(calibrate="auto"),
    manylabel.LabelTree(calibrate="auto", cost="f1"),
    manylabel.FastXML(calibrate="sigmoid", n_estimators=4),
    manylabel.PfastreXML(calibrate="isotonic", cost="f1", n_estimators=4),
    manylabel.PLST(calibrate="auto"),
    manylabel.PowersetTree(calibrate="auto"),
    manylabel.CSDPP(calibrate="auto"),
    manylabel.OnlineLabelTree(calibrate="auto"),
    manylabel.OnlineBinaryRelevance(calibrate="auto"),
    clone(SMALL["Blend"]).set_params(calibrate="auto"),
]
ESTIMATORS.extend(CALIBRATED)
ESTIMATORS.append(manylabel.ClassifierChain(method="cft", n_rounds=2))

# What scikit-learn's checks feed or ask for, and the contract does not have.
VECTOR = "feeds a vector of classes; Y is a matrix, a column for each label"
CLASSES = "feeds a column of more than two classes; Y holds 0 and 1"
PREDICTED_VECTOR = "asks that predict returns a vector; it returns a matrix"
TWO_COLUMNS = "asks for a probability of each of two classes; here it is one a label"
KEYWORD = "calls fit(X, y=...); the target is a matrix and called Y"
EXCUSED_BY_SKLEARN = {
    "check_classifier_data_not_an_array": CLASSES,
    "check_classifier_not_supporting_multiclass": VECTOR,
    "check_classifiers_classes": VECTOR,
    "check_classifiers_one_label": VECTOR,
    "check_classifiers_regression_target": VECTOR,
    "check_classifiers_train": PREDICTED_VECTOR,
    "check_estimators_dtypes": CLASSES,
    "check_fit2d_1feature": CLASSES,
}
# Of classes whose fit takes sample_weight; others are passed over by these checks.
SAMPLE_WEIGHTS = {
    "check_classifiers_one_label_sample_weights": VECTOR,
    "check_sample_weight_equivalence_on_dense_data": KEYWORD,
    "check_sample_weight_equivalence_on_sparse_data": KEYWORD,
    "check_sample_weights_not_an_array": CLASSES,
    "check_sample_weights_not_overwritten": CLASSES,
    "check_sample_weights_pandas_series": CLASSES,
    "check_sample_weights_shape": CLASSES,
}
# Of those that refuse weights, and say why.
NO_WEIGHTS = {
    name: "gives weights to a learner that refuses them"
    for name in (
        "check_all_zero_sample_weights_error",
        "check_sample_weights_list",
        "check_sample_weights_pandas_series",
    )
}
# Of classes that have class_weight.
CLASS_WEIGHTS = {"check_class_weight_classifiers": VECTOR}
# Of classes that have predict_proba.
PROBABILITIES = {
    "check_decision_proba_consistency": VECTOR,
    "check_estimator_sparse_array": TWO_COLUMNS,
    "check_estimator_sparse_matrix": TWO_COLUMNS,
}
# Of those whose probabilities are sums of 1 / propensity.
CUT = {
    "check_classifier_multioutput": "scores go on where probabilities are cut to 1",
    "check_classifiers_multilabel_output_format_predict_proba": "asks for less than 1",
}
# Of those whose sets are no prefix of the ranking.
BRANCHES = {
    "check_classifier_multioutput": "predict follows branches, scores multiply them"
}
# Of those that are calibrated: a score means less the rarer the label.
DECISIONS = {
    "check_classifier_multioutput": "scores and probabilities rank labels differently"
}
# Of those whose own probabilities are not what sets are chosen by.
SETS = {
    "check_classifier_multioutput": "labels of the set score above those outside of it"
}
# Of those that give labels above thresholds: scores are the learner's own.
ABOVE = {"check_classifier_multioutput": "labels are given above thresholds, not 0"}
# Of those whose rows may bring new features.
ANY_WIDTH = {
    name: "asks that rows of another width are refused; they may bring new features"
    for name in (
        "check_n_features_in_after_fitting",
        "check_estimators_partial_fit_n_features",
    )
}


def excused_by_sklearn(estimator):
    """Return the checks of scikit-learn that an estimator is excused from."""
    excused = dict(EXCUSED_BY_SKLEARN)
    if has_fit_parameter(estimator, "sample_weight"):
        excused |= SAMPLE_WEIGHTS
    if isinstance(estimator, BatchClassifier) and not isinstance(
        estimator, WeighingClassifier
    ):
        excused |= NO_WEIGHTS
    if hasattr(estimator, "class_weight"):
        excused |= CLASS_WEIGHTS
    if hasattr(estimator, "predict_proba"):
        excused |= PROBABILITIES
    if getattr(estimator, "grow", False):
        excused |= ANY_WIDTH
    if isinstance(estimator, manylabel.PfastXML):
        excused |= CUT
    if isinstance(estimator, manylabel.HOMER):
        excused |= BRANCHES
    if getattr(estimator, "method", None) == "pcc":
        excused |= SETS
    if isinstance(estimator, manylabel.Thresholds):
        excused |= ABOVE
    if getattr(estimator, "calibrate", None) is not None:
        excused |= DECISIONS
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
    "ClassifierChain": {
        "check_label_order_does_not_matter": "a chain takes labels by column"
    },
    "CSDPP": {
        "check_a_label_on_every_row": RANDOM_CODE["check_a_label_on_every_row"],
    },
    "FastXML": TIES_BY_COLUMN,
    "OnlineCompressedSensing": RANDOM_CODE,
    "OnlineRandomProjection": RANDOM_CODE,
    "PfastXML": TIES_BY_COLUMN,
    "PfastreXML": TIES_BY_COLUMN,
    "WSABIE": {
        "check_label_order_does_not_matter": "each column of Y has its own first vector"
    },
}
