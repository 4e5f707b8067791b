"""The comparators reach what was published of them on the official split of bibtex."""

import pytest

from manylabel import SLEEC, WSABIE, PDSparse, evaluate, read

K = (1, 3, 5)
PUBLISHED = [
    (SLEEC(), (65.08, 39.64, 28.87)),
    (WSABIE(), (54.78, 32.39, 23.98)),
    (PDSparse(loss="margin", l1_regularization=0.01), (61.29, 35.82, 25.74)),
]


@pytest.mark.slow
@pytest.mark.parametrize(("learner", "published"), PUBLISHED)
def test_published_precision_is_reached(data_folder, learner, published):
    folder = data_folder / "xmc" / "bibtex"
    train, test = (read(folder / f"{part}.txt.gz") for part in ("train", "test"))
    best = learner.fit(train.X, train.Y).predict_topk(test.X, k=max(K))
    report = evaluate(test.Y, best, k=K)
    for k, figure in zip(K, published, strict=True):
        assert 100 * report[f"P@{k}"] > figure - 1.0
