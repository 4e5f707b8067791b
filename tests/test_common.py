"""The contract that every public estimator keeps."""

import importlib.util
from functools import partial
from itertools import product
from pathlib import Path

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from manylabel.testing import CHECKS

spec = importlib.util.spec_from_file_location(
    "instances", Path(__file__).parent / "instances.py"
)
instances = importlib.util.module_from_spec(spec)
spec.loader.exec_module(instances)


# One of each engine is what a person waits for.
QUICK = {"CSDPP", "FastXML", "OneVsRest", "PowersetTree", "Thresholds"}
QUICKLY = [e for e in instances.ESTIMATORS if type(e).__name__ in QUICK]
SLOWLY = [e for e in instances.ESTIMATORS if type(e).__name__ not in QUICK]
# Kernels are compiled once more for arrays that are read-only.
SLOW_LAWS = {"check_input_is_read_only"}
each_check = partial(
    parametrize_with_checks,
    expected_failed_checks=instances.excused_by_sklearn,
    xfail_strict=True,
)


@each_check(QUICKLY)
def test_sklearn_contract(estimator, check):
    check(estimator)


@pytest.mark.slow
@each_check(SLOWLY)
def test_sklearn_contract_of_the_others(estimator, check):
    check(estimator)


def laws():
    for estimator, check in product(instances.ESTIMATORS, CHECKS):
        is_slow = type(estimator).__name__ == "Blend" or check.__name__ in SLOW_LAWS
        marks = [pytest.mark.slow] if is_slow else []
        yield pytest.param(
            estimator, check, marks=marks, id=f"{estimator}-{check.__name__}"
        )


@pytest.mark.parametrize(("estimator", "check"), list(laws()))
def test_multi_label_laws(estimator, check, request):
    excused = instances.EXCUSED.get(type(estimator).__name__, {})
    if reason := excused.get(check.__name__):
        request.applymarker(pytest.mark.xfail(reason=reason, strict=True))
    check(estimator)
