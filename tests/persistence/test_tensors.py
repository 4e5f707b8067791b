"""The safetensors format, against the package of that name."""

import hashlib
import io

import numpy as np
import pytest
import safetensors.numpy
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_array_equal

from manylabel.persistence import tensors

numbers = st.sampled_from(sorted(map(str, tensors.CODES)))
collections = st.dictionaries(
    st.text(max_size=5).filter(lambda name: name != "__metadata__"),
    hnp.arrays(numbers, hnp.array_shapes(min_dims=0, min_side=0, max_side=4)),
    max_size=4,
)


def written(arrays):
    file = io.BytesIO()
    digest = tensors.write(file, arrays)
    assert digest == hashlib.sha256(file.getvalue()).hexdigest()
    return file.getvalue()


def parsed(data):
    return tensors.read(np.frombuffer(bytearray(data), np.uint8))


def assert_same(found, expected):
    assert found.keys() == expected.keys()
    for name, array in expected.items():
        assert found[name].dtype == array.dtype
        assert_array_equal(found[name], array)


@given(collections)
def test_the_package_reads_what_we_write(arrays):
    assert_same(safetensors.numpy.load(written(arrays)), arrays)


@given(collections)
def test_we_read_what_the_package_writes(arrays):
    assert_same(parsed(safetensors.numpy.save(arrays, {"by": "the package"})), arrays)


@given(collections)
def test_arrays_are_aligned(arrays):
    assert all(array.flags.aligned for array in parsed(written(arrays)).values())


def test_order_and_endianness_do_not_matter():
    array = np.arange(6, dtype=">i4").reshape(2, 3).T
    assert_array_equal(parsed(written({"a": array}))["a"], array)


@given(
    st.binary(max_size=60)
    | st.binary(max_size=60).map(lambda b: b"\x10" + bytes(7) + b)
)
def test_any_bytes_parse_or_raise_a_value_error(data):
    try:
        parsed(data)
    except ValueError:
        pass


@pytest.mark.parametrize(
    "header",
    [
        b"[]",
        b'{"a": 1}',
        b'{"a": {"dtype": "F32", "shape": [1], "data_offsets": [0, 8]}}',
        b'{"a": {"dtype": "F32", "shape": [-1], "data_offsets": [0, 4]}}',
        b'{"a": {"dtype": "F32", "shape": [9], "data_offsets": [0, 36]}}',
        b'{"a": {"dtype": "F32", "shape": [1], "data_offsets": [-4, 0]}}',
        b'{"a": {"dtype": "OBJ", "shape": [1], "data_offsets": [0, 8]}}',
        b'{"a": {"dtype": "F32", "shape": ["1"], "data_offsets": [0, 4]}}',
    ],
)
def test_a_header_that_lies_is_refused(header):
    with pytest.raises(ValueError, match="the header"):
        parsed(len(header).to_bytes(8, "little") + header + bytes(8))
