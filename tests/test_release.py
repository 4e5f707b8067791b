"""What a release is made of agrees with itself."""

import re
import runpy
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import manylabel

ROOT = Path(__file__).parents[1]
SCHEMAS = {
    ".github/ISSUE_TEMPLATE/bug.yml": "github-issue-forms",
    ".github/ISSUE_TEMPLATE/config.yml": "github-issue-config",
    ".github/ISSUE_TEMPLATE/idea.yml": "github-issue-forms",
    ".github/workflows/ci.yml": "github-workflows",
    "CITATION.cff": "citation-file-format",
    "docker/compose.yaml": "compose-spec",
}
PYTHON = re.compile(r"Programming Language :: Python :: (3\.\d+)")


def read(name):
    return (ROOT / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", SCHEMAS)
def test_files_for_other_programs_are_as_these_want_them(name):
    pytest.importorskip("check_jsonschema")
    schema = f"vendor.{SCHEMAS[name]}"
    words = ["-m", "check_jsonschema", "--builtin-schema", schema, str(ROOT / name)]
    done = subprocess.run([sys.executable, *words], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_all_files_name_one_version_and_one_day():
    version = manylabel.__version__
    cited = dict(
        re.findall(r"^(version|date-released): (\S+)$", read("CITATION.cff"), re.M)
    )
    newest, day = re.search(
        r"^## (\S+) \((\S+)\)$", read("CHANGELOG.md"), re.M
    ).groups()
    assert cited == {"version": newest, "date-released": day}
    assert newest == version
    assert f"image: manylabel:{version}\n" in read("docker/compose.yaml")


def test_the_extra_of_ray_reaches_addresses():
    extras = tomllib.loads(read("pyproject.toml"))["project"]["optional-dependencies"]
    assert any(re.match(r"ray\[client,", needed) for needed in extras["ray"])
    lowest = runpy.run_path(str(ROOT / "scripts" / "check_versions.py"))["lowest"]
    assert any(needed.startswith("ray[client,data]==") for needed in lowest("ray"))


def test_what_is_promised_is_what_is_tested():
    workflow = read(".github/workflows/ci.yml")
    project = tomllib.loads(read("pyproject.toml"))["project"]
    promised = PYTHON.findall("\n".join(project["classifiers"]))
    assert re.search(r"python: \[(.*)\]", workflow)[1] == ", ".join(
        f'"{each}"' for each in promised
    )
    assert project["requires-python"] == f">={promised[0]}"
    for system in ("ubuntu", "macos", "windows"):
        assert f"{system}-latest" in workflow
