"""Records: what is declared is checked, what is spelt can be read back."""

from typing import Annotated, NamedTuple

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from manylabel.persistence import flatten, unflatten
from manylabel.persistence.records import (
    Ascending,
    Columns,
    Field,
    Finite,
    Number,
    Offsets,
    Plain,
    check,
    is_record,
)


class Leaves(NamedTuple):
    """Leaves of some tree."""

    starts: Annotated[
        np.ndarray, Field("int32 int64 uint64", "n_nodes + 1", Offsets("ids"))
    ]
    ids: Annotated[
        np.ndarray, Field("int32", "n_ids", Columns("n_labels"), Ascending("starts"))
    ]
    share: Annotated[np.ndarray, Field("float32", "n_ids, 2", Finite(least=0))]
    slope: Annotated[float, Number(0, 1)]


class Owner:
    """Something that has leaves."""

    leaves_: Leaves


def leaves(**changes):
    parts = {
        "starts": np.array([0, 2, 2, 3]),
        "ids": np.array([1, 4, 0], np.int32),
        "share": np.ones((3, 2), np.float32),
        "slope": 0.5,
    }
    return Leaves(**parts | changes)


def test_a_sound_record_passes():
    check(leaves(), "leaves_", {"n_labels": 5})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"starts": np.array([0, 3, 2, 3])}, "starts must rise from 0 to the length"),
        ({"starts": np.array([0, 3, 2, 3], np.uint64)}, "starts must rise from 0"),
        ({"starts": np.array([0, 2, 2, 4])}, "starts must rise from 0 to the length"),
        ({"starts": np.array([1, 2, 2, 3])}, "starts must rise from 0"),
        ({"starts": np.empty(0, np.int64)}, r"starts must have shape \(n_nodes \+ 1\)"),
        ({"starts": np.array([0.0, 2, 2, 3])}, "starts must be an array of int32 or"),
        ({"ids": np.array([1, 5, 0], np.int32)}, "ids must hold numbers from 0 to b"),
        ({"ids": np.array([1, -1, 0], np.int32)}, "ids must hold numbers from 0"),
        ({"ids": np.array([4, 4, 0], np.int32)}, "ids must ascend between starts"),
        ({"ids": np.arange(6, dtype=np.int32)[::2]}, "ids must be contiguous"),
        ({"share": np.ones((3, 1), np.float32)}, r"share must have shape \(n_ids, 2\)"),
        ({"share": np.ones((2, 2), np.float32)}, r"share must have shape \(n_ids, 2\)"),
        ({"share": np.full((3, 2), np.nan, np.float32)}, "share must hold finite"),
        ({"share": -np.ones((3, 2), np.float32)}, "share must hold finite .* or more"),
        ({"share": None}, "share is missing"),
        ({"slope": float("nan")}, "slope must be a number from 0 to 1. Got nan"),
        ({"slope": True}, "slope must be a number from 0 to 1. Got True"),
        ({"slope": "1"}, "slope must be a number"),
    ],
)
def test_what_is_not_as_declared_is_refused_by_name(changes, message):
    with pytest.raises(ValueError, match=rf"leaves_\.{message}"):
        check(leaves(**changes), "leaves_", {"n_labels": 5})


def test_records_are_spelt_field_by_field_and_read_back():
    flat = flatten({"leaves_": leaves()})
    assert set(flat) == {f"leaves_.{name}" for name in Leaves._fields}
    found = unflatten(flat, Owner)["leaves_"]
    assert isinstance(found, Leaves)
    for name in ("starts", "ids", "share"):
        assert_array_equal(getattr(found, name), getattr(leaves(), name))


def test_a_field_that_is_missing_or_unknown_is_named():
    flat = flatten({"leaves_": leaves()})
    with pytest.raises(ValueError, match=r"Leaves has no more"):
        unflatten(flat | {"leaves_.more": 1}, Owner)
    del flat["leaves_.ids"]
    with pytest.raises(ValueError, match=r"leaves_\.ids is missing"):
        unflatten(flat, Owner)
    with pytest.raises(ValueError, match="leaves_ must be spelt in parts"):
        unflatten({"leaves_": 3}, Owner)


def test_a_plain_tuple_is_no_record():
    assert is_record(Leaves)
    assert not is_record(tuple)


def test_an_alias_of_a_type_is_that_type():
    class Alias:  # as the statement ``type`` makes them
        __value__ = np.ndarray

    hint = Plain(Alias())
    hint.check("names_", np.arange(2), None, {})
    with pytest.raises(ValueError, match="names_ must be"):
        hint.check("names_", [0, 1], None, {})
