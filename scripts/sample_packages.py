"""Make the corpus of the demo: what Python packages say of themselves.

    pip install --dry-run --no-deps --ignore-installed --report a.json NAME ...
    python scripts/sample_packages.py a.json ...

Reads such reports and the packages of this environment. Writes
``manylabel/data/samples/packages.csv``: name, version, licence, summary, and topics as
tags, each with those above it.
"""

import csv
import importlib.metadata
import json
import re
import sys
from collections import Counter
from pathlib import Path

OUT = Path(__file__).parents[1] / "manylabel" / "data" / "samples" / "packages.csv"
TOPIC, LICENCE = "Topic :: ", "License :: "
SAY_LITTLE = {"Software Development", "Libraries", "Python Modules", "Utilities"}
PERMISSIVE = re.compile(r"MIT|BSD|Apache|ISC|PSF|Python Software Foundation|Zlib|CC0")
COPYLEFT = re.compile(r"GPL|GNU|MPL|Mozilla|EPL|CeCILL|Eclipse|Propriet|Other")
LEAST = 4  # packages that have a tag
MIN_LETTERS, MAX_LETTERS = 30, 300
MAX_KEYWORDS = 100  # letters


def main() -> None:
    """Write the packages in the order of their names."""
    found = {}
    for metadata in (*_installed(), *_reported(sys.argv[1:])):
        row = _row(metadata)
        if _is_fit(row):
            found[re.sub(r"[-_.]+", "-", metadata["name"]).lower()] = row
    counts = Counter(tag for row in found.values() for tag in row["tags"])
    with OUT.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, delimiter=";", lineterminator="\n")
        table.writerow(["id", "version", "licence", "text", "tags"])
        for name, row in sorted(found.items()):
            tags = [tag for tag in row["tags"] if counts[tag] >= LEAST]
            if tags:
                told = [row["version"], row["licence"], row["text"]]
                table.writerow([name, *told, "|".join(tags)])


def _installed() -> list[dict]:
    """Return the metadata of this environment, in the words of a report."""
    found = (each.metadata.json for each in importlib.metadata.distributions())
    return [metadata for metadata in found if "name" in metadata]


def _reported(paths: list[str]) -> list[dict]:
    reports = (json.loads(Path(path).read_text(encoding="utf-8")) for path in paths)
    return [each["metadata"] for report in reports for each in report["install"]]


def _row(metadata: dict) -> dict:
    classifiers = metadata.get("classifier", [])
    topics = [each.removeprefix(TOPIC) for each in classifiers if TOPIC in each]
    tags = dict.fromkeys(tag for topic in topics for tag in topic.split(" :: "))
    named = [each.split(" :: ")[-1] for each in classifiers if LICENCE in each]
    licence = metadata.get("license_expression") or ", ".join(named)
    return {
        "version": metadata["version"],
        "licence": licence,
        "text": _text(metadata),
        "tags": sorted(tag for tag in tags if tag not in SAY_LITTLE),
    }


def _text(metadata: dict) -> str:
    """Return the name, the summary, and keywords as sentences."""
    keywords = metadata.get("keywords", [])
    words = keywords if isinstance(keywords, list) else re.split(r"[,;\s]+", keywords)
    summary = " ".join(metadata.get("summary", "").split()).rstrip(".")
    named = ", ".join(word.strip() for word in words if word.strip())
    return f"{metadata['name']}: {summary}." + f" {named[:MAX_KEYWORDS]}." * bool(named)


def _is_fit(row: dict) -> bool:
    """Return whether a row may be copied, and says something."""
    permissive = PERMISSIVE.search(row["licence"])
    return bool(
        permissive
        and not COPYLEFT.search(row["licence"])
        and MIN_LETTERS <= len(row["text"]) <= MAX_LETTERS
    )


if __name__ == "__main__":
    main()
