"""RCV1, news with their topics, as scikit-learn downloads it.

It is not among the names of ``manylabel.data``: scikit-learn's data sets take a fifth
of a second to import.
"""

import os
from urllib.error import URLError

from sklearn import datasets

from manylabel.data.dataset import Dataset


def fetch_rcv1(
    folder: str | os.PathLike[str] | None = None, *, subset: str = "all"
) -> Dataset:
    """Download RCV1, 804,414 news with 103 topics, or read it if that was done before.

    Parameters
    ----------
    folder : str, path-like or None, default=None
        Where downloads are kept; None is scikit-learn's own folder.
    subset : {"all", "train", "test"}, default="all"
        All rows, or the first 23,149 to learn from, or the others to judge by.

    Returns
    -------
    Dataset
        TF-IDF of words without names, the topics, and the numbers of the news
        (``ids``). OSError says that it cannot be downloaded.

    Examples
    --------
    >>> fetch_rcv1(subset="train")  # doctest: +SKIP
    Dataset(23149 rows, 47236 features, 103 labels)
    """
    try:
        found = datasets.fetch_rcv1(data_home=folder, subset=subset)
    except URLError as error:
        raise OSError(f"RCV1 cannot be downloaded: {error.reason}.") from error
    return Dataset(
        found.data,
        found.target,
        label_names=tuple(found.target_names),
        ids=tuple(map(str, found.sample_id)),
    )
