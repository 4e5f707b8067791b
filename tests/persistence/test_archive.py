"""Save and load: what comes back, what is refused, what damage is found."""

import json
import shutil
from typing import Annotated

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from sklearn.base import BaseEstimator

import manylabel
from manylabel import Propensity
from manylabel.exceptions import ArchiveError
from manylabel.persistence import flatten, folder, load, save, unflatten
from manylabel.persistence.records import Field, Matrix, Number, Values


class Toy(BaseEstimator):
    """An estimator with every kind of parameter and attribute."""

    coef_: Annotated[sp.csr_array, Matrix("float32", "n_rows, n_columns")]
    bias_: Annotated[np.ndarray, Field("float64", "n_columns")]
    names_: list[str]
    feature_names_in_: Annotated[np.ndarray, Values("n_names", "O")]
    n_seen_: Annotated[int, Number(whole=True)]
    costs_: Propensity

    def __init__(self, *, rate=0.5, depths=(1, 3), propensity=None, prior=None):
        self.rate, self.depths = rate, depths
        self.propensity, self.prior = propensity, prior

    def fit(self):
        """Learn nothing."""
        self.coef_ = sp.csr_array(np.eye(3, 4, dtype=np.float32))
        self.bias_ = np.arange(4.0)
        self.names_ = ["a", "b"]
        self.feature_names_in_ = np.array(["x", "y"], dtype=object)
        self.n_seen_ = np.int64(7)
        self.costs_ = Propensity.given([0.5, 1.0])
        return self

    def get_state(self):
        """Return what was learnt."""
        return flatten({k: v for k, v in vars(self).items() if k.endswith("_")})

    def set_state(self, state):
        """Take over what was learnt."""
        vars(self).update(unflatten(state))
        return self


@pytest.fixture(autouse=True)
def public(monkeypatch):
    monkeypatch.setattr(manylabel, "Toy", Toy, raising=False)
    monkeypatch.setattr(manylabel, "__all__", [*manylabel.__all__, "Toy"])


@pytest.fixture
def saved(tmp_path):
    save(Toy(prior=np.ones(2)).fit(), tmp_path / "model")
    return tmp_path / "model"


def same(one, two):
    return repr(sorted(flatten(vars(one)).items())) == repr(
        sorted(flatten(vars(two)).items())
    )


def names(path):
    return sorted(entry.name for entry in path.iterdir())


@pytest.mark.parametrize(
    "model",
    [
        Toy(),
        Toy(rate=None, depths=None).fit(),
        Toy(rate=float("inf"), depths=("a", None, True)).fit(),
        Toy(rate=np.float64(0.25), prior=np.zeros((0, 3))).fit(),
        Toy(propensity=Propensity(a=0.6)).fit(),
        Toy(propensity=Propensity.given([0.2, 0.4])).fit(),
        Toy(propensity=Toy(propensity=Propensity())).fit(),
        Propensity(a=0.6),
        Propensity.given([0.2, 0.4]),
    ],
    ids=repr,
)
def test_what_was_saved_is_loaded(model, tmp_path):
    save(model, tmp_path / "model")
    assert same(load(tmp_path / "model"), model)
    assert len(names(tmp_path / "model")) == 2


def test_a_string_is_a_path_too(tmp_path):
    save(Toy(), f"{tmp_path}/model/")
    assert same(load(f"{tmp_path}/model/"), Toy())


def test_the_same_model_gives_the_same_bytes(saved, tmp_path):
    save(load(saved), tmp_path / "copy")
    assert names(saved) == names(tmp_path / "copy")
    for name in names(saved):
        assert (saved / name).read_bytes() == (tmp_path / "copy" / name).read_bytes()


def test_loaded_arrays_can_be_learnt_on(saved):
    model = load(saved)
    model.bias_ += 1
    model.coef_.data *= 2
    assert_array_equal(load(saved).bias_, np.arange(4.0))


def test_mapped_arrays_leave_the_file_alone_and_outlive_the_folder(saved):
    before = {path.name: path.read_bytes() for path in saved.iterdir()}
    model = load(saved, mmap=True)
    assert type(model.bias_) is np.ndarray
    model.bias_ += 1
    assert {path.name: path.read_bytes() for path in saved.iterdir()} == before
    model.bias_ -= 1
    save(Toy(), saved)
    shutil.rmtree(saved)
    assert same(model, Toy(prior=np.ones(2)).fit())


def test_saving_replaces_and_leaves_nothing_behind(saved):
    (saved / ".draft-arrays").write_bytes(b"left by a crash")
    (saved / f"arrays-{'0' * 16}.safetensors").write_bytes(b"left by a crash")
    (saved / "notes.txt").write_text("the user's")
    save(Toy(rate=9).fit(), saved)
    assert load(saved).rate == 9
    assert len(names(saved)) == 3
    assert (saved / "notes.txt").exists()


def test_a_parameter_that_cannot_be_saved_leaves_the_old_model(saved):
    before = {name: (saved / name).read_bytes() for name in names(saved)}
    with pytest.raises(TypeError, match=r"parameter rate cannot be saved.*function"):
        save(Toy(rate=lambda: 1).fit(), saved)
    assert before == {name: (saved / name).read_bytes() for name in names(saved)}


def test_an_estimator_that_load_would_not_find_is_refused(tmp_path):
    class Mine(Toy):
        pass

    for other in (Mine(), BaseEstimator(), "model"):
        with pytest.raises(
            TypeError, match="Only an estimator of manylabel can be saved"
        ):
            save(other, tmp_path / "model")
    assert not names(tmp_path)


def test_a_place_that_is_not_a_model_folder_is_refused(tmp_path):
    (tmp_path / "file").write_text("precious")
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "cat.png").write_bytes(b"")
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "manifest.json").write_text('{"name": "site"}')
    with pytest.raises(ArchiveError, match="cannot be written: Not a directory"):
        save(Toy(), tmp_path / "file")
    for place in ("photos", "site"):
        with pytest.raises(
            ArchiveError, match=f"{place}: this folder holds other files"
        ):
            save(Toy(), tmp_path / place)
        assert len(names(tmp_path / place)) == 1
    with pytest.raises(ArchiveError, match="cannot be written: Not a directory"):
        save(Toy(), tmp_path / "file" / "model")


def test_the_folders_that_a_model_is_in_are_made(tmp_path, monkeypatch):
    save(Toy(), tmp_path / "no" / "parent" / "model")
    assert same(load(tmp_path / "no" / "parent" / "model"), Toy())
    monkeypatch.chdir(tmp_path)
    save(Toy(), "q/w/e")
    assert same(load("q/w/e"), Toy())


@pytest.mark.parametrize("path", [None, 3, np.ones(2)])
def test_what_is_no_path_is_refused(tmp_path, path):
    for verb in (load, lambda path: save(Toy(), path)):
        with pytest.raises(TypeError, match=r"path must be a str or a Path\. Got "):
            verb(path)


def test_a_link_to_a_folder_is_followed(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "model")
    for rate in (1, 2):
        save(Toy(rate=rate), tmp_path / "link")
        assert load(tmp_path / "model").rate == load(tmp_path / "link").rate == rate


def test_an_empty_folder_is_a_place_for_a_model(tmp_path):
    save(Toy(), tmp_path)
    assert same(load(tmp_path), Toy())


def arrays_file(path):
    return next(path.glob("arrays-*"))


def reseal(path, **changes):
    """Rewrite the manifest with changes and a right checksum."""
    manifest = json.loads((path / "manifest.json").read_bytes()) | changes
    del manifest["sha256"]
    (path / "manifest.json").write_bytes(folder._sealed(manifest))


def link(path):
    target = path.with_name("elsewhere")
    path.rename(target)
    path.symlink_to(target)


DAMAGE = {
    "there is no such model folder": lambda path: shutil.rmtree(path),
    r"no model's folder: there is no manifest.json": lambda p: (
        p / "manifest.json"
    ).unlink(),
    r"safetensors: this file is missing": lambda p: arrays_file(p).unlink(),
    "this is not JSON": lambda p: (p / "manifest.json").write_text("{"),
    "this is not the manifest": lambda p: (p / "manifest.json").write_text("[]"),
    "the field format is missing": lambda p: (p / "manifest.json").write_text("{}"),
    "format 2, and this manylabel reads 1": lambda path: reseal(path, format=2),
    "the field class is missing or wrong": lambda path: reseal(path, **{"class": 3}),
    "manifest.json: the checksum": lambda p: (p / "manifest.json").write_text(
        (p / "manifest.json").read_text().replace("0.5", "0.6")
    ),
    "safetensors: the checksum": lambda p: arrays_file(p).write_bytes(
        arrays_file(p).read_bytes()[:-1]
    ),
    "types or shapes than the manifest says": lambda path: reseal(path, arrays={}),
    "no estimator 'OneVsAll'": lambda path: reseal(path, **{"class": "OneVsAll"}),
    "the parameter gamma of Toy is unknown": lambda p: reseal(
        p, params={"rate": 1, "depths": 1, "propensity": 1, "gamma": 1}
    ),
    "coef_ is spelt in unknown parts": lambda path: reseal(path, state={}),
    "'../arrays' is not the name": lambda path: reseal(path, arrays_file="../arrays"),
    "json: this is not a plain file": lambda path: link(path / "manifest.json"),
    "safetensors: this is not a plain file": lambda path: link(arrays_file(path)),
}


@pytest.mark.parametrize("mmap", [False, True])
@pytest.mark.parametrize("message", DAMAGE)
def test_damage_is_found_and_named(saved, message, mmap):
    DAMAGE[message](saved)
    with pytest.raises(ArchiveError, match=message) as caught:
        load(saved, mmap=mmap)
    assert str(caught.value).count("\n") == 0


def test_an_arrays_file_cut_to_nothing_is_found(saved):
    arrays_file(saved).write_bytes(b"")
    for mmap in (False, True):
        with pytest.raises(ArchiveError, match="the checksum is wrong"):
            load(saved, mmap=mmap)


def test_a_folder_that_cannot_be_read_is_named(saved, monkeypatch):
    def refuse(path):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(folder, "_open", refuse)
    with pytest.raises(
        ArchiveError, match="model: the model cannot be read: Permission"
    ):
        load(saved)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Return a place to damage and the bytes of a whole model."""
    place = tmp_path_factory.mktemp("fuzz")
    model = Propensity.given([0.25, 0.5])
    save(model, place)
    return place, model, {name: (place / name).read_bytes() for name in names(place)}


@given(st.data(), st.integers(1, 255))
def test_a_changed_byte_is_found_or_means_nothing(whole, data, change):
    place, model, files = whole
    name = data.draw(st.sampled_from(sorted(files)))
    position = data.draw(st.integers(0, len(files[name]) - 1))
    damaged = bytearray(files[name])
    damaged[position] ^= change
    try:
        (place / name).write_bytes(damaged)
        assert same(load(place), model)
    except ArchiveError:
        pass
    finally:
        (place / name).write_bytes(files[name])


@given(st.data())
def test_a_file_cut_short_is_found(whole, data):
    place, _, files = whole
    name = data.draw(st.sampled_from(sorted(files)))
    end = data.draw(st.integers(0, len(files[name]) - 2))  # the last one is a newline
    try:
        (place / name).write_bytes(files[name][:end])
        with pytest.raises(ArchiveError):
            load(place)
    finally:
        (place / name).write_bytes(files[name])


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["a", "b", "values_", "x.class"]), inner)
    ),
    max_leaves=8,
)
forged = st.dictionaries(
    st.sampled_from(sorted(folder.FIELDS)) | st.text(max_size=5), json_values
)


@given(forged)
def test_a_forged_manifest_loads_or_is_refused(whole, changes):
    place, _, files = whole
    try:
        reseal(place, **changes)
        load(place)
    except ArchiveError:
        pass
    finally:
        (place / "manifest.json").write_bytes(files["manifest.json"])


def test_loading_runs_no_constructor_of_a_foreign_class(saved):
    for name in ("__loader__", "os.system", "ArchiveError", "load", "Path"):
        reseal(saved, **{"class": name})
        with pytest.raises(ArchiveError, match=f"manylabel has no estimator '{name}'"):
            load(saved)


def test_a_model_of_another_class_is_refused(tmp_path):
    save(Propensity(), tmp_path / "law")
    assert type(load(tmp_path / "law", Propensity)) is Propensity
    with pytest.raises(ArchiveError, match=r"expected a Toy, found a Propensity\.$"):
        load(tmp_path / "law", Toy)
