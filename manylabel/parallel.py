"""One way to run tasks side by side, to watch them, and to seed them."""

import warnings
from collections.abc import Callable, Iterable, Iterator, Sized
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import chain, islice
from typing import Any, TypeVar

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from manylabel._typing import RandomState

T = TypeVar("T")
Report = Callable[[int, int | None], Any]
_report: ContextVar[Report | None] = ContextVar("report", default=None)


def run(
    function: Callable[..., T], tasks: Iterable[tuple[Any, ...]], n_jobs: int | None
) -> list[T]:
    """Call ``function`` once per task and return the results in order.

    Threads are preferred because kernels release the GIL;
    ``joblib.parallel_config(backend=...)`` moves the same tasks elsewhere.

    Examples
    --------
    >>> run(pow, [(2, 3), (3, 2)], n_jobs=1)
    [8, 9]
    """
    total = len(tasks) if isinstance(tasks, Sized) else None
    tasks = iter(tasks)
    first, second = list(islice(tasks, 1)), list(islice(tasks, 1))
    if not second:  # starting threads would take longer than a single row
        return [function(*task) for task in first]
    calls = (delayed(function)(*task) for task in chain(first, second, tasks))
    report = _report.get()
    if report is None:
        return list(Parallel(n_jobs=n_jobs, prefer="threads")(calls))
    # Not every backend can do this.
    team = Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator")
    results, finished = [], team(calls)
    try:
        for result in finished:
            results.append(result)
            report(len(results), total)
    except BaseException:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of tasks done for nothing
            finished.close()
        raise
    return results


@contextmanager
def watched(report: Report) -> Iterator[None]:
    """Call ``report`` with tasks done, and how many there are, as they finish.

    Examples
    --------
    >>> with watched(print):
    ...     _ = run(pow, [(2, 3), (3, 2)], n_jobs=1)
    1 2
    2 2
    """
    token = _report.set(report)
    try:
        yield
    finally:
        _report.reset(token)


def spawn_seeds(random_state: RandomState, n_tasks: int) -> NDArray[np.uint64]:
    """Draw one kernel state per task, before any task starts.

    The first seeds do not depend on ``n_tasks``, so more tasks extend fewer ones.

    Examples
    --------
    >>> bool((spawn_seeds(0, 2) == spawn_seeds(0, 5)[:2]).all())
    True
    """
    if isinstance(random_state, np.random.Generator):
        entropy = int(random_state.integers(2**63))
    else:
        entropy = int(check_random_state(random_state).randint(2**31 - 1))
    seeds = np.random.SeedSequence(entropy).generate_state(n_tasks, np.uint64)
    return seeds.astype(np.uint64)
