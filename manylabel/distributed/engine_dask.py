"""Parts on a dask cluster."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from manylabel.distributed.engines import lost, unknown
from manylabel.exceptions import MissingExtra


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
    """Return how many tasks run at once."""
    return max(1, int(sum(client.nthreads().values())))


def run(
    client: Any, function: Callable[..., Any], tasks: Sequence[tuple[Any, ...]]
) -> Iterator[Any]:
    """Yield what tasks return as they end; dask gives those of a lost worker away."""
    from distributed import KilledWorker, as_completed

    futures = [client.submit(function, *task, pure=False) for task in tasks]
    try:
        for future in as_completed(futures, loop=client.loop):
            yield future.result()
    except KilledWorker as error:
        raise lost() from error
    finally:
        client.cancel(futures)
