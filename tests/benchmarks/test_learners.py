"""All learners on all sets: found by themselves, run once, failures as rows."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.figure import Figure

import manylabel as ml
from benchmarks import plots
from benchmarks.catalogue import Catalogue
from benchmarks.learners import comparison, report
from benchmarks.learners.comparison import Comparison
from benchmarks.learners.process import measure
from benchmarks.learners.programme import Programme, find_learners, read_programme
from benchmarks.learners.results import Choice, by_set, choices, quickest
from benchmarks.learners.rows import split, write_rows
from benchmarks.ledger import Ledger
from benchmarks.runner import Failure

MADE_BY = {
    "version": "1",
    "commit": "abc",
    "machine": {"processor": "A", "cores": 2, "system": "Linux", "python": "3.11"},
}


def line(data, learner, p1=50.0, seconds=1.0, failure=None):
    """Return what the ledger has of a run."""
    about = {"key": f"{data} {learner}", "data": data, "learner": learner, **MADE_BY}
    if failure:
        return about | {"failure": failure}
    ranks = {f"{m}@{k}": p1 / k for m in ("P", "PSP") for k in (1, 3, 5)}
    sizes = {"rows": 60, "test_rows": 20, "features": 12, "labels": 5}
    times = {"fit_seconds": seconds, "rank_seconds": 0.002, "predict_seconds": 0.1}
    memory = {"peak_megabytes": 3.25, "model_megabytes": 0.5}
    return about | {"values": ranks | {"F1": p1} | sizes | times | memory}


@pytest.fixture
def programme():
    """Return two learners on the set that is there and the one that is lost."""
    known = {each.name: each for each in read_programme().learners}
    return Programme(
        kinds={"small": ("tiny",), "none": ("lost",)},
        quick=("tiny",),
        scaled=(),
        learners=(known["Popularity"], known["CSDPP"]),
        wide_features=5_000,
        smaller={},
        minutes=1,
        gigabytes=8,
        left_out={"Thresholds": "is made of another learner"},
    )


@pytest.fixture
def compare(programme, home, data, tmp_path):
    """Compare the learners, with changes to the programme."""

    def call(**changes):
        catalogue = Catalogue(data, home / "data.toml")
        ledger = Ledger(tmp_path / "runs.jsonl")
        return Comparison(replace(programme, **changes), catalogue, ledger, 1.0)

    return call


def run_all(made):
    return made.runs(made.programme.sets, {e.name for e in made.programme.learners})


def test_all_public_learners_of_several_labels_are_run():
    programme = read_programme()
    names = {each.kind for each in programme.learners}
    assert names == set(find_learners()) - programme.left_out.keys()
    assert {"FastXML", "CSDPP", "Blend", "LabelTree", "OneVsRest"} <= names
    assert not {"BudgetedTree", "Tagger", "Thresholds"} & names
    for each in programme.learners:
        getattr(ml, each.kind)(**each.parameters, **each.wide)


def test_every_set_has_one_kind_and_the_hurry_is_a_part():
    programme = read_programme()
    assert len(set(programme.sets)) == len(programme.sets) == 12
    assert {*programme.quick, *programme.scaled} <= set(programme.sets)


def test_a_run_is_made_once_and_a_failure_is_a_line(compare, monkeypatch):
    done = []

    def perform(job, folder, limit, gigabytes, slow):
        done.append(job.learner)
        assert (folder / "tiny" / "train_X.npz").exists()
        if job.learner == "CSDPP":
            raise Failure("took over 1 minutes of CPU time", limit=limit)
        return {"values": {"P@1": 3.0}}

    monkeypatch.setattr(comparison, "perform", perform)
    for _ in range(2):
        made = compare()
        lines = made.measure(run_all(made))
        assert [each["learner"] for each in lines] == ["Popularity", "CSDPP"]
        assert lines[0]["values"] == {"P@1": 3.0}
        assert lines[1]["failure"] == "took over 1 minutes of CPU time"
    assert done == ["Popularity", "CSDPP"]  # neither is tried again
    assert [source.name for source in made.missing] == ["lost"]


def test_another_failure_is_a_line_too_and_tried_again(compare, monkeypatch):
    def perform(job, folder, limit, gigabytes, slow):
        raise Failure("failed: MemoryError")

    monkeypatch.setattr(comparison, "perform", perform)
    made = compare()
    lines = made.measure(run_all(made))
    assert [each["failure"] for each in lines] == ["failed: MemoryError"] * 2
    assert made.ledger.records == {}


def test_who_is_too_slow_for_a_smaller_set_is_not_tried_on_a_larger(compare):
    made = compare(smaller={"tiny": ("crumb",)})
    for learner, limit in (("CSDPP", 60.0), ("Popularity", 59.0)):
        line = {"key": learner, "data": "crumb", "learner": learner, "limit": limit}
        made.ledger.append(line | {"failure": "took too long"})
    task = made._task("tiny", made.ledger.path.parent)
    assert task.keywords["slow"] == {"CSDPP": "crumb"}
    with pytest.raises(Failure, match="not tried: too slow on crumb, which is smal"):
        task(run_all(made)[1])


def test_a_wide_set_changes_the_parameters_and_so_the_run(compare):
    narrow, wide = (compare(wide_features=n) for n in (12, 11))
    assert [run.parameters for run in run_all(narrow)] == [{}, {}]
    assert run_all(wide)[1].parameters == {"regressor": "gradient"}
    assert run_all(narrow)[0].key == run_all(wide)[0].key
    assert run_all(narrow)[1].key != run_all(wide)[1].key


def test_a_run_measures_what_the_library_says(compare, home, data, tmp_path):
    source = Catalogue(data, home / "data.toml")["tiny"]
    write_rows(source, tmp_path / "rows", scaled=False)
    about = {"class": "Popularity", "parameters": {}, "order": None}
    found = measure(about, tmp_path / "rows")
    train, test = (source.parts[part] for part in ("train", "test"))
    model = ml.Popularity().fit(train.X, train.Y)
    best = model.predict_topk(test.X, k=5)
    told = ml.evaluate(test.Y, best, propensity=ml.Propensity().fit(train.Y))
    assert found["P@1"] == pytest.approx(100 * told["P@1"])
    assert found["PSP@5"] == pytest.approx(100 * told["PSP@5"])
    sets = ml.evaluate(test.Y, model.predict(test.X), costs=("f1",))
    assert found["F1"] == pytest.approx(100 * (1 - sets["f1"]))
    assert (found["rows"], found["test_rows"], found["labels"]) == (40, 20, 5)
    assert found["model_megabytes"] > 0
    assert found["peak_megabytes"] >= 0


def test_who_learns_in_one_pass_reads_rows_in_a_drawn_order(
    compare, home, data, tmp_path
):
    batch, online = run_all(compare())
    assert (batch.learner, online.learner) == ("Popularity", "CSDPP")
    assert (batch.order, online.order) == (None, 0)
    assert online.key != replace(online, order=None).key
    source = Catalogue(data, home / "data.toml")["tiny"]
    write_rows(source, tmp_path / "rows", scaled=False)
    train, test = (source.parts[part] for part in ("train", "test"))
    drawn = train[np.random.default_rng(0).permutation(len(train))]
    tree = replace(online, kind="OnlineLabelTree")  # to which the order matters more
    found = measure(tree.about, tmp_path / "rows")
    by_order = [
        [ml.evaluate(test.Y, model.predict_topk(test.X, k=5))[f"P@{k}"] for k in (1, 3)]
        for model in (ml.OnlineLabelTree().fit(e.X, e.Y) for e in (drawn, train))
    ]
    assert [found["P@1"], found["P@3"]] == pytest.approx(np.multiply(100, by_order[0]))
    assert by_order[0] != by_order[1]


@pytest.mark.slow
def test_a_run_in_its_process_ends_at_its_memory(compare):
    made = compare(gigabytes=0.05)
    lines = made.measure(run_all(made)[:1])
    assert "failed" in lines[0]["failure"] or "ended" in lines[0]["failure"]
    made = compare()
    lines = made.measure(run_all(made)[:1])
    assert lines[0]["values"]["fit_seconds"] >= 0
    assert json.dumps(lines[0], allow_nan=False)


def test_a_set_in_one_part_is_drawn_apart_and_whole(home, data):
    source = Catalogue(data, home / "data.toml")["tiny"]
    rows = source.parts["train"]
    vars(source)["parts"] = {"all": rows}
    parts = split(source)
    assert [len(parts[part]) for part in ("train", "test")] == [32, 8]
    total = sum(np.asarray(parts[p].X.sum(axis=0)) for p in parts)
    np.testing.assert_allclose(total, np.asarray(rows.X.sum(axis=0)), rtol=1e-5)


def test_the_best_is_of_means_over_sets_that_it_finished():
    lines = by_set(
        [
            *(line("a", "slow", 80, 12), line("b", "slow", 60, 6)),
            *(line("a", "quick", 79, 1), line("b", "quick", 59.5, 1)),
            *(line("a", "half", 99, 1), line("b", "half", failure="too slow")),
        ]
    )
    found = choices(lines, ["a", "b", "c"], "P@1")
    assert found == [Choice("slow", 70, 9), Choice("quick", 69.25, 1)]
    assert quickest(found).learner == "quick"
    assert choices(lines, ["c"], "P@1") == []


def test_the_page_says_which_learner_and_what_failed(programme, tmp_path):
    lines = [line("tiny", "Popularity", 40.0, 0.5), line("tiny", "CSDPP", failure="no")]
    path = report.write_pages(
        *(lines, programme, [], tmp_path), command="python -m x", minutes=2
    )
    text = path.read_text()
    assert path.name == "which-learner.md"
    assert "- **small** (tiny): for the first label Popularity, and nothing" in text
    assert "the best P@1 is 11.0 points on tiny." in text  # sqrt(.4 * .6 / 20)
    row = "| Popularity | 40.0 / 13.3 / 8.0 | 40.0 / 13.3 / 8.0 | 40.0 |"
    assert f"{row} 0.50 | 100 | 3.25 | 0.50 |" in text
    assert "| CSDPP | no |  |  |  |  |  |  |" in text
    assert "2 CPU minutes and\n  8 GB" in text
    assert "![quality against time, by data set](which-learner.png)" in text
    content = (tmp_path / "which-learner.png").read_bytes()
    assert content.startswith(b"\x89PNG")


def test_times_of_another_processor_are_named():
    slow = line("tiny", "CSDPP") | {"machine": {"processor": "B"}}
    lines = [line("tiny", "Popularity"), line("tiny", "PLST"), slow]
    assert report.write_set(lines).endswith("Times are of CSDPP on B; the others on A.")
    assert "Times" not in report.write_set(lines[:2])


def test_no_two_learners_look_the_same_in_the_picture():
    families = {each.name: each.family for each in read_programme().learners}
    points = {name: (1.0, float(at)) for at, name in enumerate(families)}
    axes = Figure().subplots()
    plots.draw_families(axes, points, families)
    looks = {
        (line.get_marker(), line.get_color(), line.get_markerfacecolor())
        for line in axes.get_lines()
    }
    assert len(looks) == len(families)


def test_nothing_is_advised_before_all_learners_were_run(programme):
    lines = [line("tiny", "Popularity"), line("tiny", "CSDPP", failure="no")]
    assert "for the first label" in report.write_choices(by_set(lines), programme)
    assert report.write_choices(by_set(lines[:1]), programme) == ""


def test_a_variant_is_run_on_its_sets_and_not_waited_for_on_others(compare, programme):
    plain, other = programme.learners
    for sets, names in (
        (("lost",), ["Popularity"]),
        (("tiny",), ["Popularity", "CSDPP"]),
    ):
        made = compare(learners=(plain, replace(other, sets=sets)))
        assert [run.learner for run in run_all(made)] == names
        lines = by_set([line("tiny", "Popularity")])
        advice = report.write_choices(lines, made.programme)
        assert ("for the first label Popularity" in advice) == (sets == ("lost",))


def test_a_page_without_runs_is_a_page(programme, tmp_path):
    path = report.write_pages(*([], programme, [], tmp_path), command="x", minutes=2)
    assert "No run is finished." in path.read_text()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--set", "mnist"], "--set must be one of emotions, .*Got 'mnist'"),
        (["--learner", "SVM"], "--learner must be one of .*Got 'SVM'"),
        (["--minutes", "0"], "--minutes must be above 0. Got 0"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(cli, tmp_path, arguments, sentence):
    outcome = cli("learners", *arguments, "--data", tmp_path, "--out", tmp_path / "o")
    assert outcome.status == 2
    assert len(outcome.err.splitlines()) == 1
    assert re.search(sentence, outcome.err)
    assert not (tmp_path / "o").exists()
