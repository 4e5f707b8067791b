"""What is deployed runs as nobody in particular, and with kernels compiled before."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "docker"
PROGRAM = """
import numpy as np
from manylabel._kernels import compilation
from manylabel import OneVsRest

compiled = []
compilation.watchers.append(lambda: compiled.append(1))
OneVsRest().fit(np.eye(4), np.eye(4, dtype=int)).predict(np.eye(4))
print(len(compiled))
"""


def instructions() -> list[tuple[str, str]]:
    """Return the instructions of the Dockerfile, lines joined, without comments."""
    lines = (FOLDER / "Dockerfile").read_text().splitlines()
    kept = [line for line in lines if line.strip() and not line.startswith("#")]
    text = re.sub(r"\\\n\s*", "", "\n".join(kept))
    return [tuple(line.split(maxsplit=1)) for line in text.splitlines()]


def final_stage() -> list[tuple[str, str]]:
    """Return the instructions of the image itself."""
    found = instructions()
    return found[max(i for i, (word, _) in enumerate(found) if word == "FROM") :]


def test_the_image_runs_as_no_root():
    users = [rest for word, rest in final_stage() if word == "USER"]
    assert users
    assert all(int(part) > 0 for part in users[-1].split(":"))


def test_images_have_a_tag_and_it_is_not_latest():
    images = [rest.split()[0] for word, rest in instructions() if word == "FROM"]
    assert len(images) > 1
    images += re.findall(
        r"^ +image: (\S+)$", (FOLDER / "compose.yaml").read_text(), re.M
    )
    for image in images:
        assert re.fullmatch(r"[a-z/]+:[\w.-]*\d[\w.-]*", image), image


@pytest.mark.parametrize("word", ["CMD", "ENTRYPOINT", "HEALTHCHECK"])
def test_commands_run_without_a_shell(word):
    (given,) = [rest for name, rest in final_stage() if name == word]
    assert re.search(r'(^|CMD )\[".*"\]$', given)


def test_kernels_are_compiled_in_the_build_for_the_cpu_that_the_image_names():
    parts = instructions()
    assert any(word == "RUN" and "manylabel warmup" in rest for word, rest in parts)
    names = [rest for word, rest in parts if word == "ENV"]
    assert all("NUMBA_CPU_NAME=generic" in rest for rest in names)


def test_no_tools_are_left_in_the_image():
    runs = " ".join(rest for word, rest in final_stage() if word == "RUN")
    assert "pip uninstall --yes pip" in runs
    assert not re.search(r"\b(apt|apt-get|gcc|make|curl)\b", runs)


def test_what_the_dockerfile_copies_is_not_ignored():
    lines = (FOLDER / "Dockerfile.dockerignore").read_text().splitlines()
    kept = {line[1:] for line in lines if line.startswith("!")}
    copied = {
        name
        for word, rest in instructions()
        if word == "COPY" and "--from" not in rest
        for name in rest.split()[:-1]
        if not name.startswith("--")
    }
    assert copied == kept
    assert all((FOLDER.parent / name).exists() for name in copied)


def test_two_replicas_wait_for_the_log_and_cannot_write_but_to_their_volumes():
    yaml = pytest.importorskip("yaml")
    found = yaml.safe_load((FOLDER / "compose.yaml").read_text())
    service, log = found["services"]["service"], found["services"]["log"]
    assert service["deploy"]["replicas"] == 2
    assert service["depends_on"] == {"log": {"condition": "service_healthy"}}
    assert "healthcheck" in log
    assert service["read_only"]
    assert service["cap_drop"] == ["ALL"]
    assert all(port.startswith("127.0.0.1:") for port in service["ports"])
    assert "ports" not in log
    mounted = {it.split(":")[0] for it in (*service["volumes"], *log["volumes"])}
    assert mounted == set(found["volumes"])
    assert "PASSWORD" not in " ".join(service["command"])


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="there is no systemd")
def test_the_unit_is_one_that_systemd_takes(tmp_path):
    text = (FOLDER / "manylabel.service").read_text()
    program = re.search(r"^ExecStart=(\S+)", text, re.M)[1]
    unit = tmp_path / "manylabel.service"
    unit.write_text(text.replace(program, shutil.which("true")))
    command = ["systemd-analyze", "verify", "--man=no", str(unit)]
    ran = subprocess.run(command, capture_output=True, text=True)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")


def test_the_unit_may_write_to_its_own_folders_only():
    text = (FOLDER / "manylabel.service").read_text()
    for line in ("User=manylabel", "ProtectSystem=strict", "NoNewPrivileges=yes"):
        assert f"\n{line}\n" in text


@pytest.mark.slow
def test_kernels_that_were_compiled_elsewhere_are_used_from_a_copy(tmp_path):
    def count(folder):
        environment = {**os.environ, "NUMBA_CACHE_DIR": str(folder)}
        environment["NUMBA_CPU_NAME"] = "generic"
        command = [sys.executable, "-c", PROGRAM]
        ran = subprocess.run(
            command, env=environment, capture_output=True, text=True, check=True
        )
        return int(ran.stdout)

    assert count(tmp_path / "image") > 0
    subprocess.run(["cp", "-R", tmp_path / "image", tmp_path / "run"], check=True)
    assert count(tmp_path / "run") == 0
