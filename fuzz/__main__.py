"""Fuzz what comes from outside.

    python -m fuzz                         every group of targets, 60 s each
    python -m fuzz models --seconds 1800   one group, for so long
    python -m fuzz readers --runs 5000     so many inputs, the same each time

Kernels have bounds checks. An input that ends in anything but an answer or the
library's own error is written to ``fuzz/faults/``, and the status is not 0.
"""

import argparse
import importlib
import os
import pkgutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
FAULTS = ROOT / "fuzz" / "faults"
GROUPS = ("readers", "manifests", "models")
# Bytes that choose edits must not run out, or the same few edits come again.
LENGTHS = {"models": ("-max_len=64", "-len_control=0", "-reduce_inputs=0")}
INSTRUMENTED = (
    "manylabel.data",
    "manylabel.persistence",
    "manylabel.base",
    "manylabel.text",
    "manylabel._validation",
)


def main() -> int:
    """Fuzz the groups that were asked for, each in a process of its own."""
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("groups", nargs="*", metavar="GROUP", help=", ".join(GROUPS))
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--runs", type=int, default=-1)
    parser.add_argument("--inside", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.inside:
        fuzz(asked.groups[0], asked.inside, asked.seconds, asked.runs)
    status = 0
    for group in asked.groups or GROUPS:
        if group not in GROUPS:
            parser.error(f"GROUP must be one of {', '.join(GROUPS)}. Got {group}.")
        status |= run(group, asked.seconds, asked.runs)
    return status


def run(group: str, seconds: int, runs: int) -> int:
    """Fuzz one group in a process with bounds checks and a cache of its own."""
    cache = os.environ.get("NUMBA_CACHE_DIR", str(ROOT / "fuzz" / ".kernels"))
    checked = {"NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": cache}
    steady = {"PYTHONHASHSEED": "0"}  # the order of sets would count as new branches
    FAULTS.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as corpus:
        command = [sys.executable, "-m", "fuzz", group, "--inside", corpus]
        limits = ["--seconds", str(seconds), "--runs", str(runs)]
        environment = {**os.environ, **checked, **steady}
        return subprocess.run([*command, *limits], env=environment).returncode


def fuzz(group: str, corpus: str, seconds: int, runs: int) -> None:
    """Fuzz in this process, which ends here."""
    import atheris

    from manylabel import _kernels

    # Numba compiles what it is given, so kernels, imported before, count no branches.
    for module in pkgutil.walk_packages(_kernels.__path__, "manylabel._kernels."):
        importlib.import_module(module.name)
    with atheris.instrument_imports(include=list(INSTRUMENTED)):
        target, seeds = targets(group)
    for number, seed in enumerate(seeds()):
        Path(corpus, f"seed-{number:04}").write_bytes(seed)
        target(seed)  # compiles kernels, which must not count as a slow input
    options = [
        f"-max_total_time={seconds}",
        f"-runs={runs}",
        f"-seed={int(runs > 0)}",  # 0 is another one each time
        *LENGTHS.get(group, ("-max_len=8192",)),
        "-timeout=60",
        "-rss_limit_mb=4096",
        "-print_final_stats=1",
        f"-artifact_prefix={FAULTS}/{group}-",
    ]
    atheris.Setup([sys.argv[0], *options, corpus], target)
    atheris.Fuzz()


def targets(group: str) -> Any:
    """Return the function that takes bytes, and that which makes seeds."""
    if group == "readers":
        from fuzz import readers

        return readers.read_file, readers.seeds
    from fuzz import models

    if group == "manifests":
        return models.load_manifest, models.manifest_seeds
    return models.load_edited, models.seeds


if __name__ == "__main__":
    sys.exit(main())
