"""Nothing is sent or fetched."""

import subprocess
import sys
from pathlib import Path

import pytest

SMOKE = Path(__file__).parents[1] / "scripts" / "smoke.py"
PROGRAM = """
import runpy, socket, sys

def refuse(*args, **options):
    raise AssertionError("the network was used")

socket.socket.connect = socket.socket.sendto = socket.getaddrinfo = refuse
sys.argv = [sys.argv[1]]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


@pytest.mark.slow
def test_learning_saving_and_predicting_use_no_network():
    command = [sys.executable, "-c", PROGRAM, str(SMOKE)]
    ran = subprocess.run(command, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    assert "estimators and the command line work" in ran.stdout
