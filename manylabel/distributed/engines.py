"""The engines that run parts: one small module each, over the same plan."""

import re
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from importlib import import_module
from time import sleep
from typing import Any, NamedTuple

from manylabel import parallel
from manylabel.exceptions import MissingExtra, WorkersLost

ENGINES = ("dask", "ray", "spark")
ADDRESS = re.compile(r"(dask|ray|spark)://[^/\s]+:\d+|ray|spark-local")
# What would be the same again, and what may pass: a fault of a network disk, or a full
# disk or memory of one machine of many.
LASTING = (FileNotFoundError, PermissionError, IsADirectoryError, NotADirectoryError)
FAULTS = (ValueError, TypeError, RuntimeError, MissingExtra, *LASTING)
PASSING = (OSError, MemoryError)
WAITS = (1.0, 10.0)  # seconds, before what may pass is tried again


class Failure(NamedTuple):
    """What went wrong in a task, as a value: no engine is to try it again."""

    error: Exception
    call: tuple[Any, ...]


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
    module = import_module(f"manylabel.distributed.engine_{engine_of(client)}")
    with ExitStack() as stack:
        found = _entered(stack, module, client)
        slots = module.count_slots(found)
        yield Engine(slots, lambda call, tasks: _told(module, found, call, tasks))


def engine_of(client: Any) -> str:
    """Return which engine a client or an address is of."""
    if isinstance(client, str):
        name = client.partition(":")[0].partition("-")[0]
        is_known = ADDRESS.fullmatch(client) is not None
    else:
        module = getattr(client, "__name__", type(client).__module__)
        name = str(module).partition(".")[0].replace("distributed", "dask")
        name = name.replace("pyspark", "spark")
        is_known = name in ENGINES
    if not is_known:
        raise unknown(client)
    return name


def unknown(client: Any) -> ValueError:
    """Return an error that tells what a client may be."""
    return ValueError(
        "client must be dask://host:port, ray, ray://host:port, spark://host:port, "
        "spark-local, or a dask Client that does not await, the module ray or a "
        f"SparkSession. Got {client!r}."
    )


def lost() -> WorkersLost:
    """Return an error that tells what to look at when tasks end their workers."""
    return WorkersLost(
        "Workers were lost with the same task, one after another: their logs say why, "
        "and most often they have too little memory."
    )


def _entered(stack: ExitStack, module: Any, client: Any) -> Any:
    """Return what an engine connects to; say so where no cluster answers."""
    try:
        return stack.enter_context(module.connect(client))
    except MissingExtra:
        raise
    except Exception as error:  # of many kinds, which engines do not document
        if not isinstance(client, str):
            raise
        reason = str(error).partition("\n")[0].rstrip(".")
        raise ValueError(
            "client must be the address of a cluster that answers. "
            f"Got {client!r}: {reason}."
        ) from error


def _told(
    module: Any, client: Any, function: Callable[..., Any], tasks: Any
) -> Iterator[Any]:
    """Yield what tasks return, in any order; raise what one of them failed of.

    What may pass is tried again when all others are done.
    """
    calls = [(function, *task) for task in tasks]
    for wait in (*WAITS, None):
        failed = []
        for outcome in module.run(client, attempt, calls):
            if not isinstance(outcome, Failure):
                yield outcome
            elif wait is None or isinstance(outcome.error, FAULTS):
                raise outcome.error
            else:
                failed.append(outcome.call)
        if wait is None or not failed:
            return
        calls = failed
        sleep(wait)


def attempt(function: Callable[..., Any], *task: Any) -> Any:
    """Return what a task returns, or why it fails."""
    try:
        return function(*task)
    except MemoryError as error:
        reason = f"A task needs more memory than {socket.gethostname()} has left"
        told = f"{reason}: {error}" if str(error) else f"{reason}."
        return Failure(MemoryError(told), (function, *task))
    except (*FAULTS, *PASSING) as error:
        return Failure(error, (function, *task))
