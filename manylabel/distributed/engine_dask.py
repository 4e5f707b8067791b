"""Parts on a dask cluster."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from manylabel._warning import warn
from manylabel.distributed.engines import lost, unknown
from manylabel.exceptions import MissingExtra, WorkersLost

PATIENCE = 5.0  # seconds until it is told that no worker is there
NO_WORKERS = (
    "The dask scheduler has no workers yet: work begins when one joins it, "
    "as 'dask worker' with its address does."
)
CUT_OFF = (
    "The dask scheduler was lost: run it again to go on when there is one; parts and "
    "answers that were written stay."
)


@contextmanager
def connect(client: Any) -> Iterator[Any]:
    """Yield a client, or that of an address, which is closed then."""
    try:
        from distributed import Client
    except ImportError:
        raise MissingExtra("A dask cluster", "distributed", "dask") from None
    if not isinstance(client, str):
        if not isinstance(client, Client) or client.asynchronous:
            raise unknown(client)
        yield client
        return
    address = client.replace("dask://", "tcp://", 1)
    with Client(address, set_as_default=False) as found:
        yield found


def count_slots(client: Any) -> int:
    """Return how many tasks run at once; tell who waits that there is no worker."""
    try:
        client.wait_for_workers(1, timeout=PATIENCE)
    except TimeoutError:
        warn(NO_WORKERS)
    return max(1, int(sum(client.nthreads().values())))


def run(
    client: Any, function: Callable[..., Any], tasks: Sequence[tuple[Any, ...]]
) -> Iterator[Any]:
    """Yield what tasks return as they end; dask gives those of a lost worker away."""
    from distributed import KilledWorker, as_completed
    from distributed.client import CancelledError

    futures = []
    try:
        futures = [client.submit(function, *task, pure=False) for task in tasks]
        for future in as_completed(futures, loop=client.loop):
            yield future.result()
    except KilledWorker as error:
        raise lost() from error
    except Exception as error:
        if client.status == "running" and not isinstance(error, CancelledError):
            raise
        raise WorkersLost(CUT_OFF) from error
    finally:
        with suppress(Exception):  # there may be nobody to tell
            client.cancel(futures)
