"""Instructions of the six hottest kernels: a regression shows on a busy machine too.

Each kernel runs N and 2 N times, in processes of their own; the difference is the
kernel alone. ``perf`` counts where the processor lets it, else ``valgrind``. The code
is that for Haswell on every x86-64, so that counts of two machines can be compared.

    python -m benchmarks.instructions            count, and print
    python -m benchmarks.instructions --write    keep the counts in instructions.json
    python -m benchmarks.instructions --check    exit 1 if one grew by more than 5 %
"""

import argparse
import json
import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path

from benchmarks.hot_kernels import KERNELS
from benchmarks.machine import machine

RECORD = Path(__file__).with_name("instructions.json")
N = 5
MOST_GROWTH = 0.05
SAME_CODE = {
    "PYTHONHASHSEED": "0",
    "OPENBLAS_NUM_THREADS": "1",
    "NUMBA_CPU_NAME": "haswell",
    "NUMBA_CPU_FEATURES": "+avx2,+fma",
}
PERF = "perf stat -x , -e instructions:u"
VALGRIND = "valgrind --tool=cachegrind --cache-sim=no --cachegrind-out-file=/dev/null"
PROGRAM = [sys.executable, "-m", "benchmarks.hot_kernels"]
NO_COUNTER = "Neither perf nor valgrind can count instructions here."
Jobs = Sequence[tuple[str, int]]
Counter = Callable[[Jobs], list[int]]


def perf(jobs: Jobs) -> list[int]:
    """Count the instructions of kernels that run some times, a process for each."""
    counts = []
    for job in jobs:
        told = run([*PERF.split(), *PROGRAM, *map(str, job)]).stderr
        counts += [int(n) for n in re.findall(r"^(\d+),,instructions:u", told, re.M)]
    return counts


def valgrind(jobs: Jobs) -> list[int]:
    """Count as ``perf`` does, in forks of one process."""
    names = [str(part) for job in jobs for part in job]
    ended = run([*VALGRIND.split(), *PROGRAM, *names])
    told = re.findall(r"==(\d+)== I +refs: +([\d,]+)", ended.stderr)
    counts = {process: int(count.replace(",", "")) for process, count in told}
    return [counts[process] for process in ended.stdout.split()]


def find_counter() -> Counter | None:
    """Return what can count here."""
    if shutil.which("perf") and perf([(next(iter(KERNELS)), 0)]):
        return perf
    return valgrind if shutil.which("valgrind") else None


def run(command: list[str]) -> subprocess.CompletedProcess[str]:
    """Run a command in the environment that gives the same code everywhere."""
    same = SAME_CODE if platform.machine() in ("x86_64", "AMD64") else {}
    return subprocess.run(
        command, env=os.environ | same, capture_output=True, text=True, check=True
    )


def per_unit(count: Counter) -> dict[str, float]:
    """Return the instructions of each kernel for a unit of its work."""
    run([*PROGRAM, *(part for name in KERNELS for part in (name, "0"))])  # compile
    counts = count([(name, n) for name in KERNELS for n in (N, 2 * N)])
    pairs = zip(KERNELS.items(), counts[::2], counts[1::2], strict=True)
    return {name: (b - a) / (N * make().amount) for (name, make), a, b in pairs}


def grown(counts: dict[str, float], known: dict[str, float]) -> list[str]:
    """Return a sentence for each kernel that takes more instructions than it did."""
    return [
        f"{name}: {counts[name]:.2f} instructions, {100 * share - 100:.1f} % more than "
        f"{known[name]:.2f}"
        for name in counts
        if (share := counts[name] / known[name]) > 1 + MOST_GROWTH
    ]


def main(arguments: list[str] | None = None) -> int:
    """Count, and keep or compare; return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--check", action="store_true")
    chosen = parser.parse_args(arguments)
    found = find_counter()
    if found is None:
        print(NO_COUNTER)
        return 0
    counts = per_unit(found)
    for name, make in KERNELS.items():
        print(f"{name}: {counts[name]:.3f} instructions per {make().unit}")
    if chosen.write:
        made_by = {"counter": found.__name__, "processor": machine()["processor"]}
        made_by |= {"numba": version("numba"), "python": platform.python_version()}
        RECORD.write_text(json.dumps(made_by | {"counts": counts}, indent=2) + "\n")
    known = json.loads(RECORD.read_text())["counts"] if chosen.check else counts
    worse = grown(counts, known)
    print("\n".join(worse) or "No kernel takes more instructions than recorded.")
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
