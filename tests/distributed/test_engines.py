"""Real clusters of two processes: the bits of one machine, whoever is killed."""

import errno
import os
import pickle
import signal
import subprocess
import sys
import time
from contextlib import nullcontext
from threading import Timer
from types import SimpleNamespace

import cloudpickle
import numpy as np
import pytest

import manylabel as ml
from manylabel.distributed import engine_dask, engines, fit, fit_part, merge, plan
from manylabel.distributed.lock import locked
from manylabel.exceptions import ArchiveError, MissingExtra, WorkersLost

LEARNERS = {
    "FastXML": ml.FastXML(n_estimators=8, n_jobs=2),
    "PfastreXML": ml.PfastreXML(n_estimators=4),
    "OneVsRest": ml.OneVsRest(),
    "LabelTree": ml.LabelTree(n_clusters=3, leaf_labels=5, n_estimators=2),
}
each_learner = pytest.mark.parametrize("name", LEARNERS)
cloudpickle.register_pickle_by_value(sys.modules[__name__])


def files(model, place):
    """Return the content of a saved model, by name."""
    model.save(place)
    return {path.name: path.read_bytes() for path in place.iterdir()}


def whole(name, data, place):
    learner = type(LEARNERS[name])(**LEARNERS[name].get_params(deep=False))
    return files(learner.fit(data.X, data.Y), place)


def die_once(path, part, marker):
    """Learn a part; who is the first to write the second one dies of it."""
    if part["number"] == 1:
        try:
            os.close(os.open(marker, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return fit_part(path, part)
        for place in ("000001", ".000001.dead"):  # as others, and this one, wrote
            os.makedirs(f"{path}/parts/{place}")
            with open(f"{path}/parts/{place}/.draft-arrays", "wb") as file:
                file.write(b"half")
        os.kill(os.getpid(), signal.SIGKILL)
    return fit_part(path, part)


@pytest.mark.slow
@each_learner
def test_every_engine_fits_the_bits_of_one_machine(client, name, data, tmp_path):
    out = tmp_path / "out"
    model = fit(LEARNERS[name], data, out=out, client=client, n_parts=4)
    assert files(model, tmp_path / "1") == whole(name, data, tmp_path / "2")


@pytest.mark.slow
def test_a_worker_killed_in_fit_changes_no_bit(client, data, tmp_path):
    out, marker = tmp_path / "out", tmp_path / "killed"
    parts = plan(LEARNERS["FastXML"], data, 4, out)
    tasks = [(str(out), part._asdict(), str(marker)) for part in parts]
    with engines.connect(client) as engine:
        model = merge(engine.run(die_once, tasks))
    assert marker.exists()
    assert files(model, tmp_path / "1") == whole("FastXML", data, tmp_path / "2")


def die(signal):
    """End the process that runs this."""
    os.kill(os.getpid(), signal)


@pytest.mark.slow
def test_a_task_that_ends_each_worker_ends_in_one_sentence(client):
    with engines.connect(client) as engine:
        with pytest.raises(
            WorkersLost, match=r"^Workers were lost with the same task,"
        ):
            list(engine.run(die, [(signal.SIGKILL,)]))
        assert list(engine.run(abs, [(-1,)])) == [1]


@pytest.mark.slow
def test_a_scheduler_that_is_lost_ends_in_one_sentence():
    distributed = pytest.importorskip("distributed")
    options = {"n_workers": 1, "threads_per_worker": 1, "dashboard_address": None}
    cluster = distributed.LocalCluster(**options)
    with distributed.Client(cluster) as client, engines.connect(client) as engine:
        outcomes = engine.run(time.sleep, [(0,), (600,)])
        next(outcomes)
        ending = Timer(0.5, cluster.close)
        ending.start()
        with pytest.raises(
            WorkersLost, match=r"^The dask scheduler was lost: .* again"
        ):
            next(outcomes)
        ending.join()
        with pytest.raises(WorkersLost, match=r"^The dask scheduler was lost: "):
            next(engine.run(abs, [(-1,)]))


@pytest.mark.slow
def test_a_scheduler_without_workers_is_told(monkeypatch):
    distributed = pytest.importorskip("distributed")
    monkeypatch.setattr(engine_dask, "PATIENCE", 0.5)
    with distributed.LocalCluster(n_workers=0, dashboard_address=None) as cluster:
        with cluster.get_client() as client:
            with pytest.warns(UserWarning, match="scheduler has no workers yet: "):
                engine_dask.count_slots(client)
            cluster.scale(1)
            client.wait_for_workers(1)
            with engines.connect(client) as engine:
                assert list(engine.run(abs, [(-1,)])) == [1]


@pytest.mark.slow
def test_what_a_worker_refuses_comes_back_as_one_sentence(client, data, tmp_path):
    (part,) = plan(LEARNERS["OneVsRest"], data, 1, tmp_path)
    old = part._replace(versions=part.versions | {"numpy": "1.0"})
    with engines.connect(client) as engine:
        outcomes = engine.run(fit_part, [(str(tmp_path), old._asdict())])
        with pytest.raises(RuntimeError, match=r"^numpy must be .* Got 1\.0 and"):
            list(outcomes)


def fail(marker, number, n_times, kind):
    """Return a number, but fail of an error for the first times that one is odd."""
    with open(f"{marker}-{number}", "a") as file:
        file.write("x")
        n_calls = file.tell()
    if number % 2 and n_calls <= n_times:
        if kind is MissingExtra:
            raise MissingExtra("Prediction of batches", "pyarrow", "parquet", "its-own")
        if kind is MemoryError:
            raise MemoryError("Unable to allocate 3. TiB")
        raise kind(errno.ENOSPC, "No space left on device")
    return number


@pytest.mark.slow
def test_faults_of_a_worker_pass_or_come_back_as_one_sentence(
    client, tmp_path, monkeypatch
):
    monkeypatch.setattr(engines, "WAITS", (0.1, 0.1))
    tasks = [(str(tmp_path / "disk"), number, 2, OSError) for number in range(4)]
    with engines.connect(client) as engine:
        assert sorted(engine.run(fail, tasks)) == [0, 1, 2, 3]
        tasks = [(str(tmp_path / "extra"), 1, 1, MissingExtra)]
        with pytest.raises(MissingExtra, match=r"^Prediction of .*: its-own -m pip in"):
            list(engine.run(fail, tasks))
        tasks = [(str(tmp_path / "memory"), 1, 9, MemoryError)]
        message = r"^A task needs more memory than \S+ has left: Unable to .*3\. TiB$"
        with pytest.raises(MemoryError, match=message):
            list(engine.run(fail, tasks))


class LoneEngine:
    """Stands for the module of an engine."""

    connect, count_slots = nullcontext, len

    @staticmethod
    def run(client, function, tasks):
        """Run tasks here."""
        return (function(*task) for task in pickle.loads(pickle.dumps(tasks)))


@pytest.mark.parametrize(
    ("kind", "n_times", "sizes"),
    [
        (OSError, 0, [1, 1, 1]),
        (OSError, 2, [1, 3, 1]),
        (OSError, 9, None),
        (MemoryError, 2, [1, 3, 1]),
        (MemoryError, 9, None),
        (ConnectionResetError, 1, [1, 2, 1]),
        (FileNotFoundError, 1, None),
        (MissingExtra, 1, None),
    ],
)
def test_what_may_pass_is_tried_again(kind, n_times, sizes, tmp_path, monkeypatch):
    monkeypatch.setattr(engines, "import_module", lambda _: LoneEngine)
    monkeypatch.setattr(engines, "WAITS", (0.0, 0.0))
    tasks = [(str(tmp_path / "n"), number, n_times, kind) for number in range(3)]
    with engines.connect("dask://here:1") as engine:
        if sizes is None:
            with pytest.raises(kind):
                list(engine.run(fail, tasks))
            n_calls = 3 if kind in (OSError, MemoryError) else 1
            assert (tmp_path / "n-1").stat().st_size == n_calls
        else:
            assert sorted(engine.run(fail, tasks)) == [0, 1, 2]
            found = [(tmp_path / f"n-{number}").stat().st_size for number in range(3)]
            assert found == sizes


@pytest.mark.slow
def test_bytes_through_dask_are_those_of_paths(dask_client, sent, tmp_path):
    rng = np.random.default_rng(0)
    data = ml.Dataset(rng.random((2000, 100)), rng.random((2000, 20)) < 0.1)
    assert data.X.data.nbytes > 500_000
    before = sum(sent)
    fit(LEARNERS["FastXML"], data, out=tmp_path, client=dask_client)
    assert sum(sent) - before < 100_000


@pytest.mark.slow
def test_an_address_is_a_client(dask_client, data, tmp_path):
    address = dask_client.scheduler.address.replace("tcp://", "dask://")
    model = fit(LEARNERS["OneVsRest"], data, out=tmp_path / "out", client=address)
    assert files(model, tmp_path / "1") == whole("OneVsRest", data, tmp_path / "2")


@pytest.mark.slow
def test_an_address_needs_no_client_of_the_process(dask_client, data, tmp_path):
    address = dask_client.scheduler.address.replace("tcp://", "dask://")
    ml.write(data, tmp_path / "rows.txt")
    asked = ["fit", "rows.txt", "--model", "model", "--on", address]
    command = [sys.executable, "-m", "manylabel.cli.main", *asked, "--work", "out"]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=300)
    assert ended.returncode == 0, ended.stderr.decode()
    assert len(ml.Tagger.load(tmp_path / "model").label_names_) == data.n_labels


def make_session(asked, is_there):
    """Return what stands for ``SparkSession``, and notes what it is asked."""

    class Session:
        sparkContext = SimpleNamespace(defaultParallelism=3)
        builder = SimpleNamespace(
            master=lambda url: asked.append(url) or Session.builder,
            getOrCreate=lambda: Session,
        )

        def active():
            if not is_there:
                raise RuntimeError
            return Session

        def stop():
            asked.append("stop")

    return Session


@pytest.mark.parametrize(
    ("address", "is_there", "expected"),
    [
        ("spark://host:7077", False, ["spark://host:7077", "stop"]),
        ("spark-local", False, ["local[*, 4]", "stop"]),
        ("spark://host:7077", True, []),
    ],
)
def test_a_session_is_made_for_an_address(address, is_there, expected, monkeypatch):
    asked = []
    session = make_session(asked, is_there)
    sql = SimpleNamespace(SparkSession=session)
    errors = SimpleNamespace(PySparkRuntimeError=RuntimeError)
    for name, module in {"": SimpleNamespace(), ".sql": sql, ".errors": errors}.items():
        monkeypatch.setitem(sys.modules, f"pyspark{name}", module)
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    with engines.connect(address) as engine:
        assert engine.n_slots == 3
    assert asked == expected


@pytest.mark.parametrize("address", ["ray", "ray://host:10001"])
def test_an_address_goes_to_ray(address, monkeypatch):
    asked = []
    ray = SimpleNamespace(
        is_initialized=lambda: False,
        init=lambda **options: asked.append(options["address"]),
        cluster_resources=lambda: {"CPU": 4.0},
        shutdown=lambda: asked.append("shutdown"),
    )
    monkeypatch.setitem(sys.modules, "ray", ray)
    with engines.connect(address) as engine:
        assert engine.n_slots == 4
    assert asked == [address if "://" in address else None, "shutdown"]


@pytest.mark.slow
def test_a_session_that_was_there_stays(spark_client, data, tmp_path):
    out = tmp_path / "out"
    model = fit(LEARNERS["OneVsRest"], data, out=out, client="spark-local")
    assert files(model, tmp_path / "1") == whole("OneVsRest", data, tmp_path / "2")
    assert spark_client.range(3).count() == 3


def test_two_drivers_do_not_write_one_folder(data, tmp_path):
    with locked(tmp_path):
        for write in (
            lambda: plan(ml.OneVsRest(), data, 1, tmp_path),
            lambda: fit(ml.OneVsRest(), data, out=tmp_path),
        ):
            with pytest.raises(ArchiveError, match="another process is writing to"):
                write()
    fit(ml.OneVsRest(), data, out=tmp_path)


@pytest.mark.parametrize(
    "client",
    [
        *(
            "flink://here:1",
            "local",
            "",
            "dsak://here:1",
            "dask",
            "dask://",
            "dask:/x:1",
        ),
        *("ray:/x", "ray:", "ray:10001", "ray-local", "ray://", "ray://here", "Ray"),
        *("spark", "spark-loca", "spark://here", "spark://here:1/x", "ray://h:1 "),
        *(3, ml, object()),
    ],
)
def test_other_engines_are_refused(client, data, tmp_path):
    with pytest.raises(ValueError, match="client must be dask://host:port, ray"):
        fit(ml.OneVsRest(), data, out=tmp_path, client=client)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # the engines' own
@pytest.mark.parametrize("engine", ["dask", "ray", "spark"])
def test_other_things_of_engines_are_refused(engine, request, data, tmp_path):
    client = request.getfixturevalue(f"{engine}_client")
    if engine == "dask":
        others = [client.cluster, client.submit(int)]
    elif engine == "ray":
        others = [client.put(3)]
    else:
        others = [client.range(3)]
    for other in others:
        with pytest.raises(ValueError, match=r"^client must be dask://host:port, ray"):
            fit(ml.OneVsRest(), data, out=tmp_path, client=other)


def refused(address, data, place):
    """Return the sentence that refuses an address."""
    with pytest.raises(ValueError, match="must be the address of a clus") as refusal:
        fit(ml.OneVsRest(), data, out=place, client=address)
    assert "\n" not in str(refusal.value)
    return str(refusal.value)


def test_a_scheduler_that_does_not_answer_is_told(data, tmp_path):
    dask = pytest.importorskip("dask")
    pytest.importorskip("distributed")
    with dask.config.set({"distributed.comm.timeouts.connect": "1s"}):
        assert "Got 'dask://127.0.0.1:1': " in refused(
            "dask://127.0.0.1:1", data, tmp_path
        )


def test_no_ray_is_started_where_none_answers(data, tmp_path, monkeypatch):
    asked = []

    def init(address, **_):
        asked.append(address)
        raise ConnectionError("ray client connection timeout\nTraceback")

    ray = SimpleNamespace(is_initialized=lambda: False, init=init)
    monkeypatch.setitem(sys.modules, "ray", ray)
    found = refused("ray://host:1", data, tmp_path)
    assert found.endswith("Got 'ray://host:1': ray client connection timeout.")
    assert asked == ["ray://host:1"]


@pytest.mark.parametrize(
    ("client", "module", "extra"),
    [
        ("dask://host:1", "distributed", "dask"),
        ("ray", "ray", "ray"),
        ("spark-local", "pyspark.sql", "spark"),
    ],
)
def test_a_missing_engine_says_how_to_get_it(
    client, module, extra, data, tmp_path, monkeypatch
):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtra, match=rf"pip install 'manylabel\[{extra}\]'"):
        fit(ml.OneVsRest(), data, out=tmp_path, client=client)
