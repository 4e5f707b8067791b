"""demo --data debtags tags packages, or says why it cannot."""

import json

import pytest

WORDS = {
    "game::board": "chess board pieces",
    "use::editing": "edit text files",
    "network::server": "serve pages network",
    "sound::player": "play music sound",
}


@pytest.fixture(scope="module")
def lists(tmp_path_factory):
    """Return a folder with a list of packages whose words tell their tags."""
    folder = tmp_path_factory.mktemp("lists")
    facts = list(WORDS.items())
    paragraphs = []
    for i in range(160):
        (tag, words), (other, more) = facts[i % 4], facts[i // 4 % 4]
        tags = f"Tag: {tag},\n {other}" if tag != other else f"Tag: {tag}"
        text = f"Description: {words} {more} for number {i % 7}"
        paragraphs.append(f"Package: package-{i}\n{text}\n{tags}\n")
    (folder / "debian_Packages").write_text("\n".join(paragraphs))
    return folder


@pytest.fixture(scope="module")
def figures(process, lists):
    """Return what a process prints as JSON."""
    done = process("demo", "--data", "debtags", "--lists", lists, "--json")
    assert (done.status, done.err) == (0, "")
    return json.loads(done.out)


def test_packages_are_learnt_and_judged(figures):
    assert figures["data"] == "debtags"
    assert figures["train"] + figures["test"] == 160
    assert figures["test"] > 20
    assert figures["labels"] == len(WORDS)
    assert figures["figures"]["P@1"] > 0.95
    assert {"P@1", "P@3", "P@5", "PSP@1", "PSP@3", "PSP@5"} <= figures["figures"].keys()


def test_a_held_out_package_is_explained_by_its_words(figures):
    example = figures["example"]
    (first, _), *_ = example["tags"]
    assert first in example["recorded"]
    assert example["reason"]["tag"] == first
    word, weight = example["reason"]["words"][0]
    assert word in WORDS[first].split()
    assert weight > 0


def test_people_read_figures_tags_and_reasons(cli, lists):
    outcome = cli("demo", "--data", "debtags", "--lists", lists)
    assert (outcome.status, outcome.err) == (0, "")
    for part in ("packages to learn from", "PSP@5: ", "which was held out", "Why "):
        assert part in outcome.out


def test_a_seed_chooses_the_package(cli, lists):
    def chosen(seed):
        arguments = ("--data", "debtags", "--lists", lists, "--seed", seed, "--json")
        return json.loads(cli("demo", *arguments).out)["example"]["name"]

    assert chosen(0) == chosen(0)
    assert len({chosen(seed) for seed in range(4)}) > 1


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (None, "expected Debian's package lists, found none"),
        ("", "expected package lists with tags, found none"),
        (
            "Package: a\nDescription: a\nTag: a::b\n",
            "expected 100 packages with tags, found 1",
        ),
        ("Package: a\nnonsense\n", "line 2: expected 'Name: value', found 'nonsense'"),
    ],
)
def test_without_packages_a_made_up_corpus_is_used(cli, tmp_path, content, reason):
    if content is not None:
        (tmp_path / "a_Packages").write_text(content)
    outcome = cli("demo", "--data", "debtags", "--lists", tmp_path, "--json")
    assert outcome.status == 0
    assert outcome.err.startswith(f"note: {tmp_path}")
    assert outcome.err.endswith(f"{reason}, so a made-up corpus is used.\n")
    found = json.loads(outcome.out)
    assert found["data"] == "corpus"
    assert found["figures"]["P@1"] > 0.5
    assert found["example"]["name"].startswith("document")


def test_wrong_options_are_refused(cli, lists):
    outcome = cli("demo", "--data", "reuters")
    assert outcome.status == 2
    assert "--data must be one of corpus, debtags. Got 'reuters'." in outcome.err
    outcome = cli("demo", "--lists", lists)
    assert (outcome.status, outcome.out) == (2, "")
    assert outcome.err == "error: --lists needs --data debtags.\n"
