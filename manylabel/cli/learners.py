"""Learners by the names that the command line gives them, and their settings."""

import inspect
import math
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

from manylabel._suggestion import suggest
from manylabel.learners import LEARNERS

TRUTH = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
COUNT_OR_SHARE = {"n_components"}  # 5 and 5.0 do not mean the same


def make(
    names: Sequence[str],
    settings: Sequence[str] | None,
    common: Mapping[str, Any],
    *,
    among: Mapping[str, str] = LEARNERS,
) -> list[Any]:
    """Return an estimator for each name, with the parameters that were asked for.

    Each takes the ``settings``, NAME=VALUE, and the ``common`` parameters that it has;
    a setting that none has is refused.
    """
    for name in names:
        if name not in among:
            known, near = ", ".join(among), suggest(name, among)
            raise ValueError(f"--learner must be one of {known}. Got {name!r}.{near}")
    package = import_module("manylabel")  # loads what is asked for
    classes = [getattr(package, among[name]) for name in names]
    defaults = [
        {
            name: each.default
            for name, each in inspect.signature(kind).parameters.items()
        }
        for kind in classes
    ]
    texts = dict(map(_split, settings or ()))
    _check_known(texts, names, defaults)
    return [
        kind(
            **{name: value for name, value in common.items() if name in has}
            | {
                name: _typed(name, texts[name], has[name])
                for name in texts
                if name in has
            }
        )
        for kind, has in zip(classes, defaults, strict=True)
    ]


def name_of(learner: Any) -> str:
    """Return the name of a learner on the command line."""
    kind = type(learner).__name__
    return next(name for name, known in LEARNERS.items() if known == kind)


def _split(setting: str) -> tuple[str, str]:
    name, equals, value = setting.partition("=")
    if not equals:
        raise ValueError(f"--set must look like NAME=VALUE. Got {setting!r}.")
    return name, value


def _check_known(
    texts: Mapping[str, str], names: Sequence[str], defaults: Sequence[dict[str, Any]]
) -> None:
    known = dict.fromkeys(name for has in defaults for name in has)
    for name in texts:
        if name not in known:
            raise ValueError(
                f"--set must name a parameter of {' or '.join(names)}: "
                f"{', '.join(known) or 'none'}. Got {name!r}.{suggest(name, known)}"
            )


def _typed(name: str, text: str, default: Any) -> Any:
    """Return the value of a parameter, of the type that its default has."""
    if isinstance(default, bool):
        if text.lower() not in TRUTH:
            raise ValueError(f"{name} must be true or false. Got {text!r}.")
        return TRUTH[text.lower()]
    if isinstance(default, tuple):
        return tuple(text.split(","))
    number = _number(text)
    if isinstance(default, str) or default is None:
        return text if number is None else number
    wants_float = isinstance(default, float)
    if number is None or not (wants_float or isinstance(number, int)):
        what = "a number" if wants_float else "an integer"
        raise ValueError(f"{name} must be {what}. Got {text!r}.")
    if not math.isfinite(number):
        raise ValueError(f"{name} must be finite. Got {text!r}.")
    return float(number) if wants_float and name not in COUNT_OR_SHARE else number


def _number(text: str) -> int | float | None:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return None
