"""Many machines on paper, and part by part."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.cluster.simulation import (
    Cluster,
    Job,
    cut,
    on_paper,
    simulate,
    without_chance,
)

JOB = Job(
    units=np.full(10_000, 60.0),
    spread=0.0,
    read_bytes=1e9,
    model_bytes=1e9,
    machine_bytes=2e9,
    driver_seconds=600.0,
    merge_seconds=60.0,
    start_seconds=30.0,
)
CLUSTER = Cluster(n_machines=50, cores=4, slow_share=0.2)


def test_without_chance_paper_and_simulation_agree():
    calm = without_chance(CLUSTER)
    for n_parts in (10, 200, 1000):
        paper, found = on_paper(JOB, calm, n_parts), simulate(JOB, calm, n_parts)
        assert found["hours"] == pytest.approx(paper["hours"], rel=0.01)
        assert found["work_lost"] == 0


def test_failures_and_slow_machines_cost_time():
    calm = simulate(JOB, without_chance(CLUSTER), 1000)["hours"]
    assert simulate(JOB, replace(CLUSTER, failures=0.0), 1000)["hours"] > calm
    shaky = simulate(JOB, replace(CLUSTER, failures=2.0, slow_share=0.0), 1000)
    assert shaky["hours"] > calm
    assert shaky["work_lost"] > 0


def test_smaller_parts_wait_less_for_slow_machines():
    slow = replace(CLUSTER, failures=0.0)
    assert simulate(JOB, slow, 2000)["hours"] < simulate(JOB, slow, 200)["hours"]


def test_parts_hold_all_units_and_cost_about_the_same():
    units = np.random.default_rng(0).random(1000)
    parts = cut(units, 20)
    assert len(parts) == 20
    assert parts.sum() == pytest.approx(units.sum())
    assert parts.max() < 1.1 * parts.mean()


def test_a_dear_unit_is_a_part_of_its_own():
    assert cut(np.array([1.0, 100.0, 1.0]), 3).max() < 102


def test_equal_units_make_equal_parts():
    np.testing.assert_allclose(cut(np.full(50, 4391.7), 50), 4391.7)
