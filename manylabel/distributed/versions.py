"""What a driver and its workers must have alike, for the bits to be alike."""

import socket
from collections.abc import Mapping
from functools import cache
from importlib.metadata import version

from manylabel._version import __version__
from manylabel.exceptions import OtherVersions

# Numba compiles the kernels; the others compute beside them.
PACKAGES = ("numpy", "scipy", "scikit-learn", "numba")


def versions() -> dict[str, str]:
    """Return the versions of what decides about bits."""
    return {"manylabel": __version__} | {name: _version(name) for name in PACKAGES}


@cache
def _version(package: str) -> str:
    return version(package)


def check_versions(driver: Mapping[str, str]) -> None:
    """Refuse to work with other packages than the driver has."""
    for package, here in versions().items():
        if driver.get(package) != here:
            raise OtherVersions(
                f"{package} must be the same for driver and workers. Got "
                f"{driver.get(package)} and, on {socket.gethostname()}, {here}."
            )
