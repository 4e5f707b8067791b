"""The one place where compiler options are chosen."""

from collections.abc import Callable
from typing import TypeVar

import numba

F = TypeVar("F", bound=Callable[..., object])


def kernel(function: F) -> F:
    """Compile ``function`` without the GIL, strict IEEE arithmetic, cached on disk."""
    compiled: F = numba.njit(cache=True, nogil=True, error_model="numpy")(function)
    return compiled


def reducing_kernel(function: F) -> F:
    """Compile as :func:`kernel`, but let sums be reordered so that they vectorise.

    Only ``reassoc`` and ``contract`` are allowed: NaN and infinity keep their meaning.
    """
    compiled: F = numba.njit(
        cache=True,
        nogil=True,
        error_model="numpy",
        fastmath={"reassoc", "contract"},
    )(function)
    return compiled
