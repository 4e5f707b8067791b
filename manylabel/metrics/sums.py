"""What metrics add up, without rounding: any cut and any order give the same bits."""

from typing import Any, Protocol, Self

import numpy as np

from manylabel._kernels import exact_sums
from manylabel._typing import Array, Floats, Ints

UNIT = 1074  # sums count units of 2**-1074, of which every float64 is a multiple
MOST_BITS = exact_sums.LIMB * exact_sums.N_LIMBS
NOTHING = np.empty((0, 1), np.int64)


class Sums(Protocol):
    """What a metric keeps of the rows that it has seen."""

    def take(self, terms: Array) -> None:
        """Add what a chunk adds."""

    def __add__(self, other: Self) -> Self:
        """Return the sums over the rows of both."""

    @property
    def values(self) -> Array:
        """The sums as numbers."""

    def to_json(self) -> Any:
        """Return the sums, exactly, as what JSON can hold."""

    def from_json(self, written: Any) -> Self:
        """Return what ``to_json`` wrote, or raise ValueError."""


class ExactSums:
    """Sums of float64 over rows, rounded when they are read and not before.

    Parameters
    ----------
    n_sums : int
        How many numbers a row adds, each to a sum of its own.

    Examples
    --------
    >>> sums = ExactSums(1)
    >>> sums.take(np.array([[1e16], [1.0], [-1e16]]))
    >>> (sums + sums).values
    array([2.])
    >>> sums.to_json()
    ['0x1p0']
    """

    def __init__(self, n_sums: int) -> None:
        self._limbs = np.zeros((n_sums, exact_sums.N_LIMBS), np.int64)

    def take(self, terms: Array) -> None:
        """Add rows of finite numbers, shape (n_rows, n_sums)."""
        numbers = np.ascontiguousarray(terms, np.float64)
        exact_sums.add_rows(numbers.view(np.int64), self._limbs)

    def __add__(self, other: Self) -> Self:
        both = type(self)(len(self._limbs))
        both._limbs = self._limbs + other._limbs
        exact_sums.add_rows(NOTHING, both._limbs)
        return both

    @property
    def values(self) -> Floats:
        """The sums, each rounded once, to the nearest float64."""
        return np.array([_rounded(total) for total in self._totals()])

    def to_json(self) -> list[str]:
        """Return each sum as a hexadecimal integer and a power of 2."""
        return [_written(total) for total in self._totals()]

    def from_json(self, written: Any) -> Self:
        """Return the sums that ``to_json`` wrote, as many as these, or ValueError."""
        if not isinstance(written, list) or len(written) != len(self._limbs):
            raise ValueError(f"expected {len(self._limbs)} sums, found {written!r:.40}")
        sums = type(self)(len(written))
        for limbs, text in zip(sums._limbs, written, strict=True):
            total = _read(text)
            for place in range(len(limbs) - 1):
                limbs[place] = total & exact_sums.MASK
                total >>= exact_sums.LIMB
            limbs[-1] = total
        return sums

    def _totals(self) -> list[int]:
        """Return the sums in units of 2**-1074."""
        *_, top = self._limbs.T.tolist()
        places = self._limbs[:, :-1].astype("<u4")
        whole = exact_sums.LIMB * places.shape[1]
        return [
            int.from_bytes(row.tobytes(), "little") + (high << whole)
            for row, high in zip(places, top, strict=True)
        ]


class Counts:
    """Whole numbers for each label, or for each of other things.

    Examples
    --------
    >>> counts = Counts()
    >>> counts.take(np.array([[1, 0, 2]]))
    >>> (counts + counts).values
    array([[2, 0, 4]])
    >>> counts.to_json()
    {'shape': [1, 3], 'places': [0, 2], 'counts': [1, 2]}
    """

    def __init__(self, values: Ints | None = None) -> None:
        self._values = values

    def take(self, terms: Array) -> None:
        """Add an array of integers, of the same shape each time."""
        self._values = terms if self._values is None else self._values + terms

    def __add__(self, other: Self) -> Self:
        parts = [each for each in (self._values, other._values) if each is not None]
        return type(self)(sum(parts[1:], parts[0]) if parts else None)

    @property
    def values(self) -> Ints:
        """The counts."""
        return np.zeros((0, 0), np.int64) if self._values is None else self._values

    def to_json(self) -> dict[str, list[int]]:
        """Return the counts that are not 0, and where they stand."""
        flat = self.values.ravel()
        places = np.flatnonzero(flat)
        return {
            "shape": list(self.values.shape),
            "places": places.tolist(),
            "counts": flat[places].tolist(),
        }

    def from_json(self, written: Any) -> Self:
        """Return the counts that ``to_json`` wrote, or raise ValueError."""
        try:
            values = np.zeros(written["shape"], np.int64)
            values.ravel()[written["places"]] = written["counts"]
        except (TypeError, LookupError, OverflowError, ValueError) as error:
            raise ValueError(f"expected counts: {error}") from None
        return type(self)(values)


def _rounded(total: int) -> float:
    try:
        return total / (1 << UNIT)  # Python rounds a quotient of integers once
    except OverflowError:
        return float("inf") if total > 0 else float("-inf")


def _written(total: int) -> str:
    spare = (total & -total).bit_length() - 1 if total else UNIT
    return f"{total >> spare:#x}p{spare - UNIT}"


def _read(text: Any) -> int:
    mantissa, _, power = str(text).partition("p")
    try:
        total, spare = int(mantissa, 16), int(power) + UNIT
    except ValueError:
        raise ValueError(f"expected a sum such as 0x3p-2, found {text!r:.40}") from None
    if spare < 0 or total.bit_length() + spare > MOST_BITS:
        raise ValueError(f"expected a sum within reach, found {text!r:.40}")
    return total << spare
