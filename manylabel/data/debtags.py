"""Descriptions of Debian's packages with their tags, from the lists that apt keeps."""

import os
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from manylabel.data.control import COMPRESSED, Field, paragraphs
from manylabel.data.dataset import Dataset, LabelSpace
from manylabel.exceptions import DataError

LISTS = Path("/var/lib/apt/lists")
SUBSETS = ("all", "train", "test")
ONE_IN = 5  # packages is held out
NO_TAGS = "special::"  # the facet that says how far tagging has come
BRACES = re.compile(r"([^\s{},]*)\{([^{}]*)\}")
TAG = re.compile(r"[^\s{},]+")


@dataclass
class Package:
    """A package as the lists tell it."""

    text: str
    tags: list[str]
    digest: str  # of the whole description, if that stands elsewhere


def read_debtags(
    folder: str | os.PathLike[str] = LISTS, *, subset: str = "all"
) -> Dataset:
    r"""Read the descriptions and tags of packages from Debian's package lists.

    The tags, such as ``use::gameplaying``, were given by volunteers: real texts with
    some 600 labels, many of them rare or missing, that any Debian machine has.

    Parameters
    ----------
    folder : str or path-like, default="/var/lib/apt/lists"
        Holds lists, ``*_Packages``, and perhaps the long descriptions,
        ``*_Translation-en``; both may be compressed.
    subset : {"all", "train", "test"}, default="all"
        All packages, or those to learn from, or the fifth of them to judge by. A
        package's name tells where it belongs, whatever else is in the lists.

    Returns
    -------
    Dataset
        Texts, tags and names (``ids``) of the packages that have tags, by name. A
        package that is in several lists counts once. All subsets have the same labels.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "debian_Packages").write_text(
    ...         "Package: chess\n"
    ...         "Description: play chess\n"
    ...         "Tag: game::board, interface::{graphical,\n"
    ...         " text-mode}\n"
    ...     )
    ...     data = read_debtags(folder)
    >>> data.ids, data.texts
    (('chess',), ('play chess',))
    >>> data.label_names
    ('game::board', 'interface::graphical', 'interface::text-mode')
    """
    if subset not in SUBSETS:
        raise ValueError(
            f"subset must be one of {', '.join(SUBSETS)}. Got {subset!r:.40}."
        )
    packages = _packages(Path(folder))
    names = sorted(packages)
    space = LabelSpace.from_labels(package.tags for package in packages.values())
    data = Dataset(
        None,
        space.encode(packages[name].tags for name in names),
        label_names=space.names,
        ids=tuple(names),
        texts=tuple(packages[name].text for name in names),
    )
    if subset == "all":
        return data
    return data[[is_held_out(name) == (subset == "test") for name in names]]


def is_held_out(name: str) -> bool:
    """Tell whether a package is one to judge by.

    Examples
    --------
    >>> sum(is_held_out(f"package-{i}") for i in range(1000))
    188
    """
    return zlib.crc32(name.encode()) % ONE_IN == 0


def _packages(folder: Path) -> dict[str, Package]:
    """Return the packages that have tags, with the longest text there is."""
    lists = list(_files(folder, "Packages"))
    if not lists:
        raise DataError(folder, "expected Debian's package lists, found none.")
    packages: dict[str, Package] = {}
    for path in lists:
        for name, package in _tagged(path):
            packages.setdefault(name, package)
    if not packages:
        raise DataError(folder, "expected package lists with tags, found none.")
    digests = {package.digest for package in packages.values()}
    long = _descriptions(folder, digests - {""})
    for package in packages.values():
        package.text = long.get(package.digest, package.text)
    return packages


def _files(folder: Path, kind: str) -> Iterator[Path]:
    """Yield files of a kind by name; others, such as ``_Packages.diff_Index``, not."""
    for path in sorted(folder.glob(f"*_{kind}*")):
        if path.name.endswith(f"_{kind}") or (
            path.stem.endswith(f"_{kind}") and path.suffix in COMPRESSED
        ):
            yield path


def _tagged(path: Path) -> Iterator[tuple[str, Package]]:
    """Yield the packages of a list that have tags."""
    wanted = ("Package", "Description", "Description-md5", "Tag")
    for fields in paragraphs(path, wanted):
        if "Tag" in fields:
            tags = _tags(path, fields["Tag"])
            for name in ("Package", "Description"):
                if name not in fields:
                    raise DataError(
                        path, f"expected a {name} with this Tag.", fields["Tag"].line
                    )
            if tags:
                digest = fields.get("Description-md5", Field("", 0)).text
                text = _plain(fields["Description"])
                yield fields["Package"].text, Package(text, tags, digest)


def _descriptions(folder: Path, digests: set[str]) -> dict[str, str]:
    """Return the long descriptions that have one of the digests."""
    wanted = ("Description-md5", "Description-en")
    return {
        fields["Description-md5"].text: _plain(fields["Description-en"])
        for path in _files(folder, "Translation-en")
        for fields in paragraphs(path, wanted)
        if len(fields) == len(wanted) and fields["Description-md5"].text in digests
    }


def _plain(description: Field) -> str:
    """Return a description in one line; a lone dot stands for an empty one there."""
    lines = description.text.split("\n")
    return " ".join(word for line in lines if line != "." for word in line.split())


def _tags(path: Path, field: Field) -> list[str]:
    """Return the tags of a field, of which ``facet::{a, b}`` holds two.

    Examples
    --------
    >>> _tags(Path("list"), Field("role::program, use::{chatting, gameplaying}", 1))
    ['role::program', 'use::chatting', 'use::gameplaying']
    """
    spelt = BRACES.sub(
        lambda found: ",".join(found[1] + name for name in _listed(found[2])),
        field.text,
    )
    tags = _listed(spelt)
    for tag in tags:
        if not TAG.fullmatch(tag):
            raise DataError(path, f"expected tags, found {tag!r:.40}.", field.line)
    return [tag for tag in tags if not tag.startswith(NO_TAGS)]


def _listed(names: str) -> list[str]:
    return [name.strip() for name in names.split(",") if name.strip()]
