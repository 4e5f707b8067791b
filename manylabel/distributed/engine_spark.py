"""Parts on a Spark cluster."""

import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from manylabel.distributed.engines import lost, unknown
from manylabel.exceptions import MissingExtra

LOSSES = re.compile("Python worker exited unexpectedly|ExecutorLostFailure")
LOCAL = "local[*, 4]"  # all cores; a task whose process was killed is tried again


@contextmanager
def connect(client: Any) -> Iterator[Any]:
    """Yield the context of a session: a given one, one that runs, or a new one.

    What was not there before is stopped in the end.
    """
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise MissingExtra("A Spark cluster", "pyspark", "spark") from None
    if not isinstance(client, str):
        context = getattr(client, "sparkContext", client)
        if not hasattr(context, "parallelize"):
            raise unknown(client)
        yield context
        return
    if (running := _find_session(SparkSession)) is not None:
        yield running.sparkContext
        return
    is_local = client == "spark-local"
    if is_local:
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    session = SparkSession.builder.master(LOCAL if is_local else client).getOrCreate()
    try:
        yield session.sparkContext
    finally:
        session.stop()


def _find_session(kind: Any) -> Any:
    """Return the session that this process has, or None."""
    from pyspark.errors import PySparkRuntimeError

    try:
        return kind.active()
    except PySparkRuntimeError:
        return None


def count_slots(client: Any) -> int:
    """Return how many tasks run at once."""
    return max(1, int(client.defaultParallelism))


def run(
    client: Any, function: Callable[..., Any], tasks: Sequence[tuple[Any, ...]]
) -> Iterator[Any]:
    """Yield what tasks return when all are done; Spark tries lost ones again."""
    if not tasks:
        return
    calls = client.parallelize(list(tasks), len(tasks))
    try:
        found = calls.map(lambda task: function(*task)).collect()
    except Exception as error:  # of Py4J, whose text alone tells what it is
        if LOSSES.search(str(error)) is None:
            raise
        raise lost() from error
    yield from found
