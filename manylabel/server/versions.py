"""Versions that nobody needs any more: their folders are dropped."""

import logging
import shutil
from collections.abc import Iterable
from datetime import UTC, datetime

from manylabel.server.history import History
from manylabel.server.settings import Settings
from manylabel.server.store import Store

logger = logging.getLogger(__name__)


def choose_old(history: History, kept: Iterable[str], settings: Settings) -> list[str]:
    """Return the versions to drop: not of the newest, or too old.

    Never the active one, from which the log is replayed, nor shadows, nor those
    ``kept``. A version that was dropped stays in the log; it cannot be activated, nor
    a model rolled back to it.
    """
    needed = {history.version, *history.shadows, *kept}
    newest = reversed(list(history.versions.values()))
    dropped = []
    for place, event in enumerate(newest):
        version = event.body["version"]
        age = (datetime.now(UTC) - datetime.fromisoformat(event.at)).total_seconds()
        is_old = place >= settings.keep_versions or age > settings.version_age
        if is_old and version not in needed:
            dropped.append(version)
    return dropped


def prune(name: str, history: History, store: Store, settings: Settings) -> None:
    """Drop the folders of old versions of a model."""
    for version in choose_old(history, [store.seen(name)], settings):
        place = store.version(name, version)
        if place.is_dir():
            logger.info("model %s: version %s is dropped", name, version)
            shutil.rmtree(place, ignore_errors=True)
