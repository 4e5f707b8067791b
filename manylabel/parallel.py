"""One way to run tasks side by side and one way to seed them."""

from collections.abc import Callable, Iterable
from itertools import chain, islice
from typing import Any, TypeVar

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from manylabel._typing import RandomState

T = TypeVar("T")


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
    tasks = iter(tasks)
    first, second = list(islice(tasks, 1)), list(islice(tasks, 1))
    if not second:  # starting threads would take longer than a single row
        return [function(*task) for task in first]
    calls = (delayed(function)(*task) for task in chain(first, second, tasks))
    return list(Parallel(n_jobs=n_jobs, prefer="threads")(calls))


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
