"""The page: files of ``page/``, read once and served from memory."""

from importlib.resources import files
from typing import NamedTuple

FOLDER, INDEX = "page", "index.html"
TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".png": "image/png",
    ".svg": "image/svg+xml",
}


class StaticFile(NamedTuple):
    """A file of the page, with the path under which it is served."""

    path: str
    type: str
    content: bytes


def read_page() -> list[StaticFile]:
    """Return the files of the page whose suffix is known; the index is ``/``.

    Examples
    --------
    >>> next(file.type for file in read_page() if file.path == "/")
    'text/html; charset=utf-8'
    """
    folder = files("manylabel.server").joinpath(FOLDER)
    found = []
    for file in sorted(folder.iterdir(), key=lambda it: it.name):
        kind = TYPES.get("." + file.name.rpartition(".")[2])
        if kind is not None:
            path = "/" if file.name == INDEX else f"/{file.name}"
            found.append(StaticFile(path, kind, file.read_bytes()))
    return found
