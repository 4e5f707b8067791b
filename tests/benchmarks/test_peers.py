"""The programme of a contest, the real one and broken ones, and its contract."""

import ast
import importlib.util
import json

import numpy as np
import pytest
import scipy.sparse as sp

import manylabel as ml
from benchmarks import toml_files
from benchmarks.peers.programme import HOME, read_programme
from benchmarks.peers.sources import PACKAGE, sources
from manylabel.exceptions import DataError

REAL = read_programme()
VERBS = {"train", "save", "rows", "predict"}
GOOD = """
sets = { tiny = 1 }
quick = { tiny = 1 }
[peers.a]
[[peers.a.entrants]]
name = "one"
"""


@pytest.fixture(scope="session")
def contract():
    """Return the program that measures, as a module."""
    spec = importlib.util.spec_from_file_location(
        "contract", HOME / "programs/contract.py"
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", REAL.peers)
def test_each_peer_has_a_file_that_meets_the_contract(name):
    tree = ast.parse(REAL.peers[name].path.read_text())
    (entrant,) = (node for node in tree.body if isinstance(node, ast.ClassDef))
    verbs = {each.name for each in entrant.body if isinstance(each, ast.FunctionDef)}
    assert entrant.name == "Entrant"
    assert VERBS | {"__init__"} <= verbs
    assert REAL.peers[name].threads


@pytest.mark.parametrize("name", REAL.peers)
def test_a_saved_model_is_data_and_not_code(name):
    assert "pickle" not in REAL.peers[name].path.read_text()


def test_the_best_labels_are_picked_from_all_scores(contract):
    job = contract.Job.__new__(contract.Job)
    job.k = 2
    scores = np.array([[0.1, 0.9, -1.0, 0.5], [3.0, 1.0, 2.0, 0.0]])
    found = job.best(scores, np.array([4, 5, 6, 7]))
    assert [sorted(map(tuple, row)) for row in found.tolist()] == [
        [(5, 0.9), (7, 0.5)],
        [(4, 3.0), (6, 2.0)],
    ]


def test_data_sets_are_those_of_the_catalogue():
    known = toml_files.read(toml_files.HOME / "data.toml")
    assert REAL.sets.keys() <= known.keys()
    assert REAL.quick.keys() <= REAL.sets.keys()


def test_ours_can_be_made_and_all_others_are_beside_one():
    ours = {}
    for entrant in REAL.peers["manylabel"].entrants:
        given = dict(entrant.parameters)
        getattr(ml, given.pop("class"))(**given)
        ours[entrant.name] = entrant.beside
    assert set(ours.values()) == {None}
    for name, peer in REAL.peers.items():
        if name != "manylabel":
            assert {entrant.beside for entrant in peer.entrants} <= ours.keys()
            assert not peer.is_installed


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("quick", "quack", "expected one of sets, quick, peers, found 'quack'"),
        ("[[peers.a.entr", "oops = 1\n[[peers.a.entr", "found 'oops'"),
        ('name = "one"', "", "expected 'name', found nothing"),
        ('"one"', '"one"\nrows = "long"', "expected rows = given or unit of 'one'"),
        ('"one"', '"one"\nbeside = "two"', "expected an entrant beside 'one'"),
        ('"one"', '"one"\n[[peers.a.entrants]]\nname = "one"', "expected one 'one'"),
    ],
)
def test_a_broken_programme_is_refused(tmp_path, old, new, message):
    assert old in GOOD
    (tmp_path / "peers.toml").write_text(GOOD.replace(old, new, 1))
    with pytest.raises(DataError, match=message):
        read_programme(tmp_path)


@pytest.mark.parametrize("unit", [False, True])
def test_rows_have_unit_length_where_that_is_asked_for(contract, tmp_path, unit):
    X = sp.csr_matrix(np.array([[3.0, 4.0], [0.0, 0.0]], np.float32))
    for name in ("train_X", "test_X", "train_Y"):
        sp.save_npz(tmp_path / f"{name}.npz", X)
    told = dict.fromkeys(("name", "parameters", "k", "singles", "test_rows", "seed"))
    folders = dict.fromkeys(("peer", "data", "model", "out"), str(tmp_path))
    (tmp_path / "job.json").write_text(json.dumps(told | folders | {"unit": unit}))
    job = contract.Job(tmp_path / "job.json")
    expected = [[0.6, 0.8], [0, 0]] if unit else [[3, 4], [0, 0]]
    for rows in (job.X, job.test()):
        np.testing.assert_allclose(rows.toarray(), expected, rtol=1e-6)


@pytest.mark.parametrize(
    "found",
    [
        sp.csr_array(np.array([[0.5, 0.9, 0.0], [0.0, 0.0, -1.0]])),
        [[(0, 0.5), (1, 0.9)], [(2, -1.0)]],
    ],
    ids=["matrix", "pairs"],
)
def test_labels_are_ranked_and_the_rest_is_none(contract, found):
    labels, scores = contract._ranked(found, 2)
    assert labels.tolist() == [[1, 0], [2, contract.NOTHING]]
    assert scores.tolist() == [[0.9, 0.5], [-1.0, -np.inf]]


def test_a_learner_of_ours_depends_on_what_it_imports_and_no_more():
    files = {str(path.relative_to(PACKAGE)) for path in sources("OneVsRest")}
    assert {"baselines/_one_vs_rest.py", "_kernels/linear/svm.py", "base.py"} <= files
    assert not {path for path in files if path.startswith(("trees", "cli"))}
    assert "__init__.py" not in files
