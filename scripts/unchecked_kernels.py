"""Refuse a run of the tests that left a kernel out, by the cache that the run filled.

python scripts/unchecked_kernels.py FOLDER, the NUMBA_CACHE_DIR of the run.
"""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

KERNELS = Path(__file__).parents[1] / "manylabel" / "_kernels"


def kernels() -> Iterator[str]:
    """Yield the file and the name of each function that is kept compiled."""
    for path in sorted(KERNELS.rglob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef) and any(
                isinstance(mark, ast.Name) and mark.id.endswith("kernel")
                for mark in node.decorator_list
            ):
                yield f"{path.parent.name}/{path.stem}.{node.name}"


def compiled(folder: Path) -> set[str]:
    """Return the same of what a cache has, such as ``forest_1a2b/node.f-9.nbi``."""
    return {
        f"{path.parent.name.rpartition('_')[0]}/{path.name.rpartition('-')[0]}"
        for path in folder.rglob("*.nbi")
    }


if __name__ == "__main__":
    everything = list(kernels())
    left_out = set(everything) - compiled(Path(sys.argv[1]))
    if left_out or not everything:
        sys.exit("never run with bounds checks: " + ", ".join(sorted(left_out)))
    print(f"{len(everything)} kernels ran with bounds checks.")
