"""Memory of this process, now and at its peak."""

import resource
import sys
from pathlib import Path

STATUS, CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def megabytes(field: str) -> float:
    """Return the memory of this process, now (VmRSS) or at its peak (VmHWM).

    Linux keeps both. Elsewhere there is but the peak of all time.
    """
    if not STATUS.exists():
        unit = 1e6 if sys.platform == "darwin" else 1e3
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit
    lines = dict(line.split(":", 1) for line in STATUS.read_text().splitlines())
    return int(lines[field].split()[0]) * 1024 / 1e6


def forget_peak() -> None:
    """Let the peak begin anew, where the system can."""
    if CLEAR.exists():
        CLEAR.write_text("5")
