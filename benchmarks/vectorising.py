"""Vectorising texts: ours beside scikit-learn's, on the texts of debtags.

Both count words and pairs of words that are in two texts or more, with the same
weights but that a pair counts half in ours, on one core in one process, in turn.
"""

import argparse
import gzip
import json
import time
from pathlib import Path

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer

import manylabel as ml

FOLDER = Path(__file__).parents[1] / "../shared/data"
LEAST_SPEED = 2.0  # MB a second
REPEATS = 3


def scikit_learn() -> TfidfVectorizer:
    return TfidfVectorizer(
        ngram_range=(1, 2),
        sublinear_tf=True,
        min_df=2,
        token_pattern=r"\b\w+\b",
        dtype=np.float32,
    )


def seconds(function, *arguments) -> float:
    start = time.process_time()
    function(*arguments)
    return time.process_time() - start


def speeds(make, texts: list[str], megabytes: float) -> list[float]:
    """Return megabytes a second of fit_transform and of transform, each the best."""
    vectorizer = make()
    fit = min(seconds(vectorizer.fit_transform, texts) for _ in range(REPEATS))
    transform = min(seconds(vectorizer.transform, texts) for _ in range(REPEATS))
    return [megabytes / fit, megabytes / transform]


def check_values(texts: list[str]) -> None:
    """Stop unless rows of single words are the same, whoever makes them."""
    ours, theirs = ml.TextVectorizer(ngram_range=(1, 1)), scikit_learn()
    X = ours.fit_transform(texts)
    expected = theirs.set_params(ngram_range=(1, 1)).fit_transform(texts)
    order = np.argsort(ours.get_feature_names_out())
    assert abs(X[:, order] - expected).max() < 1e-6


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=FOLDER, help="the data folder")
    path = parser.parse_args(arguments).data / "text/debtags/train.jsonl.gz"
    if not path.is_file():
        raise SystemExit(f"{path}: there is no such file.")
    with gzip.open(path, "rt") as file:
        texts = [json.loads(line)["text"] for line in file]
    megabytes = sum(len(text.encode()) for text in texts) / 1e6
    check_values(texts)
    ours = speeds(ml.TextVectorizer, texts, megabytes)
    theirs = speeds(scikit_learn, texts, megabytes)
    hashed = speeds(lambda: ml.TextVectorizer(n_features=2**20), texts, megabytes)
    characters = speeds(lambda: ml.TextVectorizer(analyzer="char"), texts, megabytes)
    for what, mine, peer in zip(("fit", "transform"), ours, theirs, strict=True):
        print(
            f"{what}, {megabytes:.1f} MB: manylabel {mine:.1f} MB/s, scikit-learn "
            f"{peer:.1f} MB/s, {mine / peer:.1f} times as fast"
        )
    print(f"hashed: {hashed[1]:.1f} MB/s; characters: {characters[0]:.1f} MB/s to fit")
    if min(*ours, *hashed, *characters) < LEAST_SPEED:
        raise SystemExit(f"vectorising is slower than {LEAST_SPEED:g} MB/s")


if __name__ == "__main__":
    main()
