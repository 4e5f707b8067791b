"""Real clusters of two processes: files by path have the answers of one machine."""

import os
import signal
import sys
from pathlib import Path

import pytest

import manylabel as ml
from manylabel.distributed import paths, predict_paths

cloudpickle = pytest.importorskip("cloudpickle")
pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")
cloudpickle.register_pickle_by_value(sys.modules[__name__])
pytestmark = pytest.mark.slow
WORDS = ["wine", "bread", "cheese", "red", "old", "white", "rye", "apple"]
ASKED = {"k": 2, "n_rows": 100}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder of a model and of Parquet files, of several row groups each."""
    folder = tmp_path_factory.mktemp("paths")
    pairs = [(a, b) for a in WORDS for b in WORDS]
    texts = [f"{a} and {b}" for a, b in pairs]
    tags = [sorted({a, b}) for a, b in pairs]
    ml.Tagger(ml.OneVsRest()).fit(texts, tags).save(folder / "model")
    (folder / "rows").mkdir()
    for number in range(3):
        table = pa.table({"id": range(number * 192, number * 192 + 192)})
        table = table.append_column("text", [texts * 3])
        parquet.write_table(table, folder / f"rows/{number}.parquet", 50)
    return folder


@pytest.fixture(scope="module")
def expected(folder):
    """Return what this process answers."""
    asked = folder / "rows", folder / "model"
    predict_paths(*asked, out=folder / "expected", **ASKED)
    return parquet.read_table(folder / "expected")


def die_once(out, task, number):
    """Answer a piece; who is the first to write the second one dies of it."""
    if number == 1:
        try:
            os.close(os.open(f"{out}/_killed", os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return paths.predict_piece(out, task, number)
        Path(out, ".000001.parquet.dead").write_bytes(b"half")
        os.kill(os.getpid(), signal.SIGKILL)
    return paths.predict_piece(out, task, number)


def test_every_engine_answers_as_one_machine(client, folder, expected, tmp_path):
    out = tmp_path / "out"
    places = predict_paths(
        folder / "rows", folder / "model", out=out, client=client, **ASKED
    )
    assert len(places) == 6
    assert parquet.read_table(out).equals(expected)
    before = [place.stat().st_mtime_ns for place in places]
    places[4].unlink()
    predict_paths(folder / "rows", folder / "model", out=out, client=client, **ASKED)
    assert parquet.read_table(out).equals(expected)
    after = [place.stat().st_mtime_ns for place in places]
    assert [one == other for one, other in zip(before, after, strict=True)] == [
        number != 4 for number in range(6)
    ]


def test_a_killed_worker_changes_no_answer(
    client, folder, expected, tmp_path, monkeypatch
):
    out = tmp_path / "out"
    monkeypatch.setattr("manylabel.distributed.paths.predict_piece", die_once)
    predict_paths(folder / "rows", folder / "model", out=out, client=client, **ASKED)
    assert (out / "_killed").exists()
    assert parquet.read_table(out).equals(expected)
    assert not list(out.glob(".*"))


def test_what_a_worker_refuses_comes_back_as_one_sentence(
    client, folder, tmp_path, monkeypatch
):
    asked = {"out": tmp_path / "out", "client": client, **ASKED}
    with monkeypatch.context() as patch:
        patch.setattr(paths, "versions", lambda: {"manylabel": "0.0", "numpy": "0.0"})
        with pytest.raises(RuntimeError, match=r"^manylabel must be .* Got 0\.0 and"):
            predict_paths(folder / "rows", folder / "model", **asked)
    damaged = tmp_path / "damaged.parquet"
    whole = (folder / "rows/0.parquet").read_bytes()
    damaged.write_bytes(whole[:4] + bytes(500) + whole[504:])
    asked["out"] = tmp_path / "other"
    with pytest.raises(ValueError, match=r"damaged\.parquet: expected a whole Parquet"):
        predict_paths([folder / "rows/1.parquet", damaged], folder / "model", **asked)
