"""The header of an ARFF file: what attributes there are."""

import re
from dataclasses import dataclass

from manylabel.data.source import Source, decode
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
