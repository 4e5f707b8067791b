"""Fit by parts, predict a frame and judge on a small cluster of this machine.

python scripts/smoke_cluster.py dask, or ray, or spark; with nothing but the library and
that extra. Each answer is compared with that of one process.
"""

import os
import shutil
import sys
import tempfile
import warnings
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import parquet

import manylabel as ml

TEXTS = ["red wine", "white wine", "brown bread", "rye bread and wine"] * 10
TAGS = [["drink"], ["drink"], ["food"], ["drink", "food"]] * 10
os.environ["RAY_AUTH_MODE"] = "disabled"
os.environ["PYSPARK_PYTHON"] = sys.executable


@contextmanager
def start_dask():
    """Yield a client, and a function from the path of a file to the rows of a frame."""
    import dask.dataframe as frames
    from distributed import Client, LocalCluster

    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
    with LocalCluster(**options) as cluster, Client(cluster) as client:

        def ask(path):
            answer = ml.distributed.predict(frames.read_parquet(path), "model", k=1)
            return answer.compute().to_dict("records")

        yield client, ask


@contextmanager
def start_ray():
    """Yield the module, and a function as that of dask."""
    import ray

    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)

    def ask(path):
        frame = ray.data.read_parquet(path, columns=["id", "text"])
        return ml.distributed.predict(frame, "model", k=1).take_all()

    yield ray, ask
    ray.shutdown()


@contextmanager
def start_spark():
    """Yield a session, and a function as that of dask."""
    from pyspark.sql import SparkSession

    local = {"spark.ui.enabled": "false", "spark.driver.host": "127.0.0.1"}
    session = SparkSession.builder.master("local[2, 4]").config(map=local).getOrCreate()
    session.sparkContext.setLogLevel("OFF")

    def ask(path):
        frame = session.read.parquet(path).select("id", "text")
        answer = ml.distributed.predict(frame, "model", k=1)
        return [row.asDict() for row in answer.collect()]

    yield session, ask
    session.stop()


ENGINES = {
    "dask": (start_dask, ("dask", "distributed")),
    "ray": (start_ray, ("ray",)),
    "spark": (start_spark, ("pyspark",)),
}


def try_engine(name):
    """Try an engine in the folder of this process."""
    start, packages = ENGINES[name]
    alone = ml.Tagger(ml.OneVsRest()).fit(TEXTS, TAGS)
    alone.save("model")
    rows = {"id": list(range(len(TEXTS))), "text": TEXTS, "labels": TAGS}
    parquet.write_table(pa.table(rows), "rows.parquet")
    path = str(Path("rows.parquet").absolute())
    expected = [[name for name, _ in best] for best in alone.tag_many(TEXTS, k=1)]
    with start() as (client, ask):
        model = ml.distributed.fit(
            ml.Tagger(ml.OneVsRest()), path, out="fit", client=client, n_parts=2
        )
        difference = model.learner_.coef_ != alone.learner_.coef_
        assert difference.nnz == 0, "a fit by parts must have the bits of one process"
        found = sorted(ask(path), key=lambda row: row["id"])
        assert [list(row["labels"]) for row in found] == expected
        report = ml.distributed.evaluate("model", [path] * 2, client=client)
        assert report == ml.distributed.evaluate("model", [path] * 2)
        np.testing.assert_equal(report["P@1"], 1.0)
    return ", ".join(f"{package} {version(package)}" for package in packages)


if __name__ == "__main__":
    if sys.argv[1] == "spark" and shutil.which("java") is None:
        print("Spark needs Java, which is not installed: spark is not tried.")
        sys.exit()
    warnings.simplefilter("ignore")  # the engines' own, which are many
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        print(f"{try_engine(sys.argv[1])}: fit, predict and evaluate work.")
        os.chdir("/")
