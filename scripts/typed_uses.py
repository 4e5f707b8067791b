"""What users write, as a type checker sees it: read by scripts/check_types, not run."""

from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

import manylabel as ml

texts = ["red wine", "rye bread"]
tags = [["drink"], ["food"]]
X, Y = np.zeros((2, 3)), np.zeros((2, 2))

tagger = ml.Tagger(ml.LabelTree(), quality="fast").fit(texts, tags)
assert_type(tagger, ml.Tagger)
assert_type(tagger.tag("wine", k=1), list[tuple[str, float]])
assert_type(tagger.tag_many(texts), list[list[tuple[str, float]]])
assert_type(tagger.predict(texts), list[list[str]])
assert_type(tagger.predict_topk(texts, k=3), csr_array)
assert_type(ml.Tagger.load("model/"), ml.Tagger)

learner = ml.OneVsRest(n_jobs=2).fit(X, Y)
assert_type(learner, ml.OneVsRest)
assert_type(learner.predict(X), csr_array | NDArray[np.int64])
assert_type(learner.predict_topk(X, 1), csr_array)
assert_type(learner.score(X, Y), float)

stream = ml.CSDPP(cost="f1").partial_fit(X, Y)
assert_type(stream, ml.CSDPP)
assert_type(stream.predict(X), csr_array | NDArray[np.int64])
assert_type(stream.predict_topk(X), csr_array)
assert_type(stream.learn_one({0: 1.0}, {1}), ml.CSDPP)
assert_type(stream.predict_one({0: 1.0}), set[int])

assert_type(ml.load("model/"), Any)  # the folder says of which class
assert_type(ml.load("model/", ml.Tagger), ml.Tagger)
assert_type(ml.load("model/", ml.OneVsRest, mmap=True), ml.OneVsRest)

data = ml.read("train.jsonl")
assert_type(data, ml.Dataset)
assert_type(data.label_names, tuple[str, ...] | None)
report = ml.evaluate(data.Y, learner.predict_topk(X), k=(1, 3))
assert_type(report, ml.Report)
assert_type(report["P@1"], float)
