"""The client: verbs, retries with one key, and what it does not load."""

import asyncio
import io
import json
import os
import socket
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

import manylabel as ml
from manylabel.cli.main import run
from manylabel.client import AsyncClient, Client, RequestFailed

ROOT = Path(__file__).parents[2]
TEXTS = ["red wine", "white wine", "brown bread", "rye bread"] * 4
TAGS = [["drink"], ["drink"], ["food"], ["food"]] * 4


@pytest.fixture
def fake():
    """Return what serves prepared answers and keeps what it was sent."""
    servers = []

    def start(answers):
        seen = []

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                sent = json.loads(body) if body else None
                seen.append((self.path, dict(self.headers), sent))
                status, content, headers = answers[min(len(seen), len(answers)) - 1]
                if status == 0:  # as if the cable had been cut
                    self.connection.shutdown(socket.SHUT_RDWR)
                    self.close_connection = True
                    return
                self.send_response(status)
                text = json.dumps(content).encode()
                for name, value in {**headers, "Content-Length": len(text)}.items():
                    self.send_header(name, str(value))
                self.end_headers()
                self.wfile.write(text)

            do_GET = do_POST

            def log_message(self, *args):
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        servers.append(server)
        return f"http://127.0.0.1:{server.server_port}", seen

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


GIVEN = (202, {"sequence": 7}, {})
LATER = (503, {"detail": "Busy."}, {"Retry-After": 0})
CUT = (0, {}, {})


def test_a_lost_feedback_is_sent_again_with_the_same_key(fake):
    url, seen = fake([CUT, LATER, GIVEN])
    with Client(url) as client:
        assert client.feedback("menu", "wine", accepted=["drink"]) == 7
    keys = [headers["Idempotency-Key"] for _, headers, _ in seen]
    assert len(keys) == 3
    assert len(set(keys)) == 1
    assert len({json.dumps(body) for _, _, body in seen}) == 1


def test_two_feedbacks_have_two_keys(fake):
    url, seen = fake([GIVEN])
    with Client(url) as client:
        client.feedback("menu", "wine", accepted=["drink"])
        client.feedback("menu", "wine", accepted=["drink"])
        client.feedback("menu", "wine", accepted=["drink"], key="mine")
    keys = [headers["Idempotency-Key"] for _, headers, _ in seen]
    assert len(set(keys)) == 3
    assert keys[-1] == "mine"


def test_what_must_not_be_done_twice_is_not_sent_again(fake):
    url, seen = fake([CUT, GIVEN])
    with Client(url) as client, pytest.raises(RequestFailed, match="did not answer"):
        client.rollback("menu", 3)
    assert len(seen) == 1
    url, seen = fake([LATER, GIVEN])
    with Client(url) as client:
        assert client.rollback("menu", 3) == 7  # it was refused, so it was not done
    assert len(seen) == 2


def test_a_server_that_stays_busy_is_given_up(fake):
    url, seen = fake([LATER])
    with Client(url, retries=2) as client, pytest.raises(RequestFailed) as caught:
        client.feedback("menu", "wine", accepted=["drink"])
    assert (caught.value.status, str(caught.value)) == (503, "Busy.")
    assert len(seen) == 3


def test_when_to_come_again_is_obeyed(fake):
    url, _ = fake([(503, {}, {"Retry-After": 1}), GIVEN])
    start = time.monotonic()
    with Client(url) as client:
        client.feedback("menu", "wine", accepted=["drink"])
    assert time.monotonic() - start >= 1


def test_predictions_come_after_the_last_feedback(fake):
    answer = (200, {"version": "1", "applied": 7, "predictions": []}, {})
    url, seen = fake([GIVEN, answer, answer])
    with Client(url, token="ml_x") as client:
        client.feedback("menu", "wine", accepted=["drink"])
        client.predict("menu", ["wine"])
        client.predict("other", ["wine"])
    paths = [path for path, _, _ in seen]
    assert paths[1:] == [
        "/v1/models/menu/predict?after=7",
        "/v1/models/other/predict",
    ]
    assert seen[0][1]["Authorization"] == "Bearer ml_x"


def test_a_table_is_sent_by_its_rows_and_comes_back_as_one(fake, tmp_path):
    labels = [{"label": "drink", "score": 0.5}, {"label": "red", "score": 0.25}]
    answer = {"model": "menu", "version": "0", "applied": 0}
    answer["predictions"] = [{"id": None, "item": "7", "labels": labels}]
    url, seen = fake([(200, answer, {})])
    table, out = tmp_path / "new.csv", tmp_path / "out.csv"
    table.write_text("Nr;Titel\n7;red wine\n", encoding="cp1252")
    columns = ("--text-column", "Titel", "--id-column", "Nr")
    asked = ("menu", table, "--url", url, "--sets", "-o", out, *columns)
    with pytest.raises(SystemExit) as end:
        run(["predict", *map(str, asked)])
    assert end.value.code == 0
    body = seen[0][2]
    assert body["items"] == [{"text": "red wine", "id": "7"}]
    assert body["k"] is None
    assert out.read_text("utf-8-sig") == (
        "row;id;text;labels;scores\n0;7;red wine;drink|red;0.5|0.25\n"
    )


def test_a_table_is_read_by_the_columns_that_the_service_tells(fake, tmp_path, capsys):
    answer = {"model": "menu", "version": "0", "applied": 0}
    answer["predictions"] = [{"id": None, "item": "7", "labels": []}]
    card = {"columns": {"text_columns": ["Titel"], "id_column": "Nr"}}
    url, seen = fake([(200, card, {}), (200, answer, {})])
    table = tmp_path / "new.csv"
    table.write_text("Nr,Titel\n7,red wine\n")
    with pytest.raises(SystemExit, match="0"):
        run(["predict", "menu", str(table), "--url", url])
    assert seen[0][0] == "/v1/models/menu"
    assert seen[1][2]["items"] == [{"text": "red wine", "id": "7"}]
    url, seen = fake([(200, {}, {})])
    with pytest.raises(SystemExit, match="2"):
        run(["predict", "menu", str(table), "--url", url])
    assert "--text-column" in capsys.readouterr().err


@pytest.mark.parametrize("is_piped", [False, True])
@pytest.mark.parametrize("content", ["text\nred wine\n", "n;text\n7;red wine\n"])
def test_a_header_is_no_text(fake, tmp_path, monkeypatch, content, is_piped):
    answer = {"model": "menu", "version": "0", "applied": 0}
    answer["predictions"] = [{"id": None, "item": "7", "labels": []}]
    url, seen = fake([(200, answer, {})])
    path = tmp_path / "new.txt"
    path.write_text(content)
    monkeypatch.setattr(
        "sys.stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(path.read_bytes())))
    )
    with pytest.raises(SystemExit, match="0"):
        run(["predict", "menu", "-" if is_piped else str(path), "--url", url])
    assert seen[-1][2]["items"] == [{"text": "red wine"}]


@pytest.mark.parametrize(
    ("status", "kind"), [(401, "not-authenticated"), (403, "not-allowed")]
)
def test_a_request_without_rights_is_told_the_option(
    fake, tmp_path, capsys, status, kind
):
    problem = {"type": f"urn:manylabel:{kind}", "detail": "A token, please."}
    url, _ = fake([(status, problem, {})])
    texts, token = tmp_path / "texts.txt", tmp_path / "token"
    texts.write_text("red wine\n")
    token.write_text("ml_x\n")
    reads = f"error: --token-file must have a token that may read model 'menu' at {url}"
    ends = {
        (): "; 'manylabel token add' prints one.",
        ("--token-file", str(token)): f". Got {token}.",
    }
    for options, end in ends.items():
        with pytest.raises(SystemExit, match="2"):
            run(["predict", "menu", str(texts), "--url", url, *options])
        assert capsys.readouterr().err == f"{reads}{end}\n"


def test_a_model_that_is_not_served_is_told_which_are(fake, tmp_path, capsys):
    problem = {"type": "urn:manylabel:unknown-model", "detail": "There is no model."}
    url, _ = fake([(404, problem, {}), (200, {"models": ["cat", "menu"]}, {})])
    texts, empty = tmp_path / "texts.txt", tmp_path / "empty"
    texts.write_text("red wine\n")
    empty.write_text("\n")
    sentences = {
        ("nix",): f"MODEL must be one that {url} serves, 'cat', 'menu'. Got 'nix'.",
        ("models/cat",): "MODEL must be a name with --url, no path. Got 'models/cat'. "
        "Did you mean 'cat'?",
        ("cat", "--token-file", str(empty)): f"--token-file must have a token. {empty} "
        "is empty.",
    }
    for (model, *options), sentence in sentences.items():
        with pytest.raises(SystemExit, match="2"):
            run(["predict", model, str(texts), "--url", url, *options])
        assert capsys.readouterr().err == f"error: {sentence}\n"


def test_rows_of_features_in_a_table_are_not_sent(tmp_path, capsys):
    table = tmp_path / "new.svm"
    table.write_text("0 1:2\n")
    asked = ("menu", str(table), "--from", "svmlight")
    with pytest.raises(SystemExit, match="2"):
        run(["predict", *asked, "--url", "http://127.0.0.1:9"])
    assert "expected texts, found rows of features" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda c: c.predict("m", "a text"), "items must be a list of texts. Got 'a"),
        (lambda c: c.predict("m", [5]), "item must be a text or a dict. Got 5"),
        (lambda c: c.predict("m", ["a"], deny="b"), "deny must be a list of names"),
        (lambda c: c.feedback("m", "a", accepted="b"), "accepted must be a list of na"),
        (lambda c: c.feedback("m", ["a"]), "item must be a text or a dict. Got \\['a"),
        (lambda c: c.explain("m", "a", labels="b"), "labels must be a list of names"),
    ],
)
def test_a_string_in_place_of_a_list_is_not_taken_for_its_letters(call, message):
    with pytest.raises(TypeError, match=message):
        call(Client("http://127.0.0.1:9", retries=0))


def test_labels_that_were_new_can_be_seen(fake):
    known = (202, {"sequence": 7}, {})
    url, _ = fake([(202, {"sequence": 6, "new_labels": ["wien"]}, {}), known])
    with Client(url) as client:
        client.feedback("menu", "red wine", accepted=["wien"])
        assert client.new_labels == {"menu": ["wien"]}
        client.feedback("menu", "red wine", accepted=["wine"])
        assert client.new_labels == {"menu": []}


def test_refusals_are_told_in_the_servers_words(fake):
    problem = {"title": "Unknown model", "detail": "There is no model 'nix'."}
    url, seen = fake([(404, problem, {})])
    with Client(url) as client, pytest.raises(RequestFailed) as caught:
        client.predict("nix", ["wine"])
    assert caught.value.problem == problem
    assert str(caught.value) == "There is no model 'nix'."
    assert len(seen) == 1


@pytest.mark.parametrize("url", ["127.0.0.1:8000", "ftp://host", "http://"])
def test_addresses_that_are_none_are_refused(url):
    with pytest.raises(ValueError, match="url must be http://host or https://host"):
        Client(url)


def test_the_asynchronous_client_has_all_verbs():
    verbs = {name for name in vars(Client) if not name.startswith("_")}
    assert verbs <= set(vars(AsyncClient))


def test_calls_of_the_asynchronous_client_run_side_by_side(fake):
    url, seen = fake([(202, {"sequence": 7}, {})])

    async def ask():
        async with AsyncClient(url) as client:
            calls = (client.feedback("menu", "a", accepted=["b"]) for _ in range(8))
            return await asyncio.gather(*calls)

    assert asyncio.run(ask()) == [7] * 8
    assert len(seen) == 8


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """Return the address of a server in a process of its own."""
    models = tmp_path_factory.mktemp("models")
    ml.Tagger(ml.OneVsRest()).fit(TEXTS, TAGS).save(models / "menu")
    command = [sys.executable, "-m", "manylabel.cli.start", "serve", str(models)]
    with subprocess.Popen(
        [*command, "--port", "0"], stderr=subprocess.PIPE, text=True, cwd=ROOT
    ) as process:
        line = process.stderr.readline()
        url = line.partition(" at ")[2].partition("/ ")[0]
        with Client(url, retries=10) as client:
            while not client.models():
                time.sleep(0.1)
            yield url
        process.terminate()
        process.communicate()


@pytest.mark.slow
def test_every_verb_is_understood_by_the_server(served):
    with Client(served) as client:
        found = client.predict(
            "menu", ["a glass of wine", {"id": "x", "text": "bread"}]
        )
        assert [each.labels[0][0] for each in found.predictions] == ["drink", "food"]
        assert [each.item for each in found.predictions] == [None, "x"]
        name = found.predictions[0].id
        sequence = client.feedback("menu", prediction_id=name, rejected=["food"])
        assert client.predict("menu", ["wine"]).applied >= sequence
        many = [{"item": {"text": "zebra"}, "accepted": ["zoo"]}] * 2
        assert client.feedback_many("menu", many) == [sequence + 1, sequence + 2]
        assert client.retract("menu", sequence + 2) == sequence + 3
        (reason,) = client.explain("menu", "red wine", labels=["drink"])
        assert reason.words[0][0] in ("wine", "red")
        assert client.labels("menu", "dr")[0][0] == "drink"
        assert client.models() == ["menu"]
        assert client.card("menu")["labels"] >= 2
        assert client.figures("menu")["applied"] >= sequence
        assert len(client.queue("menu", limit=1)) <= 1
        version = client.versions("menu")[0]["version"]
        assert client.activate("menu", version) == sequence + 4
        assert client.rollback("menu", sequence) == sequence + 5
        with pytest.raises(RequestFailed, match="There is no job"):
            client.job("menu", "nix")


@pytest.mark.slow
def test_threads_share_a_client(served):
    with Client(served) as client:
        answers = []

        def ask():
            answers.append(client.predict("menu", ["wine"]).predictions[0].labels[0][0])

        threads = [threading.Thread(target=ask) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert answers == ["drink"] * 8


@pytest.mark.slow
def test_the_command_line_asks_a_server(served, tmp_path):
    texts = tmp_path / "texts.jsonl"
    texts.write_text('a glass of wine\n{"text": "rye bread"}\n')

    def predict(*arguments, **pipes):
        command = [sys.executable, "-m", "manylabel.cli.start", "predict", "menu"]
        options = ("--url", served, "-k", "1")
        return subprocess.run(
            [*command, *arguments, *options], capture_output=True, text=True, **pipes
        )

    told = predict(str(texts))
    assert told.returncode == 0
    rows = [line.split("\t")[:2] for line in told.stdout.splitlines()]
    assert rows == [["row", "label"], ["0", "drink"], ["1", "food"]]
    told = predict("--format", "jsonl", input="wine\n")
    assert json.loads(told.stdout)["labels"] == ["drink"]
    told = predict("--format", "xc", input="wine\n")
    assert told.returncode == 2
    assert "--url must come without --format xc" in told.stderr
    told = predict("--text-column", "title", "--sets", input='{"title": "wine"}\n')
    rows = [line.split("\t")[:2] for line in told.stdout.splitlines()]
    assert rows == [["row", "label"], ["0", "drink"]]
    told = predict(input='{"title": "wine"}\n')
    assert told.returncode == 2
    assert "standard-input, line 1: expected an object with text" in told.stderr
    told = predict("nowhere.jsonl")
    assert (told.returncode, told.stdout) == (2, ""), "a header would look like success"
    assert "nowhere.jsonl" in told.stderr


@pytest.mark.slow
def test_the_command_line_waits_for_a_server_that_loads(fake):
    loading = {"type": "urn:manylabel:not-ready", "detail": "'menu' is being loaded."}
    label = {"label": "drink", "score": 1.0}
    answer = {"model": "menu", "version": "0", "applied": 0}
    answer["predictions"] = [{"id": None, "item": 0, "labels": [label]}]
    url, seen = fake([(503, loading, {"Retry-After": "0"})] * 7 + [(200, answer, {})])
    command = [sys.executable, "-m", "manylabel.cli.start", "predict", "menu"]
    told = subprocess.run(
        [*command, "--url", url], capture_output=True, text=True, input="wine\n"
    )
    assert told.stdout.splitlines()[1:] == ["0\tdrink\t1"]
    assert told.stderr == "note: 'menu' is being loaded. This waits for it.\n"
    assert len(seen) == 8


def test_the_client_loads_neither_numpy_nor_a_compiler():
    code = (
        "import sys, manylabel.client, manylabel.cli.main, manylabel.cli.remote\n"
        "print({'numpy', 'numba', 'scipy', 'sklearn', 'fastapi'} & set(sys.modules))"
    )
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    told = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment
    )
    assert told.stdout.strip() == "set()", told.stderr
