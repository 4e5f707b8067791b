"""Processes that are killed at random moments lose nothing, and learn nothing twice."""

import json
import os
import subprocess
import sys

import pytest

N_KILLS = 20


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_what_was_acknowledged_survives_every_kill():
    command = [sys.executable, "-m", "benchmarks.service", "kills"]
    run = subprocess.run(
        [*command, "--count", str(N_KILLS)], capture_output=True, text=True, timeout=600
    )
    assert run.returncode == 0, run.stderr
    found = json.loads(run.stdout)
    assert found["kills"] >= N_KILLS
    assert found["acknowledged"] > N_KILLS
    assert found["snapshots"], "it must have been killed while it took some"
    assert found["lost"] == found["changed_numbers"] == 0
    assert found["twice_in_the_log"] == 0
    assert found["learnt_twice"] == found["judged_twice"] == 0
    assert found["same_bits"]
