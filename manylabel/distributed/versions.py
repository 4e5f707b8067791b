"""What a driver and its workers must have alike, for the bits to be alike."""

import socket
from collections.abc import Mapping

import numpy as np

from manylabel._version import __version__


def versions() -> dict[str, str]:
    """Return the versions of what decides about bits."""
    return {"manylabel": __version__, "numpy": np.__version__}


def check_versions(driver: Mapping[str, str]) -> None:
    """Refuse to work with other packages than the driver has."""
    for package, here in versions().items():
        if driver[package] != here:
            raise RuntimeError(
                f"{package} must be the same for driver and workers. Got "
                f"{driver[package]} and, on {socket.gethostname()}, {here}."
            )
