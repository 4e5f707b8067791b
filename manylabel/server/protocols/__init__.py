"""Protocols of other programs, each a module with ``router(service, guard)``."""

from collections.abc import Callable

from fastapi import APIRouter

from manylabel.server.protocols import annif, label_studio, open_inference
from manylabel.server.security import Guard
from manylabel.server.service import Service

# Each is called once, when the application is made; see ``app``.
ROUTERS: tuple[Callable[[Service, Guard], APIRouter], ...] = (
    annif.router,
    label_studio.router,
    open_inference.router,
)
