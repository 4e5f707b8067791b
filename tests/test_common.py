"""The contract that every public estimator keeps."""

import importlib.util
from pathlib import Path

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from manylabel.testing import CHECKS

spec = importlib.util.spec_from_file_location(
    "instances", Path(__file__).parent / "instances.py"
)
instances = importlib.util.module_from_spec(spec)
spec.loader.exec_module(instances)


@parametrize_with_checks(
    instances.ESTIMATORS,
    expected_failed_checks=instances.excused_by_sklearn,
    xfail_strict=True,
)
def test_sklearn_contract(estimator, check):
    check(estimator)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("estimator", instances.ESTIMATORS, ids=str)
def test_multi_label_laws(estimator, check, request):
    excused = instances.EXCUSED.get(type(estimator).__name__, {})
    if reason := excused.get(check.__name__):
        request.applymarker(pytest.mark.xfail(reason=reason, strict=True))
    check(estimator)
