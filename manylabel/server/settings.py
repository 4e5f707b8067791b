"""How a service is run."""

import sys
from typing import NamedTuple

WINDOWS = sys.platform == "win32"


class Settings(NamedTuple):
    """Numbers that a service may be told; times are in seconds."""

    snapshot_every: int = 10_000  # feedbacks learnt since the last snapshot
    keep_snapshots: int = 3
    snapshot_age: float = 30 * 86_400.0  # after which all but the newest are dropped
    keep_versions: int = 20  # beside the active one and shadows
    version_age: float = 365 * 86_400.0  # after which others are dropped
    poll: float = 2.0  # between looks for new or changed model folders
    memory: float = 7 * 86_400.0  # for which predictions are remembered
    most_remembered: int = 1_000_000  # predictions; then the oldest are dropped
    most_waiting: int = 10_000  # feedbacks that wait for the disk
    most_remembering: int = 100_000  # predictions that wait to be written
