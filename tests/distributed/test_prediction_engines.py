"""Real clusters of two processes: predictions and figures have the bits of one."""

import os
import shutil
import signal
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

import manylabel as ml
from manylabel.data import LabelSpace
from manylabel.distributed import evaluate, fit, predict, predict_batches

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore"),  # the engines' own, which are many
]
WORDS = ["wine", "bread", "cheese", "red", "old", "white", "rye", "apple"]
N_ROWS, N_FILES = 1_024, 8  # rows of a file
PATIENCE = 300.0  # seconds


@pytest.fixture(scope="module")
def texts():
    pairs = [(a, b) for a in WORDS for b in WORDS]
    return [f"{a} and {b}" for a, b in pairs], [sorted({a, b}) for a, b in pairs]


@pytest.fixture(scope="module")
def model(texts, tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "model"
    ml.Tagger(ml.OneVsRest()).fit(*texts).save(path)
    return path


@pytest.fixture(scope="module")
def rows(texts, tmp_path_factory):
    """Return a folder of Parquet files of labelled texts."""
    folder = tmp_path_factory.mktemp("rows")
    times = N_ROWS // len(texts[0])
    for number in range(N_FILES):
        ids = range(number * N_ROWS, (number + 1) * N_ROWS)
        columns = {"id": ids, "text": texts[0] * times, "labels": texts[1] * times}
        parquet.write_table(pa.table(columns), folder / f"{number}.parquet")
    return folder


@pytest.fixture(scope="module")
def files(rows):
    return sorted(rows.iterdir())


@pytest.fixture(scope="module")
def expected(model, files):
    """Return labels and scores by id, as this process finds them."""
    function = predict_batches(model, k=2)
    tables = (parquet.read_table(file) for file in files)
    return by_id(row for t in tables for row in function.predict(t).to_pylist())


@pytest.fixture(scope="module")
def dask():
    distributed = pytest.importorskip("distributed", reason="dask is not installed")
    pytest.importorskip("dask.dataframe", reason="pandas is not installed")
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with distributed.LocalCluster(**options) as cluster:
        with distributed.Client(cluster) as client:
            yield client


@pytest.fixture(scope="module")
def ray(ray_client):
    pytest.importorskip("ray.data", reason="Ray Data is not installed")
    return ray_client


@pytest.fixture(scope="module")
def spark():
    sql = pytest.importorskip("pyspark.sql", reason="Spark is not installed")
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java, which is not installed")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = sql.SparkSession.builder.master("local-cluster[2,1,1024]")
    session = builder.config("spark.ui.enabled", "false").getOrCreate()
    yield session
    session.stop()


def by_id(found):
    return {
        int(row["id"]): (list(row["labels"]), [float(score) for score in row["scores"]])
        for row in found
    }


def descendants(words):
    """Return the ids of processes below this one whose command has some words."""
    parents, found = {}, []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            stat = (entry / "stat").read_text().rpartition(")")[2].split()
            parents[int(entry.name)] = int(stat[1])
            if words in (entry / "cmdline").read_bytes().decode(errors="replace"):
                found.append(int(entry.name))
        except OSError:  # it has ended
            continue
    return [pid for pid in found if is_below(pid, os.getpid(), parents)]


def is_below(pid, ancestor, parents):
    while pid in parents and pid != ancestor:
        pid = parents[pid]
    return pid == ancestor


def killed_while(work, words, instead=None):
    """Return what ``work`` returns, while a process with some words is killed."""
    with ThreadPoolExecutor(1) as pool:
        future, end = pool.submit(work), time.monotonic() + PATIENCE
        while not descendants(words) and time.monotonic() < end:
            time.sleep(0.02)
        victim = descendants(instead or words)[0]
        assert not future.done(), "nothing was left to lose"
        os.kill(victim, signal.SIGKILL)
        return future.result(PATIENCE)


def test_dask_predicts_what_one_process_predicts(dask, rows, model, expected):
    import dask.dataframe as frames

    frame = frames.read_parquet(str(rows), columns=["id", "text"])
    answer = predict(frame, model, k=2)
    assert by_id(answer.compute().to_dict("records")) == expected
    pids = dask.run(os.getpid)
    future = dask.compute(answer)
    os.kill(next(iter(pids.values())), signal.SIGKILL)
    assert by_id(future.result(PATIENCE).to_dict("records")) == expected
    assert dask.run(os.getpid) != pids


def test_two_executors_of_spark_fit_the_bits_of_one_process(spark, texts, tmp_path):
    tagger = ml.Tagger(ml.OneVsRest())
    data = ml.Dataset(
        None,
        LabelSpace(WORDS).encode(texts[1]),
        label_names=WORDS,
        texts=texts[0],
    )
    model = fit(tagger, data, out=tmp_path / "out", client=spark, n_parts=4)
    hosts = spark.sparkContext.parallelize(range(8), 8).map(lambda _: os.getppid())
    assert len(set(hosts.collect())) == 2
    whole = ml.Tagger(ml.OneVsRest()).fit(data)
    for place, one in (("parts", model), ("whole", whole)):
        one.save(tmp_path / place)
    contents = (
        {path.name: path.read_bytes() for path in (tmp_path / place).iterdir()}
        for place in ("parts", "whole")
    )
    assert next(contents) == next(contents)


def test_spark_predicts_what_one_process_predicts(spark, rows, model, expected):
    frame = spark.read.parquet(str(rows)).select("id", "text")
    answer = predict(frame, model, k=2)

    def collect():
        return by_id(row.asDict() for row in answer.collect())

    lost = killed_while(collect, "pyspark.daemon", "CoarseGrainedExecutorBackend")
    assert lost == expected
    assert collect() == expected


@pytest.mark.parametrize("engine", ["dask", "ray", "spark"])
def test_names_of_columns_may_have_dots(engine, texts, model, request, tmp_path):
    client = request.getfixturevalue(engine)
    columns = {"text.en": texts[0], "my.id": range(len(texts[0])), "a`b": texts[0]}
    columns["in.it"] = [{"x.y": n} for n in range(len(texts[0]))]
    table = pa.table(columns)
    parquet.write_table(table, tmp_path / "rows.parquet")
    asked = {"columns": "text.en", "keep": ["my.id", "in.it"], "k": 1}
    if engine == "dask":
        import dask.dataframe as frames

        frame = frames.read_parquet(str(tmp_path / "rows.parquet"))
        answer = predict(frame, model, **asked).compute().to_dict("records")
    elif engine == "spark":
        frame = client.read.parquet(str(tmp_path / "rows.parquet"))
        answer = predict(frame, model, **asked).collect()
    else:
        frame = client.data.read_parquet(str(tmp_path / "rows.parquet"))
        answer = predict(frame, model, **asked).take_all()
    found = {row["my.id"]: (row["in.it"]["x.y"], *row["labels"]) for row in answer}
    rows = predict_batches(model, **asked).predict(table).to_pylist()
    assert found == {n: (n, *row["labels"]) for n, row in enumerate(rows)}


def test_columns_that_nobody_reads_stay_where_they_are(dask, model, texts):
    import dask as api
    import dask.dataframe as frames
    import pandas as pd

    rows = pd.DataFrame({"id": range(len(texts[0])), "text": texts[0]})
    with api.config.set({"dataframe.convert-string": False}):
        mixed = frames.from_pandas(rows.assign(other=[1, "a"] * 32), npartitions=2)
        answer = predict(mixed, model, k=2).compute()
    expected = predict(frames.from_pandas(rows, npartitions=2), model, k=2).compute()
    assert answer.equals(expected)


def test_spark_sends_no_columns_that_nobody_reads(spark, model, texts):
    frame = spark.createDataFrame([(7, texts[0][0], 1)], ["id", "text", "other"])
    answer = predict(frame, model)
    steps = answer._jdf.queryExecution().optimizedPlan().toString()
    assert "MapInArrow" in steps
    (sent,) = (line for line in steps.splitlines() if "Project" in line)
    assert "text" in sent
    assert "other" not in sent
    assert answer.columns == ["id", "labels", "scores"]
    assert answer.count() == 1


def test_ray_reads_no_columns_that_nobody_needs(ray, rows, model):
    answer = predict(ray.data.read_parquet(str(rows)), model, k=2)
    steps = answer.materialize().stats()
    assert "->MapBatches(BatchPredictor.predict)" in steps
    unread = ray.data.from_items([{"id": 1, "text": "rye"}]).map(lambda row: row)
    assert predict(unread, model).take_all()[0]["id"] == 1


def test_ray_predicts_what_one_process_predicts(ray, rows, model, expected):
    frame = ray.data.read_parquet(str(rows)).select_columns(["id", "text"])

    def collect():
        return by_id(predict(frame, model, k=2).take_all())

    assert killed_while(collect, "MapBatches(BatchPredictor") == expected


@pytest.mark.parametrize("engine", ["dask", "spark"])
def test_no_rows_have_the_columns_of_an_answer(engine, rows, model, request):
    client = request.getfixturevalue(engine)
    if engine == "dask":
        import dask.dataframe as frames

        frame = frames.read_parquet(str(rows), columns=["id", "text"])
        answer = predict(frame[frame.id < 0], model).compute()
    else:
        frame = client.read.parquet(str(rows)).filter("id < 0")
        answer = predict(frame.drop("labels"), model).toPandas()
    assert (list(answer.columns), len(answer)) == (["id", "labels", "scores"], 0)


def test_ray_reads_and_predicts_in_one_task(ray, rows, model):
    frame = ray.data.read_parquet(str(rows)).select_columns(["id", "text"])
    steps = predict(frame, model, k=2).materialize().stats()
    assert "->MapBatches(BatchPredictor.predict)" in steps


@pytest.mark.parametrize("engine", ["dask", "ray", "spark"])
def test_engines_judge_as_one_process_does(engine, files, model, request, tmp_path):
    client = request.getfixturevalue(engine)
    assert evaluate(model, files, client=client) == evaluate(model, files)
    damaged = tmp_path / "damaged.parquet"
    damaged.write_bytes(files[0].read_bytes()[:-9])
    with pytest.raises(ValueError, match=r"damaged\.parquet: expected a whole Parquet"):
        evaluate(model, [*files, damaged], client=client)
    with pytest.raises(FileNotFoundError, match=r"nothing\.parquet"):
        evaluate(model, [*files, tmp_path / "nothing.parquet"], client=client)


@pytest.mark.parametrize("engine", ["dask", "ray", "spark"])
def test_other_versions_of_a_worker_are_told(engine, rows, model, request, monkeypatch):
    client, new = request.getfixturevalue(engine), predict_batches(model)
    old = replace(new, versions=new.versions | {"numpy": "0.0.1"})  # of the driver
    monkeypatch.setattr("manylabel.distributed.prediction.check_versions", print)
    monkeypatch.setattr("manylabel.distributed.frames.predict_batches", lambda _: old)
    if engine == "dask":
        import dask.dataframe as frames

        answer = predict(frames.read_parquet(str(rows), columns=["id", "text"]), model)
        ask = lambda: client.compute(answer).result(PATIENCE)  # noqa: E731
    elif engine == "spark":
        ask = predict(client.read.parquet(str(rows)).drop("labels"), model).collect
    else:
        frame = client.data.read_parquet(str(rows)).select_columns(["id", "text"])
        ask = predict(frame, model).take_all
    with pytest.raises(Exception, match=r"numpy must be the same .* Got 0\.0\.1 and"):
        ask()


@pytest.mark.parametrize("engine", ["dask", "ray", "spark"])
def test_a_model_that_changed_is_told_by_the_worker(
    engine, rows, model, request, tmp_path
):
    client = request.getfixturevalue(engine)
    copy = tmp_path / "model"
    ml.Tagger.load(model).save(copy)
    if engine == "dask":
        import dask.dataframe as frames

        answer = predict(frames.read_parquet(str(rows)), copy)
        ask = answer.compute
    elif engine == "spark":
        answer = predict(client.read.parquet(str(rows)).drop("labels"), copy)
        ask = answer.collect
    else:
        answer = predict(client.data.read_parquet(str(rows)), copy)
        ask = answer.take_all
    ml.Tagger(ml.OneVsRest()).fit(["red", "rye"], [["red"], ["rye"]]).save(copy)
    with pytest.raises(Exception, match="expected the model that the driver has, foun"):
        ask()
