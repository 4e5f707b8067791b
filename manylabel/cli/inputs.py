"""What the verbs read: data files and models."""

import atexit
import shutil
import sys
import tempfile
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast

from manylabel.cli.console import NICKNAMES, STANDARD, note
from manylabel.cli.models import is_textual
from manylabel.cli.options import Reading
from manylabel.exceptions import DataError, SkippedLines

if TYPE_CHECKING:
    from manylabel._typing import CSR
    from manylabel.data import Dataset, ReadOptions

N_ROWS = 10_000  # rows in memory at a time
SEPARATORS = ";|"  # of labels, as people write them
note_once = cache(note)  # files are read more than once


@dataclass(frozen=True)
class DataFile:
    """A data file and how to read it, as the options say."""

    given: Path
    reading: Reading
    labelled: bool = True  # without, columns of labels are left unread
    textual: bool = False  # with, what has no other format is a text a line

    @cached_property
    def path(self) -> Path:
        """The file; standard input or a pipe is kept in one, to be read twice."""
        if self.given == STANDARD:
            return _kept(sys.stdin.buffer, "standard-input")
        if self.given.is_fifo():
            with self.given.open("rb") as pipe:
                return _kept(pipe, "pipe")
        return self.given

    def read(self) -> "Dataset":
        """Return the whole file, which must have rows."""
        from manylabel.data import read

        data = read(self.path, **self._options())
        self.check_rows(data)
        self._doubt_separator(data)
        return data

    def chunks(self, **widths: int) -> Iterator["Dataset"]:
        """Yield the file in chunks; ``widths`` matter where the file has none."""
        from manylabel.data import iter_chunks

        return iter_chunks(self.path, n_rows=N_ROWS, **self._options(**widths))

    def chunks_for(self, model: Any, **widths: int) -> Iterator["Dataset"]:
        """Yield the file in chunks with the features that a model knows."""
        if is_textual(model):
            yield from self._vectorised(model)
            return
        n_features = int(model.n_features_in_)
        if self.reading.zero_based is None and self._format == "svmlight":
            note_once(
                f"note: {self.path}: features count from 0 if a 0 occurs, else from 1; "
                "--zero-based or --one-based says which."
            )
        for chunk in self.chunks(n_features=n_features, **widths):
            self.check_features(chunk)
            if chunk.n_features != n_features:
                raise self.fault(
                    f"expected {n_features} features, as the model was fitted on, "
                    f"found {chunk.n_features}."
                )
            yield chunk

    def count_rows(self) -> int:
        """Return the number of rows, by a pass over the file."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SkippedLines)  # the next pass tells
            return sum(len(chunk) for chunk in self.chunks())

    def check_rows(self, data: "Dataset") -> None:
        """Refuse the file, or its first chunk, if there is nothing in it."""
        if not len(data):
            raise self.fault("expected rows, found none.")

    def fault(self, reason: str) -> DataError:
        """Return an error about this file."""
        return DataError(self.path, reason)

    def _options(self, **widths: int) -> "ReadOptions":
        """Return the options that were given, and the widths where they are needed."""
        from manylabel.data.formats import READERS

        given = {name: it for name, it in vars(self.reading).items() if name != "from_"}
        options = cast("ReadOptions", {**given, "format": self._format})
        if texts := self.reading.text_columns:
            options["text_columns"] = texts.split(",")
        if self._format == "arff":
            options["labels_from"] = self.reading.label_names
            options["label_names"] = None
        # An unknown format is refused by all.
        known = READERS[self._format].OPTIONS if self._format in READERS else ()
        if not self.labelled and "labels_column" in known:
            options["labels_column"] = False
        if "n_features" in known:
            options.update(cast("ReadOptions", widths))
        return options

    @cached_property
    def _format(self) -> str:
        from manylabel.data.formats import holds_texts, tell_format
        from manylabel.data.source import Source

        if self.reading.from_ or not self.textual:
            return self.reading.from_ or tell_format(Source(self.path))
        try:
            found = tell_format(Source(self.path))
        except DataError:
            return "lines"
        if holds_texts(found):
            return found
        note_once(
            f"note: {self.path}: looks like {found}, but is read as a text a line."
        )
        return "lines"

    def _doubt_separator(self, data: "Dataset") -> None:
        """Say so if labels look as if there were several in one."""
        names = set(data.label_names or ())
        if self.reading.label_separator or data.Y.sum(axis=1).max(initial=0) > 1:
            return
        for sign in SEPARATORS:
            doubtful = [name for name in names if name.split(sign)[0] in names - {name}]
            if doubtful:
                note_once(
                    f"note: {self.path}: {min(doubtful)!r} is taken for one label; "
                    f"--label-separator '{sign}' makes it several."
                )

    def check_features(self, data: "Dataset") -> None:
        """Refuse texts where features are needed."""
        if data.X is None:
            raise self.fault("expected rows with features, found texts.")

    def _vectorised(self, model: Any) -> Iterator["Dataset"]:
        """Yield texts in chunks, with the features and the labels of a tagger."""
        for chunk in self._live() if self._is_live() else self.chunks():
            self._doubt_separator(chunk)
            if chunk.texts is None:
                raise self.fault(
                    "expected texts, as the model was fitted on, found features."
                )
            X = model.tagger.vectorizer_.transform(chunk.texts)
            Y, names = known_first(chunk, model.label_names_)
            yield replace(chunk, X=X, Y=Y, label_names=names)

    def _is_live(self) -> bool:
        """Return whether texts come as lines that are not to be waited for."""
        if self.given != STANDARD or not self.textual:
            return False
        stream: Any = sys.stdin.buffer
        is_json = stream.peek(1)[:1] == b"{"
        return self.reading.from_ == "lines" or not (self.reading.from_ or is_json)

    def _live(self) -> Iterator["Dataset"]:
        """Yield the lines of standard input as soon as they are there."""
        import numpy as np

        from manylabel.data import Dataset
        from manylabel.data.source import decode

        n_lines = 0
        for lines in _lines_at_hand(sys.stdin.buffer):
            texts = []
            for number, line in enumerate(lines, n_lines + 1):
                try:
                    texts.append(decode(line).rstrip("\r"))
                except ValueError as error:
                    place = Path("standard-input")
                    raise DataError(place, str(error), line=number) from None
            n_lines += len(lines)
            yield Dataset(None, np.zeros((len(texts), 0)), texts=tuple(texts))


def known_first(
    data: "Dataset", names: tuple[str, ...]
) -> tuple["CSR", tuple[str, ...]]:
    """Return labels by the columns of a model, with those new to it last."""
    import numpy as np
    import scipy.sparse as sp

    own = data.label_names or tuple(map(str, range(data.n_labels)))
    place = {name: column for column, name in enumerate(names)}
    columns = np.array([place.setdefault(name, len(place)) for name in own], np.int64)
    parts = (data.Y.data, columns[data.Y.indices], data.Y.indptr)
    Y = sp.csr_array(parts, shape=(len(data), len(place)))
    return Y, tuple(place)


def _lines_at_hand(stream: Any) -> Iterator[list[bytes]]:
    """Yield the lines that have come, without waiting for more."""
    pending = b""
    while piece := stream.read1(1 << 16):
        *lines, pending = (pending + piece).split(b"\n")
        if lines:
            yield lines
    if pending:
        yield [pending]


def _kept(stream: IO[bytes], name: str) -> Path:
    """Copy a stream to a file that lasts as long as the program."""
    folder = tempfile.mkdtemp(prefix="manylabel-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    path = Path(folder, name)
    NICKNAMES[str(path)] = name
    with path.open("wb") as copy:
        shutil.copyfileobj(stream, copy)
    return path
