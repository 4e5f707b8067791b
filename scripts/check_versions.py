"""Try what a release would be, with the lowest versions it takes, on other Pythons too.

python scripts/check_versions.py builds the sdist and the wheel, checks what they say of
themselves, makes an environment for each of these, installs the wheel into it, and runs
scripts/smoke.py and the example of README.md there:

- the oldest Python that pyproject.toml names, if it is on this machine, with the
  lowest version of each dependency, and then, one after another, of dask, Ray and
  Spark, by scripts/smoke_cluster.py: one that does not install is skipped;
- each Python of 3.11 to 3.14 that is, with what is newest.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

ROOT = Path(__file__).parents[1]
EXTRAS = ("plot", "parquet")
ENGINES = ("dask", "ray", "spark")
PATIENCE = 300  # seconds, of an engine
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
EXAMPLE = re.compile(r"^```python\n(.*?)^```$", re.M | re.S)


def lowest(*extras: str) -> list[str]:
    """Return the lowest version of each dependency, as pip takes it."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    needed = list(project["dependencies"])
    for extra in extras:
        needed += project["optional-dependencies"][extra]
    bounds = [
        re.fullmatch(r"([\w-]+(?:\[[\w,]+\])?)>=([\d.]+)", each) for each in needed
    ]
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


def build(folder: str) -> Path:
    """Build the sdist and, of it, the wheel; return the wheel."""
    run = partial(subprocess.run, check=True, stdout=subprocess.DEVNULL)
    run([sys.executable, "-m", "build", "--outdir", folder, str(ROOT)])
    made = sorted(map(str, Path(folder).iterdir()))
    run([sys.executable, "-m", "twine", "check", "--strict", *made])
    return next(Path(folder).glob("*.whl"))


def attempt(
    wheel: Path, python: str, requirements: list[str], engines: tuple[str, ...]
) -> str:
    """Install the wheel beside the requirements, run the smoke test and the example."""
    with tempfile.TemporaryDirectory() as place:
        subprocess.run([python, "-m", "venv", place], check=True)
        inside = str(Path(place) / "bin" / "python")
        install = [inside, "-m", "pip", "install", "--quiet"]
        subprocess.run(
            [*install, f"{wheel}[{','.join(EXTRAS)}]", *requirements], check=True
        )
        # From elsewhere, so that what was installed is tried, not what lies here.
        smoke = [inside, str(ROOT / "scripts" / "smoke.py")]
        found = subprocess.run(smoke, check=True, cwd=place, stdout=subprocess.PIPE)
        code = "\n".join(EXAMPLE.findall((ROOT / "README.md").read_text("utf-8")))
        assert code, "README.md must have an example"
        shown = subprocess.run(
            [inside, "-c", code], check=True, cwd=place, stdout=subprocess.PIPE
        )
        assert shown.stdout.strip(), "the example of README.md must print something"
        tried = [try_engine(each, inside, place) for each in engines]
    return "".join([found.stdout.decode(), *tried])


def try_engine(engine: str, python: str, place: str) -> str:
    """Add the lowest version of an engine, and run it; return what is said of it."""
    install = [python, "-m", "pip", "install", "--quiet", *lowest(engine)]
    installed = subprocess.run(install, capture_output=True, text=True)
    if installed.returncode:
        reason = installed.stderr.strip().rpartition("\n")[2]
        return (
            f"{engine} is not tried, as its lowest version does not install: {reason}\n"
        )
    found = subprocess.run(
        [python, str(ROOT / "scripts" / "smoke_cluster.py"), engine],
        cwd=place,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert not found.returncode, f"{engine}: {found.stdout}{found.stderr}"
    return found.stdout.splitlines()[-1] + "\n"


if __name__ == "__main__":
    oldest = interpreter("3.11") or sys.executable
    newest = filter(None, map(interpreter, PYTHONS))
    environments = [(oldest, lowest(*EXTRAS), ENGINES)]
    environments += [(python, [], ()) for python in newest]
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
        wheel = build(folder)
        print(f"{wheel.name} and its sdist are sound.", flush=True)
        tried = partial(attempt, wheel)
        for said in pool.map(tried, *zip(*environments, strict=True)):
            print(said, end="", flush=True)
