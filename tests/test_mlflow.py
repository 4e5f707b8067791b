"""A tagger as MLflow calls it, and a folder as model hubs read it."""

import json
import re

import pytest

import manylabel as ml
from manylabel import mlflow

TEXTS = ["red wine", "white wine", "brown bread", "rye bread and wine"]
TAGS = [["drink"], ["drink"], ["food"], ["drink", "food"]]


class Frame(dict):
    """As much of a data frame as is looked at."""

    @property
    def columns(self):
        """Names of the columns."""
        return list(self)


@pytest.fixture(scope="module")
def tagger():
    return ml.Tagger().fit(TEXTS, TAGS)


@pytest.fixture
def model(tagger, tmp_path):
    tagger.save(tmp_path / "tags")
    return mlflow._load_pyfunc(str(tmp_path / "tags"))


@pytest.mark.parametrize(
    "given",
    [
        TEXTS,
        Frame(text=TEXTS),
        Frame(words=TEXTS),
        Frame(number=[1, 2, 3, 4], text=TEXTS),
    ],
)
def test_lists_and_frames_of_texts_are_tagged(given, model, tagger):
    assert model.predict(given) == tagger.predict(TEXTS)


def test_parameters_are_those_of_tag(model, tagger):
    ranked = model.predict(TEXTS, {"k": 1, "deny": ["food"]})
    assert [row[0]["label"] for row in ranked] == ["drink"] * 4
    assert ranked[0][0]["score"] == tagger.tag(TEXTS[0], 1)[0][1]
    assert model.predict(TEXTS, {"allow": ["food"]})[0] == []
    json.dumps(ranked)


def test_what_is_no_text_and_no_parameter_is_refused(model):
    with pytest.raises(ValueError, match=r"column 'text', or one column\. Got a, b\.$"):
        model.predict(Frame(a=TEXTS, b=TEXTS))
    with pytest.raises(ValueError, match=r"params must be among .* Got 'top'\.$"):
        model.predict(TEXTS, {"top": 3})


def test_a_folder_with_a_card_is_still_a_model(tagger, tmp_path):
    path = tmp_path / "tags"
    tagger.save(path)
    (path / "README.md").write_text(tagger.card().to_markdown(license="mit"))
    assert ml.Tagger.load(path).predict(TEXTS) == tagger.predict(TEXTS)
    tagger.save(path)
    assert (path / "README.md").exists()


def test_no_fact_breaks_out_of_a_card(tagger):
    hostile = "a | b\n---\n<script>*x*"
    page = tagger.annotate(source=hostile).card().to_markdown(title=hostile)
    tagger.annotate(source=None)
    _, front, body = re.split(r"^---$", page, maxsplit=2, flags=re.M)
    assert f"title: {json.dumps(hostile)}\n" in front
    (line,) = [each for each in body.split("\n") if each.startswith("| source")]
    assert line == r"| source | a \| b\\n---\\n\<script\>\*x\* |"


@pytest.mark.slow
def test_a_snapshot_of_the_hub_is_a_model(tagger, tmp_path):
    hub = pytest.importorskip("huggingface_hub")
    tagger.save(tmp_path / "tags")
    repository, revision = tmp_path / "models--me--tags", "a" * 40
    for name in ("blobs", "refs", f"snapshots/{revision}"):
        (repository / name).mkdir(parents=True)
    (repository / "refs" / "main").write_text(revision)
    for number, path in enumerate((tmp_path / "tags").iterdir()):
        link = repository / "snapshots" / revision / path.name
        path.rename(repository / "blobs" / str(number))
        link.symlink_to(f"../../blobs/{number}")
    found = hub.snapshot_download("me/tags", cache_dir=tmp_path, local_files_only=True)
    assert ml.Tagger.load(found).predict(["dry wine"]) == [["drink"]]
