"""Predictions of a service, for ``manylabel predict --url``: nothing is loaded."""

import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import IO, Any, TypeVar

from manylabel.cli.console import STANDARD, note
from manylabel.cli.inputs import DataFile, lines_at_hand, listed
from manylabel.cli.options import Reading
from manylabel.client import Client, RequestFailed
from manylabel.exceptions import DataError

AT_ONCE = 1000  # items of a request
LONGEST = 8 << 20  # bytes of a line
TABLES = {".csv", ".tsv", ".parquet"}
LOADING = "urn:manylabel:not-ready"  # what a service says that has just been started
PATIENCE = 120.0  # seconds to wait for one
UNKNOWN = "urn:manylabel:unknown-model"
NO_RIGHTS = {"urn:manylabel:not-authenticated", "urn:manylabel:not-allowed"}
T = TypeVar("T")


def tag_remotely(
    url: str, token_file: Path | None, model: str, data: DataFile, ask: dict[str, Any]
) -> Iterator[list[tuple[list[tuple[str, float]], str, str]]]:
    """Yield labels of the texts of a file, as the service finds them, ids and texts.

    Lines are texts, or JSON objects with ``text`` or ``features``; what is a table, or
    is said to have columns, is read by these, or by those of the model. ``ask`` has
    what else the service is told.
    """
    _check_name(model)
    with Client(url, token=_token(token_file)) as client:
        with _naming_options(client, url, token_file, model):
            data = _as_fitted(client, model, data)
        for items in _items(data):
            predict = partial(client.predict, model, items, remember=False, **ask)
            with _naming_options(client, url, token_file, model):
                found = _wait_for(predict)
            pairs = zip(found.predictions, items, strict=True)
            yield [
                (each.labels, str(item.get("id", "")), str(item.get("text", "")))
                for each, item in pairs
            ]


def _check_name(model: str) -> None:
    """Refuse the path of a folder, which a shell completes."""
    name = Path(model).name
    if name != model:
        raise ValueError(
            f"MODEL must be a name with --url, no path. Got {model!r}. Did you mean "
            f"{name!r}?"
        )


def _token(file: Path | None) -> str | None:
    """Return the token in a file, if one is given."""
    if file is None:
        return None
    token = file.read_text("utf-8").strip()
    if not token:
        raise ValueError(f"--token-file must have a token. {file} is empty.")
    return token


def _as_fitted(client: Client, model: str, data: DataFile) -> DataFile:
    """Return a table as it is read by the columns that the model was fitted on."""
    kinds = {*data.given.suffixes, f".{data.reading.from_}"}
    if data.reading.text_columns or TABLES.isdisjoint(kinds):
        return data
    from manylabel.text import told_columns

    return data.by_columns(told_columns(_wait_for(partial(client.card, model))))


def _wait_for(ask: Callable[[], T]) -> T:
    """Return what a service answers, and wait as long as it loads its models."""
    end, is_told = time.monotonic() + PATIENCE, False
    while True:
        try:
            return ask()
        except RequestFailed as error:
            if error.problem.get("type") != LOADING or time.monotonic() > end:
                raise
            if not is_told:
                note(f"note: {error} This waits for it.")
                is_told = True


@contextmanager
def _naming_options(
    client: Client, url: str, token_file: Path | None, model: str
) -> Iterator[None]:
    """Say which models there are, or by which option a request gets its rights."""
    try:
        yield
    except RequestFailed as error:
        problem = error.problem.get("type")
        if problem == UNKNOWN:
            served = listed(client.models()) or "none"
            raise ValueError(
                f"MODEL must be one that {url} serves, {served}. Got {model!r}."
            ) from None
        if problem not in NO_RIGHTS:
            raise
        reads = f"a token that may read model {model!r} at {url}"
        if token_file is None:
            way = "'manylabel token add' prints one"
            raise ValueError(f"--token-file must have {reads}; {way}.") from None
        raise ValueError(f"--token-file must have {reads}. Got {token_file}.") from None


def _items(data: DataFile) -> Iterator[list[dict[str, Any]]]:
    file = data.given
    if data.reading != Reading() or not TABLES.isdisjoint(file.suffixes):
        yield from _rows(data)
    elif data.has_header():
        yield from _rows(replace(data, textual=True))
    elif file == STANDARD:
        yield from _parse(sys.stdin.buffer, Path("standard-input"))
    else:
        with file.open("rb") as stream:
            yield from _parse(stream, file)


def _rows(data: DataFile) -> Iterator[list[dict[str, Any]]]:
    """Yield the rows of a table."""
    for chunk in data.chunks(n_rows=AT_ONCE):
        if chunk.texts is None:
            raise data.fault("expected texts, found rows of features.")
        ids = chunk.ids or [""] * len(chunk)
        yield [
            {"text": text} | ({"id": id} if id else {})
            for id, text in zip(ids, chunk.texts, strict=True)
        ]


def _parse(stream: IO[bytes], path: Path) -> Iterator[list[dict[str, Any]]]:
    """Yield the items of the lines that have come, some at a time."""
    n_lines = 0
    for lines in lines_at_hand(stream, LONGEST):
        for start in range(0, len(lines), AT_ONCE):
            part = lines[start : start + AT_ONCE]
            yield [
                _item(line, path, number)
                for number, line in enumerate(part, n_lines + 1)
            ]
            n_lines += len(part)


def _item(line: bytes, path: Path, number: int) -> dict[str, Any]:
    try:
        text = line.decode().rstrip("\r")
        if not text.startswith("{"):
            return {"text": text}
        record = json.loads(text)
    except ValueError as error:
        reason = f"expected UTF-8 text or a JSON object, found {error}."
        raise DataError(path, reason, number) from None
    kept = {name: record[name] for name in ("text", "features") if name in record}
    if len(kept) != 1:
        reason = "expected an object with text or features; --text-column names others."
        raise DataError(path, reason, number)
    return kept | ({"id": str(record["id"])} if "id" in record else {})
