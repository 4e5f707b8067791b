"""What a run was made by: the code and the computer."""

import os
import platform
import re
import subprocess
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

LIBRARIES = ("numpy", "scipy", "scikit-learn", "numba")


@cache
def commit() -> str | None:
    """Return the commit of the clone that this is, with a + if files have changed."""
    clone = Path(__file__).parents[1]
    try:
        found = subprocess.run(
            ["git", "describe", "--always", "--abbrev=10", "--dirty=+", "--exclude=*"],
            cwd=clone,
            capture_output=True,
            text=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return found.stdout.strip()


@cache
def machine() -> dict[str, str | int]:
    """Return the processor, how many cores may be used, the system and libraries."""
    found: dict[str, str | int] = {
        "processor": _processor(),
        "cores": len(os.sched_getaffinity(0))
        if hasattr(os, "sched_getaffinity")
        else os.cpu_count() or 1,
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
    }
    return found | {name: version(name) for name in LIBRARIES}


def made_by(runs: Sequence[Mapping[str, Any]]) -> str:
    """Say by which commits, when and on which machines runs were made."""
    commits = dict.fromkeys(str(run["commit"] or run["version"]) for run in runs)
    days = sorted({run["finished"][:10] for run in runs if "finished" in run})
    machines = dict.fromkeys(_described(**run["machine"]) for run in runs)
    when = [" to ".join(dict.fromkeys((days[0], days[-1])))] if days else []
    by = f"by commit {', '.join(commits)}"
    return ", ".join([by, *when, f"on {'; '.join(machines)}"])


def _described(processor: str, cores: int, system: str, **libraries: str) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in libraries.items())
    return f"{processor} ({cores} cores), {system}, {versions}"


def _processor() -> str:
    try:
        names = re.findall(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    except OSError:
        names = []
    return names[0] if names else platform.processor() or platform.machine()
