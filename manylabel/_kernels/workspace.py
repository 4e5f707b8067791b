"""Arrays that kernels work in, made once a thread."""

from collections.abc import Callable
from threading import local
from typing import TypeVar

T = TypeVar("T")


def reused(make: Callable[..., T]) -> Callable[..., T]:
    """Let each thread keep what was made for the last sizes: one row takes no longer.

    Kernels leave it as they found it, zeros where it had zeros.
    """
    kept = local()

    def find(*sizes: int) -> T:
        if getattr(kept, "sizes", None) != sizes:
            kept.made = make(*sizes)
            kept.sizes = sizes
        made: T = kept.made
        return made

    return find
