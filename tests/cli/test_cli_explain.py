"""``manylabel explain``."""

import json

import pytest

import manylabel as ml
from manylabel.cli import inputs


@pytest.fixture(scope="module")
def forest(files, dataset, tmp_path_factory):
    train, _ = dataset
    folder = tmp_path_factory.mktemp("explain") / "forest"
    ml.FastXML(n_estimators=4, C=10.0).fit(train.X, train.Y).save(folder)
    return folder


@pytest.fixture(scope="module")
def tree(files, process, tmp_path_factory):
    folder = tmp_path_factory.mktemp("explain") / "tree"
    train = files / "train.arff"
    done = process("fit", train, "--model", folder, "--learner", "annotation-tree")
    assert done.status == 0, done.err
    return folder


@pytest.mark.parametrize("n_rows", [3, 10_000])
def test_explain_prints_what_python_would(
    cli, forest, files, dataset, monkeypatch, n_rows
):
    monkeypatch.setattr(inputs, "N_ROWS", n_rows)
    _, test = dataset
    outcome = cli("explain", forest, files / "test.txt", "--row", 7, "--trees", 2)
    expected = ml.load(forest).explain(test.X[7:8]).text(n_estimators=2)
    assert (outcome.status, outcome.out, outcome.err) == (0, expected + "\n", "")


def test_explain_for_programs_has_the_whole_way(cli, forest, files):
    outcome = cli("explain", forest, files / "test.txt", "--json", "-k", 2)
    found = json.loads(outcome.out)
    assert len(found["labels"]) == 2
    assert len(found["paths"]) == 3
    assert found["paths"][0]["decisions"][0]["node"] == 0


@pytest.mark.parametrize("learner", ["annotation-tree", "powerset-tree"])
def test_trees_over_labels_are_learnt_and_explained(cli, files, learner, tmp_path):
    train, test = files / "train.txt", files / "test.txt"
    outcome = cli("fit", train, "--model", tmp_path / "m", "--learner", learner)
    assert outcome.status == 0, outcome.err
    outcome = cli("explain", tmp_path / "m", test)
    assert outcome.status == 0, outcome.err
    assert "rows in the leaf" in outcome.out
    found = json.loads(cli("explain", tmp_path / "m", test, "--json").out)
    assert found["paths"][0]["decisions"][0]["node"] == 0


def test_explain_refuses_rows_and_models_that_it_cannot_explain(
    cli, forest, model, files
):
    outcome = cli("explain", forest, files / "test.txt", "--row", 10**6)
    assert outcome.status == 2
    assert "expected more than 1000000 rows, found" in outcome.err
    outcome = cli("explain", model, files / "test.txt")
    assert outcome.status == 2
    assert "expected a tree or a forest, found a OneVsRest" in outcome.err


def test_a_tree_is_told_with_the_names_that_it_keeps(cli, tree, files):
    model, data = ml.load(tree).learner_, ml.read(files / "train.arff")
    names = {"feature_names": data.feature_names, "label_names": data.label_names}
    for depth in (0, 2, 3):
        outcome = cli("explain", tree, *(("--depth", depth) if depth < 3 else ()))
        assert (outcome.status, outcome.err) == (0, "")
        head, _, told = outcome.out.partition("300 rows")
        assert "300 rows" + told == model.outline(depth, **names) + "\n"
        assert "mean decisions" in head
    assert "label 0" in outcome.out
    assert data.feature_names[0] in cli("explain", tree, "--depth", 99).out


def test_a_tree_for_programs_has_its_nodes_and_figures(cli, tree):
    found = json.loads(cli("explain", tree, "--json", "--depth", 1).out)
    assert [node["parent"] for node in found["nodes"]] == [-1, 0, 0]
    assert found["diagnostics"]["depth"] == ml.load(tree).learner_.diagnostics().depth


def test_a_tree_without_decisions_is_told_too(cli, tmp_path):
    ml.AnnotationTree().fit([[1.0], [2.0]], [[1], [1]]).save(tmp_path / "m")
    assert cli("explain", tmp_path / "m").out.endswith("2 rows, labels 0\n")
    found = json.loads(cli("explain", tmp_path / "m", "--json").out)
    assert found["diagnostics"]["margin"] is None
    outcome = cli("explain", tmp_path / "m", "--plot", tmp_path / "tree.png")
    assert outcome.status == 0, outcome.err


def test_explain_takes_the_names_of_features_from_a_file(cli, tree, tmp_path):
    names = [f"word {i}" for i in range(40)]
    (tmp_path / "names").write_text("\n".join(names))
    outcome = cli("explain", tree, "--feature-names", tmp_path / "names")
    assert "word " in outcome.out
    (tmp_path / "names").write_text("\n".join(names[1:]))
    outcome = cli("explain", tree, "--feature-names", tmp_path / "names")
    assert outcome.status == 2
    assert "names: expected 40 names, found 39." in outcome.err


@pytest.mark.slow
@pytest.mark.parametrize("row", [None, 7])
def test_explain_draws_what_python_would(cli, tree, files, tmp_path, row):
    model, data = ml.load(tree).learner_, ml.read(files / "test.arff")
    arguments = [] if row is None else [files / "test.arff", "--row", row]
    told = cli("explain", tree, *arguments).out
    drawn, written = tmp_path / "tree.svg", tmp_path / "tree.html"
    outcome = cli("explain", tree, *arguments, "--plot", drawn, "--html", written)
    assert (outcome.status, outcome.out) == (0, told)
    assert outcome.err == f"note: wrote {drawn}.\nnote: wrote {written}.\n"
    options = {
        "X": None if row is None else data.X[row : row + 1],
        "feature_names": data.feature_names,
        "label_names": data.label_names,
        "title": "tree",
    }
    ml.write_tree_html(model, tmp_path / "expected.html", **options)
    assert written.read_bytes() == (tmp_path / "expected.html").read_bytes()
    assert (b"class=passed" in written.read_bytes()) == (row is not None)
    assert ("#d55e00" in drawn.read_text()) == (row is not None)
    assert "<!-- label " in drawn.read_text()


def test_pictures_and_pages_stop_at_a_depth(cli, tree, tmp_path):
    out = tmp_path / "tree.html"
    cli("explain", tree, "--html", out, "--depth", 1)
    assert out.read_text().count("<li id=") == 3
    cli("explain", tree, "--html", out)
    assert out.read_text().count("<li id=") == len(
        ml.load(tree).learner_.tree_.children
    )


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--plot", "tree.gif"], "--plot must end with one of .png, .pdf, .svg."),
        (["--plot", "nowhere/tree.png"], "--plot must lie in a folder that is there."),
        (["--html", "nowhere/tree.html"], "there is no folder nowhere."),
        (["--row", 3], "--row needs a FILE that has it."),
        (["--plot", "tree.png", "--depth", 300], "the tree fits on paper. Got 300,"),
    ],
)
def test_explain_refuses_what_it_cannot_draw(
    cli, tree, tmp_path, monkeypatch, arguments, reason
):
    monkeypatch.chdir(tmp_path)
    outcome = cli("explain", tree, *arguments)
    assert (outcome.status, outcome.out) == (2, "")
    assert reason in outcome.err
    assert not list(tmp_path.iterdir())


def test_forests_are_explained_by_rows_only(cli, forest, files, tmp_path):
    for arguments in ([], [files / "test.txt", "--html", tmp_path / "tree.html"]):
        outcome = cli("explain", forest, *arguments)
        assert outcome.status == 2
        assert "expected a tree over labels, found a FastXML" in outcome.err
    assert not list(tmp_path.iterdir())
