"""Figures on a cluster: what is measured is kept, and a stopped run goes on."""

import json

import pytest

from benchmarks.cluster.notes import Notes

predictions = pytest.importorskip(
    "benchmarks.cluster.predictions", reason="pyarrow is not installed"
)


def test_what_was_measured_is_not_measured_again(tmp_path, capsys):
    path = tmp_path / "notes.json"
    assert Notes(path).measure("local", lambda: {"seconds": 3}) == {"seconds": 3}
    again = Notes(path)
    assert again.measure("local", pytest.fail) == {"seconds": 3}
    assert "local: begins" in capsys.readouterr().err


def test_a_step_that_fails_keeps_those_before_it(tmp_path):
    path = tmp_path / "notes.json"
    notes = Notes(path)
    notes.measure("local", lambda: {"seconds": 3})
    with pytest.raises(ZeroDivisionError):
        notes.measure("spark", lambda: {"seconds": 1 / 0})
    assert json.loads(path.read_text()) == {"local": {"seconds": 3}}
    assert list(tmp_path.iterdir()) == [path]


def test_engines_are_measured_one_by_one_beside_the_command_line(tmp_path, monkeypatch):
    asked = []

    def measure(name, folder, n_rows, kill_after=None):
        asked.append((name, kill_after))
        return {"seconds": 5.0, "cpu": 8.0}

    monkeypatch.setattr(predictions, "prepare", lambda *given: None)
    monkeypatch.setattr(predictions, "measure_engine", measure)
    monkeypatch.setattr(
        predictions, "measure_command_line", lambda *given: {"seconds": 4.0, "cpu": 6.0}
    )
    for engine in ("spark", "ray", "ray"):
        found = predictions.measure_predictions(None, 10, tmp_path, [engine])
    assert asked == [("spark", None), ("spark", 2.5), ("ray", None), ("ray", 2.5)]
    assert found["ray"]["ratio"] == 0.8
    assert found["spark, killed"]["cpu_ratio"] == 0.75


def test_ray_is_started_again_if_it_is_late():
    class Ray:
        attempts = 0

        def init(self, **options):
            self.attempts += 1
            if self.attempts < 3:
                raise Exception("The current node timed out during startup.")

        def shutdown(self):
            pass

    ray = Ray()
    predictions.start_ray(ray)
    assert ray.attempts == 3
