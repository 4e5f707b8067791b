"""The way of a text: what was entered, in which order, across which layers."""

import subprocess
import sys

import pytest

from benchmarks.trace import Function, Way, _function, main
from manylabel.data import make_corpus


def test_calls_into_the_library_are_seen_from_where_they_come():
    way = Way()
    with way.watching():
        corpus = make_corpus(n_rows=4, n_features=3, n_labels=2)
    assert corpus is not None
    first = next(iter(way.functions))
    assert first == Function("data/corpus.py", "make_corpus")
    assert all(caller in way.functions for caller, _ in way.calls)
    assert way.n_files == len({function.file for function in way.functions})
    layers = [(caller.layer, callee.layer) for caller, callee in way.calls]
    assert way.n_changes == sum(above != below for above, below in layers)


def test_what_has_no_name_belongs_to_the_function_it_stands_in():
    path = make_corpus.__code__.co_filename
    code = compile("def f():\n    return lambda: 0\n\ng = lambda: 0", path, "exec")
    outer, nameless = (c for c in code.co_consts if hasattr(c, "co_qualname"))
    (inner,) = (c for c in outer.co_consts if hasattr(c, "co_qualname"))
    assert _function(inner) == _function(outer) == Function("data/corpus.py", "f")
    assert _function(nameless) is None
    assert _function(code) is None
    assert _function(main.__code__) is None


def test_a_layer_is_a_package_or_a_module_at_the_top():
    assert Function("data/corpus.py", "make_corpus").layer == "data"
    assert Function("base.py", "fit").layer == "base"


@pytest.mark.slow
def test_fit_and_predict_are_counted_and_listed():
    command = [sys.executable, "-m", "benchmarks.trace", "--list"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    fit, predict = done.stdout.split("predict: ")
    for part in (fit, predict):
        head, first, *rest = part.splitlines()
        assert head.endswith("changes of layer")
        assert first == "  cli/main.py run"
        assert any(line.startswith("  _kernels/") for line in rest)
    assert "baselines/_one_vs_rest.py OneVsRest._learn" in fit
