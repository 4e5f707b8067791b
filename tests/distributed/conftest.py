"""Small data, what fits in one piece give, and clusters of two processes."""

import os
import shutil
import sys

import pytest

import manylabel as ml


@pytest.fixture(scope="package")
def corpus():
    return ml.make_corpus(n_rows=300, n_features=40, n_labels=150, random_state=0)


@pytest.fixture
def data(corpus):
    return ml.Dataset(corpus.X, corpus.Y)


@pytest.fixture(scope="package")
def texts(corpus):
    """Return texts whose words are the features, and label names."""
    rows = [" ".join(f"w{c}" for c in row.indices) for row in corpus.X]
    names = [f"label {n}" for n in range(corpus.Y.shape[1])]
    return ml.Dataset(None, corpus.Y, label_names=names, texts=rows)


@pytest.fixture(scope="module")
def ray_client():
    """Return Ray, which runs two processes, or skip without it."""
    ray = pytest.importorskip("ray", reason="ray is not installed")
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    yield ray
    ray.shutdown()


@pytest.fixture(scope="module")
def spark_client():
    """Return a session of two threads and their processes, or skip without Spark."""
    sql = pytest.importorskip("pyspark.sql", reason="pyspark is not installed")
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java, which is not installed")
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    local = {"spark.ui.enabled": "false", "spark.driver.host": "127.0.0.1"}
    builder = sql.SparkSession.builder.master("local[2, 4]")
    session = builder.config(map=local).getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


@pytest.fixture(params=["dask", "ray", "spark"])
def client(request):
    """Return the client of each engine in turn."""
    return request.getfixturevalue(f"{request.param}_client")
