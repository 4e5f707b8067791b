"""Several replicas on one log of PostgreSQL: all reach the same bits by themselves."""

import socket
import threading
import time
from contextlib import suppress

import pytest

from manylabel.server.items import FeedbackIn
from manylabel.server.log import open_log
from manylabel.server.service import Service
from manylabel.server.settings import Settings
from manylabel.server.transfer import read_all

SETTINGS = Settings(poll=0.2, snapshot_every=20)
MINUTE = 60.0  # seconds


class Replicas:
    """Services on folders and connections of their own, as on several machines."""

    def __init__(self, folder, urls, tagger):
        self.logs = [open_log(url) for url in urls]
        self.services = []
        for at, log in enumerate(self.logs):
            models = folder / f"machine{at}"
            models.mkdir()
            tagger.save(models / "m")
            self.services.append(Service(models, log, settings=SETTINGS).start())
        for service in self.services:
            self.wait(service.is_ready)
        self.models = [service.replica("m") for service in self.services]

    @staticmethod
    def wait(true, seconds=60):
        """Wait until something is true."""
        until = time.monotonic() + seconds
        while not true():
            assert time.monotonic() < until, "it took too long"
            time.sleep(0.01)

    def settle(self):
        """Wait until all have learnt all."""
        last = self.logs[0].last()
        for model in self.models:
            assert model.wait(last, 60), model.trouble
        return last

    def stop(self):
        """Stop all."""
        for service in self.services:
            service.stop()
        for log in self.logs:
            log.close()


@pytest.fixture(params=["online", "batch"])
def replicas(request, tmp_path, empty_postgres):
    tagger = request.getfixturevalue(f"{request.param}_tagger")
    found = Replicas(tmp_path, [empty_postgres.url] * 2, tagger)
    yield found
    found.stop()


def say(model, n, key):
    said = FeedbackIn(["is-hot", f"new{n % 5}"], item={"text": f"zebra {n % 7} hot"})
    return model.feedback(said, key, "me")


def same_bits(replicas, tmp_path):
    folders = [tmp_path / f"bits{n}" for n, _ in enumerate(replicas.models)]
    for model, folder in zip(replicas.models, folders, strict=True):
        model._published().model.save(folder)
    names = sorted(path.name for path in folders[0].iterdir())
    return all(
        (folders[0] / name).read_bytes() == (folder / name).read_bytes()
        for folder in folders
        for name in names
    )


@pytest.mark.slow
def test_replicas_that_both_write_reach_the_same_bits(replicas, tmp_path):
    def write(at):
        for n in range(30):
            say(replicas.models[at], n, f"{at}-{n}").result(30)

    threads = [threading.Thread(target=write, args=(at,)) for at in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert replicas.settle() == 62
    assert same_bits(replicas, tmp_path)
    first, second = replicas.models
    assert first.figures()["costs"] == second.figures()["costs"]
    assert second.rollback(10, "me").result(30)
    replicas.settle()
    assert same_bits(replicas, tmp_path)


@pytest.mark.slow
def test_a_replica_that_was_cut_off_catches_up(
    replicas, tmp_path, empty_postgres, monkeypatch
):
    """The network of one replica is gone for some seconds, then comes back."""
    first, away = replicas.models
    log = replicas.logs[1]
    say(first, 0, "before").result(30)
    replicas.settle()
    url, log.url, log.timeout = log.url, "postgresql://x@127.0.0.1:1/x", 0.3
    while log._idle:
        log._idle.pop().close()
    log._listener.close()
    for n in range(20):
        say(first, n, f"away-{n}").result(30)
    before = away.applied
    time.sleep(3)
    assert away.applied == before
    assert away.predict([{"text": "hot a"}]).labels, "reads go on"
    log.url, log.timeout = url, 10.0
    assert replicas.settle() == 23
    assert same_bits(replicas, tmp_path)


@pytest.mark.slow
def test_replicas_survive_a_restart_of_the_server(replicas, tmp_path, empty_postgres):
    say(replicas.models[0], 0, "before").result(30)
    empty_postgres.stop()
    waiting = [say(model, 1, f"during-{n}") for n, model in enumerate(replicas.models)]
    assert replicas.models[0].predict([{"text": "hot a"}]).labels
    time.sleep(1)
    empty_postgres.start()
    for future in waiting:
        assert future.result(30).is_new
    assert replicas.settle() == 5
    assert same_bits(replicas, tmp_path)


class Wire:
    """A way to a server that can be cut: nothing comes through then, nobody is told.

    When it is mended, connections of before are reset, as by a router that forgot them.
    """

    def __init__(self, port):
        self.port, self.is_cut = port, threading.Event()
        self._ends, self._threads = [], []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.own_port = self._listener.getsockname()[1]
        self._start(self._accept)

    def mend(self):
        """Let new connections through."""
        old = list(self._ends)
        self.is_cut.clear()
        for end in old:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def close(self):
        """End it."""
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.mend()
        for thread in self._threads:
            thread.join()
        for end in self._ends:
            end.close()

    def _start(self, work, *ends):
        self._threads.append(threading.Thread(target=work, args=ends))
        self._threads[-1].start()

    def _accept(self):
        with suppress(OSError):
            while True:
                near, _ = self._listener.accept()
                far = socket.create_connection(("127.0.0.1", self.port))
                self._ends += [near, far]
                self._start(self._pump, near, far)
                self._start(self._pump, far, near)

    def _pump(self, source, target):
        with suppress(OSError):
            while found := source.recv(1 << 16):
                while self.is_cut.is_set():
                    time.sleep(0.01)
                target.sendall(found)
        for end in (source, target):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)


@pytest.mark.slow
def test_a_replica_cut_off_for_a_minute_catches_up_with_the_same_bits(
    tmp_path, empty_postgres, batch_tagger
):
    wire = Wire(empty_postgres.port)
    through = empty_postgres.url.replace(f":{wire.port}/", f":{wire.own_port}/")
    replicas = Replicas(tmp_path, [empty_postgres.url, through], batch_tagger)
    try:
        first, away = replicas.models
        say(away, 0, "before").result(30)
        replicas.settle()
        before = away.applied
        wire.is_cut.set()
        until, n = time.monotonic() + MINUTE, 0
        lost = say(away, 1, "lost")
        while time.monotonic() < until:
            say(first, n, f"away-{n}").result(30)
            assert away.predict([{"text": "hot a"}]).labels, "reads go on"
            assert away.applied == before
            n += 1
            time.sleep(0.1)
        wire.mend()
        # What was not acknowledged is sent again, by the same key.
        if lost.exception(60) is not None:
            say(away, 1, "lost").result(60)
        replicas.settle()
        assert same_bits(replicas, tmp_path)
        assert first.figures()["costs"] == away.figures()["costs"]
        keys = [event.key for event in read_all(replicas.logs[0])]
        assert keys.count("lost") == 1
        assert {f"away-{each}" for each in range(n)} <= set(keys)
    finally:
        replicas.stop()
        wire.close()
