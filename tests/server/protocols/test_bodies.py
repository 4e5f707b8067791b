"""Whatever a body is, the answer is a refusal in a sentence, never a failure."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

CONFIG = '<View><Text name="t" value="$x"/><Choices name="c" toName="t"/></View>'
WORDS = {  # keys and values that each interface knows
    "/v1/projects/menu/suggest": ["text", "limit", "threshold"],
    "/v1/projects/menu/suggest-batch": ["documents", "text", "document_id"],
    "/v1/projects/menu/learn": ["text", "subjects", "uri", "document_id"],
    "/label-studio/menu/setup": ["schema", "project", CONFIG],
    "/label-studio/menu/predict": ["tasks", "data", "x", "label_config", CONFIG],
    "/label-studio/menu/webhook": [
        *("action", "ANNOTATION_CREATED", "ANNOTATIONS_DELETED", "annotation"),
        *("annotations", "id", "result", "value", "choices", "taxonomy", "from_name"),
        *("c", "project", "label_config", "task", "data", "x", CONFIG),
    ],
    "/v2/models/menu/infer": [
        *("inputs", "name", "shape", "datatype", "BYTES", "data", "parameters", "k"),
        *("allow", "deny", "binary_data_size", "outputs", "labels"),
    ],
}


def bodies(words):
    """Draw bytes, forms, and JSON whose objects have some words as keys."""
    numbers = st.integers() | st.floats()
    texts = st.text(max_size=9) | st.sampled_from(words)
    leaves = st.none() | st.booleans() | numbers | texts

    def nest(inner):
        objects = st.dictionaries(st.sampled_from(words), inner, max_size=5)
        return st.lists(inner, max_size=3) | objects

    values = st.recursive(leaves, nest, max_leaves=15)
    forms = st.text(max_size=60).map(lambda it: f"text={it}".encode("utf-8", "replace"))
    written = values.map(lambda value: json.dumps(value).encode())
    return st.binary(max_size=60) | forms | written


def shapes(good):
    """Draw a good body with one part of it, at any depth, replaced or left out."""
    paths = list(_paths(good, ()))
    wrong = st.sampled_from(
        [None, -1, 2**70, "", "é\x00", [], {}, [[]], True, 0.5, ...]
    )
    return st.builds(
        lambda path, it: _spoil(good, path, it), st.sampled_from(paths), wrong
    )


def _paths(value, path):
    yield path
    places = value.items() if isinstance(value, dict) else ()
    places = enumerate(value) if isinstance(value, list) else places
    for key, inner in places:
        yield from _paths(inner, (*path, key))


def _spoil(value, path, wrong):
    if not path:
        return None if wrong is ... else wrong
    copy = value.copy()
    copy[path[0]] = _spoil(value[path[0]], path[1:], wrong)
    if len(path) == 1 and wrong is ...:
        del copy[path[0]]
    return copy


GOOD = {
    "/v1/projects/menu/suggest-batch": {
        "documents": [{"text": "a", "document_id": "1"}]
    },
    "/v1/projects/menu/learn": [
        {
            "text": "a",
            "document_id": "1",
            "subjects": [{"uri": "food", "label": "Food"}],
        }
    ],
    "/label-studio/menu/setup": {"schema": CONFIG, "project": "1.2"},
    "/label-studio/menu/predict": {
        "tasks": [{"id": 1, "data": {"x": "wine"}}],
        "label_config": CONFIG,
        "params": {"context": None},
    },
    "/label-studio/menu/webhook": {
        "action": "ANNOTATION_UPDATED",
        "project": {"id": 1, "label_config": CONFIG},
        "task": {"id": 1, "data": {"x": "wine"}},
        "annotation": {
            "id": 5,
            "was_cancelled": False,
            "result": [{"from_name": "c", "value": {"choices": ["drink"]}}],
        },
    },
    "/v2/models/menu/infer": {
        "id": "1",
        "inputs": [
            {"name": "text", "shape": [1, 1], "datatype": "BYTES", "data": [["wine"]]}
        ],
        "outputs": [{"name": "labels"}],
        "parameters": {"k": 2, "allow": ["drink"], "deny": '["food"]', "proba": False},
    },
}


@pytest.mark.parametrize("path", WORDS)
@given(data=st.data())
def test_no_body_is_an_error_of_the_server(served, path, data):
    answer = served.post(path, data.draw(bodies(WORDS[path])))
    assert answer.status < 500
    check_refusal(answer)


@pytest.mark.parametrize("path", GOOD)
@given(data=st.data())
def test_no_part_of_a_good_body_can_be_spoilt_into_an_error(served, path, data):
    assert served.post(path, GOOD[path]).status < 300
    answer = served.post(path, data.draw(shapes(GOOD[path])))
    assert answer.status < 500
    check_refusal(answer)


def check_refusal(answer):
    """Check that a refusal says why, in the form of the protocol."""
    if answer.status >= 400:
        said = answer.json.get("detail") or answer.json["error"]
        assert said.endswith(".")
        assert len(said) < 600


@pytest.mark.parametrize("path", GOOD)
@pytest.mark.parametrize("opening", ["[", '{"a":', '{"documents":['])
def test_deep_nesting_is_refused(served, path, opening):
    answer = served.post(path, opening.encode() * 100_000)
    assert 400 <= answer.status < 500
