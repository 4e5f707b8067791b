"""Which process learnt which part, and when: what a process that was killed costs."""

import json
import os
import time
from collections import Counter
from pathlib import Path
from typing import Any

from manylabel.distributed import fit_part

FOLDER = "calls"


def noted_part(path: str, part: dict[str, Any]) -> Path:
    """Learn a part, and note when that began and ended, if it did."""
    call = {"part": part["number"], "process": os.getpid(), "begin": time.time()}
    file = Path(path, FOLDER, f"{os.getpid()}-{time.time_ns()}.json")
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps(call))
    place = fit_part(path, part)
    file.write_text(json.dumps(call | {"end": time.time()}))
    return place


def read_calls(out: Path) -> list[dict[str, Any]]:
    """Return what was noted, the first first."""
    calls = (json.loads(file.read_text()) for file in (out / FOLDER).iterdir())
    return sorted(calls, key=lambda call: float(call["begin"]))


def cost_of_kill(
    calls: list[dict[str, Any]], processes: list[int], killed: int, at: float
) -> dict[str, Any]:
    """Return the seconds that a process which was killed at some time costs.

    Parameters
    ----------
    calls : list of dict
        What :func:`read_calls` returned.
    processes : list of int
        Those that there were at first.
    killed : int
        The one that was killed.
    at : float
        When that was.

    Returns
    -------
    dict
        ``lost``: work on parts that were not done; ``again``: the same parts, and the
        look at those that were done, by others; ``start``: until a new process began
        with a part; ``first``: what that took; ``part``: what others take, on average.
        None stands for what did not happen.

    Examples
    --------
    >>> times = (1, 7, 0.0, 2.0), (2, 8, 0.0, None), (2, 7, 2.0, 5.0), (3, 9, 4.0, 6.0)
    >>> names = "part", "process", "begin", "end"
    >>> calls = [dict(zip(names, each, strict=True)) for each in times]
    >>> cost_of_kill(calls, [7, 8], killed=8, at=1.5)
    {'lost': 1.5, 'again': 3.0, 'start': 2.5, 'first': 2.0, 'part': 2.5}
    """
    n_calls: Counter[int] = Counter()
    lost = again = 0.0
    usual, new = [], []
    for call in calls:
        n_calls[call["part"]] += 1
        if call.get("end") is None:
            lost += at - call["begin"]
            continue
        seconds = call["end"] - call["begin"]
        if n_calls[call["part"]] > 1:
            again += seconds
        if call["process"] not in processes:
            new.append((call["begin"] - at, seconds))
        else:
            usual.append(seconds)
    start, first = new[0] if new else (None, None)
    found = {"lost": lost, "again": again, "start": start, "first": first}
    found["part"] = sum(usual) / len(usual)
    return {name: None if s is None else round(s, 2) for name, s in found.items()}
