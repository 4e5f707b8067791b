"""A small corpus of real texts that comes with the library."""

from pathlib import Path

from manylabel.data.dataset import Dataset
from manylabel.data.formats import read

PACKAGES = Path(__file__).with_name("packages.csv")


def load_packages() -> Dataset:
    """Return what Python packages say of themselves, with their topics as labels.

    Returns
    -------
    Dataset
        A few hundred summaries, as their authors have published them with the packages;
        ``ids`` are the names of the packages. ``README.md`` beside the file says where
        they are from.

    Examples
    --------
    >>> packages = load_packages()
    >>> packages.ids[packages.ids.index("requests")]
    'requests'
    """
    return read(PACKAGES, label_separator="|")
