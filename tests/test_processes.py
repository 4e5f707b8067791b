"""Where and how processes run the library: forked, by joblib, without a compiler."""

import os
import subprocess
import sys
from pathlib import Path

import joblib
import numpy as np
import pytest
from numpy.testing import assert_array_equal

import manylabel as ml

ROOT = Path(__file__).parents[1]
KINDS = (ml.OneVsRest, ml.FastXML, ml.PfastreXML)
BEGIN = """
import multiprocessing, os, sys
import numpy as np
import manylabel as ml
from manylabel.cli.main import run

corpus = ml.make_corpus(n_rows=120, n_features=20, n_labels=9)
X, Y = corpus.X, corpus.Y
models = [ml.OneVsRest(n_jobs=2), ml.FastXML(n_jobs=2), ml.CSDPP(), ml.PLST()]
"""
FORK = """
def answer(number):
    return models[number].decision_function(X)

def learn(number):
    return models[number].fit(X, Y).decision_function(X)

expected = [model.fit(X, Y).decision_function(X) for model in models]
with multiprocessing.get_context("fork").Pool(2) as pool:
    for ask in (answer, learn):
        for one, other in zip(pool.map(ask, range(4)), expected):
            assert (one == other).all()
"""
LEARN = """
scores = [model.fit(X, Y).predict_topk(X, 3) for model in models]
ml.evaluate(Y, scores[0])
np.save(sys.argv[1], np.concatenate([each.toarray() for each in scores]))
"""
# Two kinds of scores are two kinds of compiled code; few kernels, soon compiled.
RANK = """
from manylabel.metrics import precision_at_k
for kind in (np.float32, np.float64):
    print(precision_at_k(Y, (Y.toarray() + np.arange(9)).astype(kind), k=3))
"""
# Nowhere may code be kept, as for a user without a home in an image made by another.
UNWRITABLE = """
from numba.core import caching

def refuse(locator):
    raise PermissionError

caching._CacheLocator.ensure_cache_path = refuse
"""
VERBS = """
texts = sys.argv[1] + "/texts.jsonl"
for verb in (["fit", texts, "--model", sys.argv[1] + "/model"],
             ["predict", sys.argv[1] + "/model", texts],
             ["evaluate", sys.argv[1] + "/model", "--data", texts],
             ["explain", sys.argv[1] + "/model", "--text", "red wine"]):
    try:
        run(verb)
    except SystemExit as end:
        assert end.code == 0, (verb, end.code)
"""


def start(code, *arguments, **changes):
    """Start Python on some code."""
    environment = os.environ | {"PYTHONPATH": str(ROOT)} | changes
    command = [sys.executable, "-c", code]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen([*command, *map(str, arguments)], env=environment, **pipes)


def end(running):
    """Wait for a process, which ends well; return what it printed."""
    out, err = running.communicate()
    assert running.returncode == 0, err.decode()
    return out.decode(), err.decode()


@pytest.fixture
def folder(tmp_path):
    """Return a folder with a few texts."""
    rows = ['{"text": "red wine", "labels": ["drink"]}'] * 4
    rows += ['{"text": "white bread", "labels": ["food"]}'] * 4
    (tmp_path / "texts.jsonl").write_text("\n".join(rows))
    return tmp_path


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_fork_after_use_answers_and_learns():
    end(start(BEGIN + FORK))


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_processes_of_joblib_learn_what_threads_do(kind):
    corpus = ml.make_corpus(n_rows=120, n_features=20, n_labels=9)
    expected = kind(n_jobs=1).fit(corpus.X, corpus.Y)
    with joblib.parallel_backend("loky", n_jobs=2):
        model = kind(n_jobs=2).fit(corpus.X, corpus.Y)
        scores = model.decision_function(corpus.X)
    assert_array_equal(scores, expected.decision_function(corpus.X))


@pytest.mark.slow
def test_four_processes_may_fill_one_cache(tmp_path):
    caches = {"NUMBA_CACHE_DIR": str(tmp_path)}
    running = [start(BEGIN + RANK, **caches) for _ in range(4)]
    expected = end(start(BEGIN + RANK))
    assert [end(each) for each in running] == [expected] * 4
    assert end(start(BEGIN + RANK, **caches)) == expected


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["nbi", "nbc"])
def test_a_damaged_cache_is_made_again(tmp_path, suffix):
    caches = {"NUMBA_CACHE_DIR": str(tmp_path)}
    expected = end(start(BEGIN + RANK, **caches))
    found = list(tmp_path.rglob(f"*.{suffix}"))
    for number, path in enumerate(found):
        path.write_bytes(path.read_bytes()[: 40 * (number % 3)])
    assert end(start(BEGIN + RANK, **caches)) == expected
    assert found
    assert all(path.stat().st_size > 80 for path in found)


@pytest.mark.slow
def test_code_of_other_types_in_the_cache_is_not_run(tmp_path):
    caches = {"NUMBA_CACHE_DIR": str(tmp_path)}
    mix_up = """
from numba.core import caching
load, kept = caching.FunctionCache.load_overload, {}

def swap(self, sig, context):
    return kept.setdefault(self._name, load(self, sig, context))

caching.FunctionCache.load_overload = swap
"""
    expected = end(start(BEGIN + RANK, **caches))
    assert end(start(mix_up + BEGIN + RANK, **caches)) == expected


@pytest.mark.slow
def test_nothing_needs_the_compiler(folder):
    end(start(BEGIN + LEARN, folder / "plain.npy", NUMBA_DISABLE_JIT="1"))
    end(start(BEGIN + LEARN, folder / "compiled.npy"))
    plain, compiled = (np.load(folder / f"{n}.npy") for n in ("plain", "compiled"))
    np.testing.assert_allclose(plain, compiled, atol=1e-4)
    end(start(BEGIN + VERBS, folder, NUMBA_DISABLE_JIT="1"))


@pytest.mark.slow
def test_nothing_needs_a_place_to_keep_code(folder):
    out, err = end(start(UNWRITABLE + BEGIN + VERBS, folder, HOME="/nowhere"))
    assert "drink" in out
    assert "Traceback" not in err


@pytest.mark.slow
def test_a_full_disk_keeps_no_code_and_stops_nothing(folder):
    full = """
from numba.core.caching import IndexDataCacheFile

def refuse(self, *_):
    raise OSError(28, "No space left on device")

IndexDataCacheFile._save_index = IndexDataCacheFile._save_data = refuse
"""
    cache = folder / "cache"
    out, _ = end(start(full + BEGIN + VERBS, folder, NUMBA_CACHE_DIR=str(cache)))
    assert "drink" in out
    assert not list(cache.rglob("*.nb?"))
