"""Small predictions that come together are made together, each as if alone."""

import asyncio
import json
from types import SimpleNamespace

import pytest

from manylabel.server.errors import BadItem
from manylabel.server.gathering import MOST, Gathering
from manylabel.server.handlers import predict
from manylabel.server.schemas import PredictRequest


@pytest.fixture
def calls(monkeypatch):
    """Return the sizes of what is predicted in one go; texts of "bad" are refused."""
    sizes = []

    def answer(replica, asked):
        sizes.append(len(asked))
        texts = [each.items[0].text for each in asked]
        if "bad" in texts:
            raise BadItem("text must be good.")
        return [f"{replica.name} {asked[0].k} {text}".encode() for text in texts]

    monkeypatch.setattr("manylabel.server.handlers.predict", answer)
    return sizes


def ask(text, **options):
    return PredictRequest(items=[{"text": text}], **options)


def gather(*asked, model="menu"):
    async def run():
        gathering, replica = Gathering(), SimpleNamespace(name=model)
        waiting = [gathering.predict(replica, each) for each in asked]
        return await asyncio.gather(*waiting, return_exceptions=True)

    return asyncio.run(run())


def test_requests_of_one_turn_are_answered_in_one_go(calls):
    assert gather(ask("a"), ask("b")) == [b"menu 5 a", b"menu 5 b"]
    assert calls == [2]


def test_requests_that_wish_other_things_are_apart(calls):
    found = gather(ask("a"), ask("b", k=2), ask("c", allow=["x"]), ask("d"))
    assert found == [b"menu 5 a", b"menu 2 b", b"menu 5 c", b"menu 5 d"]
    assert sorted(calls) == [1, 1, 2]


def test_one_that_is_refused_does_not_refuse_the_others(calls):
    first, bad, last = gather(ask("a"), ask("bad"), ask("c"))
    assert (first, last) == (b"menu 5 a", b"menu 5 c")
    assert isinstance(bad, BadItem)


def test_a_go_has_a_largest_size(calls):
    assert len(gather(*[ask(f"{i}") for i in range(MOST + 3)])) == MOST + 3
    assert calls == [MOST, 3]


def test_a_request_that_nobody_waits_for_is_left_out(calls):
    async def run():
        gathering, replica = Gathering(), SimpleNamespace(name="menu")
        waiting = [
            asyncio.create_task(gathering.predict(replica, ask(text))) for text in "ab"
        ]
        await asyncio.sleep(0)
        waiting[0].cancel()
        return await asyncio.gather(*waiting, return_exceptions=True)

    gone, answered = asyncio.run(run())
    assert isinstance(gone, asyncio.CancelledError)
    assert answered == b"menu 5 b"
    assert calls == [1]


def test_answers_are_those_of_requests_alone(http):
    texts = ["red wine", "rye bread", "wine and bread"]
    alone = [
        http.post("/v1/models/menu/predict", json={"items": [{"text": text}]}).json()
        for text in texts
    ]
    service = http.app.app.tagging.service
    together = predict(service.replica("menu"), [ask(text) for text in texts])
    for one, other in zip(alone, map(json.loads, together), strict=True):
        assert one["predictions"][0]["labels"] == other["predictions"][0]["labels"]
        assert one["predictions"][0]["id"] != other["predictions"][0]["id"]
