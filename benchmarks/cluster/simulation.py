"""A fit on many machines, on paper and part by part.

Constants are measured on one core (``measure``), sizes are those of Ads-9M. A machine
reads the rows once, then takes parts from a queue until it is empty. Machines fail at
random and their part is done again by another; some are slow all the time.
"""

import heapq
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from manylabel._typing import Floats

ROUNDING = 1e-9  # of sums: a part ends where its share is reached, about


@dataclass(frozen=True)
class Job:
    """What is fitted: seconds of units on one core, bytes, and the driver's part."""

    units: Floats
    spread: float  # of the logarithm of a part's time about what its units tell
    read_bytes: float  # by a machine, once
    model_bytes: float  # of all parts
    machine_bytes: float  # of memory
    driver_seconds: float  # before the parts
    merge_seconds: float
    start_seconds: float  # of a process, until its first part begins


@dataclass(frozen=True)
class Cluster:
    """Machines and what they share."""

    n_machines: int = 1000
    cores: int = 16
    disk_bytes: float = 20e9  # a second, of all that the shared folder delivers
    net_bytes: float = 1e9  # a second, to one machine
    failures: float = 0.01  # of a machine, an hour
    slow_share: float = 0.02
    slow_factor: float = 3.0


def simulate(job: Job, cluster: Cluster, n_parts: int, seed: int = 0) -> dict[str, Any]:
    """Return hours, the share of work done twice, and the wait for the last part."""
    rng = np.random.default_rng(seed)
    parts = cut(job.units, n_parts)
    parts = parts * rng.lognormal(-(job.spread**2) / 2, job.spread, len(parts))
    begin = reading_seconds(job, cluster) + job.start_seconds
    is_slow = rng.random(cluster.n_machines) < cluster.slow_share
    speed = np.repeat(np.where(is_slow, cluster.slow_factor, 1.0), cluster.cores)
    ready = [(begin, core) for core in range(len(speed))]
    queue, lost, ends = list(parts[::-1]), 0.0, []
    while queue:
        at, core = heapq.heappop(ready)
        seconds = queue.pop() * speed[core]
        dies = rng.exponential(3600 / cluster.failures) if cluster.failures else np.inf
        if dies < seconds:  # a new machine takes its place, and reads the rows
            lost += dies
            queue.append(seconds / speed[core])
            heapq.heappush(ready, (at + dies + begin, core))
            continue
        ends.append(at + seconds)
        heapq.heappush(ready, (at + seconds, core))
    total = job.driver_seconds + max(ends) + job.merge_seconds
    return {
        "hours": round(total / 3600, 2),
        "last_after_median_hours": round(
            (max(ends) - float(np.median(ends))) / 3600, 2
        ),
        "work_lost": round(lost / parts.sum(), 4),
    }


def on_paper(job: Job, cluster: Cluster, n_parts: int) -> dict[str, Any]:
    """Return what divisions tell, without chance."""
    parts, slots = cut(job.units, n_parts), cluster.n_machines * cluster.cores
    working = max(parts.sum() / min(slots, len(parts)), parts.max())
    begin = reading_seconds(job, cluster) + job.start_seconds
    total = job.driver_seconds + begin + working + job.merge_seconds
    return {
        "core_hours": round(parts.sum() / 3600, 1),
        "driver_hours": round(job.driver_seconds / 3600, 2),
        "reading_hours": round(begin / 3600, 2),
        "longest_part_hours": round(parts.max() / 3600, 2),
        "merging_hours": round(job.merge_seconds / 3600, 2),
        "hours": round(total / 3600, 2),
        "gigabytes_read_by_a_machine": round(job.read_bytes / 1e9, 1),
        "terabytes_read_by_all": round(job.read_bytes * cluster.n_machines / 1e12, 2),
        "gigabytes_of_parts": round(job.model_bytes / 1e9, 1),
        "memory_gigabytes_of_a_machine": round(job.machine_bytes / 1e9, 1),
    }


def cut(units: Floats, n_parts: int) -> Floats:
    """Return the seconds of parts, ranges of units of about the same cost."""
    done = np.cumsum(units)
    aims = done[-1] * np.arange(1, n_parts) / n_parts * (1 - ROUNDING)
    edges = np.unique(np.searchsorted(done, aims) + 1)
    return np.add.reduceat(units, np.append(0, edges[edges < len(units)]))


def reading_seconds(job: Job, cluster: Cluster) -> float:
    """Return how long all machines take to read the rows from the shared folder."""
    shared = job.read_bytes * cluster.n_machines / cluster.disk_bytes
    return max(shared, job.read_bytes / cluster.net_bytes)


def without_chance(cluster: Cluster) -> Cluster:
    """Return machines that neither fail nor dawdle."""
    return replace(cluster, failures=0.0, slow_share=0.0)
