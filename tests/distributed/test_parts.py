"""Parts of a fit: merged, they are the whole, bit for bit."""

import errno
import json
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import example, given, settings
from hypothesis import strategies as st

import manylabel as ml
from manylabel.distributed import Part, fit, fit_part, merge, plan, write_shards
from manylabel.distributed.plan import cut_evenly
from manylabel.exceptions import ArchiveError, DataError

LEARNERS = {
    "FastXML": ml.FastXML(n_estimators=7),
    "FastXML of a cost": ml.FastXML(n_estimators=4, cost="f1"),
    "PfastXML": ml.PfastXML(n_estimators=4),
    "PfastreXML": ml.PfastreXML(n_estimators=5),
    "PfastreXML of exact centroids": ml.PfastreXML(
        n_estimators=3, alpha=0.8, tail="program", centroids="exact"
    ),
    "OneVsRest": ml.OneVsRest(),
    "OneVsRest of logistic loss": ml.OneVsRest(loss="log_loss", propensity=0.7),
    "LabelTree": ml.LabelTree(n_clusters=3, leaf_labels=25),
    "LabelTree of one level": ml.LabelTree(),
    "LabelTree of three trees": ml.LabelTree(n_estimators=3, leaf_labels=40),
    "LabelTree that chooses": ml.LabelTree(leaf_labels=40, tilt="auto", cost="f1"),
    "LabelTree of probabilities": ml.LabelTree(leaf_labels=40, calibrate="auto"),
    "LabelTree of a background": ml.LabelTree(leaf_labels=40, background=30),
}
each_learner = pytest.mark.parametrize("name", LEARNERS)


def files(folder):
    """Return the content of a model folder, by name."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def assert_same_folders(one, other, place):
    for number, model in enumerate((one, other)):
        model.save(place / f"{number}")
    assert files(place / "0") == files(place / "1")


def fresh(name):
    return type(LEARNERS[name])(**LEARNERS[name].get_params(deep=False))


@each_learner
def test_merged_folders_are_those_of_the_whole(name, data, tmp_path):
    parts = plan(LEARNERS[name], data, 4, tmp_path / "out")
    # On another day, in another order, from JSON.
    records = [json.loads(json.dumps(part._asdict())) for part in parts]
    places = [fit_part(tmp_path / "out", record) for record in records[::-1]]
    whole = fresh(name).fit(data.X, data.Y)
    assert_same_folders(merge(places), whole, tmp_path)


@pytest.mark.slow
@settings(max_examples=15)
@given(
    name=st.sampled_from(sorted(LEARNERS)),
    n_rows=st.integers(12, 80),
    n_labels=st.integers(1, 200),
    n_parts=st.integers(1, 12),
    seed=st.integers(0, 1000),
)
def test_any_data_in_any_parts_give_the_whole(
    tmp_path_factory, name, n_rows, n_labels, n_parts, seed
):
    out = tmp_path_factory.mktemp("out")
    rng = np.random.default_rng(seed)
    X = rng.random((n_rows, 6)) * (rng.random((n_rows, 6)) < 0.5)
    Y = (rng.random((n_rows, n_labels)) < 0.1).astype(int)
    learner = fresh(name).set_params(random_state=seed)
    data = ml.Dataset(X, Y)
    parts = plan(learner, data, n_parts, out / "plan")
    merged = merge([fit_part(out / "plan", part) for part in parts])
    whole = fresh(name).set_params(random_state=seed).fit(data.X, data.Y)
    assert_same_folders(merged, whole, out)


def test_a_tagger_of_texts_is_merged_too(texts, tmp_path):
    make = lambda: ml.Tagger(ml.LabelTree(leaf_labels=40, n_jobs=2))  # noqa: E731
    merged = fit(make(), texts, out=tmp_path / "out", n_parts=3)
    assert_same_folders(merged, make().fit(texts), tmp_path)


def test_a_file_is_data_too(data, tmp_path):
    ml.write(data, tmp_path / "rows.txt")
    merged = fit(ml.OneVsRest(), tmp_path / "rows.txt", out=tmp_path / "out")
    read = ml.read(tmp_path / "rows.txt")
    assert_same_folders(merged, ml.OneVsRest().fit(read.X, read.Y), tmp_path)


@pytest.mark.parametrize(
    ("format", "is_text"),
    [("xc", False), ("jsonl", True), ("parquet", True), ("parquet", False)],
)
def test_shards_are_data_too(data, texts, format, is_text, tmp_path):
    if format == "parquet":
        pytest.importorskip("pyarrow")
    given = texts if is_text else data
    chunks = given[:100], given[100:101], given[101:]
    write_shards(chunks, tmp_path / "rows", format=format)
    make = lambda: ml.Tagger(ml.OneVsRest())  # noqa: E731
    merged = fit(make(), tmp_path / "rows", out=tmp_path / "out", n_parts=2)
    assert_same_folders(merged, make().fit(given), tmp_path)


@pytest.mark.parametrize(
    ("harm", "message"),
    [
        (lambda file: file.unlink(), "this shard is missing"),
        (lambda file: file.write_bytes(b""), "the checksum is wrong, so the shard is"),
        (lambda file: file.write_text("1 40 150\n0 1:2\n"), "the checksum is wrong"),
    ],
)
def test_no_fit_begins_without_a_shard(data, tmp_path, harm, message):
    write_shards([data[:100], data[100:]], tmp_path / "rows")
    harm(tmp_path / "rows/00001.txt")
    with pytest.raises(DataError, match=rf"00001\.txt: {message}"):
        fit(ml.OneVsRest(), tmp_path / "rows", out=tmp_path / "out")
    assert not (tmp_path / "out/plan.json").exists()


def test_the_plan_moves_with_its_parts(data, tmp_path):
    parts = plan(ml.OneVsRest(), data, 3, tmp_path / "here")
    places = [fit_part(tmp_path / "here", part) for part in parts]
    (tmp_path / "here").rename(tmp_path / "there")
    moved = [tmp_path / "there" / p.relative_to(tmp_path / "here") for p in places]
    assert_same_folders(merge(moved), ml.OneVsRest().fit(data.X, data.Y), tmp_path)


def test_a_part_is_small_and_knows_no_data(data, tmp_path):
    parts = plan(ml.LabelTree(leaf_labels=25), data, 6, tmp_path)
    assert len(parts) == 6
    assert all(len(json.dumps(part._asdict())) < 300 for part in parts)


def test_parts_cost_about_the_same(data, tmp_path):
    parts = plan(ml.FastXML(n_estimators=10), data, 4, tmp_path)
    assert [part.stop - part.start for part in parts] == [3, 2, 3, 2]


def test_trees_of_a_validation_set_are_parts_of_about_the_same_cost(data, tmp_path):
    parts = plan(ml.PfastreXML(n_estimators=20), data, 7, tmp_path)
    sizes = {}
    for part in parts:
        sizes.setdefault(part.stage, []).append(part.stop - part.start)
    assert sizes == {"trees": [5, 5, 5, 5], "validation": [5, 5, 5]}


def test_more_parts_than_units_are_as_many_as_units(data, tmp_path):
    parts = plan(ml.FastXML(n_estimators=3), data, 40, tmp_path)
    assert [(part.start, part.stop) for part in parts] == [(0, 1), (1, 2), (2, 3)]


@settings(max_examples=100)
@given(
    costs=st.lists(st.integers(0, 20), min_size=1, max_size=12),
    n_parts=st.integers(1, 10**12),
)
@example(costs=[1, 2, 3, 4], n_parts=10)
@example(costs=[7, 7, 7, 2], n_parts=3)
def test_a_cut_is_where_a_share_is_reached(costs, n_parts):
    found = list(cut_evenly(np.array(costs, np.float64), n_parts))
    assert [n for each in found for n in range(*each)] == list(range(len(costs)))
    assert len(found) <= n_parts
    total, done = sum(costs), np.cumsum(costs).tolist()
    shares = [min(each * n_parts // (total or 1), n_parts - 1) for each in done]
    cuts = [n + 1 for n in range(len(costs) - 1) if shares[n] > [0, *shares][n]]
    assert [stop for _, stop in found[:-1]] == cuts


@pytest.mark.parametrize("n_parts", [0, -1, 1.5])
def test_parts_are_at_least_one(data, tmp_path, n_parts):
    for make in (
        lambda: fit(ml.OneVsRest(), data, out=tmp_path, n_parts=n_parts),
        lambda: plan(ml.OneVsRest(), data, n_parts, tmp_path),
    ):
        with pytest.raises((TypeError, ValueError), match=r"^n_parts "):
            make()


def test_any_number_of_parts_is_one(data, tmp_path):
    assert len(plan(ml.FastXML(n_estimators=3), data, 10**15, tmp_path)) == 3
    forest = ml.FastXML(n_estimators=3)
    assert len(plan(forest, data, np.int64(2), tmp_path / "other")) == 2


def test_what_is_learnt_is_not_learnt_again(data, tmp_path, monkeypatch):
    parts = plan(ml.FastXML(n_estimators=3), data, 3, tmp_path)
    before = {fit_part(tmp_path, part): None for part in parts[:2]}
    times = {place: (place / "manifest.json").stat().st_mtime_ns for place in before}
    model = fit(ml.FastXML(n_estimators=3), data, out=tmp_path)
    assert times == {p: (p / "manifest.json").stat().st_mtime_ns for p in times}
    assert model.forest_.n_trees == 3


def test_what_an_interrupted_plan_left_is_of_no_other(
    texts, data, tmp_path, monkeypatch
):
    out, tagger = tmp_path / "out", ml.Tagger(ml.LabelTree(leaf_labels=40))
    with monkeypatch.context() as patch:
        planning = sys.modules["manylabel.distributed.plan"]
        patch.setattr(planning, "write_sealed", None)  # what comes last fails
        with pytest.raises(TypeError):
            plan(tagger, texts, 3, out)
    assert (out / "tagger").is_dir()
    assert (out / "prepared").is_dir()
    merged = fit(ml.OneVsRest(), data, out=out, n_parts=3)
    assert_same_folders(merged, ml.OneVsRest().fit(data.X, data.Y), tmp_path)


@pytest.mark.parametrize("name", ["learner", "rows", "tagger", "prepared"])
def test_what_replaced_a_part_of_the_plan_is_told(name, texts, tmp_path):
    tagger = ml.Tagger(ml.LabelTree(leaf_labels=40))
    parts = plan(tagger, texts, 2, tmp_path / "a")
    places = [fit_part(tmp_path / "a", part) for part in parts]
    plan(ml.Tagger(ml.LabelTree(leaf_labels=30)), texts[:250], 2, tmp_path / "b")
    shutil.rmtree(tmp_path / "a" / name)
    (tmp_path / "b" / name).rename(tmp_path / "a" / name)
    with pytest.raises(ArchiveError, match=f"{name}: this is not what the plan"):
        merge(places)


MANY = """
import os, resource, sys
from pathlib import Path
from manylabel.distributed import merge
places = sorted(Path(sys.argv[1], "parts").iterdir())
most = len(os.listdir("/proc/self/fd")) + len(places) // 2
resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
print(merge(places).forest_.n_trees)
"""


@pytest.mark.slow
@pytest.mark.parametrize("rows", ["all", "shards"])
def test_more_parts_are_merged_than_files_can_be_open(data, tmp_path, rows):
    pytest.importorskip("resource")
    if not Path("/proc/self/fd").exists():
        pytest.skip("who has how many files open is told by Linux alone")
    write_shards([data[:100], data[100:]], tmp_path / "rows")
    forest = ml.FastXML(n_estimators=16)
    for part in plan(forest, tmp_path / "rows", 16, tmp_path / "out", rows=rows):
        fit_part(tmp_path / "out", part)
    command = [sys.executable, "-c", MANY, str(tmp_path / "out")]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert (ended.stdout, ended.returncode) == ("16\n", 0), ended.stderr


def test_a_damaged_part_is_learnt_again(data, tmp_path):
    (part,) = plan(ml.OneVsRest(), data, 1, tmp_path)
    place = fit_part(tmp_path, part)
    (arrays,) = place.glob("arrays-*")
    arrays.write_bytes(arrays.read_bytes()[:-1] + b"!")
    with pytest.raises(ArchiveError, match="the checksum is wrong"):
        merge([place])
    merge([fit_part(tmp_path, part)])


def test_two_workers_with_one_part_need_no_lock(data, tmp_path, monkeypatch):
    monkeypatch.setattr("manylabel.persistence.folder.fcntl", None)
    (part,) = plan(ml.OneVsRest(), data, 1, tmp_path / "out")
    for trial in range(10):
        place, both = tmp_path / f"part {trial}", Barrier(2)

        def learn(_, place=place, both=both):
            both.wait()
            return fit_part(tmp_path / "out", part, place)

        with ThreadPoolExecutor(2) as pool:
            assert list(pool.map(learn, range(2))) == [place, place]
        merge([place])
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {"out", *(f"part {trial}" for trial in range(10))}


@pytest.mark.parametrize("code", ["ENOLCK", "ENOSYS", "EOPNOTSUPP"])
def test_a_file_system_may_have_no_locks(data, tmp_path, monkeypatch, code):
    fcntl = pytest.importorskip("fcntl")

    def refuse(*_):
        raise OSError(getattr(errno, code), code)

    monkeypatch.setattr(fcntl, "flock", refuse)
    model = fit(ml.OneVsRest(), data, out=tmp_path / "out")
    model.save(tmp_path / "model")
    assert_same_folders(model, ml.load(tmp_path / "model"), tmp_path)
    code = "EIO"
    with pytest.raises(ArchiveError, match="the model cannot be written"):
        model.save(tmp_path / "model")


def test_what_killed_workers_left_is_removed(data, tmp_path):
    plan(ml.OneVsRest(), data, 1, tmp_path)
    for name in ("000000", ".000000.dead"):
        (tmp_path / "parts" / name).mkdir(parents=True)
        (tmp_path / "parts" / name / ".draft-arrays").write_bytes(b"half")
    fit(ml.OneVsRest(), data, out=tmp_path)
    assert [path.name for path in (tmp_path / "parts").iterdir()] == ["000000"]


def test_a_folder_of_other_files_is_no_place_for_a_part(data, tmp_path):
    (part,) = plan(ml.OneVsRest(), data, 1, tmp_path / "out")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/a.txt").write_text("a")
    with pytest.raises(ArchiveError, match="this folder holds other files"):
        fit_part(tmp_path / "out", part, tmp_path / "mine")
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["a.txt"]


def test_a_missing_part_is_told(data, tmp_path):
    parts = plan(ml.OneVsRest(), data, 3, tmp_path)
    places = [fit_part(tmp_path, part) for part in parts[1:]]
    with pytest.raises(ValueError, match=r"all 3 of the plan\. Part 0 is missing"):
        merge(places)


def test_a_part_of_another_plan_is_refused(data, tmp_path):
    (part,) = plan(ml.OneVsRest(), data, 1, tmp_path / "a")
    plan(ml.OneVsRest(C=2.0), data, 1, tmp_path / "b")
    with pytest.raises(ArchiveError, match="part 0 is of another plan"):
        fit_part(tmp_path / "b", part)


def test_a_folder_has_one_plan(data, tmp_path):
    plan(ml.OneVsRest(), data, 2, tmp_path)
    with pytest.raises(ArchiveError, match="the plan of another fit"):
        plan(ml.OneVsRest(C=2.0), data, 2, tmp_path)
    with pytest.raises(ArchiveError, match="the plan of another fit"):
        plan(ml.OneVsRest(), data[:200], 2, tmp_path)
    with pytest.raises(ArchiveError, match="n_parts=2, not 3"):
        plan(ml.OneVsRest(), data, 3, tmp_path)


@pytest.mark.parametrize(
    "change",
    [
        lambda data: {"X": sp.hstack([data.X, sp.csr_array((len(data), 1))])},
        lambda data: {"Y": sp.hstack([data.Y, sp.csr_array((len(data), 1))])},
        lambda data: {"feature_names": [f"f{n}" for n in range(data.n_features)]},
        lambda data: {"label_names": [f"l{n}" for n in range(data.n_labels)]},
    ],
)
def test_a_plan_is_of_all_that_a_fit_reads(data, tmp_path, change):
    given = {name: getattr(data, name) for name in ("X", "Y")}
    plan(ml.OneVsRest(), data, 2, tmp_path)
    with pytest.raises(ArchiveError, match="the plan of another fit"):
        plan(ml.OneVsRest(), ml.Dataset(**given | change(data)), 2, tmp_path)


def test_a_plan_of_other_versions_is_told(data, tmp_path, monkeypatch):
    plan(ml.OneVsRest(), data, 2, tmp_path)
    planning = sys.modules["manylabel.distributed.plan"]
    now = planning.versions() | {"numpy": "9.9"}
    monkeypatch.setattr(planning, "versions", lambda: now)
    message = rf"its plan is of numpy {np.__version__}, not 9\.9: name another folder"
    with pytest.raises(ArchiveError, match=message):
        plan(ml.OneVsRest(), data, 2, tmp_path)


def test_the_folder_of_a_model_is_no_place_for_parts(data, tmp_path):
    ml.OneVsRest().fit(data.X, data.Y).save(tmp_path)
    before = files(tmp_path)
    for make in (
        lambda: fit(ml.OneVsRest(), data, out=tmp_path),
        lambda: plan(ml.OneVsRest(), data, 2, tmp_path),
    ):
        with pytest.raises(ArchiveError, match="this is the folder of a model: name"):
            make()
    assert files(tmp_path) == before


def test_texts_and_names_of_labels_are_told_apart(tmp_path):
    Y, tagger = [[1], [0]], ml.Tagger(ml.OneVsRest())
    named = ml.Dataset(None, Y, texts=["a", "b"], label_names=["c"])
    plan(tagger, named, 1, tmp_path)
    with pytest.raises(ArchiveError, match="the plan of another fit"):
        plan(tagger, ml.Dataset(None, Y, texts=["a", "b\0c"]), 1, tmp_path)


def test_a_worker_that_does_not_see_the_folder_says_so(data, tmp_path):
    (part,) = plan(ml.OneVsRest(), data, 1, tmp_path)
    with pytest.raises(ArchiveError, match="must be one that all machines see"):
        fit_part(tmp_path / "elsewhere", part)


@pytest.mark.parametrize(
    "package", ["manylabel", "numpy", "scipy", "scikit-learn", "numba"]
)
def test_other_versions_are_refused(data, tmp_path, package):
    (part,) = plan(ml.OneVsRest(), data, 1, tmp_path)
    old = part._replace(versions=part.versions | {package: "0.0.1"})
    with pytest.raises(RuntimeError, match=f"{package} must be .* Got 0.0.1 and, on"):
        fit_part(tmp_path, old)


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (ml.CSDPP(), "by parts. Got a CSDPP"),
        (ml.Tagger(ml.PLST()), "by parts. Got a PLST"),
        (ml.OneVsRest(random_state=None), "random_state must be an int"),
        (ml.OneVsRest(calibrate="auto"), "calibrate must be None"),
        (ml.FastXML(calibrate="auto"), "calibrate must be None"),
    ],
)
def test_what_has_no_parts_is_refused(data, tmp_path, estimator, message):
    with pytest.raises((TypeError, ValueError), match=message):
        plan(estimator, data, 2, tmp_path)


def test_what_no_worker_could_read_is_refused(data, tmp_path):
    with pytest.raises(TypeError, match=r"write_shards makes .* Got a list\."):
        fit(ml.OneVsRest(), ["a.txt", "b.txt"], out=tmp_path / "out")
    (tmp_path / "rows").mkdir()
    with pytest.raises(DataError, match=r"rows: expected a sharded folder, found no"):
        fit(ml.OneVsRest(), tmp_path / "rows", out=tmp_path / "out")


def test_part_of_json_is_a_part(data, tmp_path):
    (part,) = plan(ml.OneVsRest(), data, 1, tmp_path)
    assert Part.of(json.loads(json.dumps(part._asdict()))) == part
