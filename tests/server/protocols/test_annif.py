"""Annif's REST interface, as its ``http`` backend and its clients use it."""

from datetime import datetime
from urllib.parse import urlencode

import pytest

PROJECT = "/v1/projects/menu"
# Written from the sources of annif 1.4.3, backend http: a form and its user agent.
FORM = b"text=a+glass+of+wine&metadata_title=Wines&project=menu&limit=2"
HEADERS = {
    "user-agent": "Annif/1.4.3",
    "content-type": "application/x-www-form-urlencoded",
}
LEARN = [
    {
        "text": "a loaf",
        "document_id": "d1",
        "subjects": [{"uri": "food", "label": "Food"}],
        "metadata": {"title": "Loaves"},
    }
]


def test_a_request_of_the_http_backend_gets_scores_above_0_the_best_first(served):
    answer = served.post(f"{PROJECT}/suggest", FORM, HEADERS)
    results = answer.json["results"]
    assert results[0]["uri"] == results[0]["label"] == "drink"
    scores = [hit["score"] for hit in results]
    assert len(scores) == 2
    assert scores == sorted(scores, reverse=True)
    assert all(0 < score <= 1 for score in scores)


def test_the_http_backend_reads_is_trained_and_modification_time(served):
    project = served.get(PROJECT, HEADERS).json
    assert project["is_trained"] is True
    assert datetime.fromisoformat(project["modification_time"]).tzinfo is not None


def test_projects_are_the_models(served):
    projects = served.get("/v1/projects").json["projects"]
    assert [project["project_id"] for project in projects] == ["menu"]
    assert projects[0] == served.get(PROJECT).json


def test_a_batch_is_answered_as_its_documents_are_one_by_one(served):
    texts = ["red wine", "rye bread"]
    documents = [{"text": t, "document_id": t} for t in texts]
    batch = served.post(
        f"{PROJECT}/suggest-batch?limit=2&threshold=0.1&language=en",
        {"documents": documents},
    ).json
    fields = {"limit": "2", "threshold": "0.1"}
    alone = [
        served.post(
            f"{PROJECT}/suggest", urlencode({"text": t, **fields}).encode()
        ).json
        for t in texts
    ]
    assert batch == [
        {**row, "document_id": t} for t, row in zip(texts, alone, strict=True)
    ]


def test_subjects_below_the_threshold_or_past_the_limit_are_left_out(served):
    def suggest(**fields):
        data = {"text": "red wine", **fields}
        answer = served.post(f"{PROJECT}/suggest", urlencode(data).encode())
        return answer.json["results"]

    assert suggest(limit="0") == []
    assert len(suggest(limit="1")) == 1
    assert len(suggest(limit=str(10**30))) <= 3
    assert all(hit["score"] >= 0.5 for hit in suggest(threshold="0.5"))


def test_a_document_sent_twice_is_learnt_once_and_a_changed_one_in_its_place(served):
    before = len(served.kinds())
    for subjects in (["food"], ["food"], ["drink"], ["drink"], ["food"]):
        document = {**LEARN[0], "subjects": [{"uri": uri} for uri in subjects]}
        answer = served.post(f"{PROJECT}/learn", [document])
        assert (answer.status, answer.body) == (204, b"")
    learnt, taken_back = "feedback", "retract"
    expected = [learnt, taken_back, learnt, taken_back, learnt]
    assert served.kinds()[before:] == expected
    assert served.last()["accepted"] == ["food"]
    assert served.last()["complete"]


def test_documents_without_an_id_are_learnt_each_time(served):
    before = len(served.kinds())
    document = {"text": "tap water", "subjects": [{"uri": "drink"}, {"uri": "drink"}]}
    served.post(f"{PROJECT}/learn", [document, document])
    assert served.kinds()[before:] == ["feedback", "feedback"]


def test_blank_documents_are_taken_and_teach_nothing(served):
    before = served.log.last()
    blank = {"text": " \n", "subjects": [{"uri": "zoo"}]}
    documents = [blank, {**blank, "document_id": "b"}, {**blank, "text": "lion"}]
    assert served.post(f"{PROJECT}/learn", documents).status == 204
    assert served.log.last() == before + 1


def test_what_is_learnt_shows_in_the_next_suggestion(served):
    text, uri = "zugenoxx flambeed", "http://example.org/dessert"
    document = {"text": text, "subjects": [{"uri": uri, "label": "Dessert"}]}
    served.post(f"{PROJECT}/learn", [document] * 5)
    assert served.replica.wait(served.log.last(), timeout=120)
    answer = served.post(f"{PROJECT}/suggest", urlencode({"text": text}).encode())
    uris = [hit["uri"] for hit in answer.json["results"]]
    assert uri in uris


@pytest.mark.parametrize(
    ("path", "body", "status", "message"),
    [
        ("suggest", b"limit=3", 422, "text: must be given."),
        ("suggest", b"text=a&limit=-1", 422, "limit: "),
        ("suggest", b"text=a&threshold=nan", 422, "threshold: "),
        ("suggest", b"text=%ff", 422, "percent-encoded in UTF-8"),
        ("suggest", b"a=1&" * 2000, 422, "at most 1,000 fields"),
        ("suggest", b"text=" + b"a" * 100_001, 422, "text: "),
        ("suggest-batch", b'{"documents": [{}]}', 422, "documents.0.text: "),
        ("suggest-batch", b"[", 422, "is no JSON"),
        ("learn", b"{}", 422, "must be a list"),
        ("learn", b'[{"text": "a"}]', 422, "0.subjects: "),
    ],
)
def test_a_request_that_cannot_be_read_is_refused_in_a_sentence(
    served, path, body, status, message
):
    kind = "application/x-www-form-urlencoded" if path == "suggest" else None
    headers = {} if kind is None else {"content-type": kind}
    answer = served.post(f"{PROJECT}/{path}", body, headers)
    assert answer.status == status
    assert message in answer.json["detail"]


def test_too_many_documents_and_unknown_projects_are_refused(served):
    batch = {"documents": [{"text": "a"}] * 33}
    answer = served.post(f"{PROJECT}/suggest-batch", batch)
    assert answer.status == 422
    assert served.post(f"{PROJECT}/learn", LEARN * 1001).status == 422
    assert served.get("/v1/projects/no").status == 404
    assert served.get("/v1/projects/..%2Fmenu").status == 404
