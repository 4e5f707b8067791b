"""A Label Studio ML backend, as Label Studio uses it."""

from base64 import b64encode

import pytest

BACKEND = "/label-studio/menu"
CHOICES = """<View>
  <Text name="dish" value="$description"/>
  <Choices name="course" toName="dish" choice="multiple">
    <Choice value="Drinks" alias="drink"/><Choice value="food"/><Choice value="red"/>
  </Choices>
</View>"""
TAXONOMY = """<View>
  <Text name="dish" value="$description"/>
  <Taxonomy name="course" toName="dish">
    <Choice value="menu"><Choice value="drink"><Choice value="red"/></Choice></Choice>
    <Choice value="food"/>
  </Taxonomy>
</View>"""
# Written from the sources of Label Studio 1.x; what is not looked at is shortened.
PREDICT = {
    "tasks": [
        {
            "id": 11,
            "data": {"description": "a glass of red wine"},
            "meta": {},
            "created_at": "2026-01-05T10:00:00Z",
            "is_labeled": False,
            "project": 3,
        },
        {"id": 12, "data": {"description": "rye bread"}},
    ],
    "model_version": "",
    "project": "3.1767607200",
    "label_config": CHOICES,
    "params": {"login": None, "password": None, "context": None},
}
SETUP = {
    "project": "3.1767607200",
    "schema": CHOICES,
    "hostname": "http://localhost:8080",
    "access_token": "",
    "extra_params": None,
}


def tell(served, action, number, chosen=(), *, config=CHOICES, **more):
    """Send the event of an annotation, and return the status of the answer."""
    kind = "choices" if config is CHOICES else "taxonomy"
    region = {
        "id": "x1",
        "from_name": "course",
        "to_name": "dish",
        "type": kind,
        "value": {kind: list(chosen)},
    }
    event = {
        "action": action,
        "project": {"id": 3, "title": "Menu", "label_config": config},
        "task": {"id": 11, "data": {"description": "a glass of red wine"}},
        "annotation": {"id": number, "result": [region], "completed_by": 1, **more},
    }
    return served.post(f"{BACKEND}/webhook", event).status


def test_health_and_setup_tell_the_version(served):
    health = served.get(f"{BACKEND}/health")
    assert (health.status, health.json["status"]) == (200, "UP")
    version = served.post(f"{BACKEND}/setup", SETUP).json["model_version"]
    assert version == served.replica.version


def test_tasks_get_the_likely_choices(served):
    answer = served.post(f"{BACKEND}/predict", PREDICT).json
    wine, bread = answer["results"]
    assert wine["result"] == [
        {
            "from_name": "course",
            "to_name": "dish",
            "type": "choices",
            "value": {"choices": ["drink", "red"]},
        }
    ]
    assert bread["result"][0]["value"] == {"choices": ["food"]}
    assert 0.5 <= wine["score"] <= 1
    assert wine["model_version"] == answer["model_version"] == served.replica.version


def test_a_single_choice_gets_the_best_label(served):
    single = CHOICES.replace('choice="multiple"', 'choice="single"')
    answer = served.post(f"{BACKEND}/predict", {**PREDICT, "label_config": single})
    chosen = answer.json["results"][0]["result"][0]["value"]["choices"]
    assert chosen == ["drink"]


def test_a_taxonomy_gets_the_way_to_each_label(served):
    answer = served.post(f"{BACKEND}/predict", {**PREDICT, "label_config": TAXONOMY})
    (region,) = answer.json["results"][0]["result"]
    assert region["type"] == "taxonomy"
    paths = [["menu", "drink"], ["menu", "drink", "red"]]
    assert region["value"] == {"taxonomy": paths}


def test_labels_that_the_project_does_not_have_are_not_predicted(served):
    few = CHOICES.replace('<Choice value="Drinks" alias="drink"/>', "")
    answer = served.post(f"{BACKEND}/predict", {**PREDICT, "label_config": few})
    wine = answer.json["results"][0]["result"][0]["value"]["choices"]
    assert wine == ["red"]
    none = few.replace('<Choice value="food"/><Choice value="red"/>', "")
    answer = served.post(f"{BACKEND}/predict", {**PREDICT, "label_config": none})
    assert answer.json["results"][0]["result"] == []


def test_choices_that_are_not_chosen_are_rejected(served):
    assert tell(served, "ANNOTATION_CREATED", 1, ["drink"]) == 201
    found = served.last()
    assert (found["accepted"], found["rejected"]) == (["drink"], ["food", "red"])
    assert found["item"] == {"text": "a glass of red wine"}


def test_of_a_taxonomy_what_is_not_chosen_stays_unknown(served):
    chosen = [["menu", "drink", "red"]]
    assert tell(served, "ANNOTATION_CREATED", 2, chosen, config=TAXONOMY) == 201
    found = served.last()
    assert (found["accepted"], found["rejected"]) == (["red"], [])
    assert not found["complete"]


def test_an_annotation_counts_once_and_in_its_last_form(served):
    before = len(served.kinds())
    assert tell(served, "ANNOTATION_CREATED", 3, ["drink"]) == 201
    assert tell(served, "ANNOTATION_CREATED", 3, ["drink"]) == 201
    assert tell(served, "ANNOTATION_UPDATED", 3, ["drink", "red"]) == 201
    assert tell(served, "ANNOTATION_DELETED", 3) == 201
    assert tell(served, "ANNOTATION_DELETED", 3) == 201
    expected = ["feedback", "retract", "feedback", "retract"]
    assert served.kinds()[before:] == expected


def test_annotations_that_are_created_at_once_are_of_their_tasks(served):
    texts, chosen = ("a glass of red wine", "rye bread"), ("drink", "food")
    regions = [{"from_name": "course", "value": {"choices": [name]}} for name in chosen]
    event = {
        "action": "ANNOTATIONS_CREATED",  # Label Studio 1.23.2, lists of one length
        "annotation": [{"id": 20 + n, "result": [regions[n]]} for n in (0, 1)],
        "task": [{"id": n, "data": {"description": texts[n]}} for n in (0, 1)],
        "project": {"id": 3, "label_config": CHOICES},
    }
    assert served.post(f"{BACKEND}/webhook", event).status == 201
    bodies = [each.body for each in served.log.read(served.log.last() - 2, 2)]
    said = [(body["item"]["text"], *body["accepted"]) for body in bodies]
    assert said == list(zip(texts, chosen, strict=True))
    event["task"] = []
    assert served.post(f"{BACKEND}/webhook", event).status == 422


def test_several_annotations_are_deleted_by_their_ids(served):
    tell(served, "ANNOTATION_CREATED", 4, ["food"])
    number = served.log.last()
    event = {
        "action": "ANNOTATIONS_DELETED",
        "annotations": [{"id": 4}, {"id": 999}],
        "project": {"id": 3},
    }
    assert served.post(f"{BACKEND}/webhook", event).status == 201
    assert served.last()["sequence"] == number


def test_a_skipped_task_and_other_events_say_nothing_of_labels(served):
    before = served.log.last()
    tell(served, "ANNOTATION_CREATED", 5, ["drink"], was_cancelled=True)
    for action in ("START_TRAINING", "PROJECT_UPDATED", "TASKS_CREATED"):
        event = {"action": action, "project": {"id": 3}, "tasks": [{"id": 1}]}
        assert served.post(f"{BACKEND}/webhook", event).status == 201
    assert served.log.last() == before


ENTITIES = '<!DOCTYPE x [<!ENTITY a "b"><!ENTITY c "&a;&a;">]>' + CHOICES


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (ENTITIES, "label_config must have no document type."),
        ("<View>", "label_config must be XML"),
        ("", "label_config must be XML"),
        ("<View>&xxe;</View>", "label_config must be XML"),
        ("<View/>", "label_config must have Choices or a Taxonomy"),
        (CHOICES.replace("$", ""), "label_config must have Choices or a Taxonomy"),
        ("a" * 4_000_001, "at most 4000000 characters"),
    ],
)
def test_a_label_config_that_cannot_be_read_is_refused(served, config, message):
    answer = served.post(f"{BACKEND}/setup", {"schema": config})
    assert answer.status == 422
    assert message in answer.json["detail"]


def test_a_task_without_its_text_is_refused(served):
    tasks = [{"id": 1, "data": {"text": "a"}}]
    answer = served.post(f"{BACKEND}/predict", {**PREDICT, "tasks": tasks})
    assert answer.status == 422
    assert "data of a task must have 'description'" in answer.json["detail"]


def test_a_taxonomy_of_many_and_deep_labels_is_read_at_once(served):
    wide = "".join(f'<Choice value="label {n}"/>' for n in range(30_000))
    deep = '<Choice value="a">' * 20_000 + "</Choice>" * 20_000
    for labels in (wide, deep):
        config = TAXONOMY.replace('<Choice value="food"/>', labels)
        answer = served.post(f"{BACKEND}/predict", {**PREDICT, "label_config": config})
        assert answer.status == 200


def test_a_basic_password_is_a_token(served):
    secret = served.tokens.add("studio", scopes=["read"], models=["menu"])
    try:
        good = b64encode(f"anybody:{secret}".encode()).decode()
        for credentials, status in ((good, 200), ("YTpi", 401), ("é", 401), ("", 401)):
            headers = {"authorization": f"Basic {credentials}"}
            assert served.get(f"{BACKEND}/health", headers).status == status
            assert served.get("/v1/projects", headers).status == status
        headers = {"authorization": f"Basic {good}"}
        event = {"action": "START_TRAINING"}
        assert served.post(f"{BACKEND}/webhook", event, headers).status == 403
    finally:
        served.tokens.remove("studio")
