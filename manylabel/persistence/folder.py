"""Saving an estimator to a folder and reading it back.

A folder is replaced as a whole: one manifest and the arrays file that it names. The
arrays go to a file of their own, named after their content. Renaming the manifest over
the old one is the instant at which the new model replaces the old; only then is the old
arrays file removed. So a reader finds one or the other, whenever it looks.
"""

import errno
import hashlib
import json
import os
import re
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO, TypeVar, overload

import numpy as np

from manylabel._paths import as_path
from manylabel._typing import Array
from manylabel._version import __version__
from manylabel.exceptions import ArchiveError
from manylabel.persistence import tensors, verification
from manylabel.persistence.state import check_depth, describe, rebuild, section

try:
    import fcntl
except ImportError:  # Windows: there, one writer at a time is up to the user
    fcntl = None  # type: ignore[assignment]

T = TypeVar("T")
# What file systems say that have no locks, as some NFS and FUSE mounts: there, too, one
# writer at a time is up to the user.
NO_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOTSUP)
FORMAT = 1
MANIFEST = "manifest.json"
ARRAYS = re.compile(r"arrays-[0-9a-f]{16}\.safetensors")
N_SHOWN = 5  # models in a folder that a refusal names
DRAFT = ".draft-"  # begins the name of a file that is being written
OURS = re.compile(rf"{MANIFEST}|{ARRAYS.pattern}|{DRAFT}.*", re.DOTALL)
FAULTS = (  # whatever a class may make of what is not a model of its own
    ArithmeticError,
    AttributeError,
    LookupError,
    MemoryError,
    RecursionError,
    TypeError,
    ValueError,
)
FIELDS = {
    "format": int,
    "manylabel": str,
    "class": str,
    "params": dict,
    "state": dict,
    "arrays": dict,
    "arrays_file": str,
    "arrays_sha256": str,
    "sha256": str,
}


def save(estimator: Any, path: str | Path) -> None:
    """Write an estimator to a folder, replacing a model that is there.

    Whatever interrupts it, the folder holds the old model or the new one, whole.

    Parameters
    ----------
    estimator : estimator of this package
        Its parameters and what it has learnt are written.
    path : str or Path
        The folder; made if missing, with those that it is in.

    Raises
    ------
    TypeError
        If a parameter or attribute is something a folder cannot hold, such as a
        function; nothing is written.
    ArchiveError
        If the folder cannot be written, or holds something other than a model.

    Examples
    --------
    >>> import tempfile
    >>> import manylabel as ml
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(ml.Propensity(a=0.6, b=2.6), f"{folder}/model")
    ...     load(f"{folder}/model")
    Propensity(a=0.6, b=2.6)
    """
    folder = as_path(path)
    facts, arrays = describe(estimator)
    manifest = {"manylabel": __version__, **facts, "arrays": tensors.describe(arrays)}
    try:
        _make_parents(folder)
        replace(folder, manifest, arrays)
    except OSError as error:
        reason = f"the model cannot be written: {error.strerror or error}."
        raise ArchiveError(folder, reason) from error


@overload
def load(path: str | Path, *, mmap: bool = False, verify_once: bool = False) -> Any: ...
@overload
def load(
    path: str | Path, kind: type[T], *, mmap: bool = False, verify_once: bool = False
) -> T: ...
def load(
    path: str | Path,
    kind: Any = object,
    *,
    mmap: bool = False,
    verify_once: bool = False,
) -> Any:
    """Read an estimator from a folder; no code of the folder is run.

    Parameters
    ----------
    path : str or Path
        A folder that :func:`save` wrote.
    kind : class, default=object
        Of which class it must be; type checkers then know it.
    mmap : bool, default=False
        Map the arrays into memory, so that processes share one copy; what is written
        to them stays out of the file. The checksum is verified either way.
    verify_once : bool, default=False
        Read the arrays for their checksum once on this machine, not in every process:
        a note is kept in the user's cache folder, and ends with any change of the file.
        What the arrays must be is checked each time.

    Returns
    -------
    estimator
        Of the class, with the parameters and the learnt state that were saved.

    Raises
    ------
    ArchiveError
        If the folder is missing, damaged, foreign or too new, or has a model of
        another class than ``kind``.

    Examples
    --------
    >>> load("no-such-folder")
    Traceback (most recent call last):
    manylabel.exceptions.ArchiveError: no-such-folder: there is no such model folder.
    """
    folder = _model_folder(path)
    found = _load(folder, mmap, verify_once)
    if not isinstance(found, kind):
        what = f"expected a {kind.__name__}, found a {type(found).__name__}"
        raise ArchiveError(folder, f"{what}.")
    return found


def seal(path: str | Path) -> str:
    """Return what tells a saved model from any other: the checksum of its manifest.

    Raises ArchiveError where there is no model, as :func:`load` does.
    """
    found: str = read_manifest(_model_folder(path))["sha256"]
    return found


def read_manifest(folder: Path) -> dict[str, Any]:
    """Return a folder's manifest, checked as far as it speaks of itself."""
    return _parsed(folder / MANIFEST, _read_bytes(folder / MANIFEST))


def _model_folder(path: str | Path) -> Path:
    """Return the path of a folder that has a manifest, or say what it is instead."""
    folder = as_path(path)
    if folder.is_file():
        raise ArchiveError(folder, "expected a model's folder, found a file.")
    if not folder.is_dir():
        raise ArchiveError(folder, "there is no such model folder.")
    if not os.path.lexists(folder / MANIFEST):
        inside = sorted(each.parent.name for each in folder.glob(f"*/{MANIFEST}"))
        shown = ", ".join(inside[:N_SHOWN]) + ", ..." * (len(inside) > N_SHOWN)
        also = f", but models are: {shown}" * bool(inside)
        reason = f"this is no model's folder: there is no {MANIFEST} in it{also}."
        raise ArchiveError(folder, reason)
    return folder


def _load(folder: Path, mmap: bool, verify_once: bool) -> Any:
    """Return the estimator of a folder that is there."""
    try:
        manifest, arrays = read(folder, mmap=mmap, verify_once=verify_once)
        params = manifest["params"] | section(arrays, "params/")
        state = manifest["state"] | section(arrays, "state/")
        check_depth((*params, *state))
        return rebuild(manifest["class"], params, state)
    except ArchiveError:
        raise
    except OSError as error:
        reason = f"the model cannot be read: {error.strerror or error}."
        raise ArchiveError(folder, reason) from error
    except FAULTS as error:
        # The checksums hold, so it was written so: by hand or by another version.
        reason = f"the folder does not describe a model: {error}."
        raise ArchiveError(folder, reason) from error


def replace(
    folder: Path, manifest: Mapping[str, Any], arrays: Mapping[str, Array]
) -> None:
    """Make ``folder`` hold this manifest and these arrays, or leave it as it was."""
    with _held(folder):
        refuse_foreign(folder)
        before = {name for name in _ours(folder) if not name.startswith(DRAFT)}
        arrays_file = ""
        try:
            with _draft(folder, "arrays") as file:
                digest = tensors.write(file, arrays)
            arrays_file = f"arrays-{digest[:16]}.safetensors"
            _publish(folder, "arrays", arrays_file)
            named = {"arrays_file": arrays_file, "arrays_sha256": digest}
            with _draft(folder, "manifest") as file:
                file.write(_sealed({"format": FORMAT, **manifest, **named}))
            _publish(folder, "manifest", MANIFEST)
            _sweep(folder, arrays_file, before)
        except BaseException:  # Ctrl-C too
            _sweep(folder, arrays_file, before)
            raise


def read(
    folder: Path, *, mmap: bool, verify_once: bool = False
) -> tuple[dict[str, Any], dict[str, Array]]:
    """Return a folder's manifest and arrays, checked, or raise ArchiveError."""
    path = folder / MANIFEST
    while True:
        text = _read_bytes(path)
        manifest = _parsed(path, text)
        try:
            return manifest, _read_arrays(folder, manifest, mmap, verify_once)
        except FileNotFoundError as error:
            # A writer may have replaced the model since the manifest was read.
            if _read_bytes(path) == text:
                raise ArchiveError(error.filename, "this file is missing.") from None


@contextmanager
def _held(folder: Path) -> Iterator[None]:
    """Keep other writers out of the folder, made if missing and unmade on failure."""
    made = not os.path.lexists(folder)
    lock = None
    try:
        lock = _lock(folder)
        yield
        if made:
            _sync(folder.parent)
    except BaseException:
        if made:
            with suppress(OSError):  # not empty: another writer's model is in it
                folder.rmdir()
        raise
    finally:
        if lock is not None:
            os.close(lock)


def _make_parents(folder: Path) -> None:
    """Make the folders that a folder is in, so that they outlive a loss of power."""
    for place in reversed(folder.parents):
        if not place.exists():
            place.mkdir(exist_ok=True)
            _sync(place.parent)


def _lock(folder: Path) -> int | None:
    """Return a locked handle of the folder, which is made if missing."""
    place = os.path.realpath(folder)  # of a link to nothing, what it points to is made
    while True:
        with suppress(FileExistsError):
            os.mkdir(place)
        if fcntl is None:
            return None
        try:
            return _locked(place)
        except FileNotFoundError:  # another writer failed and removed it
            continue


def _locked(place: str) -> int:
    """Wait for the lock of a folder that may meanwhile be removed or made anew."""
    handle = os.open(place, os.O_RDONLY | os.O_DIRECTORY)
    try:
        flock(handle)
        if not os.path.samestat(os.fstat(handle), os.stat(place)):
            raise FileNotFoundError(place)
        return handle
    except BaseException:
        os.close(handle)
        raise


def flock(handle: int, *, wait: bool = True) -> None:
    """Lock an open file, if its file system has locks.

    Raises BlockingIOError if another process has it and there is no waiting.
    """
    if fcntl is None:
        return
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError as error:
        if error.errno not in NO_LOCKS:
            raise


def refuse_foreign(folder: Path) -> None:
    """Refuse a folder with files in it that are not a model's."""
    names = os.listdir(folder)
    if MANIFEST in names:
        ours = b'"manylabel"' in (folder / MANIFEST).read_bytes()
    else:  # empty, being written, or left by a crash
        ours = all(map(OURS.fullmatch, names))
    if not ours:
        raise ArchiveError(folder, "this folder holds other files than a model's.")


def _ours(folder: Path) -> set[str]:
    """Return the names in the folder that this module gave."""
    return set(filter(OURS.fullmatch, os.listdir(folder)))


def _sweep(folder: Path, arrays_file: str, before: set[str]) -> None:
    """Drop the old arrays if the new manifest stands, else whatever is new."""
    # What the folder itself says is right whenever an interrupt came.
    try:
        named = json.loads((folder / MANIFEST).read_bytes())["arrays_file"]
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        named = None
    stands = named == arrays_file
    for name in _ours(folder) - ({MANIFEST, arrays_file} if stands else before):
        with suppress(OSError):
            (folder / name).unlink()


@contextmanager
def _draft(folder: Path, name: str) -> Iterator[BinaryIO]:
    """Open a new file that is whole and on disk when the block ends."""
    path = folder / (DRAFT + name)
    path.unlink(missing_ok=True)  # left by a crash; opening it could follow a link
    with open(path, "xb") as file:
        yield file
        file.flush()
        os.fsync(file.fileno())


def _publish(folder: Path, draft: str, name: str) -> None:
    """Give a draft its name, for good."""
    os.replace(folder / (DRAFT + draft), folder / name)
    _sync(folder)


def _sync(folder: Path) -> None:
    """Bring the names in a folder to disk."""
    if fcntl is None:  # Windows cannot open a folder
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _sealed(manifest: Mapping[str, Any]) -> bytes:
    """Return the manifest with its checksum as JSON, one line a field."""
    fields = {**manifest, "sha256": _checksum(manifest)}
    lines = (f"{json.dumps(name)}: {json.dumps(v)}" for name, v in fields.items())
    return ("{\n" + ",\n".join(lines) + "\n}\n").encode()


def _checksum(manifest: Mapping[str, Any]) -> str:
    """Return the SHA-256 of the fields, which spaces and order do not change."""
    fields = {name: value for name, value in manifest.items() if name != "sha256"}
    text = json.dumps(fields, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _parsed(path: Path, text: bytes) -> dict[str, Any]:
    """Return the manifest, checked as far as it speaks of itself."""
    try:
        manifest = json.loads(text)
    except (ValueError, RecursionError):
        raise ArchiveError(path, "this is not JSON.") from None
    if not isinstance(manifest, dict):
        raise ArchiveError(path, "this is not the manifest of a model.")
    version = manifest.get("format")
    if isinstance(version, int) and version != FORMAT:
        reason = f"this model has format {version}, and this manylabel reads {FORMAT}."
        raise ArchiveError(path, reason)
    for name, kind in FIELDS.items():
        if not isinstance(manifest.get(name), kind):
            raise ArchiveError(path, f"the field {name} is missing or wrong.")
    if manifest["sha256"] != _checksum(manifest):
        raise ArchiveError(path, "the checksum is wrong, so the file is damaged.")
    if not ARRAYS.fullmatch(manifest["arrays_file"]):
        reason = f"{manifest['arrays_file']!r} is not the name of an arrays file."
        raise ArchiveError(path, reason)
    return manifest


def _read_arrays(
    folder: Path, manifest: Mapping[str, Any], mmap: bool, verify_once: bool
) -> dict[str, Array]:
    path = folder / manifest["arrays_file"]
    with _open(path) as file:
        if mmap and os.fstat(file.fileno()).st_size:  # an empty file cannot be mapped
            # Copy on write: kernels are compiled for arrays that may be written.
            buffer = np.asarray(np.memmap(file, np.uint8, "c"))
        else:
            buffer = np.fromfile(file, np.uint8)
        checksum = manifest["arrays_sha256"]
        if not (verify_once and verification.is_verified(file, checksum)):
            if hashlib.sha256(buffer.data).hexdigest() != checksum:
                reason = "the checksum is wrong, so the file is damaged."
                raise ArchiveError(path, reason)
            if verify_once:
                verification.note_verified(file, checksum)
    try:
        arrays = tensors.read(buffer)
    except (ValueError, RecursionError) as error:
        raise ArchiveError(path, f"this is not safetensors: {error}.") from error
    if tensors.describe(arrays) != manifest["arrays"]:
        reason = "the arrays have other names, types or shapes than the manifest says."
        raise ArchiveError(path, reason)
    return arrays


def _read_bytes(path: Path) -> bytes:
    try:
        with _open(path) as file:
            return file.read()
    except FileNotFoundError:
        raise ArchiveError(path, "this file is missing.") from None


def _open(path: Path) -> BinaryIO:
    """Open a plain file; a link could lead out of the folder, a pipe would hang."""
    target = _blob(path) or path
    if not stat.S_ISREG(os.lstat(target).st_mode):
        raise ArchiveError(path, "this is not a plain file.")
    return open(target, "rb")


def _blob(path: Path) -> Path | None:
    """Return where a link of the Hugging Face Hub's cache leads to, if it is one.

    There ``snapshots/REVISION/FILE`` links to a file of the folder ``blobs`` beside
    ``snapshots``.
    """
    snapshots = [place for place in path.parents if place.name == "snapshots"]
    if not (snapshots and path.is_symlink()):
        return None
    target = Path(os.path.realpath(path))
    blobs = Path(os.path.realpath(snapshots[0])).with_name("blobs")
    return target if target.parent == blobs else None
