"""What the routes answer."""

import json
import shutil
import time

import pytest

from manylabel.server import schemas
from manylabel.server.models import CorrectedModel

MENU = "/v1/models/menu"
WINE = {"text": "a glass of wine"}


def predict(http, text="a glass of wine", **options):
    query = {"params": {"after": options.pop("after")}} if "after" in options else {}
    body = {"items": [{"text": text}], **options}
    return http.post(f"{MENU}/predict", json=body, **query)


def teach(http, text, accepted, *, key=None, wait=True, **more):
    return http.post(
        f"{MENU}/feedback",
        json={"item": {"text": text}, "accepted": accepted, **more},
        headers={"Idempotency-Key": key} if key else {},
        params={"wait": "applied"} if wait else {},
    )


def best(answer):
    return [each["label"] for each in answer.json()["predictions"][0]["labels"]]


def test_a_text_gets_its_labels_in_the_order_of_scores(http):
    answer = predict(http, k=2)
    assert answer.status_code == 200
    found = schemas.PredictResponse.model_validate_json(answer.content)
    assert found.model == "menu"
    assert best(answer) == ["drink", "food"]
    scores = [each.score for each in found.predictions[0].labels]
    assert scores == sorted(scores, reverse=True)


def test_ids_of_items_come_back(http):
    items = [{"id": "x", **WINE}, WINE]
    answer = http.post(f"{MENU}/predict", json={"items": items})
    assert [row["item"] for row in answer.json()["predictions"]] == ["x", None]


def test_many_items_get_what_each_gets_alone(http):
    texts = ["wine", "rye bread", "brown", "glass"] * 10
    items = [{"text": text} for text in texts]
    answer = http.post(f"{MENU}/predict", json={"items": items, "remember": False})
    together = [row["labels"] for row in answer.json()["predictions"]]
    alone = [predict(http, t).json()["predictions"][0]["labels"] for t in texts[:4]]
    assert together == alone * 10


def test_allowed_and_denied_labels_are_obeyed(http):
    assert best(predict(http, allow=["food"])) == ["food"]
    assert best(predict(http, deny=["drink"])) == ["food"]


def test_rows_of_features_are_taken_by_column(http):
    items = [{"features": {"0": 1.0}}]
    answer = http.post("/v1/models/rows/predict", json={"items": items, "k": 1})
    assert best(answer) == ["b"]


def test_a_correction_shows_in_the_next_prediction(http):
    for _ in range(5):
        teach(http, "zebra juice", ["zoo"], complete=True)
    answer = teach(http, "zebra juice", ["zoo"], complete=True)
    assert answer.status_code == 202
    assert best(predict(http, "zebra juice", k=1)) == ["zoo"]


def test_feedback_may_name_a_prediction(http):
    name = predict(http, "lion milk").json()["predictions"][0]["id"]
    body = {"prediction_id": name, "accepted": ["zoo"]}
    answer = http.post(f"{MENU}/feedback", json=body)
    assert answer.status_code == 202
    schemas.Acknowledged.model_validate_json(answer.content)
    body = {"prediction_id": "nix", "accepted": ["zoo"]}
    answer = http.post(f"{MENU}/feedback", json=body)
    assert answer.status_code == 404
    assert answer.json()["title"] == "Unknown prediction"


def test_the_same_key_is_the_same_event(http):
    first = teach(http, "zebra", ["zoo"], key="k1")
    again = teach(http, "zebra", ["zoo"], key="k1")
    assert (first.status_code, again.status_code) == (202, 200)
    assert first.json()["sequence"] == again.json()["sequence"]
    other = teach(http, "zebra", ["food"], key="k1")
    assert (other.status_code, other.json()["title"]) == (409, "Key reused")
    assert teach(http, "zebra", ["zoo"]).json()["sequence"] == (
        first.json()["sequence"] + 1
    )


def test_several_feedbacks_have_a_number_each(http):
    body = [{"item": {"text": t}, "accepted": ["zoo"]} for t in ("lion", "zebra")]
    headers = {"Idempotency-Key": "both"}
    answer = http.post(f"{MENU}/feedback", json=body, headers=headers)
    found = schemas.AcknowledgedBatch.model_validate_json(answer.content)
    assert found.sequences == [found.sequence - 1, found.sequence]
    again = http.post(f"{MENU}/feedback", json=body, headers=headers)
    assert again.status_code == 200
    assert again.json()["sequences"] == found.sequences


def test_labels_that_the_model_never_had_are_named(http):
    answer = teach(http, "rye beer", ["drink", "beverag"])
    assert answer.json()["new_labels"] == ["beverag"]
    schemas.AcknowledgedFeedback.model_validate_json(answer.content)
    assert "new_labels" not in teach(http, "rye beer", ["drink", "beverag"]).json()
    about = {"item": {"text": "rye ale"}, "rejected": ["nix"]}
    body = [{**about, "accepted": [name]} for name in ("foood", "food", "foood")]
    answer = http.post(f"{MENU}/feedback", json=body)
    assert answer.json()["new_labels"] == ["foood", "nix"]


def test_a_list_of_feedbacks_is_judged_at_once(http, monkeypatch):
    judge, sizes = CorrectedModel.judge_many, []

    def count(model, items):
        sizes.append(len(items))
        return judge(model, items)

    monkeypatch.setattr(CorrectedModel, "judge_many", count)
    body = [{"item": {"text": f"lion {i}"}, "accepted": ["zoo"]} for i in range(300)]
    assert http.post(f"{MENU}/feedback", json=body).status_code == 202
    assert sizes.count(300) == 1


def test_of_a_list_with_one_bad_feedback_nothing_is_recorded(http):
    before = http.get(f"{MENU}/figures").json()["acknowledged"]
    good = {"item": {"text": "lion"}, "accepted": ["zoo"]}
    bad = {"prediction_id": "nix", "accepted": ["zoo"]}
    answer = http.post(f"{MENU}/feedback", json=[good, bad])
    assert (answer.status_code, answer.json()["title"]) == (404, "Unknown prediction")
    sequence = http.post(f"{MENU}/feedback", json=good).json()["sequence"]
    assert sequence == before + 1


def test_feedback_on_a_blank_text_is_refused_by_item_and_by_prediction(http):
    name = predict(http, " ").json()["predictions"][0]["id"]
    for about in ({"item": {"text": ""}}, {"prediction_id": name}):
        answer = http.post(f"{MENU}/feedback", json={**about, "accepted": ["zoo"]})
        assert answer.status_code == 422
        assert "text of feedback must not be blank" in answer.json()["detail"]


def test_labels_are_kept_without_blanks_around_them(http):
    answer = teach(http, "tapir", [" zoo\t", "zoo"], rejected=[" food"])
    assert answer.json().get("new_labels", ["zoo"]) == ["zoo"]
    (found,) = http.get(f"{MENU}/feedback?limit=1").json()["corrections"]
    assert (found["accepted"], found["rejected"]) == (["zoo"], ["food"])
    answer = teach(http, "tapir", ["zoo"], rejected=["zoo "])
    assert (answer.status_code, answer.json()["title"]) == (422, "Bad item")


def test_a_label_that_is_rejected_is_not_added(http):
    answer = teach(http, "tapir", ["food"], rejected=["fod"])
    assert answer.json()["new_labels"] == ["fod"]
    found = http.get(f"{MENU}/labels", params={"prefix": "fod"}).json()
    assert found == {"labels": []}


def test_a_prediction_waits_for_what_it_comes_after(http):
    sequence = teach(http, "zebra", ["zoo"], wait=False).json()["sequence"]
    assert predict(http, after=sequence).json()["applied"] >= sequence
    answer = predict(http, after=sequence + 100)
    assert (answer.status_code, answer.json()["title"]) == (404, "Unknown sequence")


def test_feedback_can_be_taken_back(http):
    before = predict(http, "zebra").json()["predictions"][0]["labels"]
    sequence = teach(http, "zebra", ["food"], complete=True).json()["sequence"]
    answer = http.delete(f"{MENU}/feedback/{sequence}")
    assert answer.status_code == 202
    after = predict(http, "zebra", after=answer.json()["sequence"])
    assert after.json()["predictions"][0]["labels"] == before


def test_a_rollback_takes_out_what_came_later(http):
    kept = teach(http, "zebra", ["food"]).json()["sequence"]
    before = predict(http, "zebra").json()["predictions"][0]["labels"]
    teach(http, "zebra", ["drink"], complete=True)
    answer = http.post(f"{MENU}/rollback", json={"sequence": kept})
    assert answer.status_code == 202
    after = predict(http, "zebra", after=answer.json()["sequence"])
    assert after.json()["predictions"][0]["labels"] == before


def test_corrections_are_listed_by_pages_with_what_became_of_each(http):
    numbers = [teach(http, f"okapi {n}", ["zoo"]).json()["sequence"] for n in range(3)]
    undone = http.delete(f"{MENU}/feedback/{numbers[1]}").json()["sequence"]
    found = http.get(f"{MENU}/feedback", params={"limit": 2, "after": undone})
    schemas.CorrectionsResponse.model_validate_json(found.content, strict=True)
    first, second = found.json()["corrections"]
    assert (first["sequence"], first["state"]) == (numbers[2], "learnt")
    assert (second["sequence"], second["state"]) == (numbers[1], "left out")
    assert (first["text"], first["accepted"], first["who"]) == (
        "okapi 2",
        ["zoo"],
        "local",
    )
    params = {"before": numbers[1], "limit": 1}
    (third,) = http.get(f"{MENU}/feedback", params=params).json()["corrections"]
    assert third["sequence"] == numbers[0]


def test_of_a_long_text_the_list_of_corrections_has_the_beginning(http):
    teach(http, "okapi " * 1000, ["zoo"])
    (found,) = http.get(f"{MENU}/feedback?limit=1").json()["corrections"]
    assert found["text"] == "okapi " * 50


def test_reasons_name_the_words(http):
    answer = http.post(f"{MENU}/explain", json={"item": WINE, "labels": ["nonsense"]})
    assert answer.status_code == 422
    assert "labels must be the model's. Got 'nonsense'" in answer.json()["detail"]
    answer = http.post(f"{MENU}/explain", json={"item": WINE, "labels": ["drink"]})
    found = schemas.ExplainResponse.model_validate_json(answer.content)
    assert found.reasons[0].words[0].word == "wine"
    answer = http.post(
        "/v1/models/rows/explain", json={"item": {"features": {"0": 1.0}}}
    )
    assert answer.status_code == 422


def test_labels_are_found_by_their_beginning(http):
    answer = http.get(f"{MENU}/labels", params={"prefix": "dr"})
    found = schemas.LabelsResponse.model_validate_json(answer.content)
    assert [each.label for each in found.labels] == ["drink"]


@pytest.mark.parametrize(
    ("verb", "path", "name"),
    [
        ("POST", f"{MENU}/feedback?Wait=applied", "Wait"),
        ("POST", f"{MENU}/predict?k=1", "k"),
        ("POST", f"{MENU}/predict?after=1&k=1", "k"),
        ("GET", f"{MENU}/labels?prefx=a", "prefx"),
        ("GET", "/v1/models?limit=3", "limit"),
        ("POST", f"{MENU}/rollback?sequence=1", "sequence"),
    ],
)
def test_a_query_parameter_that_is_not_known_is_refused(http, verb, path, name):
    answer = http.request(verb, path, json={"items": [WINE]})
    assert (answer.status_code, answer.json()["title"]) == (422, "Invalid request")
    words = f"query.{name}: is not known, or misspelt."
    assert answer.json()["detail"].startswith(words)


def test_models_versions_cards_and_figures_are_told(http):
    assert http.get("/v1/models").json()["models"][-2:] == ["menu", "rows"]
    versions = http.get(f"{MENU}/versions").json()
    schemas.VersionsResponse.model_validate(versions)
    assert versions["active"] == versions["versions"][0]["version"]
    assert http.get(MENU).json()["labels"] == 2
    assert http.get(f"{MENU}/figures").json()["applied"] >= 2
    answer = http.post(f"{MENU}/activate", json={"version": versions["active"]})
    assert answer.status_code == 202


def test_unknown_names_are_not_found(http):
    cases = {
        "Unknown model": http.get("/v1/models/nix"),
        "Unknown version": http.post(f"{MENU}/activate", json={"version": "0" * 12}),
        "Unknown sequence": http.post(f"{MENU}/rollback", json={"sequence": 999}),
        "Not Found": http.get("/nix"),
    }
    for title, answer in cases.items():
        assert (answer.status_code, answer.json()["title"]) == (404, title)
        assert answer.headers["content-type"] == "application/problem+json"
        schemas.ProblemDetails.model_validate_json(answer.content)
    assert "; /v1/models lists all." in cases["Unknown model"].json()["detail"]
    assert "/openapi.json has each request" in cases["Not Found"].json()["detail"]


@pytest.mark.parametrize(
    ("body", "where"),
    [
        ({"items": []}, "items"),
        ({"items": [{"text": 1}]}, "items.0.text"),
        ({"items": [{}]}, "items.0"),
        ({"items": [{"text": "a", "features": {}}]}, "items.0"),
        ({"items": [{"text": "a" * 100_001}]}, "items.0.text"),
        ({"items": [WINE] * 10_001}, "items"),
        ({"items": [WINE], "k": 0}, "k"),
        ({"items": [WINE], "nix": 0}, "nix"),
        ({"items": [{"features": {"0": float("inf")}}]}, "items.0.features.0"),
    ],
)
def test_requests_that_do_not_fit_are_refused_by_place(http, body, where):
    headers = {"content-type": "application/json"}
    answer = http.post(f"{MENU}/predict", content=json.dumps(body), headers=headers)
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["where"] == where
    assert "/openapi.json has each request" in answer.json()["detail"]
    assert len(answer.content) < 2000


@pytest.mark.parametrize(
    ("model", "item", "got"),
    [
        ("rows", {"text": "secret"}, "text"),
        ("rows", {"id": "x", "text": "secret"}, "text, id"),
        ("menu", {"features": {"secret": 1.0}}, "features"),
    ],
)
def test_what_an_item_says_is_not_repeated(http, model, item, got):
    answer = http.post(f"/v1/models/{model}/predict", json={"items": [item]})
    assert answer.status_code == 422
    assert answer.json()["detail"].endswith(f"as the model reads. Got {got}.")
    assert "secret" not in answer.text


@pytest.mark.parametrize(
    ("verb", "body", "words"),
    [
        ("predict", "{", "body: is no JSON: EOF while"),
        ("predict", "[]", "body: must be an object."),
        ("predict", "{}", "items: must be given."),
        ("predict", '{"items": "a"}', "items: must be a list."),
        ("predict", '{"items": []}', "items: must have at least 1 element."),
        (
            "predict",
            '{"items": ["a b"]}',
            'items.0: must be an object as {"text": "..."}.',
        ),
        (
            "predict",
            json.dumps({"items": [WINE] * 10_001}),
            "items: must have at most 10,000 elements.",
        ),
        ("feedback", "[]", "body: must have at least 1 element."),
        ("predict", '{"items": [{"txt": "a"}]}', "items.0.txt: is not known, or missp"),
        ("predict", '{"items": [{"text": 1}]}', "items.0.text: must be a string."),
        ("predict", '{"items": [{"text": ""}], "k": 0}', "k: must be at least 1."),
        (
            "predict",
            '{"items": [{"text": ""}], "k": "x"}',
            "k: must be a whole number.",
        ),
        (
            "feedback",
            '{"accepted": ["a"]}',
            "body: feedback must have prediction_id or",
        ),
        (
            "feedback",
            '{"item": {"text": "a"}, "at": "now"}',
            "at: must be a time as 20",
        ),
        ("retrain", '{"quality": "good"}', "body.quality: must be 'fast'"),
    ],
)
def test_what_does_not_fit_is_told_in_plain_words(http, verb, body, words):
    headers = {"content-type": "application/json"}
    answer = http.post(f"{MENU}/{verb}", content=body, headers=headers)
    assert answer.status_code == 422
    assert answer.json()["detail"].startswith(words)


@pytest.mark.parametrize(
    "body",
    [
        {"item": WINE, "accepted": ["a"], "rejected": ["a"]},
        {"item": WINE, "prediction_id": "a", "accepted": ["a"]},
        {"accepted": ["a"]},
        {"item": WINE},
        {"item": WINE, "accepted": [""]},
        {"item": WINE, "accepted": ["a"], "at": "yesterday"},
        {"item": {"features": {"0": 1.0}}, "accepted": ["a"]},
    ],
)
def test_feedback_that_says_nothing_is_refused(http, body):
    assert http.post(f"{MENU}/feedback", json=body).status_code == 422


def test_deep_json_is_refused(http):
    deep = "[" * 100_000
    headers = {"content-type": "application/json"}
    for verb in ("predict", "feedback", "explain"):
        answer = http.post(f"{MENU}/{verb}", content=deep, headers=headers)
        assert answer.status_code in (400, 422)


def test_a_new_folder_is_noticed(http, shared, fitted):
    shutil.copytree(fitted / "rows", shared / "late")
    for _ in range(100):
        is_noticed = "late" in http.get("/v1/models").json()["models"]
        if is_noticed and http.get("/health/ready").status_code == 200:
            return  # other tests need a server that is ready
        time.sleep(0.1)
    raise AssertionError("the folder was not noticed")


def test_the_page_is_served_under_a_strict_policy(http):
    answer = http.get("/")
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    policy = answer.headers["content-security-policy"]
    for rule in ("default-src 'none'", "script-src 'self'", "frame-ancestors 'none'"):
        assert rule in policy
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert "access-control-allow-origin" not in answer.headers


def test_health_says_live_and_ready(http):
    assert http.get("/health/live").json() == {"status": "live"}
    assert http.get("/health/ready").json() == {"status": "ready"}


@pytest.mark.parametrize("verb", ["labels", "card"])
def test_faults_of_the_server_tell_no_details(http, monkeypatch, caplog, verb):
    def fail(*_):
        raise ZeroDivisionError("a secret")

    monkeypatch.setattr(f"manylabel.server.replica.Replica.{verb}", fail)
    path = {"labels": f"{MENU}/labels", "card": MENU}[verb]
    answer = http.get(path)
    assert answer.status_code == 500
    assert answer.headers["content-type"] == "application/problem+json"
    assert "secret" not in answer.text
    assert "a secret" in caplog.text
