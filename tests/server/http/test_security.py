"""Who may do what, and what comes from elsewhere."""

import json
import os
import stat

import pytest

from manylabel.server.security import (
    SCOPES,
    Guard,
    NotAuthenticated,
    Tokens,
    is_loopback,
)

MENU = "/v1/models/menu"
ITEMS = {"items": [{"text": "wine"}]}
GIVEN = {"item": {"text": "wine"}, "accepted": ["drink"]}


def bearer(secret):
    return {"Authorization": f"Bearer {secret}"}


@pytest.fixture(scope="module")
def secrets(shared):
    """Return a token of each scope, one of another model, and one that was removed."""
    tokens = Tokens(shared / ".serve")
    found = {scope: tokens.add(scope, scopes=[scope], models=[]) for scope in SCOPES}
    found["rows"] = tokens.add("rows", scopes=SCOPES, models=["rows"])
    found["gone"] = tokens.add("gone", scopes=SCOPES, models=[])
    tokens.remove("gone")
    return found


@pytest.fixture(scope="module")
def closed(shared, secrets, running):
    """Return a client of an application with tokens."""
    with running(shared) as client:
        yield client


CALLS = {
    "predict": ("read", "POST", f"{MENU}/predict", ITEMS),
    "labels": ("read", "GET", f"{MENU}/labels", None),
    "card": ("read", "GET", MENU, None),
    "corrections": ("read", "GET", f"{MENU}/feedback", None),
    "feedback": ("feedback", "POST", f"{MENU}/feedback", GIVEN),
    "retract": ("feedback", "DELETE", f"{MENU}/feedback/1", None),
    "rollback": ("admin", "POST", f"{MENU}/rollback", {"sequence": 999}),
    "activate": ("admin", "POST", f"{MENU}/activate", {"version": "0" * 12}),
    "retrain": ("admin", "POST", f"{MENU}/retrain", {"learner": "nix"}),
    "upload": ("admin", "PUT", MENU, None),
    "metrics": ("read", "GET", "/metrics", None),
}


@pytest.mark.parametrize("call", CALLS)
def test_each_call_needs_a_token_of_its_scope(closed, secrets, call):
    scope, method, path, body = CALLS[call]

    def send(headers):
        return closed.request(method, path, json=body, headers=headers).status_code

    assert send({}) == 401
    assert send(bearer("ml_guess")) == 401
    assert send(bearer(secrets["gone"])) == 401
    assert send({"Authorization": f"Basic {secrets[scope]}"}) == 401
    for other in SCOPES:
        assert (send(bearer(secrets[other])) == 403) == (other != scope)
    assert send(bearer(secrets["rows"])) == 403


def test_a_refusal_says_which_scheme_is_asked_for(closed):
    answer = closed.get(MENU)
    assert answer.headers["www-authenticate"] == "Bearer"
    assert answer.json()["title"] == "Not authenticated"


def test_a_token_of_one_model_sees_that_model_only(closed, secrets):
    answer = closed.get("/v1/models", headers=bearer(secrets["rows"]))
    assert answer.json() == {"models": ["rows"]}
    answer = closed.get("/v1/models/nix", headers=bearer(secrets["rows"]))
    assert answer.status_code == 403  # whether there is such a model is not told


def test_health_and_page_need_no_token(closed):
    for path in ("/health/live", "/health/ready", "/", "/openapi.json"):
        assert closed.get(path).status_code == 200


def test_with_tokens_any_name_of_the_server_will_do(closed, secrets):
    headers = {**bearer(secrets["read"]), "Host": "tags.example.org"}
    assert closed.get(MENU, headers=headers).status_code == 200


def test_who_gave_feedback_is_in_the_log(closed, secrets, shared):
    from manylabel.server.log import open_log

    headers = bearer(secrets["feedback"])
    answer = closed.post(f"{MENU}/feedback", json=GIVEN, headers=headers)
    log = open_log(f"sqlite:///{shared / '.serve' / 'log.db'}")
    (event,) = log.read(answer.json()["sequence"] - 1, 1)
    log.close()
    assert event.body["who"] == "feedback"


def test_secrets_are_not_kept(shared, secrets):
    path = shared / ".serve" / "tokens.json"
    text = path.read_text()
    assert not any(secret in text for secret in secrets.values())
    assert len(json.loads(text)["tokens"]) == 4
    if os.name != "nt":
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_token_that_is_added_or_removed_is_noticed(tokens):
    watching = Tokens(tokens.path.parent)
    assert watching.all() == ()
    secret = tokens.add("ann", scopes=["read"], models=[])
    watching._looked = -10.0  # as if a second had passed
    assert watching.find(secret).name == "ann"
    tokens.remove("ann")
    watching._looked = -10.0
    assert watching.find(secret) is None


def test_a_server_that_others_reach_is_never_open(tokens):
    secret = tokens.add("ann", scopes=["read"], models=[])
    guard = Guard(tokens, may_be_open=False)
    assert guard.admit(Headed(bearer(secret)), "read") == "ann"
    tokens.remove("ann")
    assert not guard.is_open
    with pytest.raises(NotAuthenticated):
        guard.admit(Headed({}), "read")


class Headed:
    """A request of which there are only headers."""

    def __init__(self, headers):
        self.headers = {name.lower(): value for name, value in headers.items()}


def test_bad_tokens_are_refused_by_what_is_wrong(tokens):
    with pytest.raises(ValueError, match="scope must be one of read, feedback, admin"):
        tokens.add("ann", scopes=["write"], models=[])
    with pytest.raises(ValueError, match=r"Got none\."):
        tokens.add("ann", scopes=[], models=[])
    tokens.add("ann", scopes=["read"], models=[])
    with pytest.raises(
        ValueError, match=r"name must be new: there is a token of 'ann'"
    ):
        tokens.add("ann", scopes=["read"], models=[])
    with pytest.raises(ValueError, match=r"name must not be empty\."):
        tokens.add("", scopes=["read"], models=[])
    with pytest.raises(ValueError, match=r"name must be that of a token. Got 'bob'"):
        tokens.remove("bob")


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8000", "127.0.0.1.evil.example", "[::1", ""]
)
def test_an_open_server_is_not_reached_by_other_names(models, running, host):
    with running(models) as client:
        answer = client.get("/v1/models", headers={"Host": host})
        assert (answer.status_code, answer.json()["title"]) == (403, "Foreign host")


def test_an_open_server_is_not_reached_from_other_pages(models, running):
    with running(models) as client:
        for origin in ("http://evil.example", "null", "http://127.0.0.1:9", "http://["):
            answer = client.get("/v1/models", headers={"Origin": origin})
            assert answer.status_code == 403
        ours = {"Origin": "http://127.0.0.1:8000", "Host": "127.0.0.1:8000"}
        assert client.get("/v1/models", headers=ours).status_code == 200
        for host in ("localhost:8000", "[::1]:8000", "127.0.0.1"):
            answer = client.get("/v1/models", headers={"Host": host})
            assert answer.status_code == 200
        assert client.options("/v1/models").status_code == 405  # no CORS


def test_loopback_is_this_machine_alone():
    assert is_loopback("127.8.9.1")
    assert not is_loopback("10.0.0.1")
    assert not is_loopback("::")


@pytest.mark.parametrize(
    "name",
    ["../menu", "..%2Fmenu", "%2e%2e/menu", ".serve", "menu%2F..%2Frows", "a%00b"],
)
def test_names_of_models_are_looked_up_and_nothing_else(models, running, name):
    with running(models) as client:
        before = sorted(models.rglob("*"))
        for verb in ("", "/labels", "/versions", "/figures"):
            assert client.get(f"/v1/models/{name}{verb}").status_code == 404
        headers = {"content-type": "application/x-tar"}
        answer = client.put(f"/v1/models/{name}", content=b"", headers=headers)
        assert answer.status_code in (404, 405, 422)
        after = {path for path in models.rglob("*") if "log.db" not in path.name}
        assert after == {path for path in before if "log.db" not in path.name}
