"""Learners that some threads teach while others read them.

A learner that one thread alone has used learns in place. Once a second thread comes,
each chunk is learnt by a copy, which takes the learner's place when the chunk is done.
So readers see what was published last, whole, and only the first of them may wait: for
the chunk that was being learnt in place when it came.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from functools import wraps
from threading import RLock, get_ident
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

GUARD = "_guard"
P = ParamSpec("P")
R = TypeVar("R")
S = TypeVar("S", bound="Shared")


class Guard:
    """Who has used a learner, and the lock that is held while it learns."""

    def __init__(self, *, is_shared: bool = False) -> None:
        self.lock = RLock()
        self.owner = get_ident()
        self.process = os.getpid()
        self.is_shared = is_shared

    def meet(self) -> None:
        """Note the thread that calls; the owner's chunk is then done."""
        if not self.is_shared and self.owner != get_ident():
            with self.lock:
                self.is_shared = True


class Shared:
    """Learns in place where one thread uses it, by publishing copies where several do.

    A subclass names what it writes in place in ``_written``, learns in a block of
    ``_learning``, and marks the methods that read what was learnt by :func:`reading`.
    """

    _written: tuple[str, ...] = ()

    @contextmanager
    def _learning(self) -> Iterator[Self]:
        """Let one thread at a time learn; yield what it is to write into."""
        guard = self._met_guard()
        with guard.lock:
            if not guard.is_shared:
                yield self
                return
            draft = _view(self, dict(self.__dict__))
            for name in self._written:
                if name in draft.__dict__:
                    draft.__dict__[name] = deepcopy(draft.__dict__[name])
            yield draft
            self.__dict__ = draft.__dict__  # at once, for all readers

    def _published(self) -> Self:
        """Return what to read from: no other thread writes to it, ever."""
        self._met_guard()
        return _view(self, self.__dict__)

    def _met_guard(self) -> Guard:
        guard: Guard | None = self.__dict__.get(GUARD)
        if guard is None:
            guard = self.__dict__.setdefault(GUARD, Guard())
        elif guard.process != os.getpid():
            # After a fork, a thread that held the lock is not there to give it back.
            guard = self.__dict__[GUARD] = Guard(is_shared=guard.is_shared)
        guard.meet()
        return guard

    def __getstate__(self) -> dict[str, Any]:
        """Return what copies and pickles take along; each has a guard of its own."""
        return {k: v for k, v in vars(self._published()).items() if k != GUARD}


def reading(
    method: Callable[Concatenate[S, P], R],
) -> Callable[Concatenate[S, P], R]:
    """Let a method read what was published last."""

    @wraps(method)
    def read(self: S, /, *args: P.args, **kwargs: P.kwargs) -> R:
        return method(self._published(), *args, **kwargs)

    return read


def _view(learner: S, attributes: dict[str, Any]) -> S:
    """Return an object of the learner's class that has just these attributes."""
    view = object.__new__(type(learner))
    view.__dict__ = attributes
    return view
