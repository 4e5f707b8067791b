"""Imports point downwards, dependencies have one home, files stay small."""

import ast
import inspect
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType
from typing import Any, Unpack, get_args, get_origin

import pytest

import manylabel

ROOT = Path(manylabel.__file__).parent
LAYERS = [  # lowest first; names on one line are siblings and do not import each other
    {"_escapes", "_paths", "_plural", "_suggestion", "_warning"},
    {
        "_docstrings",
        "_kernels",
        "_markup",
        "_typing",
        "_version",
        "exceptions",
        "learners",
    },
    {"_canonical"},
    {
        "_validation",
        "division",
        "explanation",
        "growing",
        "lists",
        "parallel",
        "persistence",
        "sharing",
    },
    {"losses", "propensity", "solvers"},
    {"base", "metrics", "data"},
    {"binary", "model_selection"},
    {"online", "trees", "label_tree", "budget", "baselines"},
    {"blend", "evaluation", "river", "testing"},
    {"text"},
    {"auditing", "mlflow"},
    {"distributed"},
    {"client", "server"},
    {"cli"},
]
HEIGHT = {name: h for h, layer in enumerate(LAYERS) for name in layer}
ONLY_IN = {
    "numba": {"_kernels"},
    "fastapi": {"server"},
    "psycopg": {"server"},
    "pydantic": {"server"},
    "sqlite3": {"server"},
    "starlette": {"server"},
    "uvicorn": {"server"},
    "typer": {"cli"},
    "rich": {"cli"},
    "matplotlib": {"evaluation"},
    "rdflib": {"data"},
    "river": {"river"},
    "dask": {"distributed"},
    "distributed": {"distributed"},
    "pyspark": {"distributed"},
    "ray": {"distributed"},
    "sentence_transformers": {"text"},
    "snowballstemmer": {"text"},
}
MODULES = sorted(p for p in ROOT.rglob("*.py") if p != ROOT / "__init__.py")
MAX_FILE, MAX_FUNCTION, MAX_KERNEL = 500, 50, 60
TESTS = Path(__file__).parent
MOST_PRIVATE = 19  # imports of private modules by tests outside tests/_kernels
PUBLIC = {
    f"{module.__name__}.{name}": getattr(module, name)
    for module in (manylabel, manylabel.losses, manylabel.metrics)
    for name in module.__all__
}
DOCUMENTED = (type, FunctionType)
PARAMETERS = re.compile(
    r"^Parameters\n-+\n(.*?)(?=\n\n\S+\n---|\Z)", re.DOTALL | re.MULTILINE
)
each_public = pytest.mark.parametrize("name", PUBLIC)
each_module = pytest.mark.parametrize(
    "path", MODULES, ids=lambda p: str(p.relative_to(ROOT))
)


def package(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module == "manylabel":
            yield from (f"manylabel.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield "." * node.level + (node.module or "")
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


@each_module
def test_imports_point_downwards(path):
    here = package(path)
    for name in imports(path):
        top, _, rest = name.partition(".")
        there = rest.partition(".")[0]
        assert not name.startswith("."), f"relative import {name}"
        assert here in ONLY_IN.get(top, {here}), f"{top} does not belong in {here}"
        if top == "manylabel" and there != here:
            assert HEIGHT[there] < HEIGHT[here], f"{here} may not import {there}"


@each_module
def test_the_library_knows_nothing_of_the_benchmarks(path):
    assert "benchmarks" not in {name.partition(".")[0] for name in imports(path)}


def test_the_wheel_holds_the_library_and_nothing_else():
    project = tomllib.loads((ROOT.parent / "pyproject.toml").read_text())
    targets = project["tool"]["hatch"]["build"]["targets"]
    assert targets == {"wheel": {"packages": ["manylabel"]}}
    workshop = {"experiments", "bench", "reproduce", "debtags"}
    assert not workshop & {package(path) for path in MODULES}
    assert not workshop & {path.stem for path in MODULES}


@each_module
def test_imports_stand_at_the_top_unless_optional(path):
    optional = {"matplotlib", "pyarrow", "dask", "distributed", "pyspark", "ray"}
    optional |= {"pandas"}  # which dask brings
    optional |= {"rdflib", "sentence_transformers", "snowballstemmer"}
    # The command line imports its verbs' needs late, so that --help is quick.
    if package(path) == "cli":
        return
    for function in ast.walk(ast.parse(path.read_text())):
        if isinstance(function, ast.FunctionDef):
            for node in ast.walk(function):
                names = [a.name for a in getattr(node, "names", [])]
                if isinstance(node, ast.ImportFrom):
                    names = [node.module or ""]
                elif not isinstance(node, ast.Import):
                    continue
                assert {n.partition(".")[0] for n in names} <= optional, names


@each_module
def test_files_and_functions_stay_small(path):
    text = path.read_text()
    assert text.count("\n") <= MAX_FILE, f"{path} is too long"
    most = MAX_KERNEL if package(path) == "_kernels" else MAX_FUNCTION
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef):
            documentation = ast.get_docstring(node) or ""
            length = node.end_lineno - node.lineno - documentation.count("\n")
            assert length <= most, f"{node.name} has {length} lines"


def test_tests_go_through_public_names():
    found = {
        f"{path.relative_to(TESTS)}: {name}"
        for path in TESTS.rglob("*.py")
        if "_kernels" not in path.parts
        for name in private_imports(path)
    }
    assert len(found) <= MOST_PRIVATE, "\n".join(sorted(found))


def private_imports(path: Path) -> Iterator[str]:
    """Yield what a file imports of the library by a private name."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            names = {f"{node.module}.{alias.name}" for alias in node.names}
            if "._" in node.module:
                names = {node.module}
        elif isinstance(node, ast.Import):
            names = {alias.name for alias in node.names}
        else:
            continue
        yield from (n for n in names if re.match(r"manylabel\..*(?<=\.)_(?!_)", n))


def documented(thing: Any) -> list[str] | None:
    """Return the names in the Parameters section, or None if there is none."""
    section = PARAMETERS.search(inspect.getdoc(thing) or "")
    if section is None:
        return None
    heads = re.findall(r"^\S.*", section[1], re.MULTILINE)
    return [
        n.strip(" *") for head in heads for n in head.partition(" : ")[0].split(",")
    ]


def parameters(thing: Any, *, unpacked: bool = False) -> list[str]:
    """Return the names of the parameters; those of an unpacked record one by one."""
    names: list[str] = []
    for name, parameter in inspect.signature(thing).parameters.items():
        record = get_origin(parameter.annotation) is Unpack
        if unpacked and record:
            names.extend(get_args(parameter.annotation)[0].__annotations__)
        elif name != "self":
            names.append(name)
    return names


@each_public
def test_public_names_have_a_docstring_with_an_example(name):
    thing = PUBLIC[name]
    assert thing.__doc__
    if isinstance(thing, DOCUMENTED):
        assert ">>>" in thing.__doc__, f"{name} has no example"


@each_public
def test_docstrings_name_the_parameters_of_the_signature(name):
    thing = PUBLIC[name]
    if not isinstance(thing, DOCUMENTED):
        return
    # One function names the options of a record, the others refer to it.
    signatures = parameters(thing), parameters(thing, unpacked=True)
    assert (documented(thing) or []) in signatures
    for verb, method in inspect.getmembers(thing, inspect.isroutine):
        ours = getattr(method, "__module__", None) or ""
        # A method may say it all in one line, but not name what it does not take.
        if ours.startswith("manylabel") and documented(method) is not None:
            assert documented(method) == parameters(method), f"{name}.{verb}"
