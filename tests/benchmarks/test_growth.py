"""Growth: points in processes of their own, never twice; exponents; targets."""

import json
import math

import pytest

from benchmarks.growth import curves as growth
from benchmarks.growth import point as growth_point
from benchmarks.growth import report as growth_page

SIZES = {"rows": (50, 100), "features": (30, 60), "labels": (10, 20)}
MADE_BY = {
    "version": "1",
    "commit": "abc",
    "machine": {"processor": "A", "cores": 2, "system": "Linux", "python": "3.11"},
}
USUAL = {"rows": 60, "features": 40, "labels": 12}
LEARNERS = {name: growth_point.LEARNERS[name] for name in ("FastXML", "OneVsRest")}


@pytest.fixture
def tiny(monkeypatch):
    monkeypatch.setattr(growth, "QUICK_SIZES", SIZES)
    monkeypatch.setattr(growth, "USUAL", USUAL)
    monkeypatch.setattr(growth, "FEWER_ROWS", {"OneVsRest": 40})
    monkeypatch.setattr(growth, "LEARNERS", LEARNERS)


def made_up(learner, grows, fit, predict, **more):
    """Return a curve that follows laws of a size."""
    for size in (1_000, 10_000, 100_000, 1_000_000):
        point = growth._point(learner, grows, growth.USUAL | {grows: size})
        yield (
            point
            | MADE_BY
            | {
                "fit_seconds": fit(size),
                "rank_microseconds": predict(size),
                "predict_microseconds": 5.0,
                "idle_megabytes": 100.0,
                "fit_megabytes": 0.002 * size,
                "predict_megabytes": 0.001 * size,
                **more,
            }
        )


def test_points_are_measured_in_processes_of_their_own_and_never_twice(
    tiny, tmp_path, monkeypatch
):
    monkeypatch.setattr(growth, "QUICK_SIZES", {"labels": (10,)})
    monkeypatch.setattr(growth, "LEARNERS", {"FastXML": LEARNERS["FastXML"]})
    told, out = [], tmp_path / "growth.jsonl"
    lines = growth.measure(out, quick=True, tell=told.append)
    assert [line["labels"] for line in lines] == [10]
    assert all(line["fit_seconds"] > 0 for line in lines)
    assert all(line["rank_microseconds"] > 0 for line in lines)
    assert all(line["idle_megabytes"] > 10 for line in lines)
    assert len(told) == 1
    assert told[0].startswith("FastXML, 60 rows, 40 features, 10 labels: ")
    before = out.read_text()
    assert growth.measure(out, quick=True, tell=told.append) == lines
    assert len(told) == 1
    assert out.read_text() == before


def test_all_learners_can_be_measured(tmp_path, monkeypatch):
    monkeypatch.setattr(growth_point, "LEAST_SECONDS", 0.0)
    for learner in growth_point.LEARNERS:
        point = growth._point(learner, "rows", USUAL)
        growth_point.write_corpus(point, tmp_path / learner)
        figures = growth_point.measured(point, tmp_path / learner)
        assert set(figures) == {*growth_page.MEASURES, "idle_megabytes"}


def test_a_curve_ends_where_a_point_has_no_figures(tiny, tmp_path, monkeypatch):
    monkeypatch.setattr(growth, "MOST_SECONDS", 0.01)
    told = []
    lines = growth.measure(tmp_path / "growth.jsonl", quick=True, tell=told.append)
    assert [line["reason"] for line in lines] == ["more than 0.01 s"] * 6
    assert told[0] == "FastXML, 50 rows, 40 features, 12 labels: more than 0.01 s"
    again = growth.measure(tmp_path / "growth.jsonl", quick=True)
    assert again == lines


def test_an_error_of_a_point_is_its_reason(tiny, tmp_path, monkeypatch):
    monkeypatch.setattr(growth, "LEARNERS", {"Nobody": None})
    monkeypatch.setattr(growth, "QUICK_SIZES", {"rows": (5, 6)})
    (line,) = growth.measure(tmp_path / "growth.jsonl", quick=True)
    assert line["reason"] == "KeyError: 'Nobody'"


def test_only_what_grows_differs_along_a_curve(tiny):
    for curve in growth.curves(SIZES):
        grows = curve[0]["grows"]
        others = [{n: p[n] for n in USUAL if n != grows} for p in curve]
        assert others[0] == others[1]
        assert [point[grows] for point in curve] == list(SIZES[grows])


def test_the_corpus_is_as_dense_at_any_size():
    few, many = growth_point.corpus(500, 100, 50), growth_point.corpus(500, 9000, 4000)
    assert many[1].nnz / few[1].nnz == pytest.approx(1, abs=0.15)


@pytest.mark.parametrize("power", [0.5, 1.0, 1.3])
def test_the_exponent_is_that_of_the_law(power):
    sizes = [10, 50, 1000]
    assert growth_page.exponent(sizes, [7 * n**power for n in sizes]) == pytest.approx(
        power
    )
    assert math.isnan(growth_page.exponent([3], [4]))


def test_targets_are_held_or_missed_by_the_lines():
    lines = [
        *made_up("FastXML", "rows", lambda n: n**1.2, lambda n: 1.0),
        *made_up("OneVsRest", "rows", lambda n: n**1.05, lambda n: 1.0),
        *made_up("FastXML", "labels", lambda n: 1.0, math.log),
        *made_up("PfastreXML", "labels", lambda n: n**2, lambda n: n**0.5),
    ]
    page = growth_page.write_page(lines)
    assert "| power of rows in training time | FastXML | 1.2 | missed: 1.1 at" in page
    assert "| power of rows in training time | OneVsRest | 1.05 | held |" in page
    assert "| power of labels in training time | FastXML | 0 | held |" in page
    target = "times from 1,000 to 1,000,000 labels; log grows 2.0 times |"
    assert f"| `predict`: {target} PfastreXML | 1 | held |" in page
    target = f"| `predict_topk`: {target}"
    assert f"{target} FastXML | 2 | held |" in page
    assert f"{target} PfastreXML | 31.6 | missed: 2 at most |" in page
    assert "| MB at 1,000,000 labels, all of the process | FastXML | 2,100 |" in page
    assert "| FastXML | training, CPU seconds | 3,980 | 63,100 |" in page
    assert "1.20 |" in page


def test_a_point_without_figures_is_shown_by_its_reason():
    lines = list(made_up("CSDPP", "labels", lambda n: n, lambda n: n))[:2]
    lines[1] = growth._point("CSDPP", "labels", growth.USUAL | {"labels": 10_000})
    lines[1] |= MADE_BY | {"reason": "more than 9 s"}
    page = growth_page.write_page(lines)
    assert "| CSDPP | training, CPU seconds | 1,000 | more than 9 s | nan |" in page


def test_a_figure_is_drawn_for_each_size(tmp_path):
    pytest.importorskip("matplotlib")
    lines = [
        json.loads(json.dumps(line))
        for grows in growth.USUAL
        for line in made_up("FastXML", grows, lambda n: n, lambda n: 2.0)
    ]
    paths = growth_page.draw(lines, tmp_path)
    assert [path.name for path in paths] == [f"growth-{n}.png" for n in growth.USUAL]
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in paths)


def test_the_page_has_targets_tables_and_plots(cli, tmp_path, monkeypatch):
    lines = list(made_up("FastXML", "rows", lambda n: n, lambda n: 2.0))

    def measure(path, *, quick, tell):
        assert quick
        tell("measured")
        return lines

    monkeypatch.setattr(growth, "measure", measure)
    outcome = cli("growth", "--quick", "--out", tmp_path)
    assert (outcome.status, "measured" in outcome.err) == (0, True)
    assert "| power of rows in training time | FastXML | 1 | held |" in outcome.out
    page = (tmp_path / "growth.md").read_text()
    assert "$ python -m benchmarks growth --quick" in page
    assert "4 runs by commit abc, on A (2 cores)" in page
    assert "![growth with rows](growth-rows.png)" in page
    assert (tmp_path / "growth-rows.png").exists()
