"""The engines that run parts: one small module each, over the same plan."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Any, NamedTuple

from manylabel import parallel

ENGINES = ("dask", "ray", "spark")
FAULTS = (ValueError, TypeError, RuntimeError, OSError)  # would be the same again


class Failure(NamedTuple):
    """What went wrong in a task, as a value: no engine is to try it again."""

    error: Exception


class Engine(NamedTuple):
    """Where tasks run: how many at once, and how to run them."""

    n_slots: int
    run: Callable[[Callable[..., Any], Sequence[tuple[Any, ...]]], Iterator[Any]]


@contextmanager
def connect(client: Any, n_jobs: int | None = None) -> Iterator[Engine]:
    """Yield the engine of a client, of an address, or this process for None.

    Parameters
    ----------
    client : object, str or None
        A dask ``Client``, a ``SparkSession``, the module ``ray``; or an address:
        "dask://host:port", "ray", "ray://host:port", "spark://host:port" or
        "spark-local".
    n_jobs : int or None, default=None
        Threads of this process, where there is no client.
    """
    if client is None:
        yield Engine(1, lambda call, tasks: iter(parallel.run(call, tasks, n_jobs)))
        return
    module = import_module(f"manylabel.distributed.engine_{_name(client)}")
    with module.connect(client) as found:
        slots = module.count_slots(found)
        yield Engine(slots, lambda call, tasks: _told(module, found, call, tasks))


def _name(client: Any) -> str:
    """Return which engine a client or an address is of."""
    if isinstance(client, str):
        name = client.partition(":")[0].partition("-")[0]
    else:
        module = getattr(client, "__name__", type(client).__module__)
        name = str(module).partition(".")[0].replace("distributed", "dask")
        name = name.replace("pyspark", "spark")
    if name not in ENGINES:
        raise ValueError(
            "client must be dask://host:port, ray, ray://host:port, spark://host:port, "
            f"spark-local, or a client of one of these. Got {client!r}."
        )
    return name


def _told(
    module: Any, client: Any, function: Callable[..., Any], tasks: Any
) -> Iterator[Any]:
    """Yield what tasks return, in any order; raise what one of them failed of."""
    calls = [(function, *task) for task in tasks]
    for outcome in module.run(client, attempt, calls):
        if isinstance(outcome, Failure):
            raise outcome.error
        yield outcome


def attempt(function: Callable[..., Any], *task: Any) -> Any:
    """Return what a task returns, or why it fails."""
    try:
        return function(*task)
    except FAULTS as error:
        return Failure(error)
