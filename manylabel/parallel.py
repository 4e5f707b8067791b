"""One way to run tasks side by side, to watch them by stages, and to seed them."""

import pickle
import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator, Sized
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache, wraps
from itertools import chain, islice
from pathlib import Path
from typing import Any, TypeVar, cast

import cloudpickle
import numpy as np
from joblib import Parallel, delayed
from joblib.parallel import get_active_backend
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from threadpoolctl import threadpool_limits

from manylabel._typing import RandomState
from manylabel._warning import warn

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


PROCESSES = ("LokyBackend", "MultiprocessingBackend")
THREADS = ("SequentialBackend", "ThreadingBackend")
LOCAL = (*THREADS, *PROCESSES)
SCATTERED = 1 << 20  # bytes; dask's backend scatters what is larger than 1 kB
LINE = 64  # bytes: arrays in a file start at multiples, as kernels expect them


class Common:
    """A function and its first arguments, which all tasks of a run have in common.

    They are shipped once to a worker, not once a task: dask scatters what can be
    referred to weakly, Ray stores what can be hashed, and processes of this machine map
    a file into memory.
    """

    def __init__(self, function: Callable[..., Any], given: tuple[Any, ...]) -> None:
        self.function, self.given = function, given
        # Where other processes find it.
        self.path: Path | None = None
        self.spans: tuple[tuple[int, int], ...] = ()

    def __call__(self, *task: Any) -> Any:
        """Run one task."""
        return self.function(*self.given, *task)

    def __sizeof__(self) -> int:
        return SCATTERED

    def __reduce__(self) -> tuple[Any, ...]:
        if self.path is not None:
            return _map_common, (self.path, self.spans)
        return Common, (self.function, self.given)

    @contextmanager
    def filed(self) -> Iterator[None]:
        """Keep it in a file, which is what is pickled of it meanwhile."""
        buffers: list[pickle.PickleBuffer] = []
        head = cloudpickle.dumps(self, protocol=5, buffer_callback=buffers.append)
        # Windows does not remove what a process has mapped.
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            path = Path(folder, "common")
            spans = []
            with path.open("wb") as file:
                for part in (head, *(buffer.raw() for buffer in buffers)):
                    file.write(bytes(-file.tell() % LINE))
                    spans.append((file.tell(), len(part)))
                    file.write(part)
            self.path, self.spans = path, tuple(spans)
            try:
                yield
            finally:
                self.path = None


@lru_cache(maxsize=1)
def _map_common(path: Path, spans: tuple[tuple[int, int], ...]) -> Common:
    """Return what was filed; its arrays are mapped, and what is written stays here.

    The file is that of the process which began the run, in a folder that only its user
    can open; models of strangers are never read this way.
    """
    file = np.memmap(path, np.uint8, "c").data
    head, *buffers = (file[start : start + size] for start, size in spans)
    return cast(Common, pickle.loads(head, buffers=buffers))


def run(
    function: Callable[..., T],
    tasks: Iterable[tuple[Any, ...]],
    n_jobs: int | None,
    common: tuple[Any, ...] = (),
) -> list[T]:
    """Call ``function`` once per task and return the results in order.

    Threads are preferred because kernels release the GIL;
    ``joblib.parallel_config(backend=...)`` moves the same tasks elsewhere. Arguments
    that all tasks have come first, as ``common``, and are shipped once to each worker.

    Examples
    --------
    >>> run(pow, [(2, 3), (3, 2)], n_jobs=1)
    [8, 9]
    >>> run(pow, [(3,), (4,)], n_jobs=1, common=(2,))
    [8, 16]
    """
    total = len(tasks) if isinstance(tasks, Sized) else None
    tasks = iter(tasks)
    first, second = list(islice(tasks, 1)), list(islice(tasks, 1))
    if not second:  # starting threads would take longer than a single row
        return [function(*common, *task) for task in first]
    backend, usual = get_active_backend(prefer="threads")
    kind = type(backend).__name__
    jobs = backend.effective_n_jobs(usual if n_jobs is None else n_jobs)
    is_left_open = kind not in LOCAL and n_jobs is None and usual is None
    if is_left_open and jobs == 1 < backend.effective_n_jobs(-1):
        warn(
            f"The tasks run here, one by one: {kind} spreads them if n_jobs is given, "
            "such as n_jobs=-1.",
        )
    shared = Common(function, common)
    calls = (delayed(_call)(shared, *task) for task in chain(first, second, tasks))
    if kind not in PROCESSES or jobs == 1:
        return _run_calls(calls, total, n_jobs, backend.supports_return_generator)
    with shared.filed():
        return _run_calls(calls, total, n_jobs, backend.supports_return_generator)


def leaves_process(n_jobs: int | None = None) -> bool:
    """Return whether joblib's backend runs several tasks elsewhere, not on threads."""
    backend, usual = get_active_backend(prefer="threads")
    jobs = backend.effective_n_jobs(usual if n_jobs is None else n_jobs)
    return type(backend).__name__ not in THREADS and jobs > 1


def _call(common: Common, *task: Any) -> Any:
    return common(*task)


def _run_calls(
    calls: Iterable[Any], total: int | None, n_jobs: int | None, can_generate: bool
) -> list[Any]:
    """Return the results of calls; tell who watches when each, or all, are there."""
    watched = _stage.get()
    if watched is None or not can_generate:
        results = list(Parallel(n_jobs=n_jobs, prefer="threads")(calls))
        if watched is not None:
            watched.advance(1.0)
        return results
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

    Parameters
    ----------
    report : callable
        Is called with the name of the stage, and the share of all that is done.

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


def follow(results: Iterable[T], total: int) -> list[T]:
    """Return results that somebody else makes, and tell who watches of each.

    Examples
    --------
    >>> with watched(print):
    ...     follow((n * n for n in range(2)), total=2)
     0.5
     1.0
    [0, 1]
    """
    watched, found = _stage.get(), []
    for result in results:
        found.append(result)
        if watched is not None:
            watched.advance(len(found) / total)
    return found


def make_ahead(items: Iterable[T]) -> Iterator[T]:
    """Yield items; a thread makes the next one while the last is used.

    Examples
    --------
    >>> list(make_ahead(n * n for n in range(4)))
    [0, 1, 4, 9]
    """
    coming, end = iter(items), object()
    with ThreadPoolExecutor(1) as thread:
        item = thread.submit(next, coming, end)
        while (made := item.result()) is not end:
            item = thread.submit(next, coming, end)
            yield cast(T, made)


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
