"""What the verbs read: data files and models."""

import atexit
import shutil
import sys
import tempfile
import warnings
from codecs import BOM_UTF8
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast

from manylabel._plural import counted
from manylabel.cli.console import NICKNAMES, STANDARD, note
from manylabel.cli.options import Reading
from manylabel.exceptions import DataError

if TYPE_CHECKING:
    from manylabel.data import Dataset, ReadOptions
    from manylabel.text import Tagger

N_ROWS = 10_000  # rows in memory at a time
N_SHOWN = 5  # columns or labels that a note names
NOT_TEXTS = (
    "expected texts, as the model was fitted on, found rows of features; --from lines "
    "takes each line for a text"
)
NOT_FEATURES = "expected rows of features"
UTF_8 = "utf-8"
LABELS = ("labels_column", "labels_columns", "label_separator")
note_once = cache(note)  # files are read more than once
DOUBTED: set[Path | None] = set()  # files of which a warning told what separates labels


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

    @cached_property
    def is_sharded(self) -> bool:
        """Whether it is a folder that ``manylabel shard`` made."""
        return is_sharded(self.given)

    def read(self) -> "Dataset":
        """Return the whole file, which must have rows."""
        from manylabel.data import read

        if self.path.is_dir():
            from manylabel.distributed import read_shards

            return read_shards(self.path)
        data = read(self.path, **self.options())
        self.check_rows(data)
        self._tell(data)
        self._tell_rows(_count_blank(data), len(data), "no text")
        return data

    def tell_unlabelled(self, chunk: "Dataset", n_unlabelled: int, n_rows: int) -> None:
        """Say how many cells of labels are empty: nobody may have looked at the rows.

        A list without labels says that there are none, and so do columns of 0.
        """
        found = chunk.read_as or {}
        is_cell = found.get("labels_column") and self._format in ("csv", "tsv")
        if n_unlabelled and (is_cell or found.get("label_separator")):
            what = "no label, and count as rows to which none belongs"
            self._tell_rows(n_unlabelled, n_rows, what)

    def tell_unlearnt(self, names: Sequence[str], n_having: int, n_rows: int) -> None:
        """Say which labels the model never learnt, and how many rows have some."""
        what = (
            "labels that the model never learnt and so misses, "
            f"{len(names):,} in all: {listed(names)}"
        )
        self._tell_rows(n_having, n_rows, what)

    def _tell_rows(self, n_having: int, n_rows: int, what: str) -> None:
        """Say how many rows have something, or lack it, if any do."""
        if n_having:
            rows, have = counted(n_rows, "row"), "has" if n_having == 1 else "have"
            note_once(f"note: {self.path}: {n_having:,} of {rows} {have} {what}.")

    def read_for(self, tagger: "Tagger") -> "Dataset":
        """Return the whole file, of rows that a model reads."""
        data = self.read()
        self._check_matching(data, tagger)
        return data

    def as_fitted(self, tagger: "Tagger") -> "DataFile":
        """Return the file as it is read by columns that the model was fitted on.

        Those that are named now win, and so do usual ones where the file lacks them.
        """
        from manylabel.text import kept_columns

        return self.by_columns(kept_columns(tagger))

    def by_columns(self, known: dict[str, Any]) -> "DataFile":
        """Return the file as it is read by columns known, if it has them."""
        given = vars(self.reading)
        if given["labels_column"] or given["labels_columns"]:
            known = {name: it for name, it in known.items() if name not in LABELS}
        added = {name: it for name, it in known.items() if not given[name]}
        columns = known.get("text_columns")
        if not added or self._is_live(columns) or self.is_sharded:
            return self
        # What was piped is in a file by now, and cannot be read from the pipe again.
        kept = replace(self, given=self.path)
        found = replace(kept, reading=replace(self.reading, **added))
        if not found._is_readable() and "id_column" in added:
            del added["id_column"]  # rows to come may lack it
            found = replace(found, reading=replace(self.reading, **added))
        # If neither can be read, what the file lacks of the model's columns is said.
        return found if found._is_readable() or not kept._is_readable() else kept

    def _is_readable(self) -> bool:
        """Tell whether the first row has the columns that are named."""
        from manylabel.data.layout import FLAG_SOUGHT

        try:
            next(self.chunks(n_rows=1), None)
        except DataError as error:
            return error.reason.startswith(FLAG_SOUGHT)  # told when it is read
        except ValueError:
            return False
        return True

    def chunks(self, n_rows: int = N_ROWS, **widths: int) -> Iterator["Dataset"]:
        """Yield the file in chunks; ``widths`` matter where the file has none."""
        from manylabel.data import iter_chunks

        if self.is_sharded:
            from manylabel.distributed.shards import iter_shards

            yield from iter_shards(self.path, n_rows=n_rows)
            return
        n_blank, n_told = 0, 0
        for chunk in iter_chunks(self.path, n_rows=n_rows, **self.options(**widths)):
            self._tell(chunk)
            n_blank, n_told = n_blank + _count_blank(chunk), n_told + len(chunk)
            yield chunk
        self._tell_rows(n_blank, n_told, "no text")

    def chunks_for(self, tagger: "Tagger") -> Iterator["Dataset"]:
        """Yield the file in chunks of what a model reads, texts or features."""
        if tagger.reads_texts_:
            chunks = self._live() if self._is_live() else self.chunks()
        else:
            if not self.is_sharded:
                self._doubt_numbering(self._feature_format())
            widths = {"n_features": int(tagger.n_features_)}
            if self.labelled:
                widths["n_labels"] = len(tagger.label_names_)
            chunks = self.chunks(**widths)
        for chunk in chunks:
            self._check_matching(chunk, tagger)
            yield chunk

    def count_rows(self) -> int:
        """Return the number of rows, by a pass over the file."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # the next pass tells
            return sum(len(chunk) for chunk in self.chunks())

    def is_table(self) -> bool:
        """Tell whether the file is Parquet or JSON lines."""
        format = self._format if self.textual else self._feature_format()
        return format in ("parquet", "jsonl")

    def delimiter(self) -> str:
        """Return what separates the cells of the file; a comma if it is no table."""
        from manylabel.data.source import Source
        from manylabel.data.text_files import tell_delimiter

        if self.given == STANDARD or self._format != "csv":
            return ","
        return tell_delimiter(Source(self.path, encoding=self.reading.encoding).head)

    def check_there(self, way: str) -> None:
        """Refuse a text in place of a file, and say how texts are given."""
        if self.textual and self.given != STANDARD and not self.given.exists():
            raise self.fault(f"no such file or directory; {way}.")

    def check_rows(self, data: "Dataset") -> None:
        """Refuse the file, or its first chunk, if there is nothing in it."""
        if not len(data):
            raise self.fault("expected rows, found none.")

    def fault(self, reason: str) -> DataError:
        """Return an error about this file."""
        return DataError(self.path, reason)

    def options(self, **widths: int) -> "ReadOptions":
        """Return the options that were given, and the widths where they are needed."""
        from manylabel.data.formats import READERS

        options = cast("ReadOptions", self.reading.options())
        options["format"] = self._format
        if self._format == "arff":
            options["labels_from"] = self.reading.label_names
            options["label_names"] = None
        # An unknown format is refused by all.
        known = READERS[self._format].OPTIONS if self._format in READERS else ()
        if not self.labelled and "labels_column" in known:
            options["labels_column"], options["labels_columns"] = False, None
        if "n_features" in known:
            options.update(cast("ReadOptions", widths))
        return options

    @cached_property
    def _format(self) -> str:
        from manylabel.data.formats import TEXTS, has_features, tell_format
        from manylabel.data.source import Source

        if self.is_sharded:
            from manylabel.distributed import read_manifest

            return read_manifest(self.path).format
        if self.reading.from_:
            return self.reading.from_
        source = Source(self.path, encoding=self.reading.encoding)
        try:
            found = tell_format(source)
        except DataError:
            if not self.textual:
                raise
            return self._table_format(source.head)
        if found in TEXTS or not self.textual:
            return found
        if has_features(source.head):
            raise self.fault(f"{NOT_TEXTS} ({found}).")
        return self._table_format(source.head)

    def _table_format(self, head: bytes) -> str:
        """Return the format of a table, told by its header, else lines."""
        found = self._tell_table(head)
        if self.reading.text_columns:
            return found or "csv"  # which says what it lacks
        if found:
            note_once(f"note: {self.path}: read as {found} (--from lines if not).")
        return found or "lines"

    def _tell_table(self, head: bytes, columns: list[str] | None = None) -> str | None:
        """Return the format of a table whose header has the columns of the text."""
        from manylabel.data.text_files import tell_table

        asked = self.reading.options()["text_columns"] or columns
        header, _, rest = head.lstrip(b"\r\n").partition(b"\n")
        has_marks = any(mark in header for mark in (b",", b";", b"\t", b"|"))
        if not (asked or has_marks or rest.strip()):
            return None  # a word, as it may be typed
        return tell_table(header, {"text_columns": asked, "labels_column": False})

    def has_header(self) -> bool:
        """Tell whether texts begin with a table's header, as what is typed does not."""
        from manylabel.data.json_records import is_json
        from manylabel.data.source import Source

        if self.given == STANDARD:
            stream: Any = sys.stdin.buffer
            head = b"" if stream.isatty() else stream.peek(1).removeprefix(BOM_UTF8)
        elif self.given.is_file():
            head = Source(self.given).head
        else:
            return False
        return not is_json(head) and self._tell_table(head) is not None

    def _tell(self, data: "Dataset") -> None:
        """Say how the file was read, where that was not said before."""
        given, found = self.reading.options(), data.read_as or {}
        told = {name: it for name, it in found.items() if not given[name]}
        parts, ways = [], []
        if told.get("encoding", UTF_8) != UTF_8:
            parts.append(f"letters are {told['encoding']}")
            ways.append("--encoding")
        if columns := told.get("labels_columns"):
            parts.append(f"labels are the columns {listed(columns)}")
            ways.append("--labels-columns")
        mark = told.get("label_separator")
        if mark and self.path not in DOUBTED:
            columns = found.get("labels_column") or ()
            columns = (columns,) if isinstance(columns, str) else columns
            place = f" in {listed(columns)}" * bool(columns)
            parts.append(f"labels{place} are separated by {mark!r}")
            ways.append("--label-separator")
        if parts:
            note_once(
                f"note: {self.path}: {', '.join(parts)} ({', '.join(ways)} if not)."
            )

    def _feature_format(self) -> str:
        """Return the format, and refuse lines that are no rows of features."""
        try:
            return self._format
        except DataError as error:
            _, comma, found = error.reason.rpartition(", found ")
            if not comma:
                raise
            found = found.partition("; ")[0].removesuffix(
                "."
            )  # no format is the way out
            reason = f"{NOT_FEATURES}, as the model was fitted on{comma}{found}."
            raise DataError(error.path, reason, error.line) from None

    def _doubt_numbering(self, format: str) -> None:
        """Say so if a file does not tell whether features count from 0 or 1."""
        if self.reading.zero_based is None and format == "svmlight":
            note_once(
                f"note: {self.path}: features count from 0 if a 0 occurs, else from 1; "
                "--zero-based or --one-based says which."
            )

    def check_features(self, data: "Dataset") -> None:
        """Refuse texts where features are needed."""
        if data.X is None:
            way = "in Python, TextVectorizer makes them"
            raise self.fault(f"{NOT_FEATURES}, found texts; {way}.")

    def refuse_texts(self, way: str) -> None:
        """Refuse, before it is read, a file of texts where features are needed."""
        from manylabel.data.formats import TEXTS

        if self._format in TEXTS:
            raise self.fault(f"{NOT_FEATURES}, found texts; {way}.")

    def _check_matching(self, data: "Dataset", tagger: "Tagger") -> None:
        """Refuse rows that a model does not read, and labels that it cannot know."""
        if tagger.reads_texts_:
            if data.texts is None:
                raise self.fault(f"{NOT_TEXTS}.")
        else:
            self.check_features(data)
        known = tagger.label_names_.tolist()
        if self.labelled and data.label_names and set(known).isdisjoint(data.labels):
            raise self.fault(
                f"expected labels that the model was fitted on, {listed(known)}; "
                f"found {counted(data.n_labels, 'other')}, {listed(data.label_names)}."
            )
        if tagger.reads_texts_:
            return
        expected = {"features": tagger.n_features_}
        found = {"features": data.n_features, "labels": data.n_labels}
        if self.labelled and data.label_names is None:
            expected["labels"] = len(known)
        for what, number in expected.items():
            if found[what] != number:
                raise self.fault(
                    f"expected {number} {what}, as the model was fitted on, "
                    f"found {found[what]}."
                )

    def _is_live(self, columns: list[str] | None = None) -> bool:
        """Return whether texts come as lines that are not to be waited for.

        A table that has the columns of the text, those given or usual ones, is a file.
        """
        from manylabel.data.json_records import is_json

        is_file = self.reading.encoding or self.reading.text_columns
        if self.given != STANDARD or not self.textual or is_file:
            return False
        if self.reading.from_:
            return self.reading.from_ == "lines"
        stream: Any = sys.stdin.buffer
        head = stream.peek(1).removeprefix(BOM_UTF8)
        if is_json(head) or b"\0" in head:
            return False
        is_typed = stream.isatty()
        return is_typed or not (
            self._tell_table(head, columns) or self._tell_table(head)
        )

    def _live(self) -> Iterator["Dataset"]:
        """Yield the lines of standard input as soon as they are there."""
        import numpy as np

        from manylabel.data import Dataset
        from manylabel.data.formats import has_features
        from manylabel.data.source import MAX_LINE, decode

        n_lines, longest = 0, self.reading.max_line_bytes or MAX_LINE
        for lines in lines_at_hand(sys.stdin.buffer, longest):
            if not (n_lines or self.reading.from_) and has_features(b"\n".join(lines)):
                raise DataError("standard-input", f"{NOT_TEXTS}.")
            texts = []
            for number, line in enumerate(lines, n_lines + 1):
                try:
                    texts.append(decode(line).rstrip("\r"))
                except ValueError as error:
                    place = Path("standard-input")
                    raise DataError(place, str(error), line=number) from None
            n_lines += len(lines)
            yield Dataset(None, np.zeros((len(texts), 0)), texts=tuple(texts))


def listed(names: Sequence[str]) -> str:
    """Return names in words, of many the first.

    Examples
    --------
    >>> listed(["a", "b"]), listed(list("abcdefg"))
    ("'a', 'b'", "'a', 'b', 'c', 'd', 'e' and 2 more")
    """
    more = f" and {len(names) - N_SHOWN:,} more" * (len(names) > N_SHOWN)
    return ", ".join(f"{name!r:.80}" for name in names[:N_SHOWN]) + more


def is_sharded(path: Path) -> bool:
    """Tell whether a path is that of a folder that ``manylabel shard`` made."""
    if not path.is_dir():
        return False
    from manylabel.distributed.shards import FILE

    return (path / FILE).exists()


def _count_blank(data: "Dataset") -> int:
    """Return how many texts have no letters."""
    return sum(not text.strip() for text in data.texts or ())


def lines_at_hand(stream: Any, longest: int) -> Iterator[list[bytes]]:
    """Yield the lines that have come, without waiting for more."""
    pending = b""
    while piece := stream.read1(1 << 16):
        *lines, pending = (pending + piece).split(b"\n")
        if len(pending) > longest:
            raise DataError(
                "standard-input",
                f"expected lines of at most {longest:,} bytes, found a longer one.",
            )
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
