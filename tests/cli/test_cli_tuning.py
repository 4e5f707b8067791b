"""``fit --tune``: the best of a few settings."""

import json

import pytest

import manylabel as ml
from manylabel.model_selection.search import value


def test_the_best_of_the_grid_is_fitted_to_all_rows(cli, files, dataset, tmp_path):
    train, test = dataset
    out = tmp_path / "model"
    arguments = ("--learner", "one-vs-rest", "--tune", "PSP@3", "--json")
    done = cli("fit", files / "train.arff", "--model", out, *arguments)
    assert done.status == 0, done.err
    grid = (1.0, 0.1, 0.3, 3.0, 10.0)
    values = [value(ml.OneVsRest(C=c), train.X, train.Y, "PSP@3") for c in grid]
    best = grid[values.index(max(values))]
    assert len(set(values)) > 1
    *trials, chosen = done.err.splitlines()
    assert trials == [
        f"tune: PSP@3 {100 * worth:.2f} with C={c}"
        for c, worth in zip(grid, values, strict=True)
    ]
    assert chosen == f"note: chose C={best}, for PSP@3."
    assert json.loads(done.out)["tuned"] == f"C={best}"
    fitted = ml.OneVsRest(C=best).fit(train.X, train.Y).decision_function(test.X)
    assert (ml.load(out).learner_.decision_function(test.X) == fitted).all()


def test_what_is_set_is_kept(cli, files, tmp_path):
    arguments = ("--learner", "plst", "--set", "n_components=3", "--tune", "P@1")
    done = cli("fit", files / "train.arff", "--model", tmp_path / "model", *arguments)
    assert done.status == 0, done.err
    assert done.err.count("tune: ") == 3
    assert ml.load(tmp_path / "model").learner_.n_components == 3


def test_a_blend_of_texts_is_tuned_by_its_own_choice(cli, tmp_path):
    rows = [{"text": f"wine beer {i % 7}", "labels": [f"t{i % 3}"]} for i in range(40)]
    train = tmp_path / "train.jsonl"
    train.write_text("\n".join(map(json.dumps, rows)))
    arguments = ("--learner", "blend", "--tune", "PSP@1", "--jobs", "1")
    done = cli("fit", train, "--model", tmp_path / "model", *arguments)
    assert done.status == 0, done.err
    assert "note: chose metrics=PSP@1, for PSP@1." in done.err
    assert tuple(ml.load(tmp_path / "model").learner_.metrics) == ("PSP@1",)


def test_texts_are_tuned_too(cli, tmp_path):
    rows = [{"text": f"wine beer {i % 7}", "labels": [f"t{i % 3}"]} for i in range(40)]
    train = tmp_path / "train.jsonl"
    train.write_text("\n".join(map(json.dumps, rows)))
    done = cli("fit", train, "--model", tmp_path / "model", "--tune", "nDCG@3")
    assert done.status == 0, done.err
    assert done.err.count("tune: nDCG@3") == 5


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--tune", "best"], "--tune: metric must be one of P, nDCG, "),
        (["--tune", "P@1", "--learner", "popularity"], "Got Popularity."),
        (
            ["--tune", "P@1", "--learner", "one-vs-rest", "--set", "C=2"],
            "--tune: OneVsRest must have a parameter to try. All are fixed: C.",
        ),
    ],
)
def test_what_cannot_be_tuned_is_refused_before_the_file_is_read(
    cli, tmp_path, arguments, sentence
):
    done = cli("fit", tmp_path / "none", "--model", tmp_path / "model", *arguments)
    assert (done.status, done.out) == (2, "")
    assert sentence in done.err
    assert done.err.count("\n") == 1
