"""Tagged texts for the tests of taggers."""

import gzip
import json

import pytest

N_ROWS = 1200


@pytest.fixture(scope="session")
def debtags(data_folder):
    """Return texts and tags of some Debian packages, the tags of 20 rows or more."""
    with gzip.open(data_folder / "text/debtags/train.jsonl.gz", "rt") as file:
        records = [json.loads(line) for line in file][: 12 * N_ROWS : 12]
    names = [name for record in records for name in record["labels"]]
    frequent = {name for name in set(names) if names.count(name) >= 20}
    tags = [sorted(frequent.intersection(record["labels"])) for record in records]
    return [record["text"] for record in records], tags
