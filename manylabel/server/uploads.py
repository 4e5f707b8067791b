"""Models that come over the network: unpacked into a fresh folder, read, saved anew.

What is saved is what the checked loader made of the archive, so no file of a stranger
is ever put where models are.
"""

import shutil
import tarfile
from pathlib import Path

from manylabel.exceptions import ArchiveError
from manylabel.persistence.folder import OURS
from manylabel.server.errors import BadItem
from manylabel.server.store import check_name
from manylabel.text import Tagger

MOST_FILES = 16


def install(archive: Path, models: Path, name: str, who: str) -> None:
    """Put the model of an archive in the place of a model, or as a new one.

    Parameters
    ----------
    archive : Path
        A tar file, not compressed: the files of a model folder, in a folder or not.
    models : Path
        Where models are.
    name : str
        The model's name.
    who : str
        Who sent it, kept with the model.
    """
    check_name(name)
    folder = archive.with_name("unpacked")
    folder.mkdir()
    unpack(archive, folder)
    try:
        tagger = Tagger.load(folder)
    except ArchiveError as error:  # without the path, which is nobody's business
        raise BadItem(f"The archive must hold a model: {error.reason}") from None
    tagger.annotate(uploaded_by=who).save(models / name)


def unpack(archive: Path, folder: Path) -> None:
    """Write the files of a model from an archive to a folder, and no others."""
    try:
        with tarfile.open(archive, "r:") as members:
            found = 0
            for member in members:
                if member.isdir():
                    continue
                found += 1
                if found > MOST_FILES:
                    raise BadItem(f"The archive must have at most {MOST_FILES} files.")
                _write(members, member, folder)
    except (tarfile.TarError, EOFError) as error:
        raise BadItem(f"The archive must be a tar file: {error}.") from None


def _write(members: tarfile.TarFile, member: tarfile.TarInfo, folder: Path) -> None:
    # Only the last part of the name counts, and that only if it is a model's: so an
    # archive can name no other place, whatever it holds.
    name = member.name.rpartition("/")[2]
    content = members.extractfile(member) if member.isreg() else None
    is_new = OURS.fullmatch(name) and not (folder / name).exists()
    if content is None or not is_new or name.startswith("."):
        raise BadItem(
            "The archive must hold a model folder's files, each once. "
            f"Got {member.name!r:.80}."
        )
    with content, (folder / name).open("xb") as file:
        shutil.copyfileobj(content, file)
