"""What an estimator holds, as a flat dict of arrays and JSON values.

A value that is neither is spelt in parts, told apart by what follows the dot:

=====================  =======================================================
``name``               a number, str, bool, None, list of these or of lists, or an array
``name.tuple``         a tuple, as a list
``name.dict``          a dict of str to numbers, text, None, or dicts, lists of these
``name.strings``       an array of str, as a list; ``name.dtype`` is O or U
``name.indptr`` ...    a ``csr_array``: also ``.indices``, ``.data``, ``.shape``
``name.class`` ...     an estimator: also ``.params.*`` and ``.state.*``
``name.field`` ...     a record: each of its fields, in the same way
``name.many`` ...      a list or tuple of estimators: also ``.0.*``, ``.1.*``, ...
=====================  =======================================================
"""

import importlib
import inspect
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from manylabel._typing import CSR, Array
from manylabel.persistence import records, tensors
from manylabel.persistence.records import Columns, Field, Offsets

Flat = dict[str, Any]


class Rows(NamedTuple):
    """A CSR array in parts."""

    indptr: Annotated[Array, Field("int32 int64", "n_rows + 1", Offsets("indices"))]
    indices: Annotated[Array, Field("int32 int64", "n_entries", Columns("n_columns"))]
    data: Annotated[Array, Field("float32 float64 bool int64 int32", "n_entries")]


MOST_ROOM = 1 << 20  # letters
DEEPEST = 40  # dots in a name: estimators within estimators


def flatten(attributes: Mapping[str, Any]) -> Flat:
    """Spell attributes as arrays and JSON values.

    Parameters
    ----------
    attributes : mapping of str to object
        Numbers, text, None, lists and tuples of these, arrays, CSR arrays, records
        and estimators of this package. Names have no dot.

    Returns
    -------
    dict
        What :func:`unflatten` turns back into the attributes.

    Examples
    --------
    >>> flatten({"depth_": 3, "shape_": (2, 5)})
    {'depth_': 3, 'shape_.tuple': [2, 5]}
    """
    flat: Flat = {}
    for name, value in attributes.items():
        flat.update(_spell(name, value))
    return flat


def unflatten(state: Mapping[str, Any], kind: type | None = None) -> dict[str, Any]:
    """Turn what :func:`flatten` returned back into attributes.

    Parameters
    ----------
    state : mapping of str to object
        Arrays and JSON values.
    kind : type or None, default=None
        The class that declares the attributes; what it does not is refused.

    Returns
    -------
    dict
        The attributes.

    Examples
    --------
    >>> unflatten({"depth_": 3, "shape_.tuple": [2, 5]})
    {'depth_': 3, 'shape_': (2, 5)}
    """
    values: dict[str, Flat] = {}
    for key, part in state.items():
        name, _, rest = key.partition(".")
        values.setdefault(name, {})[rest] = part
    declared = dict.fromkeys(values) if kind is None else records.declarations(kind)
    for odd in sorted(values.keys() - declared.keys()):
        raise ValueError(f"{getattr(kind, '__name__', kind)} has no {odd}")
    return {
        name: _read_record(name, parts, declared[name])
        if records.is_record(declared.get(name))
        else _read(name, parts)
        for name, parts in values.items()
    }


def describe(estimator: Any) -> tuple[Flat, dict[str, Array]]:
    """Return class, parameters and state of an estimator as JSON, and its arrays.

    The arrays are named ``params/*`` and ``state/*``. What is no estimator of this
    package, or holds what cannot be saved, raises TypeError.
    """
    if not is_ours(estimator):
        raise TypeError(
            f"Only an estimator of manylabel can be saved. Got {_kind(estimator)}."
        )
    facts: Flat = {"class": type(estimator).__name__}
    arrays: dict[str, Array] = {}
    sections = {"params": estimator.get_params(deep=False), "state": learnt(estimator)}
    for name, values in sections.items():
        facts[name] = {}
        parts = flatten(values)
        check_depth(parts)
        for part, value in sorted(parts.items()):
            if isinstance(value, np.ndarray):
                arrays[f"{name}/{part}"] = value
            else:
                facts[name][part] = value
    return facts, arrays


def section(parts: Mapping[str, Any], prefix: str) -> Flat:
    """Return the parts whose names begin with a prefix, without it."""
    return {k.removeprefix(prefix): v for k, v in parts.items() if k.startswith(prefix)}


def check_depth(names: Iterable[str]) -> None:
    """Refuse estimators that are nested too deeply to be read back."""
    if any(name.count(".") > DEEPEST for name in names):
        raise ValueError("estimators are nested too deeply")


def learnt(estimator: Any) -> dict[str, Any]:
    """Return the estimator's state; nothing if it is not fitted.

    What is not declared could not be checked when it is read, so it is refused.
    """
    fitted = {name: v for name, v in vars(estimator).items() if name.endswith("_")}
    for name in fitted.keys() - records.declarations(type(estimator)).keys():
        kind = type(estimator).__name__
        raise TypeError(f"The attribute {name} of {kind} must be declared to be saved.")
    if fitted and hasattr(estimator, "get_state"):
        return dict(estimator.get_state())
    return fitted


def rebuild(name: str, params: Mapping[str, Any], state: Mapping[str, Any]) -> Any:
    """Return an estimator from its class name, flat parameters and flat state.

    Raises ValueError when they do not fit together.
    """
    cls = _public_class(name)
    if cls is None:
        raise ValueError(f"manylabel has no estimator {name!r}")
    given, known = unflatten(params), inspect.signature(cls).parameters
    for odd in sorted(given.keys() ^ known.keys()):
        if odd in given:
            raise ValueError(f"the parameter {odd} of {name} is unknown")
        if known[odd].default is inspect.Parameter.empty:
            raise ValueError(f"the parameter {odd} of {name} is missing")
        # Newer than the model, which was made as the default has it.
    estimator = cls(**given)
    if hasattr(estimator, "_check_parameters"):
        estimator._check_parameters()
    if state and hasattr(estimator, "set_state"):
        estimator.set_state(dict(state))
    elif state:
        vars(estimator).update(unflatten(state, cls))
        sizes: dict[str, int] = {}
        for attribute in records.declarations(cls):
            records.check_part(estimator, attribute, attribute, sizes)
    return estimator


def _spell(name: str, value: Any) -> Flat:
    if isinstance(value, np.ndarray):
        return _spell_array(name, value)
    if isinstance(value, sp.csr_array):
        parts = {"indptr": value.indptr, "indices": value.indices, "data": value.data}
        return _prefixed(name, parts | {"shape": list(value.shape)})
    if records.is_record(type(value)):
        return flatten(_prefixed(name, value._asdict()))
    if isinstance(value, (list, tuple)) and value and all(map(is_ours, value)):
        parts = {str(n): item for n, item in enumerate(value)}
        return flatten(_prefixed(name, {"many": type(value).__name__} | parts))
    if isinstance(value, list):
        return {name: _plain(name, value)}
    if isinstance(value, tuple):
        return {f"{name}.tuple": _plain(name, value)}
    if isinstance(value, dict):
        return {f"{name.removesuffix('.dict')}.dict": _plain(name, value)}
    if is_ours(value):
        parts = {"class": type(value).__name__}
        parts |= _prefixed("params", value.get_params(deep=False))
        parts |= _prefixed("state", learnt(value))
        return flatten(_prefixed(name, parts))
    return {name: _scalar(name, value)}


def _spell_array(name: str, array: Array) -> Flat:
    if array.dtype.newbyteorder("<") in tensors.CODES:
        return {name: array}
    items = array.tolist() if array.ndim == 1 else [array]
    if not all(isinstance(item, str) for item in items):
        raise _refusal(name, f"an array of {array.dtype}")
    return {f"{name}.strings": items, f"{name}.dtype": array.dtype.kind}


def _scalar(name: str, value: Any) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise _refusal(name, _kind(value))


def _plain(name: str, value: Any) -> Any:
    """Return a dict or a list, of these or of scalars, as JSON holds it."""
    if isinstance(value, (list, tuple)):
        return [_plain(name, item) for item in value]
    if not isinstance(value, dict):
        return _scalar(name, value)
    for key in value:
        if not isinstance(key, str):
            raise _refusal(name, f"a dict with {_kind(key)} for a key")
    return {key: _plain(name, part) for key, part in value.items()}


def _read(name: str, parts: Flat) -> Any:
    match parts:
        case {"": value}:
            return value
        case {"tuple": items}:
            return tuple(items)
        case {"dict": dict() as found}:
            return _plain(name, found)
        case {"strings": list() as items, "dtype": "O" | "U" as kind}:
            return _strings(name, items, kind)
        case {"indptr": indptr, "indices": indices, "data": data, "shape": shape}:
            return _read_matrix(name, Rows(indptr, indices, data), shape)
        case {"class": cls}:
            return rebuild(cls, section(parts, "params."), section(parts, "state."))
        case {"many": "list" | "tuple" as kind, **rest}:
            items = [item for _, item in sorted(unflatten(rest).items(), key=_number)]
            return items if kind == "list" else tuple(items)
    raise ValueError(f"{name} is spelt in unknown parts, {sorted(parts)}")


def _read_matrix(name: str, rows: Rows, shape: Any) -> CSR:
    n_rows, n_columns = shape
    records.check(rows, name, {"n_rows": n_rows, "n_columns": n_columns})
    # SciPy would copy what is a part of a larger buffer.
    matrix = sp.csr_array((0, n_columns), dtype=rows.data.dtype)
    matrix.indptr, matrix.indices, matrix.data = rows
    matrix._shape = (n_rows, n_columns)
    return matrix


def _strings(name: str, items: list[Any], kind: str) -> Array:
    if not all(isinstance(item, str) for item in items):
        raise ValueError(f"{name} must hold texts")
    lengths = [len(item) for item in items]
    # An array of dtype U has the longest text's room for each.
    room = max(lengths, default=0) * len(items)
    if kind == "U" and room > MOST_ROOM + 16 * sum(lengths):
        raise ValueError(f"{name} holds a text that is too long")
    return np.array(items, dtype=kind)


def _read_record(name: str, parts: Flat, kind: Any) -> Any:
    if "" in parts:
        raise ValueError(f"{name} must be spelt in parts")
    values = unflatten(parts, kind)
    for field in sorted(set(kind._fields) - values.keys()):
        raise ValueError(f"{name}.{field} is missing")
    return kind(**values)


def _number(entry: tuple[str, Any]) -> int:
    return int(entry[0])


def _prefixed(prefix: str, parts: Mapping[str, Any]) -> Flat:
    return {f"{prefix}.{key}": value for key, value in parts.items()}


def _public_class(name: str) -> Any:
    """Return an estimator class of this package by its public name; None is no such.

    A folder is data: it can name a public estimator and nothing else, so loading runs
    no code but the constructors of our own classes. The package is imported by name
    and late because those classes stand in layers above this one.
    """
    package = importlib.import_module("manylabel")
    found = getattr(package, name) if name in package.__all__ else None
    return found if inspect.isclass(found) and hasattr(found, "get_params") else None


def is_ours(value: Any) -> bool:
    """Return whether ``value`` is an estimator that ``_public_class`` would find."""
    return _public_class(type(value).__name__) is type(value)


def _kind(value: Any) -> str:
    return f"a {type(value).__name__}"


def _refusal(name: str, found: str) -> TypeError:
    what = "attribute" if name.endswith("_") else "parameter"
    return TypeError(
        f"The {what} {name} cannot be saved: a model folder holds numbers, text, "
        f"arrays and estimators of manylabel, not {found}."
    )
