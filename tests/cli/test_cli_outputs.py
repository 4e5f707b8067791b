"""Outputs: refused before any work where they would destroy what is read."""

import os
from pathlib import Path

import pytest

TABLE = (
    "text,tags\nred wine,drink\nwhite wine,drink\nbrown bread,food\nrye bread,food\n"
)


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    """Work beside a small table with two names."""
    monkeypatch.chdir(tmp_path)
    Path("x.csv").write_text(TABLE)
    os.link("x.csv", "y.csv")


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("predict m x.csv -o x.csv", "--output"),
        ("predict m x.csv -o ./y.csv", "--output"),
        ("predict m new.csv --allow x.csv -o x.csv", "--output"),
        ("convert x.csv x.csv", "OUT"),
        ("split x.csv x.csv b.csv", "TRAIN"),
        ("split x.csv b.csv y.csv", "TEST"),
        ("audit x.csv -o x.csv", "--output"),
        ("audit new.csv --learn x.csv -o x.csv", "--output"),
        ("evaluate m x.csv --labels x.csv", "--labels"),
        ("evaluate m --data x.csv --html x.csv", "--html"),
        ("explain m x.csv --plot y.csv", "--plot"),
        ("describe x.csv --plot y.csv", "--plot"),
        ("predict m new.csv --token-file x.csv -o x.csv", "--output"),
        ("log export x.csv y.csv", "OUT"),
    ],
)
def test_no_output_replaces_an_input(cli, words, name):
    done = cli(*words.split())
    assert (done.status, done.out) == (2, "")
    assert done.err.startswith(f"error: {name} must not be a file that is read. Got ")
    assert Path("x.csv").read_text() == TABLE


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("predict m x.csv -o nix/p.csv", "--output"),
        ("convert x.csv nix/p.csv", "OUT"),
        ("split x.csv a.csv nix/p.csv", "TEST"),
        ("audit x.csv -o nix/p.csv", "--output"),
        ("evaluate m x.csv --labels nix/p.csv", "--labels"),
        ("explain m --html nix/p.csv", "--html"),
        ("stream x.csv --plot nix/p.csv", "--plot"),
    ],
)
def test_a_missing_folder_is_named_before_any_work(cli, words, name):
    assert cli(*words.split()).err == (
        f"error: {name} must lie in a folder that is there. Got nix/p.csv, but there "
        "is no folder nix.\n"
    )


def test_a_folder_that_is_missing_behind_a_link_is_named(cli, tmp_path):
    Path("p.csv").symlink_to("nix/p.csv")
    assert f"there is no folder {tmp_path}/nix" in cli("convert", "x.csv", "p.csv").err
