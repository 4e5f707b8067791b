"""Who takes part in a contest, as ``peers.toml`` has it."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from benchmarks import toml_files
from benchmarks.ledger import digest
from benchmarks.peers.sources import sources
from manylabel.exceptions import DataError

HOME = Path(__file__).parent
TOP: dict[str, Any] = {"sets": ..., "quick": ..., "peers": ...}
PEER: dict[str, Any] = {"packages": [], "bare": [], "threads": "", "entrants": ...}
ENTRANT: dict[str, Any] = {
    "name": ...,
    "parameters": {},
    "rows": "given",
    "beside": None,
    "test_rows": None,
}
ROWS = ("given", "unit")


@dataclass(frozen=True)
class Entrant:
    """A learner of a peer.

    Parameters
    ----------
    name : str
        What the tables call it.
    parameters : mapping
        What its file is to do with it.
    rows : {"given", "unit"}
        Whether its rows are as they are or of unit length.
    beside : str or None
        The entrant of ours that it is compared with.
    test_rows : int or None
        How many test rows it predicts at most, if it is slow.
    """

    name: str
    parameters: Mapping[str, Any]
    rows: str
    beside: str | None
    test_rows: int | None


@dataclass(frozen=True)
class Peer:
    """A library that takes part.

    Parameters
    ----------
    name : str
        The name of its distribution, and of its file.
    path : Path
        The file that says how it is called.
    packages : tuple of str
        What is installed for it, with all dependencies.
    bare : tuple of str
        What is installed then, without dependencies.
    threads : str
        How it is kept to one thread, for people.
    entrants : tuple of Entrant
        Its learners.
    """

    name: str
    path: Path
    packages: tuple[str, ...]
    bare: tuple[str, ...]
    threads: str
    entrants: tuple[Entrant, ...]

    @property
    def is_installed(self) -> bool:
        """Whether it needs no environment of its own, as we do."""
        return not (self.packages or self.bare)

    @cached_property
    def requirements(self) -> str:
        """What tells its environment from others."""
        return digest(self.packages, self.bare)

    def code(self, entrant: Entrant) -> str:
        """Return what changes when an entrant has to be measured again.

        That is its parameters, its packages or, if it is ours, its sources, and the
        programs that call it.
        """
        paths = [self.path, contract(self.path.parent)]
        if self.is_installed and "class" in entrant.parameters:
            paths += sources(entrant.parameters["class"])
        texts = [path.read_text(encoding="utf-8") for path in paths]
        how = vars(entrant) | {"beside": None}  # compared with whom does not matter
        return digest(self.name, self.requirements, how, texts)


@dataclass(frozen=True)
class Programme:
    """All who may take part, and where.

    Parameters
    ----------
    peers : dict of str to Peer
        Peers by name.
    sets : dict of str to int
        The data sets, and how often each is run.
    quick : dict of str to int
        The same for a short contest.
    """

    peers: dict[str, Peer]
    sets: dict[str, int]
    quick: dict[str, int]


def contract(folder: Path) -> Path:
    """Return the program that measures what a file in this folder calls."""
    return folder / "contract.py"


def read_programme(home: Path = HOME) -> Programme:
    """Return what ``peers.toml`` of a folder says."""
    path = home / "peers.toml"
    given = toml_files.take(path, toml_files.read(path), TOP)
    peers = {name: _peer(path, name, peer) for name, peer in given["peers"].items()}
    _check_comparisons(path, peers)
    return Programme(peers, given["sets"], given["quick"])


def _peer(path: Path, name: str, given: dict[str, Any]) -> Peer:
    entry = toml_files.take(path, given, PEER)
    entrants = [toml_files.take(path, each, ENTRANT) for each in entry["entrants"]]
    for each in entrants:
        if each["rows"] not in ROWS:
            raise DataError(
                path,
                f"expected rows = {' or '.join(ROWS)} of {each['name']!r}, "
                f"found {each['rows']!r}.",
            )
    return Peer(
        name,
        path.parent / "programs" / f"{name}.py",
        tuple(entry["packages"]),
        tuple(entry["bare"]),
        entry["threads"],
        tuple(Entrant(**each) for each in entrants),
    )


def _check_comparisons(path: Path, peers: dict[str, Peer]) -> None:
    """Refuse names that are used twice, and entrants beside nobody."""
    entrants = [entrant for peer in peers.values() for entrant in peer.entrants]
    names = [entrant.name for entrant in entrants]
    for entrant in entrants:
        if names.count(entrant.name) > 1:
            raise DataError(path, f"expected one {entrant.name!r}, found several.")
        if entrant.beside not in (None, *names):
            raise DataError(
                path,
                f"expected an entrant beside {entrant.name!r}, "
                f"found {entrant.beside!r}.",
            )
