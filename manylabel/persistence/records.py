"""Records of learnt arrays, and what they declare about them.

A record is a NamedTuple whose fields say what they hold, beside their names::

    class Leaves(NamedTuple):
        starts: Annotated[Array, Field("int64", "n_nodes + 1", Offsets("labels"))]
        labels: Annotated[Array, Field("int32", "n_entries", Columns("n_labels"))]
        share: Annotated[Array, Field("float32", "n_entries", Finite())]
        threshold: Annotated[float, Number(least=0, most=1)]

An estimator declares its learnt attributes, whose names end in ``_``, in the same way;
those that are a record, an estimator, text, a flag or None by a plain type.

A name in a shape is a size: given by the caller, or that of the first array that has
it. Kernels trust the arrays of a record, so :func:`check` refuses one that does not
keep to its declarations; what several arrays must be together stands in the record's
own ``check(sizes)``.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from math import inf, isfinite
from types import UnionType
from typing import Any, Protocol, Union, get_args, get_origin, get_type_hints

import numpy as np
import scipy.sparse as sp

from manylabel._typing import Array

Sizes = dict[str, int]
PLUS_ONE = " + 1"
MOST_COUNTED = 1 << 53  # with room for more
SIGNLESS = np.uint16(0x7FFF)
MISSING = object()


class Rule(Protocol):
    """Something that an array must be, beside its type and shape."""

    def fault(self, array: Array, record: Any, sizes: Sizes) -> str | None:
        """Return what the array must do and does not, or None."""
        ...


class Field:
    """An array of one of some types, whose axes have sizes, that keeps some rules.

    Parameters
    ----------
    dtypes : str
        Names of the types it may have, as ``"int32 int64"``.
    shape : str
        Sizes of its axes, as ``"n_nodes + 1"`` or ``"n_rows, 2"``; ``""`` for none.
    *rules : Rule
        What else it must be.
    """

    def __init__(self, dtypes: str, shape: str, *rules: Rule) -> None:
        self.dtypes = tuple(map(np.dtype, dtypes.split()))
        self.shape = tuple(axis.strip() for axis in shape.split(",") if axis)
        self.rules = rules

    def check(self, name: str, array: Any, record: Any, sizes: Sizes) -> None:
        """Raise ValueError if the array is not as declared; note its sizes."""
        if not isinstance(array, np.ndarray) or array.dtype not in self.dtypes:
            found = getattr(array, "dtype", type(array).__name__)
            known = " or ".join(map(str, self.dtypes))
            raise ValueError(f"{name} must be an array of {known}. Got {found}.")
        if not array.flags.c_contiguous:
            raise ValueError(f"{name} must be contiguous.")
        self._check_shape(name, array.shape, sizes)
        for rule in self.rules:
            if fault := rule.fault(array, record, sizes):
                raise ValueError(f"{name} must {fault}.")

    def _check_shape(self, name: str, shape: tuple[int, ...], sizes: Sizes) -> None:
        expected = []
        for axis, length in zip(self.shape, shape, strict=False):
            size, extra = axis.removesuffix(PLUS_ONE), int(axis.endswith(PLUS_ONE))
            known = int(size) if size.isdecimal() else None
            if known is None:
                known = sizes.setdefault(size, max(0, length - extra))
            expected.append(known + extra)
        if shape != tuple(expected) or len(shape) != len(self.shape):
            words = ", ".join(self.shape)
            raise ValueError(f"{name} must have shape ({words}). Got {shape}.")


@dataclass(frozen=True)
class Number:
    """A finite number within bounds, or a whole one, which counts something."""

    least: float = -inf
    most: float = inf
    whole: bool = False

    def check(self, name: str, value: Any, record: Any, sizes: Sizes) -> None:
        """Raise ValueError if the value is not such a number."""
        kinds = (int, np.integer) if self.whole else (int, float, np.number)
        most = min(self.most, MOST_COUNTED) if self.whole else self.most
        fits = isinstance(value, kinds) and not isinstance(value, bool)
        if not fits or not isfinite(value) or not self.least <= value <= most:
            what = "a whole number" if self.whole else "a number"
            raise ValueError(
                f"{name} must be {what} from {self.least} to {most}. Got {value!r:.40}."
            )


@dataclass(frozen=True)
class Values:
    """A row of numbers or texts, as long as a size says.

    ``kinds`` are NumPy's letters of what it may hold; an optional one may be left out.
    """

    size: str
    kinds: str = "biufUO"
    optional: bool = False

    def check(self, name: str, array: Any, record: Any, sizes: Sizes) -> None:
        """Raise ValueError if it is no such row."""
        if not isinstance(array, np.ndarray) or array.dtype.kind not in self.kinds:
            raise ValueError(f"{name} must be an array of names or numbers.")
        Field(str(array.dtype), self.size).check(name, array, record, sizes)
        if array.dtype.kind == "O" and not all(type(each) is str for each in array):
            raise ValueError(f"{name} must hold texts.")


class Plain:
    """One of some types, told by a type hint, such as ``str | None``."""

    def __init__(self, hint: Any) -> None:
        is_union = get_origin(hint) in (Union, UnionType)
        self._hints = get_args(hint) if is_union else (hint,)

    def check(self, name: str, value: Any, record: Any, sizes: Sizes) -> None:
        """Raise ValueError if the value is of none of the types."""
        if not any(_fits(value, hint) for hint in self._hints):
            known = " or ".join(getattr(h, "__name__", str(h)) for h in self._hints)
            raise ValueError(f"{name} must be {known}. Got {value!r:.40}.")


def _fits(value: Any, hint: Any) -> bool:
    kind = get_origin(hint) or hint
    while hasattr(kind, "__value__"):  # an alias, as NumPy's are from Python 3.12 on
        kind = get_origin(kind.__value__) or kind.__value__
    if kind in (bool, int, float):  # a flag is no number here
        return type(value) is kind
    if kind is list:
        (item,) = get_args(hint)
        return isinstance(value, list) and all(_fits(each, item) for each in value)
    return isinstance(value, kind)


@dataclass(frozen=True)
class Counting:
    """The numbers from 0, in order, at least one."""

    def fault(self, array: Array, record: Any, sizes: Sizes) -> str | None:
        """See :class:`Rule`."""
        is_one = len(array) > 0 and bool((array == np.arange(len(array))).all())
        return None if is_one else "count from 0"


@dataclass(frozen=True)
class Offsets:
    """Starts of lists that stand end to end in another array of the record."""

    of: str

    def fault(self, array: Array, record: Any, sizes: Sizes) -> str | None:
        """See :class:`Rule`."""
        # Compared, not subtracted: the difference of unsigned numbers is never below 0.
        rises = len(array) and array[0] == 0 and bool((array[1:] >= array[:-1]).all())
        if rises and array[-1] == len(getattr(record, self.of)):
            return None
        return f"rise from 0 to the length of {self.of}"


@dataclass(frozen=True)
class Columns:
    """Numbers from 0, or another least one, to below a size."""

    size: str
    least: int = 0

    def fault(self, array: Array, record: Any, sizes: Sizes) -> str | None:
        """See :class:`Rule`."""
        width = sizes[self.size]
        if not array.size or self.least <= int(array.min()) <= int(array.max()) < width:
            return None
        return f"hold numbers from {self.least} to below {width}"


@dataclass(frozen=True)
class Ascending:
    """Values that ascend, and so are distinct, within each list that starts name."""

    starts: str = ""

    def fault(self, array: Array, record: Any, sizes: Sizes) -> str | None:
        """See :class:`Rule`."""
        fits = np.ones(len(array) + 1, np.bool_)
        np.greater(array[1:], array[:-1], out=fits[1:-1])
        if self.starts:
            fits[getattr(record, self.starts)] = True
        if fits.all():
            return None
        return "ascend" + (f" between {self.starts}" if self.starts else "")


@dataclass(frozen=True)
class Permutation:
    """Each number from 0 to below the length, once."""

    def fault(self, array: Array, record: Any, sizes: Sizes) -> str | None:
        """See :class:`Rule`."""
        is_one = np.array_equal(np.sort(array), np.arange(len(array)))
        return None if is_one else "be a permutation"


@dataclass(frozen=True)
class Within:
    """Numbers between two bounds, these too."""

    least: float
    most: float

    def fault(self, array: Array, record: Any, sizes: Sizes) -> str | None:
        """See :class:`Rule`."""
        fits = not array.size or self.least <= array.min() <= array.max() <= self.most
        return None if fits else f"hold numbers from {self.least:g} to {self.most:g}"


@dataclass(frozen=True)
class Finite:
    """Finite numbers, not below a least one."""

    least: float = -inf

    def fault(self, array: Array, record: Any, sizes: Sizes) -> str | None:
        """See :class:`Rule`."""
        if not array.size:
            return None
        low, high = array.min(), array.max()  # either is NaN if one number is
        if isfinite(low) and isfinite(high) and low >= self.least:
            return None
        return "hold finite numbers" + (
            f" of {self.least:g} or more" if self.least > -inf else ""
        )


@dataclass(frozen=True)
class Children:
    """First of two children that stand side by side, 0 in a leaf: a forest.

    Children follow their parents within a tree, and no two nodes share one; ``roots``
    has the first node of each tree and the number of nodes.
    """

    roots: str

    def fault(self, array: Array, record: Any, sizes: Sizes) -> str | None:
        """See :class:`Rule`."""
        roots, inner = getattr(record, self.roots), np.flatnonzero(array)
        if roots[0] != 0 or roots[-1] != len(array) or (np.diff(roots) < 1).any():
            return f"belong to trees that start at {self.roots}"
        first, last = array[inner], np.repeat(roots[1:], np.diff(roots)) - 1
        if not (first > inner).all() or not (first < last[inner]).all():
            return "follow their parents within a tree"
        has_parent = np.zeros(len(array), np.bool_)
        has_parent[roots[:-1]] = True  # but a root has none
        has_parent[first] = has_parent[first + 1] = True
        is_forest = len(array) == 2 * len(first) + len(roots) - 1 and has_parent.all()
        return None if is_forest else "have one parent each"


@dataclass(frozen=True)
class FiniteHalves:
    """Upper halves of single-precision numbers, these being finite."""

    exponent: int = 0x7F80

    def fault(self, array: Array, record: Any, sizes: Sizes) -> str | None:
        """See :class:`Rule`."""
        largest = (array & SIGNLESS).max(initial=0)
        return None if largest < self.exponent else "hold finite numbers"


class Matrix(Field):
    """A CSR array of one of some types and of a shape, its columns sorted, finite."""

    def __init__(self, dtypes: str, shape: str) -> None:
        super().__init__(dtypes, shape)
        self._values = Field(dtypes, "n_values", Finite())

    def check(self, name: str, array: Any, record: Any, sizes: Sizes) -> None:
        """Raise ValueError if the matrix is not as declared."""
        if not sp.issparse(array):
            raise ValueError(f"{name} must be a sparse array.")
        self._check_shape(name, array.shape, sizes)
        self._values.check(name, array.data, record, {})
        if not array.has_canonical_format:
            raise ValueError(f"{name} must have sorted columns.")


def is_record(kind: Any) -> bool:
    """Return whether a class is a record: a NamedTuple with declarations."""
    named = isinstance(kind, type) and issubclass(kind, tuple)
    return named and hasattr(kind, "_fields") and bool(declarations(kind))


def declarations(kind: Any) -> dict[str, Any]:
    """Return what a record or an estimator declares: fields, numbers and records."""
    return _declared(kind)


@cache
def _declared(kind: Any) -> dict[str, Any]:
    is_tuple = issubclass(kind, tuple)
    found: dict[str, Any] = {}
    for name, hint in get_type_hints(kind, include_extras=True).items():
        for each in getattr(hint, "__metadata__", ()):
            if isinstance(each, Field | Number | Values):
                found[name] = each
        if is_record(hint):
            found[name] = hint
        elif name.endswith("_") and not is_tuple and hint is not Any:
            found.setdefault(name, Plain(hint))
    return found


def check(record: Any, name: str, sizes: Mapping[str, int]) -> None:
    """Raise ValueError, naming the array, if a record is not as it declares.

    Parameters
    ----------
    record : NamedTuple
        The record.
    name : str
        What the owner calls it.
    sizes : mapping of str to int
        Sizes that the owner knows, as ``n_features`` and ``n_labels``.
    """
    known = dict(sizes)
    for field in declarations(type(record)):
        check_part(record, field, f"{name}.{field}", known)
    if hasattr(record, "check"):
        record.check(known)


def check_part(owner: Any, field: str, name: str, sizes: Sizes) -> None:
    """Raise ValueError if one declared field of a record or estimator is wrong."""
    declared, value = declarations(type(owner))[field], getattr(owner, field, MISSING)
    if value is MISSING or (value is None and not isinstance(declared, Plain)):
        if getattr(declared, "optional", False):
            return
        raise ValueError(f"{name} is missing.")
    if is_record(declared):
        check(value, name, sizes)
    else:
        declared.check(name, value, owner, sizes)
