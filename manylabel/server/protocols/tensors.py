"""Requests of the Open Inference Protocol: texts as tensors, in JSON or binary.

The binary form is that of Triton's clients: the JSON comes first, its length is in a
header, and each text follows as four bytes of length and the bytes of its UTF-8.
"""

import json
import struct
from collections.abc import Iterator, Sequence
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints

from manylabel.server.errors import BadItem
from manylabel.server.schemas import (
    LONGEST_NAME,
    LONGEST_TEXT,
    MOST_ITEMS,
    Depth,
    Labels,
)

BYTES = "BYTES"
LENGTH = struct.Struct("<I")
MOST_DIMENSIONS = 2  # (n,) or (n, 1)


def read_list(value: Any) -> Any:
    """Return a list that came as its JSON: parameters of some clients have no lists."""
    try:
        return json.loads(value) if isinstance(value, str) else value
    except (ValueError, RecursionError):
        raise ValueError("must be a list of labels, or its JSON") from None


NameList = Annotated[Labels | None, BeforeValidator(read_list)]
ShortName = Annotated[str, StringConstraints(max_length=LONGEST_NAME)]


class Parameters(BaseModel):
    """What may be asked beside the inputs; others are not looked at."""

    model_config = ConfigDict(allow_inf_nan=False)

    k: Depth = 5
    allow: NameList = None
    deny: NameList = None
    proba: bool = False


class Placement(BaseModel):
    """Where a tensor is, if it is not in the JSON."""

    binary_data_size: Annotated[int, Field(ge=0)] | None = None
    shared_memory_region: str | None = None


class Input(BaseModel):
    """A tensor of texts."""

    name: ShortName
    shape: Annotated[list[int], Field(min_length=1, max_length=MOST_DIMENSIONS)]
    datatype: ShortName
    parameters: Placement = Placement()
    data: list[Any] | None = None


class Output(BaseModel):
    """An output that is asked for."""

    name: ShortName


class InferBody(BaseModel):
    """A request for labels of texts."""

    id: ShortName | None = None
    inputs: Annotated[list[Input], Field(min_length=1, max_length=1)]
    outputs: Annotated[list[Output], Field(max_length=MOST_DIMENSIONS)] = []
    parameters: Parameters = Parameters()


def read_texts(given: Input, binary: bytes) -> list[str]:
    """Return the texts of a tensor.

    Parameters
    ----------
    given : Input
        The tensor.
    binary : bytes
        What came after the JSON.

    Returns
    -------
    list of str
        As many as the shape says.

    Examples
    --------
    >>> read_texts(Input(name="text", shape=[1], datatype="BYTES", data=["a cat"]), b"")
    ['a cat']
    """
    if given.datatype != BYTES:
        raise BadItem(
            f"datatype of an input must be BYTES. Got {given.datatype!r:.40}."
        )
    size = given.parameters.binary_data_size
    if size is not None:
        texts = list(_unpack(binary, size))
    elif given.data is not None:
        texts = list(_flatten(given.data))
    else:
        raise BadItem("data of an input must be in the JSON, or binary.")
    n_texts, *width = given.shape
    if n_texts != len(texts) or width not in ([], [1]):
        raise BadItem(
            f"shape of an input must be [n] or [n, 1] for n texts. Got {given.shape} "
            f"for {len(texts)}."
        )
    _check(texts)
    return texts


def split(body: bytes, header: str) -> tuple[bytes, bytes]:
    """Return the JSON of a request and what comes after it; the header has its length.

    Examples
    --------
    >>> split(b'{"inputs":[]}abc', "13")
    (b'{"inputs":[]}', b'abc')
    """
    if not header:
        return body, b""
    is_number = header.isascii() and header.isdecimal() and len(header) < len("1" * 12)
    if not is_number or int(header) > len(body):
        rule = "the length of the JSON, which is not more than that of the body"
        raise BadItem(f"inference-header-content-length must be {rule}.")
    return body[: int(header)], body[int(header) :]


def _flatten(data: Sequence[Any]) -> Iterator[str]:
    """Yield the texts of a list, or of a list of lists of one."""
    for each in data:
        inner = each if isinstance(each, list) else [each]
        for text in inner:
            if not isinstance(text, str):
                raise BadItem(
                    f"data of an input must be texts. Got {type(text).__name__}."
                )
            yield text


def _unpack(binary: bytes, size: int) -> Iterator[str]:
    if size != len(binary):
        raise BadItem(
            f"binary_data_size must be the length of what follows the JSON. Got {size} "
            f"for {len(binary)}."
        )
    place = 0
    while place < size:
        start = place + LENGTH.size
        if start > size or start + LENGTH.unpack_from(binary, place)[0] > size:
            raise BadItem("Each text must follow its length, in four bytes.")
        place = start + LENGTH.unpack_from(binary, place)[0]
        try:
            yield binary[start:place].decode()
        except UnicodeDecodeError:
            raise BadItem("Texts must be in UTF-8.") from None


def _check(texts: Sequence[str]) -> None:
    if not 0 < len(texts) <= MOST_ITEMS:
        raise BadItem(
            f"An input must have 1 to {MOST_ITEMS:,} texts. Got {len(texts):,}."
        )
    longest = max(map(len, texts))
    if longest > LONGEST_TEXT:
        rule = f"at most {LONGEST_TEXT:,} characters"
        raise BadItem(f"Texts must have {rule}. Got {longest:,}.")
