"""The safetensors format: eight bytes of header length, a JSON header, raw arrays.

Written and read here rather than with the package of that name because that one holds
a second copy of every array while writing and cannot map a file into memory; the tests
check that each reads what the other wrote.
"""

import hashlib
import json
from collections.abc import Mapping
from math import prod
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from manylabel._typing import Array

DTYPES = {
    "BOOL": np.dtype("?"),
    "U8": np.dtype("u1"),
    "I8": np.dtype("i1"),
    "U16": np.dtype("<u2"),
    "I16": np.dtype("<i2"),
    "F16": np.dtype("<f2"),
    "U32": np.dtype("<u4"),
    "I32": np.dtype("<i4"),
    "F32": np.dtype("<f4"),
    "U64": np.dtype("<u8"),
    "I64": np.dtype("<i8"),
    "F64": np.dtype("<f8"),
}
CODES = {dtype: code for code, dtype in DTYPES.items()}
LENGTH = 8  # bytes that give the header's length


def describe(arrays: Mapping[str, Array]) -> dict[str, dict[str, Any]]:
    """Return the type and shape of each array, by name."""
    return {
        name: {
            "dtype": CODES[array.dtype.newbyteorder("<")],
            "shape": list(array.shape),
        }
        for name, array in arrays.items()
    }


def write(file: BinaryIO, arrays: Mapping[str, Array]) -> str:
    """Write the arrays to ``file``, without a copy; return the SHA-256 of the bytes.

    Wide types come first, so that every array starts at a multiple of its item size.
    """
    names = sorted(arrays, key=lambda name: (-arrays[name].itemsize, name))
    header, end = describe(arrays), 0
    for name in names:
        begin, end = end, end + arrays[name].nbytes
        header[name]["data_offsets"] = [begin, end]
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % LENGTH)

    head = len(text).to_bytes(LENGTH, "little") + text
    file.write(head)
    digest = hashlib.sha256(head)
    for array in map(arrays.__getitem__, names):
        # In C order and little endian: a view where they are.
        plain = np.asarray(array, dtype=array.dtype.newbyteorder("<"), order="C")
        content = plain.reshape(-1).view(np.uint8).data
        file.write(content)
        digest.update(content)
    return digest.hexdigest()


def read(buffer: NDArray[np.uint8]) -> dict[str, Array]:
    """Return the arrays that ``buffer`` holds, as views of it.

    Raises ValueError when the bytes are not safetensors.
    """
    start = LENGTH + int.from_bytes(buffer[:LENGTH].tobytes(), "little")
    if len(buffer) < start:
        raise ValueError("the file is shorter than its header says")
    header = json.loads(buffer[LENGTH:start].tobytes())
    if not isinstance(header, dict):
        raise ValueError("the header is not a JSON object")
    return {
        name: _view(buffer[start:], entry)
        for name, entry in header.items()
        if name != "__metadata__"
    }


def _view(data: NDArray[np.uint8], entry: Any) -> Array:
    match entry:
        case {
            "dtype": str(code),
            "shape": [*shape],
            "data_offsets": [int(begin), int(end)],
        } if code in DTYPES and all(type(n) is int and n >= 0 for n in shape):
            dtype = DTYPES[code]
            if 0 <= begin <= end <= len(data):
                if end - begin == prod(shape) * dtype.itemsize:
                    return data[begin:end].view(dtype).reshape(shape)
    raise ValueError(f"the header has a wrong entry, {entry!r}")
