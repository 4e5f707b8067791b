"""Try the library with the lowest versions it says it takes, and on other Pythons.

python scripts/check_versions.py makes an environment for each, installs the library
into it and runs scripts/smoke.py there:

- the oldest Python that pyproject.toml names, if it is on this machine, with the
  lowest version of each dependency;
- each other Python of 3.12, 3.13 and 3.14 that is, with what is newest.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).parents[1]
EXTRAS = ("plot", "parquet")
NEWER = ("3.12", "3.13", "3.14")


def lowest() -> list[str]:
    """Return the lowest version of each dependency, as pip takes it."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    needed = list(project["dependencies"])
    for extra in EXTRAS:
        needed += project["optional-dependencies"][extra]
    bounds = [re.fullmatch(r"([\w-]+)>=([\d.]+)", each) for each in needed]
    assert all(bounds), f"each of {needed} must have a lowest version"
    return [f"{bound[1]}=={bound[2]}" for bound in bounds if bound]


def interpreter(version: str) -> str | None:
    """Return the path of a Python of this version, or None."""
    name = f"python{version}"
    program = "import sys; print('%d.%d' % sys.version_info[:2])"
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    for path in (shutil.which(name), *sorted(pyenv.glob(f"versions/*/bin/{name}"))):
        if path is not None:  # a shim may stand for a version that is switched off
            found = subprocess.run(
                [path, "-c", program], capture_output=True, text=True
            )
            if found.stdout.strip() == version:
                return str(path)
    return None


def attempt(python: str, requirements: list[str]) -> str:
    """Install the library beside the requirements, run the smoke test."""
    with tempfile.TemporaryDirectory() as place:
        subprocess.run([python, "-m", "venv", place], check=True)
        inside = str(Path(place) / "bin" / "python")
        install = [inside, "-m", "pip", "install", "--quiet"]
        subprocess.run(
            [*install, f"{ROOT}[{','.join(EXTRAS)}]", *requirements], check=True
        )
        # From elsewhere, so that what was installed is tried, not what lies here.
        smoke = [inside, str(ROOT / "scripts" / "smoke.py")]
        found = subprocess.run(smoke, check=True, cwd=place, stdout=subprocess.PIPE)
        return found.stdout.decode()


if __name__ == "__main__":
    oldest = interpreter("3.11") or sys.executable
    newer = filter(None, map(interpreter, NEWER))
    environments = [(oldest, lowest()), *((python, []) for python in newer)]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for said in pool.map(attempt, *zip(*environments, strict=True)):
            print(said, end="", flush=True)
