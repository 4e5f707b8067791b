"""Folders that somebody made to deceive, every checksum right."""

import inspect
import json
import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import manylabel as ml
from manylabel.exceptions import ArchiveError
from manylabel.persistence import folder, load, save, tensors

X = np.repeat(np.eye(4), 5, 0)
Y = np.repeat([[1, 0, 1], [0, 1, 0], [1, 1, 0], [0, 0, 1]], 5, 0)
TEXTS = ["red wine", "white wine", "brown bread", "rye bread and wine"] * 5
TAGS = [["drink"], ["drink"], ["food"], ["drink", "food"]] * 5


def edit(model, path, state=(), params=(), arrays=()):
    """Save a model with some values, parameters and arrays changed."""
    save(model, path)
    manifest, found = folder.read(path, mmap=False)
    manifest["state"].update(state)
    manifest["params"].update(params)
    found = {**found, **dict(arrays)}
    manifest["arrays"] = tensors.describe(found)
    folder.replace(path, manifest, found)
    return path


def refusal(path):
    with pytest.raises(ArchiveError) as error:
        load(path)
    return str(error.value)


def arrays_of(model, path):
    save(model, path)
    return folder.read(path, mmap=False)[1]


@pytest.mark.parametrize("n_copies", [2, 9, 2_000, 20_000])
def test_labels_that_a_leaf_repeats_are_refused(n_copies, tmp_path):
    model = ml.AnnotationTree().fit(X, Y)
    found = arrays_of(model, tmp_path / "model")
    starts = found["state/tree_.f_indptr"].copy()
    last = int(np.flatnonzero(np.diff(starts))[-1]) + 1
    labels = found["state/tree_.f_indices"]
    labels = np.insert(labels, starts[last], [labels[starts[last] - 1]] * n_copies)
    starts[last:] += n_copies
    changes = {"state/tree_.f_indices": labels, "state/tree_.f_indptr": starts}
    assert "name a label once" in refusal(edit(model, tmp_path / "m", arrays=changes))


@pytest.mark.parametrize(
    ("model", "name"),
    [
        (ml.AnnotationTree(), "state/tree_.w_indptr"),
        (ml.PowersetTree(), "state/tree_.w_indptr"),
        (ml.BudgetedTree(), "state/tree_.starts"),
        (ml.TextVectorizer(), "state/terms_.offsets"),
    ],
    ids=repr,
)
def test_unsigned_offsets_are_refused(model, name, tmp_path):
    if isinstance(model, ml.TextVectorizer):
        model.fit(TEXTS)
    else:
        model.fit(X, Y[:, 0] if isinstance(model, ml.BudgetedTree) else Y)
    starts = arrays_of(model, tmp_path / "model")[name].astype(np.uint64)
    starts[1:-1] = 2**63
    assert "must be an array of" in refusal(
        edit(model, tmp_path / "m", arrays={name: starts})
    )


@pytest.mark.parametrize("n_features", [2**40, 10**400, 0, -1, True, 1.5])
def test_a_number_of_features_out_of_range_is_refused(n_features, tmp_path):
    for kind in (ml.FastXML, ml.PowersetTree, ml.CSDPP, ml.Popularity):
        path = edit(kind().fit(X, Y), tmp_path / "m", {"n_features_in_": n_features})
        refusal(path)


def test_loading_takes_no_more_than_the_folder_has(tmp_path):
    """Features that are stated and not there take memory when they are used."""
    path = edit(
        ml.PowersetTree().fit(X, Y), tmp_path / "m", {"n_features_in_": 2**31 - 1}
    )
    program = f"""
        import resource
        import manylabel as ml
        ml.PowersetTree
        resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
        ml.load({str(path)!r})
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(program)], check=True)


def test_a_long_name_among_many_is_refused_before_it_takes_memory(tmp_path):
    model = ml.BudgetedClassifier().fit(X, np.where(Y[:, 0], "yes", "no"))
    names = ["a"] * 30_000 + ["b" * 300_000]
    path = edit(model, tmp_path / "m", {"classes_.strings": names})
    assert "too long" in refusal(path)


def test_learners_within_learners_are_refused(tmp_path):
    model = ml.Thresholds(ml.OneVsRest())
    for _ in range(400):
        model = ml.Thresholds(model)
    with pytest.raises((ValueError, RecursionError), match=r"nested|recursion"):
        save(model, tmp_path / "m")
    inner = ml.Thresholds(ml.OneVsRest()).fit(X, Y)
    save(inner, tmp_path / "m")
    manifest, arrays = folder.read(tmp_path / "m", mmap=False)
    for _ in range(400):
        nested = {"estimator.class": "Thresholds"}
        for name, value in manifest["params"].items():
            nested[f"estimator.params.{name}"] = value
        manifest["params"] = nested
    folder.replace(tmp_path / "m", manifest, arrays)
    assert "nested" in refusal(tmp_path / "m")


def test_nested_facts_are_refused(tmp_path):
    model = ml.Tagger().fit(TEXTS, TAGS)
    save(model, tmp_path / "m")
    manifest, _ = folder.read(tmp_path / "m", mmap=False)
    text = json.dumps(manifest).replace(
        '"provenance_.dict": {', '"provenance_.dict": {"a": ' + '{"a": ' * 5_000, 1
    )
    (tmp_path / "m" / "manifest.json").write_text(text)
    refusal(tmp_path / "m")


@pytest.mark.parametrize(
    ("model", "params"),
    [
        (ml.AnnotationTree(), {"beam": -1}),
        (ml.CSDPP(), {"selection": "auto"}),
        (ml.CSDPP(), {"basis": None}),
        (ml.PfastreXML(n_estimators=2), {"n_ranked": -0.5}),
        (ml.PfastreXML(n_estimators=2), {"tail": 7}),
        (ml.OneVsRest(), {"C": float("nan")}),
        (ml.Propensity(), {"a": "much"}),
    ],
)
def test_parameters_are_checked_by_the_code_of_fit(model, params, tmp_path):
    for fitted in (model, model.fit(Y) if hasattr(model, "given") else model.fit(X, Y)):
        path = edit(fitted, tmp_path / "m", params=params)
        assert next(iter(params)) in refusal(path)


def test_a_wide_beam_takes_no_more_than_the_tree(tmp_path):
    model = ml.PowersetTree(beam=4).fit(X, Y)
    wide = load(edit(model, tmp_path / "m", params={"beam": 2**40}))
    best, expected = wide.predict_topk(X, 3), model.set_params(beam=50)
    np.testing.assert_array_equal(best.toarray(), expected.predict_topk(X, 3).toarray())


def test_attributes_that_nobody_declared_are_refused(tmp_path):
    model = ml.OneVsRest().fit(X, Y)
    for name in ("predict", "__class__", "odd_", "_guard", "n_jobs"):
        assert name in refusal(edit(model, tmp_path / "m", {name: 1}))
    model.odd_ = 1
    with pytest.raises(TypeError, match="odd_ of OneVsRest must be declared"):
        save(model, tmp_path / "m")


@pytest.mark.parametrize("number", [2**63 - 1, 2**62, -1, 10**400])
def test_numbers_that_no_array_bears_out_are_refused(number, tmp_path):
    for model, name in (
        (ml.PfastreXML(n_estimators=2), "tail_.n_wide"),
        (ml.OnlineBinaryRelevance(), "state_.n_seen"),
    ):
        path = edit(model.fit(X, Y), tmp_path / "m", {name: number})
        assert name.partition(".")[2] in refusal(path) or number == 10**400


def test_a_model_without_labels_is_refused(tmp_path):
    model = ml.CSDPP().fit(X, Y)
    none = {"state/classes_": np.arange(0)}
    assert "classes_ must count" in refusal(edit(model, tmp_path / "m", arrays=none))


@pytest.mark.parametrize("name", ml.__all__)
def test_every_estimator_declares_what_it_learns(name):
    kind = getattr(ml, name)
    if isinstance(kind, type) and hasattr(kind, "get_params"):
        known = inspect.signature(kind).parameters.values()
        needs = [None for each in known if each.default is each.empty]
        assert folder.describe(kind(*needs))


def put_in_cache(model, repository):
    """Lay a model out as the Hugging Face Hub's cache does."""
    snapshot, blobs = repository / "snapshots" / ("a" * 40), repository / "blobs"
    snapshot.mkdir(parents=True)
    blobs.mkdir()
    for number, path in enumerate(sorted(model.iterdir())):
        path.rename(blobs / str(number))
        (snapshot / path.name).symlink_to(f"../../blobs/{number}")
    return snapshot


@pytest.mark.parametrize("mmap", [False, True])
def test_a_model_in_the_hubs_cache_is_loaded(mmap, tmp_path):
    save(ml.Propensity(a=0.5), tmp_path / "m")
    snapshot = put_in_cache(tmp_path / "m", tmp_path / "cache")
    assert ml.load(snapshot, mmap=mmap).a == 0.5


@pytest.mark.parametrize("what", ["elsewhere", "blobs", "device"])
def test_a_link_out_of_the_hubs_cache_is_refused(what, tmp_path):
    save(ml.Propensity(), tmp_path / "m")
    snapshot = put_in_cache(tmp_path / "m", tmp_path / "cache")
    path, blobs = snapshot / "manifest.json", tmp_path / "cache" / "blobs"
    if what == "elsewhere":
        target = path.resolve().rename(tmp_path / "manifest.json")
        path.unlink()
        path.symlink_to(target)
    elif what == "blobs":
        blobs.rename(tmp_path / "moved")
        blobs.symlink_to(tmp_path / "moved")
    else:
        path.resolve().unlink()
        (blobs / "zero").symlink_to("/dev/zero")
        path.unlink()
        path.symlink_to(blobs / "zero")
    assert "not a plain file" in refusal(snapshot)


@pytest.mark.parametrize("what", ["link", "fifo", "device", "folder"])
def test_files_that_are_not_plain_are_refused(what, tmp_path):
    save(ml.Propensity(), tmp_path / "m")
    path = tmp_path / "m" / "manifest.json"
    path.rename(tmp_path / "moved")
    if what == "link":
        path.symlink_to(tmp_path / "moved")
    elif what == "fifo":
        os.mkfifo(path)
    elif what == "device":
        path.symlink_to("/dev/zero")
    else:
        path.mkdir()
    assert "not a plain file" in refusal(tmp_path / "m")
