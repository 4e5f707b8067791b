"""Garbage in cycles: looked for less often, and not where none can be.

A service makes thousands of small objects a second that are freed at once by their
counts, while Python looks through all that live for cycles whenever some hundreds more
are alive: a fifth of the time of a replay, and pauses in the midst of answers.
"""

import gc

NEW, YOUNG, OLD = (
    50_000,
    20,
    20,
)  # objects more, and looks at the younger, before a look


def collect_less() -> None:
    """Look for cycles seldom, and never in what is alive now.

    To be called by a process of its own once it has imported what it needs, and once
    more when its models are loaded.

    Examples
    --------
    >>> import gc
    >>> before = gc.get_threshold()
    >>> collect_less()
    >>> gc.get_threshold()[0]
    50000
    >>> gc.unfreeze(); gc.set_threshold(*before)
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(NEW, YOUNG, OLD)
