"""The Open Inference Protocol V2, as clients of KServe and Triton speak it."""

import json
import struct
from types import SimpleNamespace

import pytest

from manylabel.server.answers import Predictions
from manylabel.server.protocols.open_inference import infer as answer_infer
from manylabel.server.protocols.tensors import InferBody

MODEL = "/v2/models/menu"
INPUT = {
    "name": "text",
    "shape": [2],
    "datatype": "BYTES",
    "data": ["red wine", "rye bread"],
}


def infer(served, *, path=f"{MODEL}/infer", **more):
    """Send a request for the labels of two texts, with other parts."""
    return served.post(path, {"inputs": [INPUT], **more})


def tensor(answer, name):
    """Return the data of an output."""
    return next(it["data"] for it in answer.json["outputs"] if it["name"] == name)


def test_labels_are_those_of_the_library_in_rows(served):
    answer = infer(served, id="r1", parameters={"k": 2})
    texts = [{"text": text} for text in INPUT["data"]]
    found = served.replica.predict(texts, k=2, remember=False)
    pairs = zip(tensor(answer, "labels"), tensor(answer, "scores"), strict=True)
    assert list(pairs) == [pair for row in found.labels for pair in row]
    shapes = [output["shape"] for output in answer.json["outputs"]]
    kinds = [output["datatype"] for output in answer.json["outputs"]]
    assert (shapes, kinds) == ([[2, 2], [2, 2]], ["BYTES", "FP64"])
    assert answer.json["id"] == "r1"
    assert answer.json["model_name"] == "menu"
    assert answer.json["model_version"] == served.replica.version


def test_parameters_choose_among_labels(served):
    allowed = infer(served, parameters={"allow": ["food"]})
    assert set(tensor(allowed, "labels")) == {"food"}
    # Parameters of Triton's client are strings, numbers and booleans, not lists.
    denied = infer(served, parameters={"k": 3, "deny": '["food"]'})
    assert "food" not in tensor(denied, "labels")


def test_only_the_outputs_that_are_asked_for_come(served):
    answer = infer(served, outputs=[{"name": "scores", "parameters": {}}])
    assert [output["name"] for output in answer.json["outputs"]] == ["scores"]


def test_columns_and_binary_tensors_are_the_same_texts(served):
    column = {**INPUT, "shape": [2, 1], "data": [["red wine"], ["rye bread"]]}
    packed = b"".join(
        struct.pack("<I", len(text)) + text.encode() for text in INPUT["data"]
    )
    tensor_binary = {key: value for key, value in INPUT.items() if key != "data"}
    tensor_binary["parameters"] = {"binary_data_size": len(packed)}
    # As tritonclient 2.73 sends it: no content type for JSON, and binary data after it.
    head = json.dumps(
        {"inputs": [tensor_binary], "parameters": {"binary_data_output": True}}
    ).encode()
    headers = {
        "inference-header-content-length": str(len(head)),
        "content-type": "application/octet-stream",
    }
    answers = [
        infer(served),
        infer(served, inputs=[column]),
        served.post(f"{MODEL}/infer", head + packed, headers),
    ]
    assert all(answer.json == answers[0].json for answer in answers)


def test_rows_of_fewer_labels_are_filled_up():
    rows = [[("a", 2.0), ("b", 1.0)], []]
    found = Predictions(version="1", applied=0, ids=[], labels=rows)
    replica = SimpleNamespace(name="m", predict=lambda *_, **__: found)
    labels, scores = answer_infer(replica, InferBody(inputs=[INPUT]))["outputs"]
    assert (labels["data"], labels["shape"]) == (["a", "b", "", ""], [2, 2])
    assert scores["data"] == [2.0, 1.0, 0.0, 0.0]


def test_no_labels_are_a_tensor_of_no_columns(served):
    answer = infer(served, parameters={"allow": []})
    assert answer.status == 200
    assert answer.json["outputs"][0]["shape"] == [2, 0]


def test_the_server_and_the_model_say_what_they_are(served):
    assert served.get("/v2").json["name"] == "manylabel"
    assert served.get("/v2/health/live").status == 200
    assert served.get("/v2/health/ready").status == 200
    assert served.get(f"{MODEL}/ready").json == {"name": "menu", "ready": True}
    found = served.get(MODEL).json
    assert found["versions"] == [served.replica.version]
    assert [each["name"] for each in found["outputs"]] == ["labels", "scores"]


def test_only_the_active_version_answers(served):
    version = served.replica.version
    path = f"{MODEL}/versions/{version}/infer"
    assert infer(served, path=path).json == infer(served).json
    answer = infer(served, path=f"{MODEL}/versions/1/infer")
    assert answer.status == 404
    assert "has no version '1': it is not the active one" in answer.json["error"]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"inputs": []}, "inputs: "),
        ({"inputs": [{**INPUT, "datatype": "FP32"}]}, "datatype of an input must be"),
        ({"inputs": [{**INPUT, "shape": [3]}]}, "shape of an input must be [n] or"),
        ({"inputs": [{**INPUT, "shape": [1, 2]}]}, "shape of an input must be [n] or"),
        ({"inputs": [{**INPUT, "data": [1, 2]}]}, "data of an input must be texts"),
        ({"inputs": [{**INPUT, "data": None}]}, "must be in the JSON, or binary"),
        ({"inputs": [{**INPUT, "shape": [0], "data": []}]}, "must have 1 to 10,000"),
        ({"inputs": [{**INPUT, "data": ["a" * 100_001, ""]}]}, "at most 100,000"),
        ({"outputs": [{"name": "x"}]}, "The name of an output must be one of"),
        ({"parameters": {"k": 0}}, "parameters.k: "),
        ({"parameters": {"k": 10**9}}, "parameters.k: "),
        ({"parameters": {"allow": "food"}}, "must be a list of labels, or its JSON"),
        ({"parameters": {"allow": "[" * 9999}}, "parameters.allow: "),
    ],
)
def test_a_request_that_cannot_be_read_is_refused_in_a_sentence(served, more, message):
    answer = infer(served, **more)
    assert answer.status == 400
    assert message in answer.json["error"]


@pytest.mark.parametrize(
    ("length", "size", "binary"),
    [
        ("9999999", 5, b"\1\0\0\0a"),
        ("-1", 5, b"\1\0\0\0a"),
        ("²", 5, b"\1\0\0\0a"),
        (None, 6, b"\1\0\0\0a"),
        (None, 5, b"\2\0\0\0a"),
        (None, 3, b"\1\0\0"),
        (None, 5, b"\1\0\0\0\xff"),
        (None, 8, b"\xff\xff\xff\xffabcd"),
    ],
)
def test_binary_data_that_does_not_fit_is_refused(served, length, size, binary):
    given = {**INPUT, "shape": [1], "parameters": {"binary_data_size": size}}
    head = json.dumps({"inputs": [given]}).encode()
    headers = {"inference-header-content-length": length or str(len(head))}
    answer = served.post(f"{MODEL}/infer", head + binary, headers)
    assert answer.status == 400
    assert list(answer.json) == ["error"]


def test_errors_have_the_form_of_the_protocol(served):
    answer = served.get("/v2/models/no")
    told = "There is no model 'no'; /v1/models lists all."
    assert (answer.status, answer.json) == (404, {"error": told})
    served.tokens.add("ann", scopes=["read"], models=[])
    try:
        answer = served.get(MODEL)
        assert (answer.status, list(answer.json)) == (401, ["error"])
        assert answer.headers["www-authenticate"] == "Bearer"
    finally:
        served.tokens.remove("ann")
