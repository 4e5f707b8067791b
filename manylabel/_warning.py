"""Warnings that name the line of the program that called, however deep they arise."""

import inspect
import warnings


def warn(message: str | Warning, category: type[Warning] = UserWarning) -> None:
    """Warn at the line by which the library was entered.

    Parameters
    ----------
    message : str or Warning
        What to say.
    category : type, default=UserWarning
        Its class, where the message is a str.
    """
    frame, level = inspect.currentframe(), 0
    while frame is not None and _is_ours(frame.f_globals.get("__name__", "")):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level + 1)


def _is_ours(module: str) -> bool:
    return module.partition(".")[0] == __name__.partition(".")[0]
