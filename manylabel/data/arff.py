"""ARFF with many labels, as Mulan and MEKA write it."""

import re
from abc import abstractmethod
from collections.abc import Container, Iterator
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

import numpy as np

from manylabel._kernels.parsing import cells as kernel
from manylabel.data.dataset import Dataset
from manylabel.data.reader import ReadOptions, RowReader, Rows
from manylabel.data.source import MAX_LINE, Source, decode
from manylabel.data.sparse_rows import Scratch, row_tokens
from manylabel.exceptions import DataError

QUOTED = r"""'(?:[^'\\]|\\.)*+'|"(?:[^"\\]|\\.)*+\""""
DECLARATION = re.compile(rf"@attribute\s+({QUOTED}|[^\s{{]++)\s*+(.+)", re.IGNORECASE)
RELATION = re.compile(rf"@relation\s+({QUOTED}|.+)", re.IGNORECASE)
VALUE = re.compile(rf"((?:{QUOTED}|[^,'\"]++)*+)(,|$)")
ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)")
SPECIAL = re.compile(r"['\"\\%\x00-\x1f]")
CONTROL = {"n": "\n", "r": "\r", "t": "\t"}
LETTER = {character: letter for letter, character in CONTROL.items()}
NUMERIC = re.compile(r"(numeric|real|integer)\b", re.IGNORECASE)

NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
ENTRY = re.compile(r"(\d{1,9})\s+(.+)", re.DOTALL | re.ASCII)
MISSING = "?"
MAX_ATTRIBUTES = 1 << 20  # each takes some 250 bytes
MAX_SINGLE = float(np.finfo(np.float32).max)

OPTION_C = re.compile(r"(?:^|[\s:])-C\s+(-?\d{1,9})(?:\s|$)")
SPLIT = re.compile(r"[-_.]?(train|test)$", re.IGNORECASE)


class ArffReader(RowReader):
    """Read an ARFF file; the subclasses know what attributes are labels.

    A feature is one column if it is numeric or declared ``{0,1}`` in any order; any
    other nominal feature is one 0/1 column ``name=value`` per declared value. A label
    must be numeric or ``{0,1}``. A missing value ``?`` is read as 0: the feature is
    zero, in all columns of a nominal one, and the label not said. In a sparse row an
    omitted nominal value is the first declared, as in Weka. Labels keep their order.
    """

    def __init__(self, source: Source, options: ReadOptions) -> None:
        super().__init__(source, options)
        self._header = header = read_header(source)
        labels = self.find_labels(options)
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

    @abstractmethod
    def find_labels(self, options: ReadOptions) -> Container[int]:
        """Return the places of the attributes that are labels."""

    def parts(self) -> Iterator[Rows]:
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

    def dataset(self, group: Rows) -> Dataset:
        """Give the rows the columns of the header."""
        return Dataset(
            group.features(len(self._feature_names)),
            group.labels(len(self._label_names)),
            tuple(self._feature_names),
            tuple(self._label_names),
        )

    def _add_label(self, place: int, attribute: "Attribute") -> None:
        if attribute.values is not None and not attribute.is_zero_one:
            raise self.fault(
                f"expected label {attribute.name!r} to be numeric or {{0,1}}, "
                f"found {{{','.join(attribute.values)[:40]}}}."
            )
        self._kinds[place] = kernel.ZERO_ONE
        self._columns[place] = -1 - len(self._label_names)
        self._label_names.append(attribute.name)

    def _add_feature(self, place: int, attribute: "Attribute") -> None:
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

    def find_labels(self, options: ReadOptions) -> Container[int]:
        """Return the places of the attributes that an XML file names."""
        path, given = self.source.path, options.get("labels_from")
        attributes = self._header.attributes
        places = {attribute.name: i for i, attribute in enumerate(attributes)}
        xml = _find_xml(path, places) if given is None else Path(given)
        names = _label_names(xml)
        for name in names:
            if name not in places:
                reason = f"expected attributes of {path.name}, found {name!r}."
                raise DataError(xml, reason)
        return {places[name] for name in names}


class MekaReader(ArffReader):
    """Read an ARFF file whose first or last attributes are labels, by ``-C``."""

    def find_labels(self, options: ReadOptions) -> Container[int]:
        """Return the places of the first or last attributes, as the relation says."""
        option, n = OPTION_C.search(self._header.relation), len(self._header.attributes)
        if option is None:
            raise self.fault("expected '-C n' in the name of the relation, found none.")
        n_labels = int(option[1])
        if not 0 < abs(n_labels) <= n:
            raise self.fault(
                f"expected '-C n' with n from 1 to {n} or from -1 to -{n}, "
                f"found {n_labels}."
            )
        return range(n_labels) if n_labels > 0 else range(n + n_labels, n)


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


@dataclass(frozen=True)
class Attribute:
    """A column of the file: a number, or one of the declared values."""

    name: str
    values: tuple[str, ...] | None

    @property
    def is_zero_one(self) -> bool:
        """Whether the declared values are the numbers 0 and 1, in any order."""
        return self.values is not None and {"0", "1"} >= {
            value.removesuffix(".0") for value in self.values
        }


@dataclass(frozen=True)
class Header:
    """All that stands before the data.

    Attributes
    ----------
    relation : str
        Name of the relation; MEKA's options stand in it.
    attributes : tuple of Attribute
        The columns, in order.
    n_lines, n_bytes : int
        Length of the header, the line ``@data`` included.
    """

    relation: str
    attributes: tuple[Attribute, ...]
    n_lines: int
    n_bytes: int


def read_header(source: Source) -> Header:
    """Parse the lines up to ``@data``, or raise DataError."""
    relation, n_bytes = "", 0
    attributes: dict[str, Attribute] = {}
    for number, raw in enumerate(source.lines(), start=1):
        n_bytes += len(raw) + 1
        try:
            line = decode(raw).strip()
            if line.lower() == "@data":
                return Header(relation, tuple(attributes.values()), number, n_bytes)
            if found := RELATION.match(line):
                relation = unquote(found[1].strip())
            elif line.lower().startswith("@attribute"):
                attribute = _attribute(line)
                if len(attributes) == MAX_ATTRIBUTES:
                    raise ValueError(f"expected at most {MAX_ATTRIBUTES:,} attributes.")
                if attributes.setdefault(attribute.name, attribute) is not attribute:
                    raise ValueError(f"found attribute {attribute.name!r} twice.")
            elif line and not line.startswith("%"):
                raise ValueError(f"expected @attribute or @data, found {line[:40]!r}.")
        except ValueError as error:
            raise DataError(source.path, str(error), number) from None
    raise DataError(source.path, "expected a line '@data', found none.")


def unquote(token: str) -> str:
    """Return a name or value without its quotes and escapes."""
    if token[:1] not in ("'", '"') or token[-1:] != token[:1]:
        return token
    return ESCAPE.sub(_character, token[1:-1])


def split_values(text: str) -> list[str]:
    """Split at the commas outside quotes; what is left is still quoted."""
    values, at = [], 0
    while found := VALUE.match(text, at):
        values.append(found[1].strip())
        at = found.end()
        if not found[2]:
            return values
    raise ValueError(f"expected values parted by commas, found {text[at : at + 40]!r}.")


def quote(name: str) -> str:
    """Return a name as ARFF writes it."""
    return f"'{SPECIAL.sub(_escape, name)}'"


def _attribute(line: str) -> Attribute:
    declaration = DECLARATION.fullmatch(line)
    if declaration is None:
        raise ValueError(f"expected '@attribute name type', found {line[:40]!r}.")
    name, kind = unquote(declaration[1]), declaration[2]
    if NUMERIC.match(kind):
        return Attribute(name, None)
    if not (kind.startswith("{") and kind.endswith("}")):
        raise ValueError(
            f"expected {name!r} to be numeric or nominal, found {kind[:40]!r}."
        )
    values = tuple(map(unquote, split_values(kind[1:-1])))
    return Attribute(name, values)


def _character(escape: re.Match[str]) -> str:
    letter = escape[1]
    if len(letter) > 1:
        return chr(int(letter[1:], 16))
    return CONTROL.get(letter, letter)


def _escape(special: re.Match[str]) -> str:
    character = special[0]
    plain = character if character.isprintable() else f"u{ord(character):04x}"
    return "\\" + LETTER.get(character, plain)


def _find_xml(path: Path, places: dict[str, int]) -> Path:
    """Find the XML beside the file: of its name, or the only one that fits."""
    stem = re.sub(r"(\.arff)?(\.gz)?$", "", path.name, flags=re.IGNORECASE)
    named = [stem, SPLIT.sub("", stem)]
    for name in named:
        for beside in (path.with_name(f"{name}.xml"), path.with_name(f"{name}.xml.gz")):
            if beside.is_file():
                return beside
    fitting = list(_fitting(path.parent, places))
    if len(fitting) == 1:
        return fitting[0]
    looked_for = " or ".join(f"{name}.xml" for name in dict.fromkeys(named))
    raise DataError(
        path,
        "expected an XML file beside it that names the labels: looked for "
        f"{looked_for}, then for a single .xml whose labels are all attributes, "
        f"found {len(fitting)}.",
    )


def _fitting(folder: Path, places: dict[str, int]) -> Iterator[Path]:
    for path in sorted(folder.glob("*.xml")):
        try:
            if places.keys() >= set(_label_names(path)):
                yield path
        except DataError:
            continue


def _label_names(path: Path) -> list[str]:
    """Return the names in all ``label`` elements, nested ones too."""
    with Source(path).open() as stream:
        text = stream.read(MAX_LINE + 1)
    if len(text) > MAX_LINE:
        raise DataError(path, f"expected at most {MAX_LINE:,} bytes of XML.")
    try:
        elements = ElementTree.fromstring(text).iter()
    except (ElementTree.ParseError, ValueError, LookupError) as error:
        raise DataError(path, f"expected XML, found {error}.") from None
    tags = ((element.tag.rpartition("}")[2], element) for element in elements)
    names = [element.get("name", "") for tag, element in tags if tag == "label"]
    if not names:
        raise DataError(path, "expected <label name=...> elements, found none.")
    return names
