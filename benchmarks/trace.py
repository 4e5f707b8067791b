"""How long the way of a text is, from the command line to the kernels and back.

    python -m benchmarks.trace           count functions, files and changes of layer
    python -m benchmarks.trace --list    print the functions, in order of first entry

A tiny file of texts and tags is learnt by ``fit`` and labelled by ``predict``, both in
this process, with kernels that are not compiled, so that they count as functions too.

- A function of the library counts once, however often it is entered. What has no name
  (lambdas, comprehensions, generator expressions) belongs to the function it stands in.
- A file counts if one of its functions was entered.
- A change of layer is a pair of functions of which one calls the other, itself or
  through code from elsewhere, and which lie in different parts of ``manylabel/``: a
  package or a module at its top. Each pair counts once.

Each verb runs once before, so that what only happens at import does not count.
"""

import argparse
import io
import json
import os
import re
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from types import CodeType, FrameType
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[1] / "manylabel"
WORDS = ("red", "white", "wine", "bread", "rye", "oven", "glass")
N_ROWS = 40
NAMELESS = re.compile(r"(\.<locals>)?\.?<(lambda|listcomp|setcomp|dictcomp|genexpr)>.*")


class Function(NamedTuple):
    """A function by its file below ``manylabel/`` and its name in it."""

    file: str
    name: str

    @property
    def layer(self) -> str:
        """The part of the library that it lies in."""
        return self.file.partition("/")[0].removesuffix(".py")


class Way:
    """What was entered while a profiler watched.

    Attributes
    ----------
    functions : dict
        Functions, in order of first entry.
    calls : set
        Pairs of functions, the caller first.
    """

    def __init__(self) -> None:
        self.functions: dict[Function, None] = {}
        self.calls: set[tuple[Function, Function]] = set()

    @property
    def n_files(self) -> int:
        """How many files were entered."""
        return len({function.file for function in self.functions})

    @property
    def n_changes(self) -> int:
        """How many pairs lie in different layers."""
        return sum(caller.layer != callee.layer for caller, callee in self.calls)

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Watch this thread and those that it starts."""
        threading.setprofile(self._see)
        sys.setprofile(self._see)
        try:
            yield
        finally:
            sys.setprofile(None)
            threading.setprofile(None)

    def _see(self, frame: FrameType, event: str, _: Any) -> None:
        callee = _function(frame.f_code) if event == "call" else None
        if callee is None:
            return
        self.functions.setdefault(callee)
        above = frame.f_back
        while above is not None:
            caller = _function(above.f_code)
            if caller is not None:
                self.calls.add((caller, callee))
                return
            above = above.f_back


def _function(code: CodeType) -> Function | None:
    """Return the function of the library that some code belongs to, if any."""
    path = Path(code.co_filename)
    name = NAMELESS.sub("", code.co_qualname)
    if not name or name == "<module>" or not path.is_relative_to(ROOT):
        return None
    return Function(path.relative_to(ROOT).as_posix(), name)


def write_texts(path: Path) -> None:
    """Write a few texts, each with two of its words as tags."""
    with path.open("w") as file:
        for i in range(N_ROWS):
            words = [WORDS[(i * step + step) % len(WORDS)] for step in (1, 2, 3)]
            line = {"text": f"some {' and '.join(words)}", "labels": words[:2]}
            print(json.dumps(line), file=file)


def run(*arguments: str) -> None:
    """Run the command line in this process, unheard."""
    said = io.StringIO()
    try:
        with redirect_stdout(said), redirect_stderr(said):
            import_module("manylabel.cli.main").run(arguments)
    except SystemExit as end:
        if end.code:
            raise RuntimeError(f"{arguments[0]} failed: {said.getvalue()}") from None


def trace() -> dict[str, Way]:
    """Return the ways of ``fit`` and ``predict``."""
    os.environ["NUMBA_DISABLE_JIT"] = "1"
    ways = {}
    with TemporaryDirectory() as folder:
        texts, first, again = (f"{folder}/{name}" for name in ("t.jsonl", "a", "b"))
        write_texts(Path(texts))
        fit = ("fit", texts, "--jobs", "1", "--model")
        predict = ("predict", first, texts)
        for warm_up, verb in (((*fit, first), (*fit, again)), (predict, predict)):
            run(*warm_up)
            way = ways[verb[0]] = Way()
            with way.watching():
                run(*verb)
    return ways


def main(arguments: list[str] | None = None) -> None:
    """Print what was counted."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--list", action="store_true", help="print the functions, too")
    listed = parser.parse_args(arguments).list
    for verb, way in trace().items():
        print(
            f"{verb}: {len(way.functions)} functions, {way.n_files} files, "
            f"{way.n_changes} changes of layer"
        )
        for function in way.functions if listed else ():
            print(f"  {function.file} {function.name}")


if __name__ == "__main__":
    main()
