"""Growth: points in processes of their own, never twice; exponents; targets."""

import math
from dataclasses import replace

import pytest

from benchmarks.growth import curves, point, report
from benchmarks.ledger import Ledger

SIZES = {"rows": (50, 100), "features": (30, 60), "labels": (10, 20)}
MADE_BY = {
    "version": "1",
    "commit": "abc",
    "machine": {"processor": "A", "cores": 2, "system": "Linux", "python": "3.11"},
}
USUAL = {"rows": 60, "features": 40, "labels": 12}
LEARNERS = {name: point.LEARNERS[name] for name in ("FastXML", "OneVsRest")}


@pytest.fixture
def tiny(monkeypatch):
    monkeypatch.setattr(curves, "QUICK_SIZES", SIZES)
    monkeypatch.setattr(curves, "USUAL", USUAL)
    monkeypatch.setattr(curves, "FEWER_ROWS", {"OneVsRest": 40})
    monkeypatch.setattr(curves, "LEARNERS", LEARNERS)


def made_up(learner, grows, fit, predict):
    """Return a curve that follows laws of a size."""
    for size in (1_000, 10_000, 100_000, 1_000_000):
        point = curves.Point(learner, grows, **curves.USUAL | {grows: size})
        values = {
            "fit_seconds": fit(size),
            "rank_microseconds": predict(size),
            "predict_microseconds": 5.0,
            "idle_megabytes": 100.0,
            "fit_megabytes": 0.002 * size,
            "predict_megabytes": 0.001 * size,
        }
        yield {"key": point.key, **point.about, **MADE_BY, "values": values}


@pytest.fixture
def measure(tiny, tmp_path):
    """Measure the small sizes; return the lines."""
    return lambda watch=None: curves.measure(
        Ledger(tmp_path / "runs.jsonl"), quick=True, watch=watch
    )


@pytest.mark.slow
def test_points_are_measured_in_processes_of_their_own_and_never_twice(
    measure, monkeypatch
):
    monkeypatch.setattr(curves, "QUICK_SIZES", {"labels": (10,)})
    monkeypatch.setattr(curves, "LEARNERS", {"FastXML": LEARNERS["FastXML"]})
    told = []
    (line,) = measure(lambda *news: told.append(news))
    assert (line["labels"], line["learner"]) == (10, "FastXML")
    assert line["values"]["fit_seconds"] > 0
    assert line["values"]["rank_microseconds"] > 0
    assert line["values"]["idle_megabytes"] > 10
    assert told == [(1, 1, line)]
    assert measure(lambda *news: told.append(news)) == [line]
    assert len(told) == 1


@pytest.mark.slow
def test_all_learners_can_be_measured(tmp_path, monkeypatch):
    monkeypatch.setattr(point, "LEAST_SECONDS", 0.0)
    for learner in point.LEARNERS:
        about = curves.Point(learner, "rows", **USUAL).about
        point.write_corpus(about, tmp_path / learner)
        figures = point.measure(about, tmp_path / learner)
        assert set(figures) == {*report.MEASURES, "idle_megabytes"}


def test_a_curve_ends_where_a_point_has_no_figures(measure, monkeypatch):
    monkeypatch.setattr(curves, "MOST_SECONDS", 0.01)
    monkeypatch.setattr("benchmarks.limits.PATIENCE", 1e6)  # however busy the machine
    told = []
    lines = measure(lambda *news: told.append(news))
    reason = "took over 0.000166667 minutes of CPU time"
    assert [line["failure"] for line in lines] == [reason] * 6
    assert [(done, total) for done, total, _ in told] == [
        (1, 12),
        *((2 * n + 1, 12) for n in range(1, 6)),
    ]
    assert measure() == lines


@pytest.mark.slow
def test_an_error_of_a_point_is_its_reason(measure, monkeypatch):
    monkeypatch.setattr(curves, "LEARNERS", {"Nobody": None})
    monkeypatch.setattr(curves, "QUICK_SIZES", {"rows": (5, 6)})
    (line,) = measure()
    assert line["failure"] == "failed: KeyError: 'Nobody'"


def test_learners_that_are_not_named_are_not_measured(tiny, tmp_path, monkeypatch):
    monkeypatch.setattr(curves, "MOST_SECONDS", 0.01)
    lines = curves.measure(Ledger(tmp_path / "runs.jsonl"), ["OneVsRest"], quick=True)
    assert {line["learner"] for line in lines} == {"OneVsRest"}


def test_a_learner_that_nobody_knows_is_refused(cli, tmp_path):
    outcome = cli("growth", "--quick", "--out", tmp_path, "--learner", "Forest")
    assert "--learner must be one of OneVsRest, LabelTree" in outcome.err


def test_only_what_grows_differs_along_a_curve(tiny):
    for first, second in curves.curves(SIZES):
        grows = first.grows
        assert replace(first, **{grows: 0}) == replace(second, **{grows: 0})
        assert (getattr(first, grows), getattr(second, grows)) == SIZES[grows]


def test_the_corpus_is_as_dense_at_any_size():
    few, many = point.corpus(500, 100, 50), point.corpus(500, 9000, 4000)
    assert many[1].nnz / few[1].nnz == pytest.approx(1, abs=0.15)


@pytest.mark.parametrize("power", [0.5, 1.0, 1.3])
def test_the_exponent_is_that_of_the_law(power):
    sizes = [10, 50, 1000]
    assert report.exponent(sizes, [7 * n**power for n in sizes]) == pytest.approx(power)
    assert math.isnan(report.exponent([3], [4]))


def test_targets_are_held_or_missed_by_the_lines():
    lines = [
        *made_up("FastXML", "rows", lambda n: n**1.2, lambda n: 1.0),
        *made_up("OneVsRest", "rows", lambda n: n**1.05, lambda n: 1.0),
        *made_up("FastXML", "labels", lambda n: 1.0, math.log),
        *made_up("PfastreXML", "labels", lambda n: n**2, lambda n: n**0.5),
    ]
    page = report.write_page(lines, {"rows": "growth-rows.png"})
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
    del lines[1]["values"]
    lines[1]["failure"] = "took over 9 minutes"
    text = report.write_page(lines, {"labels": "growth-labels.png"})
    row = "| CSDPP | training, CPU seconds | 1,000 | took over 9 minutes | nan |"
    assert row in text


@pytest.mark.slow
def test_the_page_has_targets_tables_and_plots(cli, tmp_path, monkeypatch):
    lines = list(made_up("FastXML", "rows", lambda n: n, lambda n: 2.0))

    def measure(ledger, learners, *, quick, watch):
        assert quick
        watch(1, 4, lines[0])
        return lines

    monkeypatch.setattr(curves, "measure", measure)
    outcome = cli("growth", "--quick", "--out", tmp_path)
    assert outcome.status == 0
    assert "1 of 4, FastXML, 1,000 rows, 20,000 features" in outcome.err
    assert "| power of rows in training time | FastXML | 1 | held |" in outcome.out
    text = (tmp_path / "growth.md").read_text()
    assert "$ python -m benchmarks growth --quick" in text
    assert "4 runs by commit abc, on A (2 cores)" in text
    assert "![growth with rows](growth-rows.png)" in text
    assert (tmp_path / "growth-rows.png").read_bytes().startswith(b"\x89PNG")
