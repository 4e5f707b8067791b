"""Real clusters of two processes: the bits of one machine, whoever is killed."""

import os
import signal
import sys

import cloudpickle
import numpy as np
import pytest

import manylabel as ml
from manylabel.distributed import engines, fit, fit_part, merge, plan
from manylabel.distributed.lock import locked
from manylabel.exceptions import ArchiveError, MissingExtra

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
        os.makedirs(f"{path}/parts/000001")
        with open(f"{path}/parts/000001/.draft-arrays", "wb") as file:
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


@pytest.mark.slow
def test_what_a_worker_refuses_comes_back_as_one_sentence(client, data, tmp_path):
    (part,) = plan(LEARNERS["OneVsRest"], data, 1, tmp_path)
    old = part._replace(versions=part.versions | {"numpy": "1.0"})
    with engines.connect(client) as engine:
        outcomes = engine.run(fit_part, [(str(tmp_path), old._asdict())])
        with pytest.raises(RuntimeError, match=r"^numpy must be .* Got 1\.0 and"):
            list(outcomes)


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


def test_two_drivers_do_not_write_one_folder(data, tmp_path):
    with locked(tmp_path):
        for write in (
            lambda: plan(ml.OneVsRest(), data, 1, tmp_path),
            lambda: fit(ml.OneVsRest(), data, out=tmp_path),
        ):
            with pytest.raises(ArchiveError, match="another process is writing to"):
                write()
    fit(ml.OneVsRest(), data, out=tmp_path)


@pytest.mark.parametrize("client", ["flink://here", 3, "local"])
def test_other_engines_are_refused(client, data, tmp_path):
    with pytest.raises(ValueError, match="client must be dask://host:port, ray"):
        fit(ml.OneVsRest(), data, out=tmp_path, client=client)


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
