"""Leave out the examples that need what is not installed."""

from importlib.util import find_spec

NEEDS = {
    "manylabel/river": "river",
    "manylabel/server": "fastapi",
    "tests/server/http": "fastapi",
    "benchmarks/river.py": "river",
    "benchmarks/training.py": "liblinear",
    "benchmarks/cluster/fits.py": "distributed",
}
# The programs of peers run in environments of their own.
collect_ignore = ["benchmarks/peers/programs"]
collect_ignore += [path for path, need in NEEDS.items() if not find_spec(need)]
