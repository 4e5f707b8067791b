"""ARFF with many labels, as Mulan and MEKA write it."""

import re
from collections.abc import Iterator

import numpy as np

from manylabel._kernels.parsing import cells as kernel
from manylabel.data.arff_header import (
    Attribute,
    Header,
    quote,
    read_header,
    split_values,
    unquote,
)
from manylabel.data.arff_labels import meka_labels, mulan_labels
from manylabel.data.dataset import Dataset
from manylabel.data.options import ReadOptions
from manylabel.data.reader import Reader
from manylabel.data.row_text import Scratch, row_tokens
from manylabel.data.rows import Rows
from manylabel.data.source import Source, decode

NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
ENTRY = re.compile(r"(\d{1,9})\s+(.+)", re.DOTALL | re.ASCII)
MISSING = "?"
MAX_SINGLE = float(np.finfo(np.float32).max)


class ArffReader(Reader):
    """Read an ARFF file of which it is known what attributes are labels.

    A feature is one column if it is numeric or declared ``{0,1}`` in any order; any
    other nominal feature is one 0/1 column ``name=value`` per declared value. A label
    must be numeric or ``{0,1}``. A missing value ``?`` is read as 0: the feature is
    zero, in all columns of a nominal one, and the label not said. In a sparse row an
    omitted nominal value is the first declared, as in Weka. Labels keep their order.
    """

    def __init__(
        self, source: Source, header: Header, labels: set[int], options: ReadOptions
    ) -> None:
        super().__init__(source, options)
        self._header = header
        self._kinds = np.empty(len(header.attributes), np.int64)
        self._columns = np.empty(len(header.attributes), np.int64)
        self._label_names: list[str] = []
        self._feature_names: list[str] = []
        for place, attribute in enumerate(header.attributes):
            if place in labels:
                self._add_label(place, attribute)
            else:
                self._add_feature(place, attribute)
        # What a sparse row says by leaving it out, where that is not a zero.
        self._omitted = {
            place: quote(attribute.values[0])
            for place, attribute in enumerate(header.attributes)
            if attribute.values
            and (self._kinds[place] == kernel.WORD or float(attribute.values[0]))
        }

    def rows(self) -> Iterator[Rows]:
        """Parse the lines after ``@data``; those that are not plain one by one."""
        first_line = self._header.n_lines + 1
        scratch = Scratch()
        for text in self.source.blocks(self._header.n_bytes):
            scratch.load(text)
            while not scratch.done:
                kernel.parse_cells(
                    scratch.text, self._kinds, self._columns, not self._omitted,
                    *scratch.arrays, scratch.progress,
                )  # fmt: skip
                yield scratch.rows()
                scratch.restart()
                if not scratch.done:
                    number = first_line + scratch.n_lines
                    try:
                        yield self._row(decode(scratch.skip_line()).strip())
                    except ValueError as error:
                        self.bad_lines.add(str(error), number)
            first_line += scratch.n_lines

    def dataset(self, rows: Rows) -> Dataset:
        """Give the rows the columns of the header."""
        return Dataset(
            rows.features(len(self._feature_names)),
            rows.labels(len(self._label_names)),
            tuple(self._feature_names),
            tuple(self._label_names),
        )

    def _add_label(self, place: int, attribute: Attribute) -> None:
        if attribute.values is not None and not attribute.is_zero_one:
            raise self.fault(
                f"expected label {attribute.name!r} to be numeric or {{0,1}}, "
                f"found {{{','.join(attribute.values)[:40]}}}."
            )
        self._kinds[place] = kernel.ZERO_ONE
        self._columns[place] = -1 - len(self._label_names)
        self._label_names.append(attribute.name)

    def _add_feature(self, place: int, attribute: Attribute) -> None:
        self._columns[place] = len(self._feature_names)
        if attribute.values is None or attribute.is_zero_one:
            numeric = attribute.values is None
            self._kinds[place] = kernel.NUMBER if numeric else kernel.ZERO_ONE
            self._feature_names.append(attribute.name)
        else:
            self._kinds[place] = kernel.WORD
            names = [f"{attribute.name}={value}" for value in attribute.values]
            self._feature_names.extend(names)

    def _row(self, line: str) -> Rows:
        """Read one line slowly, or raise ValueError saying what is wrong with it."""
        y, x = [], []
        for place, token in sorted(self._cells(line).items()):
            column, value = self._entry(place, token)
            if value and column < 0:
                y.append(-1 - column)
            elif value:
                x.append((column, value))
        return Rows(
            np.array([0, len(y)]),
            np.array(y, np.int32),
            np.array([0, len(x)]),
            np.array([column for column, _ in x], np.int32),
            np.array([value for _, value in x], np.float32),
        )

    def _cells(self, line: str) -> dict[int, str]:
        """Return the tokens of a line by the place of their attribute."""
        n_attributes = len(self._kinds)
        if not line.startswith("{"):
            tokens = split_values(line)
            if len(tokens) != n_attributes:
                raise ValueError(
                    f"expected {n_attributes} values, found {len(tokens)}."
                )
            return dict(enumerate(tokens))
        if not line.endswith("}"):
            raise ValueError("expected a sparse row to end with '}'.")
        cells: dict[int, str] = {}
        for entry in split_values(line[1:-1]) if line[1:-1].strip() else ():
            found = ENTRY.fullmatch(entry)
            if found is None or int(found[1]) >= n_attributes or int(found[1]) in cells:
                raise ValueError(
                    f"expected 'attribute value' with each attribute once, from 0 to "
                    f"{n_attributes - 1}, found {entry[:40]!r}."
                )
            cells[int(found[1])] = found[2]
        return self._omitted | cells

    def _entry(self, place: int, token: str) -> tuple[int, float]:
        """Return the column and the value of one cell."""
        column, kind = int(self._columns[place]), self._kinds[place]
        if token == MISSING:
            return column, 0.0
        attribute, word = self._header.attributes[place], unquote(token)
        if kind == kernel.WORD:
            if word not in (attribute.values or ()):
                raise ValueError(
                    f"expected a declared value of {attribute.name!r}, found {word!r}."
                )
            return column + (attribute.values or ()).index(word), 1.0
        value = float(word) if NUMBER.fullmatch(word) else np.nan
        if kind == kernel.ZERO_ONE and value not in (0, 1):
            raise ValueError(f"expected 0 or 1 for {attribute.name!r}, found {word!r}.")
        if not abs(value) <= MAX_SINGLE:
            raise ValueError(
                f"expected a finite float32 for {attribute.name!r}, found {word!r}."
            )
        return column, value


class MulanReader(ArffReader):
    """Read an ARFF file whose labels are named in an XML file."""

    OPTIONS = frozenset({"labels_from"})

    def __init__(self, source: Source, options: ReadOptions) -> None:
        header = read_header(source)
        labels = mulan_labels(source, header, options.get("labels_from"))
        super().__init__(source, header, labels, options)


class MekaReader(ArffReader):
    """Read an ARFF file whose first or last attributes are labels, by ``-C``."""

    def __init__(self, source: Source, options: ReadOptions) -> None:
        header = read_header(source)
        super().__init__(source, header, meka_labels(source, header), options)


def meka_lines(dataset: Dataset) -> Iterator[str]:
    """Write a data set as MEKA's ARFF: sparse rows, the labels first."""
    n_labels, n_features = dataset.n_labels, dataset.n_features or 0
    labels = dataset.label_names or [f"label {i}" for i in range(n_labels)]
    features = dataset.feature_names or [f"feature {i}" for i in range(n_features)]
    if not n_labels:
        raise ValueError("dataset must have labels for this format. Got none.")
    if len({*labels, *features}) < n_labels + n_features:
        raise ValueError("names of labels and features must all differ for ARFF.")
    yield f"@relation 'manylabel: -C {n_labels}'"
    yield from (f"@attribute {quote(name)} {{0,1}}" for name in labels)
    yield from (f"@attribute {quote(name)} numeric" for name in features)
    yield "@data"
    for tokens, entries in row_tokens(dataset, first_feature=n_labels):
        cells = [f"{label} 1" for label in tokens]
        cells += [entry.replace(":", " ") for entry in entries]
        yield "{" + ",".join(cells) + "}"
