"""Bytes as a series of choices, so that a fuzzer of bytes can drive anything."""

from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


class Choices:
    """Draws choices from bytes; when they run out, the first of each.

    Parameters
    ----------
    data : bytes
        What to draw from.

    Examples
    --------
    >>> choices = Choices(bytes([5, 2]))
    >>> choices.below(4), choices.of("abc"), choices.below(100)
    (1, 'c', 0)
    """

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0

    def below(self, limit: int) -> int:
        """Return a number from 0 to below ``limit``."""
        size = max(1, (limit - 1).bit_length() + 7 >> 3)
        drawn = self._data[self._at : self._at + size]
        self._at += size
        return int.from_bytes(drawn, "little") % limit

    def of(self, items: Sequence[T]) -> T:
        """Return one of some items."""
        return items[self.below(len(items))]

    def rest(self) -> bytes:
        """Return what is left."""
        left = self._data[self._at :]
        self._at = len(self._data)
        return left
