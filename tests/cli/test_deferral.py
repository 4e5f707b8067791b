"""A cold start waits for nothing that it does not need."""

import subprocess
import sys

HEAVY = ("scipy.stats._stats_py", "sklearn.preprocessing", "sklearn.model_selection")


def output(code):
    start = (
        "import sys\nfrom manylabel.cli.deferral import defer\ndefer('scipy.stats')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", start + code], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_a_deferred_module_is_loaded_when_it_is_used():
    code = """
import scipy, scipy.stats
print("scipy.stats._stats_py" in sys.modules)
print(scipy.stats.rankdata([3, 5])[1])
from scipy.stats import norm
print(sys.modules["scipy.stats"].norm is norm is scipy.stats.norm)
"""
    assert output(code) == ["False", "2.0", "True"]


def test_a_module_that_is_loaded_is_left_alone():
    code = "import scipy.stats\nscipy.stats.norm\nm = sys.modules['scipy.stats']\n"
    code += "defer('scipy.stats')\nprint(sys.modules['scipy.stats'] is m)"
    assert output(code) == ["True"]


def test_tagging_waits_for_no_heavy_module():
    code = "import manylabel.text\nprint(*sys.modules)"
    assert not set(HEAVY).intersection(output(code))
