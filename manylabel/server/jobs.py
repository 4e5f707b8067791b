"""Jobs in the background: a model learnt anew from its data and the log."""

from typing import NamedTuple


class Job(NamedTuple):
    """A job: ``state`` is "running", "done" or "failed", ``share`` how much is done."""

    id: str
    model: str
    state: str
    share: float
    message: str
    version: str | None
