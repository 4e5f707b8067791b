"""Fit, predict, save and load with every estimator, and run the command line.

python scripts/smoke.py, with nothing but the library and what it depends on.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from numpy.testing import assert_array_equal

import manylabel
from manylabel import persistence
from manylabel.base import MultiLabelClassifier

TEXTS = ["red wine", "white wine", "brown bread", "rye bread and wine"] * 10
TAGS = [["drink"], ["drink"], ["food"], ["drink", "food"]] * 10
SMALL = {
    "Blend": manylabel.Blend([manylabel.OneVsRest(), manylabel.PfastreXML()]),
    "Calibrated": manylabel.Calibrated(manylabel.OneVsRest()),
    "Hybrid": manylabel.Hybrid([manylabel.TextVectorizer()] * 2),
    "MacroAtK": manylabel.MacroAtK(manylabel.OneVsRest()),
    "Thresholds": manylabel.Thresholds(manylabel.OneVsRest()),
}


def same_after_saving(model, read, folder):
    """Save and load a model, and compare what it answers."""
    persistence.save(model, folder)
    np.testing.assert_equal(read(manylabel.load(folder)), read(model))


def try_estimators(folder):
    """Try every class in ``manylabel.__all__`` that learns; return how many."""
    corpus = manylabel.make_corpus(n_rows=60, n_features=12, n_labels=7, random_state=0)
    X, Y = corpus.X.toarray(), corpus.Y.toarray()
    names = []
    for name in manylabel.__all__:
        kind = getattr(manylabel, name)
        if not (isinstance(kind, type) and hasattr(kind, "fit")):
            continue
        if name == "Embeddings":  # the model that it needs is the user's
            continue
        names.append(name)
        if issubclass(kind, MultiLabelClassifier):
            model = (SMALL.get(name) or kind()).fit(X, Y)
            read = lambda it: it.predict_topk(X, 3).toarray()  # noqa: E731
            assert_array_equal(model.predict(X).shape, Y.shape)
        elif name == "Tagger":
            model = kind().fit(TEXTS, TAGS)
            read = lambda it: it.tag_many(TEXTS)  # noqa: E731
        elif name in ("Hybrid", "TextVectorizer"):
            model = (SMALL.get(name) or kind()).fit(TEXTS)
            read = lambda it: it.transform(TEXTS).toarray()  # noqa: E731
        elif name == "Propensity":
            model = kind().fit(Y)
            read = lambda it: it.values_  # noqa: E731
        else:
            model = kind().fit(X, Y[:, 0])
            read = lambda it: it.predict(X)  # noqa: E731
        same_after_saving(model, read, folder / name)
    return names


def try_command_line(folder):
    """Fit, evaluate, predict and describe through the command line."""
    data = folder / "texts.csv"
    rows = (f"{text},{' '.join(tags)}" for text, tags in zip(TEXTS, TAGS, strict=True))
    data.write_text("\n".join(["text,labels", *rows]) + "\n")
    model = str(folder / "model")
    for words in (
        ["fit", str(data), "--model", model],
        ["evaluate", model, "--data", str(data)],
        ["predict", model, str(data)],
        ["describe", model],
        ["--help"],
    ):
        command = [sys.executable, "-m", "manylabel.cli.main", *words]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        tried = try_estimators(Path(place))
        try_command_line(Path(place))
    version = ".".join(map(str, sys.version_info[:3]))
    print(f"Python {version}: {len(tried)} estimators and the command line work.")
