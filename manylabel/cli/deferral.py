"""Modules that are imported by others and hardly ever used."""

import importlib
import sys
from types import ModuleType
from typing import Any


def defer(name: str) -> None:
    """Let a module be imported only when something in it is asked for.

    Examples
    --------
    >>> defer("manylabel.cli.demo")
    >>> import manylabel.cli.demo
    >>> callable(manylabel.cli.demo.demo)
    True
    """
    if name not in sys.modules:
        sys.modules[name] = Deferred(name)


class Deferred(ModuleType):
    """Stands for a module until it is used."""

    def __getattr__(self, name: str) -> Any:
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(importlib.import_module(self.__name__), name)
