"""Servers as processes: started, ended, killed, started again."""

import asyncio
import json
import os
import shlex
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request

import pytest

from manylabel.cli.console import COMPILING
from manylabel.cli.main import run
from manylabel.server.events import Draft
from manylabel.server.lifecycle import Life
from manylabel.server.log import open_log
from manylabel.server.plan import Plan
from manylabel.server.security import Tokens
from manylabel.server.service import Service

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows has no such signals")
MENU = "v1/models/menu"


def call(served, path, body=None, **headers):
    """Send a request; return the status and the content of the answer."""
    request = urllib.request.Request(
        served.url + path,
        None if body is None else json.dumps(body).encode(),
        {"Content-Type": "application/json", **headers},
    )
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status, json.loads(answer.read())
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read())


def teach(served, text):
    body = {"item": {"text": text}, "accepted": ["zoo"]}
    return call(served, f"{MENU}/feedback", body)


def acknowledged(models):
    """Return the texts of the log."""
    log = open_log(f"sqlite:///{models / '.serve' / 'log.db'}")
    found = [e.body["item"]["text"] for e in log.read(0, 1000) if e.kind == "feedback"]
    log.close()
    return found


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_server_and_nothing_is_lost(serve, models, number):
    served = serve().wait()
    assert teach(served, "lion")[0] == 202
    status, said = served.end(number)
    assert status == 0
    said = said.removeprefix(f"note: {COMPILING}.\n")
    assert said.startswith("Ready: 2 models are loaded: menu, rows.\nEnded; all")
    assert acknowledged(models) == ["lion"]
    again = serve().wait()
    assert teach(again, "zebra")[1] == {"sequence": again_after(models)}
    assert acknowledged(models) == ["lion", "zebra"]


def again_after(models):
    log = open_log(f"sqlite:///{models / '.serve' / 'log.db'}")
    last = log.last()
    log.close()
    return last


def test_a_worker_waits_for_the_one_that_answers_before_it_is_ready(tmp_path):
    early = tmp_path / "early"
    early.touch()
    log = open_log(f"sqlite:///{tmp_path}/log.db")
    first, later = (
        Life(Service(tmp_path, log), is_patient=is_patient, early=early)
        for is_patient in (False, True)
    )

    async def live():
        starting = asyncio.create_task(later.start())
        await asyncio.sleep(0.2)
        assert later.is_ready
        assert not starting.done()
        await first.start()
        await starting
        assert first.is_ready
        await first.stop()
        await later.stop()

    asyncio.run(live())
    log.close()


@pytest.mark.slow
def test_workers_are_ready_together(serve):
    served = serve("--workers", "2").wait()
    assert {call(served, MENU)[0] for _ in range(100)} == {200}


@pytest.mark.slow
def test_workers_are_said_to_be_ready_once_when_all_are(serve):
    served = serve("--workers", "2")
    said = served.process.stderr.readline()
    assert said == "Ready: 2 models are loaded by all 2 workers: menu, rows.\n"
    assert call(served, MENU)[0] == 200
    assert served.end(signal.SIGINT)[1].startswith("Ending 2 workers.\nEnded; all")


@pytest.mark.slow
def test_workers_share_a_socket_a_log_and_their_counts(serve, models):
    served = serve("--workers", "2").wait()
    for i in range(20):
        status, answer = teach(served, f"lion {i}")
        assert status == 202
        path = f"{MENU}/predict?after={answer['sequence']}"
        status, found = call(served, path, {"items": [{"text": "lion"}]})
        assert (status, found["applied"] >= answer["sequence"]) == (200, True)
    time.sleep(1.5)
    with urllib.request.urlopen(f"{served.url}metrics") as answer:
        lines = answer.read().decode().splitlines()
    counted = 'method="POST",route="/v1/models/{model}/feedback",status="202"} 20'
    assert any(line.endswith(counted) for line in lines)
    status, said = served.end(signal.SIGINT)
    assert status == 0
    assert "Traceback" not in said
    assert len(acknowledged(models)) == 20


@pytest.mark.slow
def test_a_worker_that_dies_is_started_again(serve, models):
    served = serve("--workers", "2").wait()
    victims = children(served.process.pid)
    assert len(victims) == 2
    assert teach(served, "lion")[0] == 202
    os.kill(victims[0], signal.SIGKILL)
    for _ in range(200):
        alive = children(served.process.pid)
        if len(alive) == 2 and victims[0] not in alive:
            break
        time.sleep(0.1)
    assert len(alive) == 2
    served.wait()
    assert call(served, MENU)[0] == 200
    status, said = served.end()
    assert (status, "is started again" in said) == (0, True)
    assert acknowledged(models) == ["lion"]


@pytest.mark.slow
@pytest.mark.parametrize("pause", [0.0, 1.0, None])
def test_workers_do_not_outlive_whoever_started_them(serve, pause):
    served = serve("--workers", "2")
    if pause is None:
        served.wait()
    while len(workers := children(served.process.pid)) < 2:
        time.sleep(0.01)
    time.sleep(pause or 0.0)
    served.process.kill()
    served.process.wait()
    killed = time.monotonic()
    while not is_free(served):
        assert time.monotonic() - killed < 60, "they keep the port"
        time.sleep(0.01)
    while any(is_alive(worker) for worker in workers):
        assert time.monotonic() - killed < 60, "they are left"
        time.sleep(0.05)


def is_free(served):
    """Return whether another server could listen in its place."""
    try:
        Plan(models="", port=served.port).listen().close()
    except OSError:
        return False
    return True


def children(parent):
    """Return the processes that a process has started."""
    with open(f"/proc/{parent}/task/{parent}/children") as file:
        return [int(number) for number in file.read().split()]


def is_alive(process):
    try:
        with open(f"/proc/{process}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def refused(capsys, *arguments):
    """Return the sentence with which the command line refuses."""
    with pytest.raises(SystemExit) as end:
        run([str(argument) for argument in arguments])
    assert end.value.code == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    return said


def test_others_than_this_machine_need_tokens(models, capsys):
    said = refused(capsys, "serve", models, "--host", "0.0.0.0")
    assert "--host must be a loopback address as long as there are no tokens" in said
    Tokens(models / ".serve").add("ann", scopes=["read"], models=[])
    Plan(models=str(models), host="0.0.0.0").check()


def test_windows_has_one_process(models, monkeypatch):
    Plan(models=str(models), n_workers=2).check()
    monkeypatch.setattr("manylabel.server.plan.WINDOWS", True)
    Plan(models=str(models), n_workers=1).check()
    with pytest.raises(ValueError, match=r"--workers must be 1 on Windows.* Got 2\.$"):
        Plan(models=str(models), n_workers=2).check()


def test_bad_places_are_refused_in_one_sentence(models, tmp_path, capsys):
    assert "MODELS must be a folder" in refused(capsys, "serve", tmp_path / "nix")
    said = refused(capsys, "serve", models, "--log", "mysql://nix", "--port", 0)
    assert "log must begin with sqlite:/// or postgresql://" in said
    plan = Plan(models=str(models), port=0)
    with plan.listen() as listener:
        port = listener.getsockname()[1]
        said = refused(capsys, "serve", models, "--port", port)
    assert f"127.0.0.1:{port}: address already in use" in said


def test_a_model_in_place_of_its_folder_is_refused_and_left_alone(models, capsys):
    said = refused(capsys, "serve", models / "menu")
    told = f"{models / 'menu'} is a model; serve the folder that it is in"
    assert f"{told} (manylabel serve {models})." in said
    assert not (models / "menu" / ".serve").exists()


def test_the_folder_of_a_model_is_found_from_inside(models, capsys, monkeypatch):
    monkeypatch.chdir(models / "menu")
    assert refused(capsys, "serve", ".").endswith("(manylabel serve ..).\n")


def test_few_models_are_named_many_are_counted():
    plan = Plan(models="models")
    assert plan.say_ready(["menu"]) == "Ready: 1 model is loaded: menu."
    assert plan.say_ready([f"m{i}" for i in range(6)]) == "Ready: 6 models are loaded."
    assert plan.say_ready([]).startswith("Ready: no models yet; one that is saved in")


def test_what_users_wrote_is_read_by_the_owner_alone(models, capsys):
    kept = models / ".serve"
    kept.mkdir(mode=0o755)
    with Plan(models=str(models), port=0).listen() as listener:
        port = str(listener.getsockname()[1])
        refused(capsys, "serve", models, "--port", port)
    log = open_log(f"sqlite:///{kept / 'log.db'}")
    log.append([Draft("menu", "feedback", {"item": {"text": "secret"}})])
    modes = {path.name: path.stat().st_mode & 0o777 for path in kept.iterdir()}
    log.close()
    assert kept.stat().st_mode & 0o777 == 0o700
    assert set(modes) > {"log.db", "log.db-wal", "log.db-predictions"}
    assert set(modes.values()) == {0o600}


def test_tokens_are_added_listed_and_removed(models, capsys):
    def token(*arguments):
        with pytest.raises(SystemExit) as end:
            run(["token", *arguments, "--models", str(models)])
        assert end.value.code == 0
        return capsys.readouterr().out

    secret = token("add", "ann", "--scope", "read,feedback", "--model", "menu").strip()
    found = Tokens(models / ".serve").find(secret)
    assert (found.name, found.scopes, found.models) == (
        "ann",
        ("read", "feedback"),
        ("menu",),
    )
    assert "read, feedback" in token("list")
    token("remove", "ann")
    assert "ann" not in token("list")


def test_a_token_for_a_model_that_is_not_there_is_told_so(models, capsys):
    wanted = ("--model", "menu", "--model", "nix")
    with pytest.raises(SystemExit) as end:
        run(["token", "add", "ann", *wanted, "--models", str(models)])
    said = capsys.readouterr().err
    assert end.value.code == 0
    assert said.endswith(f"note: there is no model 'nix' in {models} now.\n")
    assert "'menu'" not in said


def test_bad_tokens_are_refused_in_one_sentence(models, capsys):
    place = ("--models", models)
    assert "No such command 'nix'" in refused(capsys, "token", "nix")
    assert "Missing argument 'NAME'" in refused(capsys, "token", "add", *place)
    nowhere = ("--models", models / "nix")
    said = refused(capsys, "token", "list", *nowhere)
    assert "--models must be a folder" in said
    said = refused(capsys, "token", "add", "ann", "--scope", "write", *place)
    assert "scope must be one of read, feedback, admin" in said


@pytest.mark.slow
def test_the_example_is_fitted_once(tmp_path):
    code = (
        "from pathlib import Path; from manylabel.server.example import prepare\n"
        f"prepare(Path({str(tmp_path / 'models')!r}), print)\n"
    )
    said = [
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        for _ in range(2)
    ]
    assert "Fitting a model" in said[0].stdout
    assert said[1].stdout == ""


@pytest.mark.slow
def test_events_tell_what_is_learnt(serve):
    served = serve().wait()
    with urllib.request.urlopen(f"{served.url}{MENU}/events", timeout=30) as stream:
        assert stream.headers["Content-Type"].startswith("text/event-stream")
        first = read_event(stream)
        sequence = teach(served, "lion")[1]["sequence"]
        while (update := read_event(stream))["applied"] < sequence:
            pass
        assert first["applied"] < sequence
        assert update["costs"]["hamming"]["count"] == 1
        assert served.end()[0] == 0  # a stream does not hold it up


def read_event(stream):
    """Return the data of the next event."""
    while not (line := stream.readline()).startswith(b"data: "):
        assert line
    return json.loads(line.removeprefix(b"data: "))


def test_a_missing_extra_is_named(models):
    code = (
        "import sys; sys.modules['uvicorn'] = None\n"
        "from manylabel.cli.main import run\n"
        f"run(['serve', {str(models)!r}])"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert told.returncode == 2
    way = f"{shlex.quote(sys.executable)} -m pip install 'manylabel[serve]'"
    assert told.stderr == f"error: The service needs uvicorn: {way}.\n"
