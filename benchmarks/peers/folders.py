"""Folders that appear whole or not at all."""

import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def appearing(folder: Path) -> Iterator[Path]:
    """Make a sibling that takes the name ``folder`` when all went well.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as home:
    ...     with appearing(Path(home) / "new") as sibling:
    ...         print(sibling.is_dir(), Path(home, "new").exists())
    ...     Path(home, "new").is_dir()
    True False
    True
    """
    sibling = folder.with_name(f".{folder.name}.{secrets.token_hex(4)}")
    sibling.mkdir(parents=True)
    try:
        yield sibling
        sibling.rename(folder)
    except BaseException:
        shutil.rmtree(sibling, ignore_errors=True)
        raise
