"""What stems and stop words change on English texts, in quality and in time.

    python -m benchmarks.languages debtags reuters90

OneVsRest on the official splits, by words as they are, by stems, and without stop
words. CPU seconds are those of counting the words of the training texts, the least of
some runs.
"""

import argparse
import time
from pathlib import Path
from typing import Any

import manylabel as ml
from benchmarks.annotations import FOLDER

N_RUNS = 3
WAYS: dict[str, dict[str, Any]] = {
    "words": {},
    "split by language": {"language": "en", "stem": False},
    "stems": {"language": "en"},
    "stems, no stop words": {"language": "en", "stop_words": True},
}
METRICS = ("P@1", "P@5", "PSP@1", "PSP@5")


def count_seconds(vectorizer: Any, texts: Any) -> float:
    """Return the least CPU seconds of counting words, after a first time."""
    vectorizer.fit_transform(texts[:50])
    found = []
    for _ in range(N_RUNS):
        start = time.process_time()
        vectorizer.fit_transform(texts)
        found.append(time.process_time() - start)
    return min(found)


def main() -> None:
    """Print a line for each set and way."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", nargs="+")
    parser.add_argument("--data", type=Path, default=FOLDER)
    given = parser.parse_args()
    print("| set | words | " + " | ".join(METRICS) + " | CPU s |")
    print("|---" * (len(METRICS) + 3) + "|")
    for name in given.sets:
        folder = given.data / "text" / name
        train, test = (ml.read(folder / f"{p}.jsonl.gz") for p in ("train", "test"))
        for way, options in WAYS.items():
            vectorizer = ml.TextVectorizer(**options)
            seconds = count_seconds(vectorizer, train.texts)
            tagger = ml.Tagger(ml.OneVsRest(), vectorizer=vectorizer).fit(train)
            report = tagger.evaluate(test)
            cells = " | ".join(f"{100 * report[metric]:.2f}" for metric in METRICS)
            print(f"| {name} | {way} | {cells} | {seconds:.2f} |", flush=True)


if __name__ == "__main__":
    main()
