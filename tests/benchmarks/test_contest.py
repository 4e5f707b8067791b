"""A contest of peers that need no packages: turns, limits, failures, what is kept."""

import json
import shutil
import textwrap

import numpy as np
import pytest
import scipy.sparse as sp

import manylabel as ml
from benchmarks import limits
from benchmarks.catalogue import Catalogue
from benchmarks.ledger import Ledger
from benchmarks.limits import last_line
from benchmarks.peers import environments
from benchmarks.peers.contest import Contest, plan
from benchmarks.peers.environments import Environments
from benchmarks.peers.judging import judge
from benchmarks.peers.programme import HOME, read_programme
from benchmarks.peers.rows import convert
from benchmarks.runner import Failure
from manylabel.data import Dataset, make_corpus, write

CONTRACT = HOME / "programs/contract.py"
PEER = """
    import time
    import numpy as np

    class Entrant:
        def __init__(self, job):
            self.job = job
            with open(job.parameters["trace"], "a") as trace:
                print(job.name, job.seed, file=trace)

        def train(self):
            if self.job.parameters.get("fails"):
                raise ValueError("It is not my day.")
            while self.job.parameters.get("spins"):
                pass
            self.counts = np.asarray(self.job.Y.sum(axis=0)).ravel()
            return self.job.parameters.get("learns")

        def save(self):
            (self.job.model / "counts").write_bytes(bytes(10))

        def rows(self, X):
            return X

        def predict(self, X):
            best = np.argsort(-self.counts, kind="stable")[: self.job.k]
            return [[(i, self.counts[i]) for i in best]] * X.shape[0]
"""
DATA = '[tiny]\ntrain = ["train.txt"]\ntest = ["test.txt"]\n[other]\nall = ["none"]\n'


@pytest.fixture
def home(tmp_path):
    """Return a folder of two peers, both by this interpreter."""
    folder = tmp_path / "benchmarks"
    (folder / "programs").mkdir(parents=True)
    shutil.copy(CONTRACT, folder / "programs")
    text = "sets = { tiny = 2 }\nquick = { tiny = 1 }\n"
    for name in ("ours", "theirs"):
        (folder / "programs" / f"{name}.py").write_text(textwrap.dedent(PEER))
        beside = 'beside = "ours"' if name == "theirs" else ""
        text += f"[peers.{name}]\n[[peers.{name}.entrants]]\n"
        text += f'name = "{name}"\n{beside}\n'
        text += f'parameters = {{ trace = "{tmp_path / "trace"}" }}\n'
    (folder / "peers.toml").write_text(text)
    return folder


@pytest.fixture
def edited(home):
    """Change the text of peers.toml; return the peers."""

    def change(old, new):
        path = home / "peers.toml"
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new, 1))
        return list(read_programme(home).peers.values())

    return change


@pytest.fixture
def contest(tmp_path):
    """Return what makes a contest, of a given limit, on one small data set."""
    corpus = make_corpus(n_rows=60, n_features=12, n_labels=8, random_state=0)
    rows = Dataset(corpus.X, corpus.Y)
    data = tmp_path / "data"
    data.mkdir()
    write(rows[:40], data / "train.txt")
    write(rows[40:], data / "test.txt")
    (tmp_path / "data.toml").write_text(DATA)

    def make(limit=100):
        catalogue = Catalogue(data, tmp_path / "data.toml")
        return Contest(catalogue, tmp_path / "cache", limit)

    return make


@pytest.fixture
def run(contest, tmp_path):
    """Run the entrants of peers on the small set; return why some failed."""

    def call(peers, repeats, *, limit=100, watch=None):
        ledger = Ledger(tmp_path / "runs.jsonl")
        bouts = plan(peers, {"tiny": repeats})
        failed = contest(limit).run(bouts, ledger, watch)
        return {(each["entrant"], each["data"]): each["failure"] for each in failed}

    return call


@pytest.fixture
def trace(tmp_path):
    """Return which entrants were run so far, and with which seed."""
    return lambda: (tmp_path / "trace").read_text().splitlines()


def _peers(home):
    return list(read_programme(home).peers.values())


@pytest.mark.slow
def test_all_entrants_run_before_any_runs_again(home, run, trace):
    assert run(_peers(home), 2) == {}
    assert trace() == ["ours 0", "theirs 0", "ours 1", "theirs 1"]


def test_sets_come_one_after_the_other(home):
    bouts = plan(_peers(home), {"tiny": 2, "other": 1})
    assert [bout.data for bout in bouts] == ["tiny"] * 4 + ["other"] * 2


def test_a_line_has_all_there_is_to_know(home, run, tmp_path):
    run(_peers(home), 1)
    record = json.loads((tmp_path / "runs.jsonl").read_text().splitlines()[1])
    assert (record["peer"], record["entrant"]) == ("theirs", "theirs")
    assert (record["data"], record["repeat"], record["seed"]) == ("tiny", 0, 0)
    assert record["version"] == ml.__version__
    assert {"parameters", "finished", "commit", "machine"} <= record.keys()
    values = record["values"]
    assert values["model_bytes"] == 10
    assert values["peak_bytes"] >= 0
    assert (values["train_rows"], values["given_rows"]) == (40, 40)
    assert (values["batch_rows"], values["test_rows"]) == (20, 20)
    assert (values["features"], values["labels"]) == (12, 8)
    for name in ("train_cpu", "train_clock", "batch_cpu", "batch_clock"):
        assert 0 < values[name] < 10
    assert 0 < values["single_ms"] < 1  # CPU time is not counted in ticks


@pytest.mark.slow
def test_what_changed_runs_again(home, run, trace):
    run(_peers(home), 1)
    with open(home / "programs/theirs.py", "a") as file:
        file.write("# changed\n")
    run(_peers(home), 1)
    assert trace() == ["ours 0", "theirs 0", "theirs 0"]


def test_a_failure_is_told_and_others_go_on(edited, run, trace):
    peers, told = edited("parameters = {", "parameters = { fails = true,"), []
    failures = run(peers, 2, watch=lambda *news: told.append(news))
    assert failures == {("ours", "tiny"): "failed: ValueError: It is not my day"}
    assert trace() == ["ours 0", "theirs 0", "theirs 1"]
    assert [(done, total) for done, total, _ in told] == [(1, 4), (2, 4), (4, 4)]
    run(peers, 1)  # it may go better the next time
    assert trace()[3:] == ["ours 0"]


@pytest.mark.slow
def test_who_takes_too_long_is_ended_and_not_tried_again(
    edited, run, trace, monkeypatch
):
    monkeypatch.setattr(limits, "PATIENCE", 1000)  # however busy the machine is
    peers = edited("parameters = {", "parameters = { spins = true,")
    for _ in range(2):
        assert run(peers, 2, limit=2) == {
            ("ours", "tiny"): "took over 0.0333333 minutes of CPU time"
        }
    assert trace() == ["ours 0", "theirs 0", "theirs 1"]
    run(peers, 1, limit=3)
    assert trace()[3:] == ["ours 0"]


@pytest.mark.slow
def test_a_machine_that_is_too_busy_is_no_fault_of_the_peer(edited, run, monkeypatch):
    monkeypatch.setattr(limits, "PATIENCE", 0.02)
    peers = edited("parameters = {", "parameters = { spins = true,")
    for _ in range(2):  # it is tried again
        reason = "did not end within 0.02 minutes on a busy machine"
        assert run(peers[:1], 2, limit=60) == {("ours", "tiny"): reason}


def test_a_file_that_is_no_peer_fails(home, run):
    (home / "programs/ours.py").write_text("import no_such_module\n")
    assert run(_peers(home), 1)["ours", "tiny"] == (
        "failed: ModuleNotFoundError: No module named 'no_such_module'"
    )


@pytest.mark.slow
def test_a_peer_that_cannot_be_installed_is_told(edited, run, tmp_path, trace):
    nowhere = tmp_path / "no-such-package"
    peers = edited("[peers.theirs]", f'[peers.theirs]\npackages = ["{nowhere}"]')
    reason = run(peers, 2)["theirs", "tiny"]
    assert trace() == ["ours 0", "ours 1"]
    assert reason.startswith("cannot be installed: ")
    assert "no-such-package" in reason
    assert list((tmp_path / "cache" / "peers").iterdir()) == []


@pytest.mark.parametrize("error", [KeyboardInterrupt, Failure("no")])
def test_half_an_environment_is_none(edited, tmp_path, monkeypatch, error):
    def stop(*arguments, **options):
        raise error

    (_, theirs) = edited("[peers.theirs]", '[peers.theirs]\npackages = ["x"]')
    monkeypatch.setattr(environments.venv, "create", lambda *a, **o: None)
    monkeypatch.setattr(environments, "_install", stop)
    with pytest.raises(type(error) if isinstance(error, Failure) else error):
        Environments(tmp_path / "peers").python(theirs)
    assert list((tmp_path / "peers").iterdir()) == []


def test_an_environment_is_made_once_for_the_same_packages(
    edited, tmp_path, monkeypatch
):
    (_, theirs) = edited("[peers.theirs]", '[peers.theirs]\nbare = ["x", "y"]')
    installed = []
    monkeypatch.setattr(environments.venv, "create", lambda *a, **o: None)
    monkeypatch.setattr(
        environments, "_install", lambda program, *p, **o: installed.append((p, o))
    )
    all_of_them = Environments(tmp_path / "peers")
    programs = {all_of_them.python(theirs) for _ in range(2)}
    assert len(programs) == 1
    assert installed == [((), {}), (("x", "y"), {"options": ("--no-deps",)})]
    (_, other) = edited('["x", "y"]', '["x", "z"]')
    assert all_of_them.python(other) not in programs


def test_a_program_that_says_nothing_has_a_reason_too():
    assert last_line(" \n") == "it said nothing"


def test_labels_are_judged_as_the_library_does(contest, tmp_path):
    source = contest().catalogue["tiny"]
    rows = convert(source, tmp_path / "rows")
    train, test = source.parts["train"].Y, source.parts["test"].Y
    model = ml.OneVsRest().fit(source.parts["train"].X, train)
    scores = model.predict_topk(source.parts["test"].X, 5)
    best = scores.indices.reshape(-1, 5)
    order = np.argsort(-scores.data.reshape(-1, 5), axis=1)
    ranked = tmp_path / "out.npz"
    np.savez(ranked, labels=np.take_along_axis(best, order, axis=1))
    report = ml.evaluate(test, scores, propensity=ml.Propensity().fit(train))
    found = judge(rows, ranked, {"a": 0.55, "b": 1.5})
    assert found == {name: pytest.approx(report[name]) for name in found}
    assert list(found) == ["P@1", "P@3", "P@5", "PSP@1", "PSP@3", "PSP@5"]


def test_rows_are_the_same_in_all_forms(contest, tmp_path):
    source = contest().catalogue["tiny"]
    rows = convert(source, tmp_path / "rows")
    assert convert(source, tmp_path / "rows") == rows
    text = ml.read(rows / "train.txt")
    for name in ("X", "Y"):
        matrix = sp.load_npz(rows / f"train_{name}.npz")
        assert (getattr(text, name) != sp.csr_array(matrix)).nnz == 0
    assert sp.load_npz(rows / "test_X.npz").shape == (20, 12)
