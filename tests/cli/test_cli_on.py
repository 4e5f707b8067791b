"""``manylabel shard``, and ``fit --on`` and ``predict --on`` a cluster."""

import json
import shutil
from types import SimpleNamespace

import pytest

import manylabel as ml
from manylabel.distributed import engines, read_shards


@pytest.fixture
def file(tmp_path):
    corpus = ml.make_corpus(n_rows=120, n_features=20, n_labels=9, random_state=0)
    ml.write(ml.Dataset(corpus.X, corpus.Y), tmp_path / "rows.txt")
    return tmp_path / "rows.txt"


@pytest.fixture
def stand_in(monkeypatch):
    """Return an address; this process stands for the cluster there."""
    connect = engines.connect
    here = lambda _, n_jobs=None: connect(None, n_jobs)  # noqa: E731
    monkeypatch.setattr(engines, "connect", here)
    for module in ("paths", "evaluation"):
        monkeypatch.setattr(f"manylabel.distributed.{module}.connect", here)
    return "dask://here:1"


def test_shards_hold_the_rows_of_the_file(cli, file, tmp_path):
    outcome = cli("shard", file, "--out", tmp_path / "shards", "--rows", 50)
    assert outcome.status == 0
    assert "120 rows in 3 shards of xc" in outcome.out
    read = read_shards(tmp_path / "shards")
    assert (read.X != ml.read(file).X).nnz == (read.Y != ml.read(file).Y).nnz == 0


def test_shards_are_counted_for_other_programs(cli, file, tmp_path):
    outcome = cli("shard", file, "--out", tmp_path / "shards", "--json")
    expected = {"shards": 1, "rows": 120, "labels": 9, "format": "xc"}
    assert json.loads(outcome.out) == expected


def test_features_are_no_json_lines(cli, file, tmp_path):
    outcome = cli("shard", file, "--out", tmp_path / "shards", "--to", "jsonl")
    assert outcome.status == 2
    assert "expected texts, which jsonl needs, found none" in outcome.err


def test_a_sharded_folder_is_fitted_as_its_file(cli, file, tmp_path):
    cli("shard", file, "--out", tmp_path / "shards", "--rows", 50)
    for name, source in (("one", file), ("other", tmp_path / "shards")):
        outcome = cli("fit", source, "--model", tmp_path / name, "--quality", "fast")
        assert outcome.status == 0, outcome.err
    one, other = (ml.Tagger.load(tmp_path / name) for name in ("one", "other"))
    assert one.get_state().keys() == other.get_state().keys()
    assert (one.learner_.coef_ != other.learner_.coef_).nnz == 0


FORMATS = pytest.mark.parametrize("format", ["xc", "jsonl", "parquet", "features"])


@pytest.fixture
def sharded(cli, file, format, tmp_path):
    """Return a model, a file of its rows, and these rows in shards of a format."""
    if format in ("parquet", "features"):
        pytest.importorskip("pyarrow")
    to, shards = format.replace("features", "parquet"), tmp_path / "shards"
    if format in ("jsonl", "parquet"):
        data = ml.read(file)
        words = [" ".join(f"w{column}" for column in row.indices) for row in data.X]
        rows = zip(words, data.labels.decode(data.Y), strict=True)
        records = [json.dumps({"text": text, "labels": tags}) for text, tags in rows]
        file = tmp_path / "rows.jsonl"
        file.write_text("\n".join(records))
    assert cli("shard", file, "--out", shards, "--rows", 50, "--to", to).status == 0
    assert cli("fit", file, "--model", tmp_path / "m", "--quality", "fast").status == 0
    return tmp_path / "m", file, shards


@FORMATS
def test_shards_are_predicted_and_judged_as_their_file(cli, sharded):
    model, file, shards = sharded
    answers = [cli("predict", model, rows) for rows in (file, shards)]
    assert answers[0].out == answers[1].out != ""
    outcomes = [cli("evaluate", model, rows, "--json") for rows in (file, shards)]
    assert outcomes[1].status == 0, outcomes[1].err
    reports = [json.loads(outcome.out) for outcome in outcomes]
    for report in reports:
        del report["data"]
    assert reports[0] == reports[1]


@FORMATS
def test_shards_go_to_a_cluster_as_files_do(cli, sharded, stand_in, tmp_path):
    read_table = pytest.importorskip("pyarrow.parquet").read_table
    model, _, shards = sharded
    for out, on in (("here.parquet", []), ("there", ["--on", stand_in])):
        outcome = cli("predict", model, shards, "-o", tmp_path / out, *on)
        assert outcome.status == 0, outcome.err
    one, other = (read_table(tmp_path / out) for out in ("here.parquet", "there"))
    assert one.equals(other)
    assert one.num_rows == 120


@FORMATS
def test_a_cluster_judges_as_this_machine_does(cli, sharded, stand_in, tmp_path):
    model, file, shards = sharded
    (tmp_path / "folder").mkdir()
    shutil.copy(file, tmp_path / "folder")
    for rows in (file, shards, tmp_path / "folder"):
        whole = file if rows.name == "folder" else rows
        for form in ((), ("--json",)):
            asked = (*form, "-k", "1,2", "--propensity", "0.5,0.4")
            here = cli("evaluate", model, whole, "--no-intervals", *asked)
            there = cli("evaluate", model, rows, "--on", stand_in, *asked)
            assert there.status == 0, there.err
            if form:
                one, other = (json.loads(each.out) for each in (here, there))
                assert (one["rows"], other["data"]) == (120, str(rows))
                del one["rows"], one["data"], other["data"]
                assert one == other
            else:
                assert here.out.splitlines()[1:] == there.out.splitlines()[1:]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--html", "out.html"), "--html must come without --on."),
        (("--intervals",), "--intervals must come without --on."),
        (("--annotate",), "--annotate must come without --on."),
        (("--propensity", "none"), "--on must come with propensities A,B, and a mod"),
        (("--propensity", "0.7"), "--on must come with propensities A,B, and a mod"),
    ],
)
def test_what_no_cluster_judges_is_refused(cli, file, tmp_path, options, sentence):
    cli("fit", file, "--model", tmp_path / "model", "--quality", "fast")
    outcome = cli("evaluate", tmp_path / "model", file, "--on", "ray", *options)
    assert outcome.status == 2
    assert outcome.err.startswith(f"error: {sentence}")
    assert outcome.err.count("\n") == 1


def test_one_model_and_one_file_are_judged_by_a_cluster(cli, file, tmp_path):
    for name in ("one", "other"):
        cli("fit", file, "--model", tmp_path / name, "--quality", "fast")
    one, other = tmp_path / "one", tmp_path / "other"
    for asked, sentence in {
        (one, other, file): "--on must be asked of one model. Got 2.",
        (one, "-"): "FILE must be a path that all machines see. Got '-'.",
        (one, other): "FILE, rows to judge by, must follow MODEL. Got",
    }.items():
        outcome = cli("evaluate", *asked, "--on", "ray")
        assert outcome.status == 2
        assert outcome.err.startswith(f"error: {sentence}")


@FORMATS
def test_a_damaged_shard_is_neither_predicted_nor_judged(
    cli, sharded, stand_in, tmp_path
):
    model, _, shards = sharded
    (second,) = shards.glob("00001.*")
    content = bytearray(second.read_bytes())
    content[5] ^= 1
    second.write_bytes(content)
    for asked in (
        ("predict", model, shards),
        ("predict", model, shards, "-o", tmp_path / "out", "--on", stand_in),
        ("evaluate", model, shards),
    ):
        outcome = cli(*asked)
        assert outcome.status == 2
        assert f"{second.name}: the checksum is wrong" in outcome.err


def test_other_versions_of_a_worker_end_in_one_sentence(
    cli, tables, stand_in, tmp_path, monkeypatch
):
    old = {"manylabel": "0.0.1"}
    monkeypatch.setattr("manylabel.distributed.paths.versions", lambda: old)
    asked = ("predict", *tables, "--text-column", "name", "-o", tmp_path / "out")
    outcome = cli(*asked, "--on", stand_in)
    assert outcome.status == 2
    assert outcome.err.startswith("error: manylabel must be the same for driver and w")
    assert outcome.err.count("\n") == 1


def test_a_learner_without_parts_is_refused_at_once(cli, file, tmp_path):
    where = ("--model", tmp_path / "model", "--on", "dask://nowhere:1")
    outcome = cli("fit", file, *where, "--learner", "popularity")
    assert outcome.status == 2
    assert outcome.err.startswith("error: --on: estimator must be a FastXML")


@pytest.mark.parametrize("work", ["model", "model/", "x/../model", "model/work"])
def test_parts_do_not_go_into_the_model(
    cli, file, stand_in, work, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    where = ("--model", tmp_path / "model", "--on", stand_in, "--work", work)
    outcome = cli("fit", file, *where)
    assert outcome.status == 2
    assert outcome.err.startswith("error: --work must name a folder outside that of")
    assert outcome.err.count("\n") == 1
    assert not (tmp_path / "model").exists()


def test_settings_are_not_searched_on_a_cluster(cli, file, tmp_path):
    where = ("--model", tmp_path / "model", "--on", "ray")
    outcome = cli("fit", file, *where, "--learner", "one-vs-rest", "--tune", "P@1")
    assert outcome.status == 2
    assert outcome.err.startswith("error: --tune must come without --on: search on thi")
    assert outcome.err.count("\n") == 1


def test_an_unknown_engine_is_refused(cli, file, tmp_path):
    outcome = cli("fit", file, "--model", tmp_path / "model", "--on", "flink://here")
    assert outcome.status == 2
    assert "--on must be dask://host:port" in outcome.err


def test_parts_stay_until_the_model_is_saved(
    cli, file, stand_in, tmp_path, monkeypatch
):
    model, save = tmp_path / "model", ml.Tagger.save

    def fill_the_disk(tagger, folder):
        if folder == model:
            raise OSError("No space left on device")
        save(tagger, folder)

    asked = ("fit", file, "--model", model, "--on", stand_in)
    with monkeypatch.context() as patch:
        patch.setattr(ml.Tagger, "save", fill_the_disk)
        assert cli(*asked).status == 2
    parts = tmp_path / "model.parts/parts"
    learnt = {place: place.stat().st_mtime_ns for place in parts.glob("*/*")}
    assert learnt
    assert cli(*asked, "--work", parts.parent).status == 0
    assert learnt == {place: place.stat().st_mtime_ns for place in parts.glob("*/*")}
    assert cli(*asked).status == 0
    assert not parts.parent.exists()


def test_parts_that_cannot_be_removed_are_a_note(
    cli, file, stand_in, tmp_path, monkeypatch
):
    def refuse(*_, **__):
        raise OSError(39, "Directory not empty")

    disk = SimpleNamespace(rmtree=refuse)
    monkeypatch.setattr("manylabel.cli.on.shutil", disk)
    outcome = cli("fit", file, "--model", tmp_path / "model", "--on", stand_in)
    assert outcome.status == 0
    assert "model.parts cannot be removed: Directory not empty." in outcome.err
    assert len(ml.Tagger.load(tmp_path / "model").label_names_) == 9


def test_a_folder_for_parts_needs_a_cluster(cli, file, tmp_path):
    where = ("--model", tmp_path / "model", "--work", tmp_path / "parts")
    outcome = cli("fit", file, *where)
    assert outcome.status == 2
    assert outcome.err.startswith("error: --work must come with --on. Got ")
    assert not (tmp_path / "model").exists()


@pytest.fixture(params=["dask", "ray", "spark-local"])
def address(request):
    """Return what names a cluster of each engine, or skip without it."""
    if request.param == "dask":
        scheduler = request.getfixturevalue("dask_client").scheduler
        return scheduler.address.replace("tcp://", "dask://")
    pytest.importorskip({"ray": "ray", "spark-local": "pyspark"}[request.param])
    if request.param == "spark-local" and shutil.which("java") is None:
        pytest.skip("Spark needs Java, which is not installed")
    return request.param


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # the engines' own
def test_a_cluster_fits_the_model_of_this_machine(cli, address, file, tmp_path):
    for name, on in (("one", []), ("other", ["--on", address])):
        outcome = cli("fit", file, "--model", tmp_path / name, *on)
        assert outcome.status == 0, outcome.err
    folders = (sorted(tmp_path.glob(f"{name}/*")) for name in ("one", "other"))
    one, other = ([path.read_bytes() for path in folder] for folder in folders)
    assert one == other
    assert not (tmp_path / "other.parts").exists()


@pytest.fixture
def tables(tmp_path):
    """Return a model of texts and a folder of Parquet files, in two columns."""
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    texts = ["red wine", "white wine", "brown bread", "rye bread and wine"]
    tags = [["drink"], ["drink"], ["food"], ["drink", "food"]]
    ml.Tagger().fit(texts, tags).save(tmp_path / "tags")
    (tmp_path / "rows").mkdir()
    for number, text in enumerate(texts):
        table = pa.table({"id": [number], "name": [text], "more": ["of old"]})
        parquet.write_table(table, tmp_path / f"rows/{number}.parquet")
    return tmp_path / "tags", tmp_path / "rows"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # the engines' own
def test_a_cluster_predicts_what_this_machine_predicts(cli, address, tables, tmp_path):
    read_table = pytest.importorskip("pyarrow.parquet").read_table
    here, there = tmp_path / "here.parquet", tmp_path / "there"
    for out, on in ((here, []), (there, ["--on", address])):
        columns = ("--text-column", "name,more", "-k", 2)
        outcome = cli("predict", *tables, *columns, "-o", out, *on)
        assert (outcome.status, outcome.out) == (0, ""), outcome.err
    one, other = (read_table(place) for place in (here, there))
    assert one.equals(other)
    outcome = cli("predict", *tables, "-o", there, "--on", address)
    assert outcome.status == 2
    assert "its answers are of" in outcome.err


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ((), "--output must name a folder with --on. Got '-'."),
        (("-o", "out", "--format", "tsv"), "--format must be parquet with --on. Got"),
        (("-o", "out", "--url", "http://x"), "--on must come without --url."),
    ],
)
def test_what_no_cluster_answers_is_refused(cli, tables, options, sentence):
    outcome = cli("predict", *tables, "--on", "ray", *options)
    assert outcome.status == 2
    assert outcome.err.startswith(f"error: {sentence}")
    assert outcome.err.count("\n") == 1


def test_standard_input_goes_to_no_cluster(cli, tables):
    outcome = cli("predict", tables[0], "-", "--on", "ray", "-o", "out")
    assert outcome.status == 2
    assert "FILE must be a path that all machines see. Got '-'." in outcome.err
