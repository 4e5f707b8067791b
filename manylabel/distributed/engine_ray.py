"""Parts on a Ray cluster."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from manylabel.distributed.engines import lost, unknown
from manylabel.exceptions import MissingExtra

WHILE = 0.5  # seconds
RETRIES = 5  # of a task whose worker or node was lost


@contextmanager
def connect(client: Any) -> Iterator[Any]:
    """Yield the module that speaks to a cluster: a running one, or one of this machine.

    What was not connected before is left in the end.
    """
    try:
        import ray
    except ImportError:
        raise MissingExtra("A Ray cluster", "ray", "ray") from None
    if client is not ray and not isinstance(client, str):
        raise unknown(client)
    was_there = ray.is_initialized()
    if not was_there:
        is_address = isinstance(client, str) and "://" in client
        ray.init(address=client if is_address else None, log_to_driver=False)
    try:
        yield ray
    finally:
        if not was_there:
            ray.shutdown()


def count_slots(client: Any) -> int:
    """Return how many tasks run at once."""
    return max(1, int(client.cluster_resources().get("CPU", 1)))


def run(
    client: Any, function: Callable[..., Any], tasks: Sequence[tuple[Any, ...]]
) -> Iterator[Any]:
    """Yield what tasks return as they end; Ray runs those of a lost worker again."""
    from ray.exceptions import NodeDiedError, OutOfMemoryError, WorkerCrashedError

    remote = client.remote(num_cpus=1, max_retries=RETRIES)(function)
    pending = [remote.remote(*task) for task in tasks]
    try:
        while pending:
            # All that end in a while: to ask for one at a time takes as long for each.
            done, pending = client.wait(
                pending, num_returns=len(pending), timeout=WHILE
            )
            yield from map(client.get, done)
    except (NodeDiedError, OutOfMemoryError, WorkerCrashedError) as error:
        raise lost() from error
    finally:
        for task in pending:
            client.cancel(task)
