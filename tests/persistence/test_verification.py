"""A checksum is verified once on a machine, and again after any change."""

import os

import numpy as np
import pytest

from manylabel import Propensity
from manylabel.exceptions import ArchiveError
from manylabel.persistence import folder, load, save, seal, verification


@pytest.fixture
def model(tmp_path, monkeypatch):
    """Return a model's folder; notes are kept apart, at once."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(verification, "FRESH", -1.0)
    save(Propensity.given(np.full(300, 0.25)), tmp_path / "model")
    return tmp_path / "model"


@pytest.fixture
def counted(monkeypatch):
    """Return a list that grows with each reading of arrays for a checksum."""
    calls, sha256 = [], folder.hashlib.sha256

    def counting(content=b""):
        if isinstance(content, memoryview):
            calls.append(len(content))
        return sha256(content)

    monkeypatch.setattr(folder.hashlib, "sha256", counting)
    return calls


def arrays(model):
    (file,) = model.glob("arrays-*")
    return file


def test_arrays_are_read_for_their_checksum_once(model, counted):
    for _ in range(3):
        assert load(model, mmap=True, verify_once=True).values_[0] == 0.25
    assert len(counted) == 1
    load(model, mmap=True)
    assert len(counted) == 2


def test_a_change_is_found_even_if_its_time_is_set_back(model):
    load(model, mmap=True, verify_once=True)
    file = arrays(model)
    before = file.stat()
    content = bytearray(file.read_bytes())
    content[-1] ^= 1
    file.write_bytes(content)
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    with pytest.raises(ArchiveError, match="the checksum is wrong"):
        load(model, mmap=True, verify_once=True)


def test_a_file_that_has_just_changed_is_not_noted(model, counted, monkeypatch):
    monkeypatch.setattr(verification, "FRESH", 3600.0)
    for _ in range(2):
        load(model, mmap=True, verify_once=True)
    assert len(counted) == 2


def test_notes_that_others_could_write_do_not_count(model, counted, tmp_path):
    load(model, mmap=True, verify_once=True)
    (tmp_path / "cache/manylabel/verified").chmod(0o777)
    load(model, mmap=True, verify_once=True)
    assert len(counted) == 2


def test_without_a_place_for_notes_each_load_verifies(model, counted, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", "/dev/null")
    for _ in range(2):
        load(model, mmap=True, verify_once=True)
    assert len(counted) == 2


def test_a_hostile_model_is_refused_whether_noted_or_not(model):
    values = np.full(300, 2.0)  # no probability, but of a right checksum
    saved = Propensity.given(np.full(300, 0.25))
    saved.values_ = values
    save(saved, model)
    for _ in range(2):
        with pytest.raises(ArchiveError, match="does not describe a model"):
            load(model, mmap=True, verify_once=True)


def test_a_seal_tells_models_apart(model, tmp_path):
    first = seal(model)
    save(Propensity.given(np.full(300, 0.5)), model)
    assert seal(model) != first
    with pytest.raises(ArchiveError, match="there is no such model folder"):
        seal(tmp_path / "nothing")


def test_notes_do_not_grow_without_end(model, counted, tmp_path, monkeypatch):
    monkeypatch.setattr(verification, "MOST", 4)
    for number in range(10):
        save(Propensity.given(np.full(300, (number + 1) / 20)), tmp_path / "other")
        load(tmp_path / "other", mmap=True, verify_once=True)
        assert len(list((tmp_path / "cache/manylabel/verified").iterdir())) <= 4
    before = len(counted)
    load(tmp_path / "other", mmap=True, verify_once=True)
    assert len(counted) == before
