"""Fuzzing model folders: edits that keep every checksum right."""

import copy
import json
import tempfile
import traceback
import warnings
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

import manylabel as ml
from fuzz.choices import Choices
from manylabel import persistence
from manylabel.base import ExplainedClassifier, MultiLabelClassifier, OnlineClassifier
from manylabel.exceptions import ArchiveError
from manylabel.persistence import folder, tensors

MEMORY = "/dev/shm"  # where it is there: writing to disk would take most of the time
PLACE = tempfile.TemporaryDirectory(
    prefix="fuzz-", dir=MEMORY if Path(MEMORY).is_dir() else None
)
OURS = ("manylabel", "sklearn")  # whose checks speak in sentences
N_FEATURES, N_LABELS, MOST_EDITS = 6, 5, 4
WIDEST = 1 << 24  # features; to predict takes memory for as many as a model says
TEXTS = ["red wine", "white wine", "brown bread", "rye bread and wine"] * 6
TAGS = [["drink"], ["drink"], ["food"], ["drink", "food"]] * 6
IDLE = (ml.Rules, ml.Vocabulary, ml.Embeddings)  # learn nothing that is saved
NUMBERS = (0, 1, -1, 2, 7, 255, 2**31 - 1, 2**31, -(2**31), 2**40, 2**63 - 1, 10**400)
ODD = (*NUMBERS, 0.5, -0.5, 1e300, float("nan"), float("inf"), None, True, "", "auto")
SHORT = ("OneVsRest", "hamming", "ridge", "f1", [], [0], ["a", "a"], {}, {"a": {}})


def _learners() -> dict[str, Any]:
    """Return an estimator of each public class, and some with other parameters."""
    small = {
        "Blend": ml.Blend([ml.OneVsRest(), ml.PfastreXML(n_estimators=2)]),
        "Calibrated": ml.Calibrated(ml.OneVsRest()),
        "Corrected": ml.Corrected(ml.Tagger()),
        "Hybrid": ml.Hybrid([ml.TextVectorizer()]),
        "MacroAtK": ml.MacroAtK(ml.OneVsRest()),
        "Thresholds": ml.Thresholds(ml.OneVsRest()),
        "FastXML": ml.FastXML(n_estimators=2),
        "PfastXML": ml.PfastXML(n_estimators=2),
        "PfastreXML": ml.PfastreXML(n_estimators=2),
        "LabelTree": ml.LabelTree(n_clusters=2, leaf_labels=2),
    }
    kinds = {name: getattr(ml, name) for name in ml.__all__}
    found = {
        name: small.get(name) or kind()
        for name, kind in kinds.items()
        if isinstance(kind, type) and hasattr(kind, "get_params") and kind not in IDLE
    }
    return found | {
        "CSDPP grows": ml.CSDPP(regressor="gradient", grow=True, n_components=2),
        "CSDPP adagrad": ml.CSDPP(regressor="gradient", learning_rate="adagrad"),
        "CSDPP running": ml.CSDPP(cost="f1", propensity="running", selection="sampled"),
        "LabelTree chooses": ml.LabelTree(
            n_estimators=2,
            leaf_labels=1,
            background=9,
            tilt="auto",
            cost="f1",
            calibrate="auto",
        ),
        "Tagger of rows": ml.Tagger(ml.PfastreXML(n_estimators=2)),
        "Tagger of a stream": ml.Tagger(
            ml.CSDPP(regressor="gradient", grow=True, n_components=2),
            vectorizer=ml.TextVectorizer(n_features=64),
        ),
    }


def _rows() -> tuple[Any, Any]:
    random = np.random.default_rng(0)
    X = random.random((40, N_FEATURES)) * (random.random((40, N_FEATURES)) < 0.7)
    Y = (X @ random.random((N_FEATURES, N_LABELS)) > 1.2).astype(int)
    return X, Y


def _fitted(name: str, model: Any) -> Any:
    X, Y = _rows()
    if name == "Tagger of a stream":
        return model.partial_fit(TEXTS, TAGS)
    if name == "Tagger of rows":
        return model.fit(X, [[f"label {n}" for n in np.flatnonzero(y)] for y in Y])
    if isinstance(model, ml.Tagger):
        return model.fit(TEXTS, TAGS)
    if isinstance(model, ml.Corrected):
        model.tagger.fit(TEXTS, TAGS)
        return model.correct(["apple pie", "red wine"], [["fruit"], ["red"]])
    if isinstance(model, ml.TextVectorizer | ml.Hybrid):
        return model.fit(TEXTS)
    if isinstance(model, ml.Propensity):
        return model.fit(Y)
    is_multi = isinstance(model, MultiLabelClassifier)
    return model.fit(X, Y if is_multi else Y[:, 0])


@cache
def saved() -> dict[str, tuple[dict[str, Any], dict[str, Any]]]:
    """Return the manifest and the arrays of a fitted model of each class."""
    found = {}
    for name, model in _learners().items():
        path = Path(PLACE.name) / "sound"
        persistence.save(_fitted(name, model), path)
        found[name] = folder.read(path, mmap=False)
    return found


def seeds() -> list[bytes]:
    """Return inputs to begin with: each model with one edit of each kind."""
    random = np.random.default_rng(0)
    return [
        bytes([model, 0, kind]) + random.bytes(40)
        for model in range(len(_learners()))
        for kind in range(len(EDITS))
    ]


def load_edited(data: bytes) -> None:
    """Load an edited folder: an ArchiveError comes out, or a model that works."""
    choices = Choices(data)
    name = choices.of(sorted(saved()))
    manifest, arrays = saved()[name]
    manifest, arrays = copy.deepcopy(manifest), dict(arrays)
    for _ in range(1 + choices.below(MOST_EDITS)):
        choices.of(EDITS)(choices, manifest, arrays)
    path = Path(PLACE.name) / "edited"
    manifest["arrays"] = tensors.describe(arrays)
    folder.replace(path, manifest, arrays)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model = ml.load(path, mmap=bool(choices.below(2)))
        except ArchiveError:
            return
        with np.errstate(all="ignore"):
            use(model)


def load_manifest(data: bytes) -> None:
    """Load a folder whose manifest is these bytes, sealed if they are an object."""
    choices = Choices(data)
    name, is_sealed = choices.of(sorted(saved())), choices.below(2)
    path = Path(PLACE.name) / name
    if not path.exists():  # its arrays stay as they are
        folder.replace(path, *saved()[name])
    text = choices.rest()
    if is_sealed:
        try:
            fields = json.loads(text)
        except (ValueError, RecursionError):
            fields = None
        if isinstance(fields, dict):
            text = folder._sealed(fields)
    (path / folder.MANIFEST).write_bytes(text)
    try:
        model = ml.load(path)
    except ArchiveError:
        return
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        use(model)


def manifest_seeds() -> list[bytes]:
    """Return inputs to begin with: the manifest of each model, both ways."""
    found = []
    for number, name in enumerate(sorted(saved())):
        text = json.dumps(saved()[name][0]).encode()
        found += [bytes([number, sealed]) + text for sealed in (0, 1)]
    return found


def use(model: Any) -> None:
    """Ask a loaded model for everything; a clear refusal is an answer too."""
    if _n_features(model) > WIDEST:
        return
    try:
        if isinstance(model, ml.Tagger):
            items = TEXTS[:2] if model.reads_texts_ else _wide(model.n_features_)
            model.tag_many(items, 3)
            model.predict(items)
            model.card()
        elif isinstance(model, ml.Corrected):
            model.tag_many(TEXTS[:2], 3, proba=True)
            model.correct(TEXTS[:1], [["food", "new"]]).predict(TEXTS[:2])
        elif isinstance(model, ml.TextVectorizer):
            model.transform(TEXTS[:4])
        elif isinstance(model, MultiLabelClassifier):
            _use_classifier(model)
        elif hasattr(model, "predict"):
            model.predict(_wide(model.n_features_in_))
    except (ValueError, TypeError) as refusal:
        place = traceback.extract_tb(refusal.__traceback__)[-1].filename
        if not any(part in Path(place).parts for part in OURS):
            raise  # NumPy's words, not a sentence of ours


def _n_features(model: Any) -> int:
    if isinstance(model, ml.Corrected):
        return _n_features(model.tagger)
    if isinstance(model, ml.Tagger):
        return _n_features(model.learner_) if hasattr(model, "learner_") else 0
    return getattr(model, "n_features_in_", 0)


def _use_classifier(model: Any) -> None:
    X = _wide(model.n_features_in_)
    model.predict_topk(X, 3)
    model.predict(X)
    if isinstance(model, ExplainedClassifier):
        model.explain(X[:1])
    if isinstance(model, OnlineClassifier) and len(model.classes_) < 1000:
        model.learn_one({0: 1.0}, [0])


def _wide(n_features: int) -> Any:
    """Return rows of as many columns, few of them filled."""
    last = max(0, n_features - 1)
    entries = ([1.0, 0.5, 2.0], ([0, 0, 1], [0, last, last // 2]))
    return sp.csr_array(entries, shape=(2, n_features))


def _edit_value(choices: Choices, manifest: Any, arrays: Any) -> None:
    """Set some entries of an array, or all, to an odd value."""
    name = choices.of(sorted(arrays) or [""])
    if not name or not arrays[name].size:
        return
    array = arrays[name] = arrays[name].copy()
    for _ in range(1 + choices.below(3)):
        place = choices.below(array.size)
        value = choices.of((*NUMBERS[:-1], float("nan"), float("inf"), 0.5))
        where = slice(None) if choices.below(8) == 0 else slice(place, place + 1)
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            array.reshape(-1)[where] = np.array(value).astype(array.dtype)


def _edit_entry(choices: Choices, manifest: Any, arrays: Any) -> None:
    """Set an entry of an array to another of its entries, or near it."""
    name = choices.of(sorted(arrays) or [""])
    if not name or not arrays[name].size:
        return
    array = arrays[name] = arrays[name].copy()
    flat = array.reshape(-1)
    one, other = choices.below(flat.size), choices.below(flat.size)
    flat[one] = flat[other]
    if array.dtype != np.bool_:
        with np.errstate(all="ignore"):
            flat[one] += array.dtype.type(choices.below(3))


def _edit_dtype(choices: Choices, manifest: Any, arrays: Any) -> None:
    """Give an array another type, by its values or by its bytes."""
    name = choices.of(sorted(arrays) or [""])
    dtype = choices.of(list(tensors.CODES))
    if not name:
        return
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if choices.below(2) and arrays[name].itemsize == dtype.itemsize:
            arrays[name] = arrays[name].view(dtype)
        else:
            arrays[name] = arrays[name].astype(dtype)


def _edit_length(choices: Choices, manifest: Any, arrays: Any) -> None:
    """Make an array shorter or longer, or turn its shape."""
    name = choices.of(sorted(arrays) or [""])
    if not name:
        return
    array, how = arrays[name], choices.below(6)
    if how == 0:
        arrays[name] = array[: choices.below(len(array) + 1)] if array.ndim else array
    elif how == 1 and array.ndim:
        arrays[name] = np.repeat(array, 1 + choices.below(3), axis=0)
    elif how == 2:
        arrays[name] = array.reshape(-1)
    elif how == 3:
        arrays[name] = np.ascontiguousarray(array.T)
    elif how == 4:
        arrays[name] = array[..., np.newaxis]
    elif array.ndim:
        arrays[name] = np.concatenate([array, array[:1]])


def _swap_arrays(choices: Choices, manifest: Any, arrays: Any) -> None:
    """Swap two arrays, or drop or double one."""
    names = sorted(arrays)
    if not names:
        return
    one, other, how = choices.of(names), choices.of(names), choices.below(4)
    if how == 0:
        del arrays[one]
    elif how == 1:
        arrays[one] = arrays[other]
    else:
        arrays[one], arrays[other] = arrays[other], arrays[one]


def _edit_field(choices: Choices, manifest: Any, arrays: Any) -> None:
    """Change, drop, swap or add a value of the manifest."""
    section = manifest[choices.of(["params", "state"])]
    name = choices.of(sorted(section) or ["odd"])
    how = choices.below(8)
    if how == 0:
        section.pop(name, None)
    elif how == 1:
        section[choices.of(["predict", "__class__", "odd_", "n_jobs", "_guard"])] = 1
    elif how == 2 and isinstance(section.get(name), list):
        section[name] = section[name] * (1 + choices.below(3))
    elif how == 3 and isinstance(section.get(name), list) and section[name]:
        section[name][choices.below(len(section[name]))] = choices.of(ODD + SHORT)
    elif how == 4:
        section[name] = section.get(choices.of(sorted(section) or ["odd"]))
    elif how == 5:
        section[name] = choices.of(SHORT)
    else:
        section[name] = choices.of(ODD)


def _edit_class(choices: Choices, manifest: Any, arrays: Any) -> None:
    """Say that it is a model of another class."""
    if choices.below(2):
        manifest["class"] = choices.of([*ml.__all__, "BaseEstimator", "", "os"])
    else:
        inner = [name for name in manifest["state"] if name.endswith(".class")]
        if inner:
            manifest["state"][choices.of(sorted(inner))] = choices.of(ml.__all__)


EDITS = (
    _edit_value,
    _edit_entry,
    _edit_dtype,
    _edit_length,
    _swap_arrays,
    _edit_field,
    _edit_class,
)
