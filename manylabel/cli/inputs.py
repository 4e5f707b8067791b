"""What the verbs read: data files and models."""

import atexit
import shutil
import sys
import tempfile
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from manylabel.cli.console import STANDARD, note
from manylabel.cli.options import Reading
from manylabel.exceptions import ArchiveError, DataError, SkippedLines

if TYPE_CHECKING:
    from manylabel.data import Dataset

N_ROWS = 10_000  # rows in memory at a time


@dataclass(frozen=True)
class DataFile:
    """A data file and how to read it, as the options say."""

    given: Path
    reading: Reading
    labelled: bool = True  # without, columns of labels are left unread

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
        """Return the whole file, which must have rows and features."""
        from manylabel.data import read

        data = read(self.path, **self._options())
        self.check_rows(data)
        self._check_features(data)
        return data

    def chunks(self, **widths: int) -> Iterator["Dataset"]:
        """Yield the file in chunks; ``widths`` matter where the file has none."""
        from manylabel.data import iter_chunks

        return iter_chunks(self.path, n_rows=N_ROWS, **self._options(**widths))

    def chunks_for(self, model: Any, **widths: int) -> Iterator["Dataset"]:
        """Yield the file in chunks with the features that a model knows."""
        n_features = int(model.n_features_in_)
        if self.reading.zero_based is None and self._format == "svmlight":
            note(
                f"note: {self.path}: features count from 0 if a 0 occurs, else from 1; "
                "--zero-based or --one-based says which."
            )
        for chunk in self.chunks(n_features=n_features, **widths):
            self._check_features(chunk)
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

    def _options(self, **widths: int) -> dict[str, Any]:
        """Return the options that were given, and the widths where they are needed."""
        from manylabel.data.formats import READERS

        reading = self.reading
        names = "labels_from" if self._format == "arff" else "label_names"
        texts = reading.text_columns
        options: dict[str, Any] = {
            "format": self._format,
            "skip_bad_lines": reading.skip_bad_lines,
            names: reading.label_names,
            "text_columns": None if texts is None else texts.split(","),
            "labels_column": reading.labels_column,
            "label_separator": reading.label_separator,
        }
        if reading.zero_based is not None:
            options["zero_based"] = reading.zero_based
        # An unknown format is refused by all.
        known = READERS[self._format].OPTIONS if self._format in READERS else ()
        if not self.labelled and "labels_column" in known:
            options["labels_column"] = False
        return options | widths if "n_features" in known else options

    @cached_property
    def _format(self) -> str:
        from manylabel.data.formats import tell_format
        from manylabel.data.source import Source

        return self.reading.from_ or tell_format(Source(self.path))

    def _check_features(self, data: "Dataset") -> None:
        if data.X is None:
            raise self.fault(
                "expected rows with features, found texts, which this version can "
                "describe and convert but not learn from."
            )


def _kept(stream: IO[bytes], name: str) -> Path:
    """Copy a stream to a file that lasts as long as the program."""
    folder = tempfile.mkdtemp(prefix="manylabel-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    path = Path(folder, name)
    with path.open("wb") as copy:
        shutil.copyfileobj(stream, copy)
    return path


def load_model(path: Path, jobs: int | None = None) -> Any:
    """Return a fitted classifier from its folder, to run on so many threads."""
    from sklearn.utils.validation import check_is_fitted

    from manylabel.persistence import load

    model = load(path)
    if not hasattr(model, "predict_topk"):
        kind = type(model).__name__
        raise ArchiveError(path, f"expected a classifier, found a {kind}.")
    check_is_fitted(model)
    if jobs is not None and hasattr(model, "n_jobs"):
        model.n_jobs = jobs
    return model
