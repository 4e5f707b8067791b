"""Errors that the library raises on purpose.

::

    ManylabelError
    ├── DataError      (also a ValueError)   a file does not hold what it should
    ├── ArchiveError   (also a ValueError)   a model folder is damaged or foreign
    ├── MissingExtra   (also an ImportError) an optional dependency is not installed
    ├── OtherVersions  (also a RuntimeError) driver and workers have different packages
    └── WorkersLost    (also a RuntimeError) a task ended with its worker, each time

    SkippedLines       (a UserWarning)       bad lines of a file were left out
    DoubtfulLabels     (a UserWarning)       labels may be missing or something else

Wrong arguments raise plain ``ValueError`` or ``TypeError``, as in scikit-learn.
"""

import shlex
import sys
from pathlib import Path

from manylabel._escapes import escape_line
from manylabel._plural import counted


class ManylabelError(Exception):
    """The root of the library's own errors."""


class DataError(ManylabelError, ValueError):
    """A data file does not hold what its format promises.

    Parameters
    ----------
    path : str or Path
        The file.
    reason : str
        What was expected and what was found, as one sentence.
    line : int or None, default=None
        Line number, counted from 1, where one is to blame.
    """

    def __init__(self, path: str | Path, reason: str, line: int | None = None) -> None:
        super().__init__(str(path), reason, line)
        self.path, self.reason, self.line = Path(path), reason, line

    def __str__(self) -> str:
        place = (
            f"{self.path}" if self.line is None else f"{self.path}, line {self.line}"
        )
        return escape_line(f"{place}: {self.reason}")


class ArchiveError(ManylabelError, ValueError):
    """A model folder cannot be read: damaged, incomplete, foreign or too new."""

    def __init__(self, path: str | Path, reason: str) -> None:
        super().__init__(str(path), reason)
        self.path, self.reason = Path(path), reason

    def __str__(self) -> str:
        return escape_line(f"{self.path}: {self.reason}")


class MissingExtra(ManylabelError, ImportError):
    """An optional dependency is needed and not installed.

    The way to it names this Python: pip then finds the library there, wherever that
    came from, and adds the extra. A ``pip`` of another environment finds nothing.
    """

    def __init__(
        self, what: str, package: str, extra: str, python: str = sys.executable
    ) -> None:
        # All are arguments, so that what a worker lacks is told as it told it.
        super().__init__(what, package, extra, python)

    def __str__(self) -> str:
        what, package, extra, python = self.args
        install = f"{shlex.quote(python)} -m pip install 'manylabel[{extra}]'"
        return f"{what} needs {package}: {install}"


class OtherVersions(ManylabelError, RuntimeError):
    """A worker of a cluster has another version of a package than its driver."""


class WorkersLost(ManylabelError, RuntimeError):
    """Several workers of a cluster ended with the same task, or all were lost."""


class SkippedLines(UserWarning):
    """Bad lines of a data file were skipped because the caller asked for it.

    Attributes
    ----------
    path : Path
        The file.
    count : int
        How many lines were skipped.
    errors : list of DataError
        The first few of them.
    """

    def __init__(self, path: Path, count: int, errors: list[DataError]) -> None:
        lines = counted(count, "bad line")
        message = f"{path}: skipped {lines}, the first: {errors[0]}"
        super().__init__(escape_line(message))
        self.path, self.count, self.errors = path, count, errors


class DoubtfulLabels(UserWarning):
    """Labels may be missing, or in a file be separated otherwise or elsewhere.

    Attributes
    ----------
    path : Path or None
        The file, if labels come from one.
    reason : str
        What was taken and what may be meant, as one sentence.
    """

    def __init__(self, path: Path | None, reason: str) -> None:
        place = "" if path is None else f"{path}: "
        super().__init__(escape_line(f"{place}{reason}"))
        self.path, self.reason = path, reason
