"""A cold start waits for nothing that it does not need."""

import subprocess
import sys

import pytest

HEAVY = {
    *("scipy.stats._stats_py", "scipy.optimize", "numpy.f2py.f2py2e"),
    *("sklearn.preprocessing", "sklearn.model_selection"),
}


def output(code):
    start = """
import gc, sys
from manylabel.cli.process import defer, starting
from manylabel.cli.main import UNUSED
defer(*UNUSED)
"""
    done = subprocess.run(
        [sys.executable, "-c", start + code], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@pytest.mark.slow
def test_a_deferred_module_is_loaded_when_it_is_used():
    code = """
import scipy, scipy.stats
print("scipy.stats._stats_py" in sys.modules)
print(scipy.stats.rankdata([3, 5])[1])
from scipy.stats import norm
print(sys.modules["scipy.stats"].norm is norm is scipy.stats.norm)
"""
    assert output(code) == ["False", "2.0", "True"]


@pytest.mark.slow
def test_a_module_that_is_loaded_is_left_alone():
    code = "import scipy.stats\nscipy.stats.norm\nm = sys.modules['scipy.stats']\n"
    code += "defer('scipy.stats')\nprint(sys.modules['scipy.stats'] is m)"
    assert output(code) == ["True"]


@pytest.mark.slow
def test_tagging_waits_for_no_heavy_module():
    code = "import manylabel.text\nprint(*sys.modules)"
    assert not HEAVY.intersection(output(code))


def test_a_module_of_another_is_deferred_too():
    code = """
from numpy import *
print("numpy.f2py.f2py2e" in sys.modules, callable(f2py.get_include))
print("numpy.f2py.f2py2e" in sys.modules)
"""
    assert output(code) == ["False", "True", "True"]


def test_garbage_is_collected_after_the_start_even_if_it_fails():
    code = """
try:
    with starting():
        print(gc.isenabled())
        raise OSError
except OSError:
    print(gc.isenabled())
"""
    assert output(code) == ["False", "True"]


def test_deferring_again_changes_nothing():
    code = "n = len(sys.meta_path)\ndefer(*UNUSED)\nprint(len(sys.meta_path) - n)"
    assert output(code) == ["0"]
