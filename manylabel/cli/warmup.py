"""``manylabel warmup``: compile every kernel before it is needed."""

import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from manylabel.cli import options
from manylabel.cli.console import print_json, say, status

MANY_ROWS = 10_000
ARFF = """@relation 'tiny: -C 1'
@attribute label {0,1}
@attribute number numeric
@attribute word {a,b}
@data
1,0.5,b
{1 2.5}
"""


def warmup(json: options.Json = False) -> None:
    """Compile all kernels and keep them on disk, so that the first call is quick.

    Example: manylabel warmup
    """
    start = time.perf_counter()
    what = "Compiling all kernels, which takes minutes the first time"
    with status(what, aloud=not json), TemporaryDirectory() as folder:
        _read_and_write(Path(folder))
        _learn_and_judge()
        _tag()
    seconds = time.perf_counter() - start
    if json:
        print_json({"seconds": round(seconds, 3)})
    else:
        say(f"Compiled all kernels in {seconds:.1f} s.")


def _read_and_write(folder: Path) -> None:
    from manylabel.data import make_corpus, read, write
    from manylabel.data.dataset import Dataset

    corpus = make_corpus(n_rows=20, n_features=9, n_labels=4)
    for suffix in ("txt", "svm", "arff"):
        write(Dataset(corpus.X, corpus.Y), folder / f"data.{suffix}")
        read(folder / f"data.{suffix}")
    (folder / "tiny.arff").write_text(ARFF)
    read(folder / "tiny.arff")


def _learn_and_judge() -> None:
    """Run every path on tiny data."""
    from manylabel import baselines, budget, label_tree, online, trees
    from manylabel.binary import BinaryClassifier
    from manylabel.data import make_corpus
    from manylabel.evaluation import evaluate
    from manylabel.losses import NAMED, label_weights

    corpus = make_corpus(n_rows=20, n_features=9, n_labels=4)
    X, Y, p = corpus.X, corpus.Y, corpus.propensity
    engines = (baselines, online, trees)
    kinds = [getattr(engine, name) for engine in engines for name in engine.__all__]
    kinds += [label_tree.LabelTree, budget.AnnotationTree, budget.PowersetTree]
    kinds += [budget.BudgetedClassifier, budget.BudgetedTree]
    for kind in kinds:
        if issubclass(kind, BinaryClassifier):
            kind().fit(X, Y.toarray().argmax(axis=1) > 0).predict(X)
            continue
        model = kind().fit(X, Y)
        dense, best = model.decision_function(X), model.predict_topk(X, k=2)
        for scores in (dense, best, dense.astype(float), best.astype(float)):
            sets = model.predict(X)
            evaluate(Y, scores, k=2, predictions=sets, propensity=p)
    baselines.LEML(missing_weight=0.5).fit(X, Y)
    budget.PowersetTree(cost="f1").fit(X, Y)
    baselines.PDSparse(loss="margin").fit(X, Y)
    baselines.ClassifierChain(method="greedy").fit(X, Y).predict(X)
    label_tree.LabelTree(n_estimators=3, tilt="auto", cost="f1").fit(X, Y).predict(X)
    climbing = baselines.ObliqueTree(method="cart-lc")
    climbing.fit(X, Y.toarray().argmax(axis=1) > 0)
    _learn_rare(X)
    _score_dense()
    for cost in NAMED:
        label_weights([0, 1], [1, 1], cost)


def _learn_rare(X: Any) -> None:
    """Learn a label of one row among many, which has kernels of its own."""
    import numpy as np
    import scipy.sparse as sp

    from manylabel.baselines import OneVsRest

    rows = np.arange(MANY_ROWS)
    OneVsRest().fit(X[rows % X.shape[0]], sp.csr_array(rows[:, None] < 1))


def _score_dense() -> None:
    """Score dense rows, also without zeros, as embeddings are."""
    import numpy as np

    from manylabel.baselines import OneVsRest
    from manylabel.online import OnlineLabelTree

    rows = np.eye(4, dtype=np.float32) + 1
    for kind in (OneVsRest, OnlineLabelTree):
        model = kind().fit(rows, np.eye(4, dtype=int))
        for dense in (rows, rows - 1):
            model.predict(dense)


def _tag() -> None:
    from manylabel.text import Corrected, Tagger, TextVectorizer

    texts, tags = ["red wine", "white bread"] * 2, [["drink"], ["food"]] * 2
    for settings in ({"analyzer": "word"}, {"analyzer": "char"}, {"n_features": 16}):
        tagger = Tagger(vectorizer=TextVectorizer(**settings)).fit(texts, tags)
        tagger.evaluate(texts, tags)
        tagger.explain(texts[0])
        Corrected(tagger).correct(texts[:1], [["food"]]).tag_many(texts, proba=True)
