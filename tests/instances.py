"""Every public estimator, and the checks that it is excused from, with the reason."""

import manylabel
from manylabel.base import MultiLabelClassifier

ESTIMATORS = [
    thing()
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

# Our own laws that a class cannot keep: its name, the check, and why.
RANDOM_CODE = {
    "check_label_order_does_not_matter": "each column of Y has its own random code",
    "check_a_label_on_every_row": "a code of one component confuses the labels",
}
TIES_BY_COLUMN = {
    "check_label_order_does_not_matter": "a split ranks labels of equal mass by column"
}
EXCUSED = {
    "CSDPP": {
        "check_a_label_on_every_row": RANDOM_CODE["check_a_label_on_every_row"],
    },
    "FastXML": TIES_BY_COLUMN,
    "OnlineCompressedSensing": RANDOM_CODE,
    "OnlineRandomProjection": RANDOM_CODE,
    "PfastXML": TIES_BY_COLUMN,
}
