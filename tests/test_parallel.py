"""Tasks side by side: what is told about them, and what is shipped with them."""

import os
import pickle
import sys
import threading
import weakref

import cloudpickle
import joblib
import numpy as np
import pytest
from joblib import register_parallel_backend
from joblib.parallel import ThreadingBackend
from numpy.testing import assert_array_equal

from manylabel import parallel


def watch(work):
    """Return what is reported while something works."""
    told = []
    with parallel.watched(lambda stage, done: told.append((stage, round(done, 3)))):
        work()
    return told


def run_two(n_jobs=1):
    return parallel.run(abs, [(-1,), (-2,)], n_jobs)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_tasks_are_counted_whoever_runs_them(n_jobs):
    assert watch(lambda: run_two(n_jobs)) == [("", 0.5), ("", 1.0)]


def test_stages_share_the_whole():
    def work():
        with parallel.stage("first", 0.25):
            run_two()
        with parallel.stage("rest"):
            for name in ("a", "b"):
                with parallel.stage(name, 0.5):
                    run_two()

    told = watch(work)
    assert [stage for stage, _ in told[::3]] == ["first", "rest", "rest, a", "rest, b"]
    shares = [done for _, done in told]
    assert shares == sorted(shares)
    assert told[-1] == ("rest, b", 1.0)


def test_what_is_done_stays_done():
    def work():
        run_two()
        run_two()

    assert [done for _, done in watch(work)] == [0.5, 1.0, 1.0, 1.0]


def test_tasks_of_unknown_number_tell_that_work_goes_on():
    tasks = ((n,) for n in range(3))
    assert watch(lambda: parallel.run(abs, tasks, 1)) == [("", 0.0)] * 3


def test_what_a_task_runs_is_a_part_of_the_task():
    assert watch(lambda: parallel.run(lambda _: run_two(), [(1,), (2,)], 1)) == [
        ("", 0.5),
        ("", 1.0),
    ]


def test_stages_need_no_watcher():
    with parallel.stage("alone"):
        assert run_two() == [1, 2]


class LoneBackend(ThreadingBackend):
    """Stands for a cluster that is used only if n_jobs is given, as Ray's backend."""

    slots = 2

    def effective_n_jobs(self, n_jobs):
        """Return how many tasks run at once."""
        return self.slots if n_jobs == -1 else super().effective_n_jobs(n_jobs)


register_parallel_backend("lone", LoneBackend)


def place(arrays, _):
    """Return where a worker has what all tasks share."""
    return os.getpid(), arrays[0].ctypes.data


def test_tasks_that_go_to_another_process_hold_no_data():
    shared = parallel.Common(place, ([np.zeros(100_000)],))
    with shared.filed():
        pickled = cloudpickle.dumps(shared)
        assert_array_equal(pickle.loads(pickled).given[0][0], np.zeros(100_000))
    assert len(pickled) < 500
    assert len(cloudpickle.dumps(shared)) > 800_000


def test_what_dask_scatters_is_large_and_can_be_found_again():
    shared = parallel.Common(abs, ())
    assert {weakref.ref(shared)()} == {shared}
    assert sys.getsizeof(shared) > 1000


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["loky", "multiprocessing"])
def test_a_process_has_one_copy_of_what_tasks_share(backend):
    array = np.arange(1000.0)
    with joblib.parallel_config(backend=backend, n_jobs=2):
        places = parallel.run(place, [(n,) for n in range(20)], 2, common=([array],))
    assert os.getpid() not in dict(places)
    assert len(set(places)) == len(dict(places)) <= 2


def test_what_a_process_maps_is_aligned_and_may_be_written():
    given = np.arange(3, dtype=np.uint8), np.arange(5.0)
    shared = parallel.Common(abs, given)
    with shared.filed():
        copy = pickle.loads(cloudpickle.dumps(shared))
    for one, other in zip(copy.given, given, strict=True):
        assert one.flags.aligned
        assert one.flags.writeable
        assert one.ctypes.data % parallel.LINE == 0
        one[:] = 0  # stays out of the file and of what was given
        assert other.any()


@pytest.mark.slow
def test_a_backend_without_generators_tells_when_all_is_done():
    with joblib.parallel_config(backend="multiprocessing", n_jobs=2):
        assert watch(lambda: run_two(2)) == [("", 1.0)]


def test_the_next_item_is_made_while_the_last_is_used():
    made = [threading.Event() for _ in range(3)]

    def make():
        for number, event in enumerate(made):
            event.set()
            yield number

    items = parallel.make_ahead(make())
    assert next(items) == 0
    assert made[1].wait(10)
    assert not made[2].is_set()  # one ahead, no more
    assert list(items) == [1, 2]


def test_what_goes_wrong_ahead_is_raised_in_its_turn():
    items = parallel.make_ahead(1 // n for n in (1, 0))
    assert next(items) == 1
    with pytest.raises(ZeroDivisionError):
        next(items)


def test_a_cluster_that_would_not_be_used_is_warned_of():
    with joblib.parallel_config(backend="lone"):
        with pytest.warns(UserWarning, match=r"LoneBackend .* such as n_jobs=-1"):
            assert run_two(None) == [1, 2]
        assert run_two(2) == [1, 2]


def test_a_cluster_that_is_used_as_asked_is_not_warned_of(monkeypatch):
    with joblib.parallel_config(backend="lone"):
        assert run_two(1) == [1, 2]
    with joblib.parallel_config(backend="lone", n_jobs=1):
        assert run_two(None) == [1, 2]
    monkeypatch.setattr(LoneBackend, "slots", 1)
    with joblib.parallel_config(backend="lone"):
        assert run_two(None) == [1, 2]


@pytest.mark.slow
def test_bytes_through_dask_do_not_grow_with_the_number_of_tasks(dask_client, sent):
    data = np.random.default_rng(0).random(250_000)  # 2 MB
    totals = []
    for n_tasks in (4, 64):
        before = sum(sent)
        with joblib.parallel_config(backend="dask"):
            found = parallel.run(place, [(n,) for n in range(n_tasks)], -1, ([data],))
        totals.append(sum(sent) - before)
        assert len(set(found)) <= 2
    assert min(totals) > data.nbytes
    # Once by the client, once more by the scheduler, which is here too.
    assert max(totals) < 2 * data.nbytes + 500_000
