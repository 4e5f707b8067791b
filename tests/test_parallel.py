"""Tasks side by side: what is told about them."""

import pytest

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
