"""One way to run tasks side by side, to watch them by stages, and to seed them."""

import warnings
from collections.abc import Callable, Iterable, Iterator, Sized
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from itertools import chain, islice
from typing import Any, TypeVar, cast

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from threadpoolctl import threadpool_limits

from manylabel._typing import RandomState

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])
Report = Callable[[str, float], Any]


class Stage:
    """A part of what is watched: which share of the whole it is, and how far it is."""

    def __init__(
        self, report: Report, names: tuple[str, ...], start: float, share: float
    ) -> None:
        self.report, self.names = report, names
        self.start, self.share = start, share  # of the whole
        self.done = 0.0  # of the stage

    def advance(self, done: float) -> None:
        """Tell how far the stage is; what is done stays done."""
        self.done = min(max(done, self.done), 1.0)
        self.report(", ".join(self.names), self.start + self.share * self.done)

    def part(self, name: str, share: float) -> "Stage":
        """Return a stage within this one, of such a share of it."""
        start = self.start + self.share * self.done
        inside = self.share * min(share, 1 - self.done)
        return Stage(self.report, (*self.names, name), start, inside)


_stage: ContextVar[Stage | None] = ContextVar("stage", default=None)


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
    watched = _stage.get()
    if watched is None:
        return list(Parallel(n_jobs=n_jobs, prefer="threads")(calls))
    # Not every backend can do this.
    team = Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator")
    results, finished = [], team(calls)
    token = _stage.set(None)  # what a task runs is a part of the task
    try:
        for result in finished:
            results.append(result)
            watched.advance(len(results) / total if total else 0.0)
    except BaseException:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of tasks done for nothing
            finished.close()
        raise
    finally:
        _stage.reset(token)
    return results


def with_one_blas_thread(function: F) -> F:
    """Let NumPy's linear algebra have one thread while a function runs.

    On many small matrices its threads wait for each other, and for ours, most of the
    time; and results would depend on how many there are.
    """

    @wraps(function)
    def limited(*given: Any, **options: Any) -> Any:
        with threadpool_limits(limits=1, user_api="blas"):
            return function(*given, **options)

    return cast(F, limited)


@contextmanager
def watched(report: Report) -> Iterator[None]:
    """Call ``report`` with the stage and the share that is done, as tasks finish.

    Examples
    --------
    >>> with watched(print):
    ...     with stage("squares", share=0.5):
    ...         _ = run(pow, [(2, 2), (3, 2)], n_jobs=1)
    ...     with stage("cubes", share=0.5):
    ...         _ = run(pow, [(2, 3), (3, 3)], n_jobs=1)
    squares 0.0
    squares 0.25
    squares 0.5
    cubes 0.5
    cubes 0.75
    cubes 1.0
    """
    token = _stage.set(Stage(report, (), 0.0, 1.0))
    try:
        yield
    finally:
        _stage.reset(token)


@contextmanager
def stage(name: str, share: float = 1.0) -> Iterator[None]:
    """Name what is done next, for who watches, and its share of what is under way.

    Shares are guesses of time. A stage within a stage has a share of that one.
    """
    whole = _stage.get()
    if whole is None:
        yield
        return
    part = whole.part(name, share)
    token = _stage.set(part)
    try:
        part.advance(0.0)
        yield
    finally:
        _stage.reset(token)
    whole.done = min(whole.done + share, 1.0)


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
