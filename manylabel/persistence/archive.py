"""Saving an estimator to a folder and reading it back."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from manylabel._typing import Array
from manylabel._version import __version__
from manylabel.exceptions import ArchiveError
from manylabel.persistence import folder as folders
from manylabel.persistence import tensors
from manylabel.persistence.state import class_name, flatten, learnt, rebuild


def save(estimator: Any, path: str | Path) -> None:
    """Write an estimator to a folder, replacing a model that is there.

    Whatever interrupts it, the folder holds the old model or the new one, whole.

    Parameters
    ----------
    estimator : estimator of this package
        Its parameters and what it has learnt are written.
    path : str or Path
        The folder; made if missing, in a folder that exists.

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
    folder = Path(path)
    manifest, arrays = _describe(estimator)
    try:
        folders.replace(folder, manifest, arrays)
    except OSError as error:
        reason = f"the model cannot be written: {error.strerror or error}."
        raise ArchiveError(folder, reason) from error


def load(path: str | Path, *, mmap: bool = False) -> Any:
    """Read an estimator from a folder; no code of the folder is run.

    Parameters
    ----------
    path : str or Path
        A folder that :func:`save` wrote.
    mmap : bool, default=False
        Map the arrays into memory, so that processes share one copy; what is written
        to them stays out of the file. The checksum is verified either way.

    Returns
    -------
    estimator
        Of the class, with the parameters and the learnt state that were saved.

    Raises
    ------
    ArchiveError
        If the folder is missing, damaged, foreign or too new.

    Examples
    --------
    >>> load("no-such-folder")
    Traceback (most recent call last):
    manylabel.exceptions.ArchiveError: no-such-folder: there is no such model folder.
    """
    folder = Path(path)
    if not folder.is_dir():
        raise ArchiveError(folder, "there is no such model folder.")
    try:
        manifest, arrays = folders.read(folder, mmap=mmap)
    except OSError as error:
        reason = f"the model cannot be read: {error.strerror or error}."
        raise ArchiveError(folder, reason) from error
    params = manifest["params"] | _section(arrays, "params/")
    state = manifest["state"] | _section(arrays, "state/")
    try:
        return rebuild(manifest["class"], params, state)
    except (
        ArithmeticError,
        AttributeError,
        LookupError,
        TypeError,
        ValueError,
    ) as error:
        # The checksums hold, so it was written so: by hand or by another version.
        reason = f"the folder does not describe a model: {error}."
        raise ArchiveError(folder, reason) from error


def _describe(estimator: Any) -> tuple[dict[str, Any], dict[str, Array]]:
    """Return what the manifest says of the estimator, and its arrays."""
    manifest: dict[str, Any] = {
        "manylabel": __version__,
        "class": class_name(estimator),
    }
    arrays: dict[str, Array] = {}
    sections = {"params": estimator.get_params(deep=False), "state": learnt(estimator)}
    for section, values in sections.items():
        manifest[section] = {}
        for name, value in sorted(flatten(values).items()):
            if isinstance(value, np.ndarray):
                arrays[f"{section}/{name}"] = value
            else:
                manifest[section][name] = value
    return manifest | {"arrays": tensors.describe(arrays)}, arrays


def _section(arrays: Mapping[str, Array], prefix: str) -> dict[str, Array]:
    return {
        name.removeprefix(prefix): array
        for name, array in arrays.items()
        if name.startswith(prefix)
    }
