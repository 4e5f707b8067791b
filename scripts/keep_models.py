"""Keep small models of this version, for the tests of those to come.

python scripts/keep_models.py writes tests/persistence/models/VERSION.tar.gz: model
folders, and answers.json with what they say. Run it once for a release, and commit it.
"""

import json
import shutil
import tempfile
from pathlib import Path

import numpy as np

import manylabel as ml
from manylabel import persistence

ROOT = Path(__file__).parents[1] / "tests" / "persistence" / "models"
TEXTS = ["red wine", "white wine", "brown bread", "rye bread and wine"] * 10
TAGS = [["drink"], ["drink"], ["food"], ["drink", "food"]] * 10
ASKED = 3  # rows, and texts
LEARNERS = [
    ml.AnnotationTree(),
    ml.Blend([ml.OneVsRest(), ml.PfastreXML(n_estimators=2)]),
    ml.CSDPP(n_components=2),
    ml.Calibrated(ml.OneVsRest()),
    ml.LabelTree(),
    ml.OnlineLabelTree(),
    ml.PLST(n_components=2),
    ml.PfastreXML(n_estimators=2),
    ml.Popularity(),
    ml.Thresholds(ml.OneVsRest()),
]


def answer(model, X, texts):
    """Return what a model says, ready for JSON."""
    if isinstance(model, (ml.Tagger, ml.Corrected)):
        return [[list(pair) for pair in row] for row in model.tag_many(texts, 2)]
    if isinstance(model, ml.TextVectorizer):
        return model.transform(texts).toarray().tolist()
    if isinstance(model, ml.Propensity):
        return model.values_.tolist()
    return model.predict_topk(X, 4).toarray().tolist()


def fitted_models(X, Y):
    """Yield a model of each kind."""
    for learner in LEARNERS:
        yield learner.fit(X, Y)
    yield ml.Propensity().fit(Y)
    yield ml.TextVectorizer().fit(TEXTS)
    yield (tagger := ml.Tagger().fit(TEXTS, TAGS))
    corrected = ml.Corrected(tagger, n_bits=10)
    corrected.correct(["rye whisky"], [["drink"]])
    yield corrected


def keep(folder):
    """Write models, and what they answer, to a folder."""
    random = np.random.default_rng(0)
    X = random.random((40, 6)).round(3) * (random.random((40, 6)) < 0.6)
    Y = (X @ random.random((6, 4)) > 0.9).astype(int)
    asked, answers = X[:ASKED], {}
    for model in fitted_models(X, Y):
        name = type(model).__name__
        persistence.save(model, folder / name)
        answers[name] = answer(model, asked, TEXTS[:ASKED])
    kept = {"X": asked.tolist(), "texts": TEXTS[:ASKED], "answers": answers}
    (folder / "answers.json").write_text(json.dumps(kept, indent=1) + "\n")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        keep(Path(place))
        print(shutil.make_archive(str(ROOT / ml.__version__), "gztar", place))
