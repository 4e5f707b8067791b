"""Texts through the command line: fit, predict, evaluate, explain, thresholds."""

import json
import os
import subprocess

import numpy as np
import pytest

TOPICS = {
    "drink": "wine beer water juice glass bottle".split(),
    "food": "bread cheese apple soup plate kitchen".split(),
    "travel": "train ticket hotel airport luggage map".split(),
}


def written(path, n_rows, seed, extra=()):
    """Write texts of one or two topics, with their names as labels."""
    rng = np.random.default_rng(seed)
    with path.open("w") as file:
        for _ in range(n_rows):
            labels = sorted(rng.choice(list(TOPICS), rng.integers(1, 3), replace=False))
            words = [w for name in labels for w in rng.choice(TOPICS[name], 4)]
            row = {"text": " ".join(words), "labels": [*labels, *extra]}
            file.write(json.dumps(row) + "\n")
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory, process):
    """Return a folder with texts, and a tagger fitted to them."""
    folder = tmp_path_factory.mktemp("texts")
    train = written(folder / "train.jsonl", 200, seed=0)
    written(folder / "test.jsonl", 100, seed=1)
    done = process("fit", train, "--model", folder / "tagger", "--valid", "0.2")
    assert done.status == 0, done.err
    assert "chose OneVsRest, because 200 rows are too few" in done.err
    assert "P@1" in done.out
    return folder


@pytest.mark.slow
def test_a_text_on_standard_input_gets_its_tags(process, folder):
    done = process("predict", folder / "tagger", "-k", "1", input=b"a bottle of wine\n")
    assert done.status == 0, done.err
    header, line = done.out.splitlines()
    assert header == "row\tlabel\tscore"
    assert line.startswith("0\tdrink\t")


@pytest.mark.slow
def test_a_text_in_place_of_a_file_is_told_its_place(process, folder):
    done = process("explain", folder / "tagger", "a bottle of wine")
    assert "bottle of wine: no such file or directory; --text TEXT explains" in done.err
    done = process("predict", folder / "tagger", "a bottle of wine")
    assert "; texts come by a pipe: echo TEXT | manylabel predict MODEL." in done.err


@pytest.mark.slow
def test_lines_are_answered_as_they_come(started, folder):
    running = started("predict", folder / "tagger", "-k", "1", stdin=subprocess.PIPE)
    try:
        running.stdin.write(b"bread and cheese\n")
        running.stdin.flush()
        assert running.stdout.readline() == b"row\tlabel\tscore\n"
        assert running.stdout.readline().startswith(b"0\tfood\t")
        out, _ = running.communicate(b"train ticket", timeout=60)
        assert out.startswith(b"1\ttravel\t")
    finally:
        running.kill()


def test_lines_of_a_file_are_texts_whatever_they_look_like(cli, folder, tmp_path):
    lines = tmp_path / "lines"
    lines.write_text("3 4 5\nwine\n\nairport\n")
    done = cli("predict", folder / "tagger", lines, "-k", "1", "--format", "jsonl")
    rows = [json.loads(line) for line in done.out.splitlines()]
    assert [row["row"] for row in rows] == [0, 1, 2, 3]
    assert (rows[1]["labels"], rows[3]["labels"]) == (["drink"], ["travel"])


def test_csv_and_json_lines_get_the_same_tags(cli, folder, tmp_path):
    table, records = tmp_path / "new.csv", tmp_path / "new.jsonl"
    table.write_text("title,body\nDinner,cheese and soup\n")
    records.write_text(json.dumps({"title": "Dinner", "body": "cheese and soup"}))
    answers = [cli("predict", folder / "tagger", path).out for path in (table, records)]
    assert answers[0] == answers[1]
    assert "food" in answers[0]


def test_a_tagger_is_judged(cli, folder):
    test = folder / "test.jsonl"
    done = cli("evaluate", folder / "tagger", "--data", test, "--json")
    figures = json.loads(done.out)["figures"]
    assert figures["P@1"] > 0.9
    assert {"nDCG@3", "PSP@5", "f1"} <= figures.keys()


def test_labels_that_a_tagger_never_learnt_are_missed(cli, folder, tmp_path):
    new = written(tmp_path / "new.jsonl", 100, seed=1, extra=["unheard of"])
    arguments = ("--json", "--labels", tmp_path / "labels.tsv")
    done = cli("evaluate", folder / "tagger", "--data", new, *arguments)
    assert done.status == 0, done.err
    figures = json.loads(done.out)["figures"]
    assert figures["recall@3"] < 1
    (line,) = [
        row
        for row in (tmp_path / "labels.tsv").read_text().splitlines()
        if row.startswith("unheard of")
    ]
    assert line.split("\t")[1] == "100"
    told = "100 of 100 rows have labels that the model never learnt and so misses"
    assert f"{new}: {told}, 1 in all: 'unheard of'." in done.err


def test_two_taggers_are_compared(cli, folder, tmp_path):
    train = folder / "train.jsonl"
    made = ("--model", tmp_path / "other", "--analyzer", "char", "--set", "C=0.5")
    done = cli("fit", train, *made, "--learner", "one-vs-rest")
    assert done.status == 0, done.err
    models = (folder / "tagger", tmp_path / "other")
    done = cli("evaluate", *models, "--data", folder / "test.jsonl")
    assert done.status == 0, done.err
    assert "other" in done.out


def test_an_explanation_has_the_words(cli, folder):
    text = ("--text", "a glass of wine with bread")
    done = cli("explain", folder / "tagger", *text, "--tag", "drink", "--json")
    (reason,) = json.loads(done.out)
    assert reason["tag"] == "drink"
    assert dict(reason["words"])["wine"] > 0 > dict(reason["words"])["bread"]
    assert "wine" in cli("explain", folder / "tagger", *text).out
    row = cli("explain", folder / "tagger", folder / "test.jsonl", "--row", "3")
    assert row.status == 0, row.err


def test_an_unknown_tag_is_refused(cli, folder):
    done = cli("explain", folder / "tagger", "--text", "wine", "--tag", "nothing")
    assert done.status == 2
    assert done.err == "error: --tag must be among the 3 known. Got 'nothing'.\n"
    done = cli("explain", folder / "tagger", "--text", "wine", "--tag", "Drinks")
    assert done.err.endswith("Got 'Drinks'. Did you mean 'drink'?\n")


def test_a_tagger_that_is_no_tree_asks_for_a_text(cli, folder):
    done = cli("explain", folder / "tagger")
    assert done.status == 2
    assert "found a OneVsRest; --text TEXT is explained by its words." in done.err
    done = cli("explain", folder / "tagger", folder / "test.jsonl", "--text", "wine")
    assert done.status == 2
    assert "--text must be left out where a FILE is given." in done.err


def test_a_file_of_other_labels_is_refused(cli, folder, tmp_path):
    other = tmp_path / "other.csv"
    other.write_text("text,tags\nwine,unheard\nbeer,unseen\n")
    for verb in ("evaluate", "thresholds"):
        done = cli(verb, folder / "tagger", "--data", other)
        assert (done.status, done.out) == (2, "")
        assert "that the model was fitted on, 'drink', 'food', 'travel'; " in done.err
        assert "; found 2 others, 'unheard', 'unseen'." in done.err


def test_words_need_a_model_of_texts(cli, model):
    done = cli("explain", model, "--text", "wine")
    assert done.status == 2
    assert "--text and --tag need a model of texts" in done.err


def test_features_are_refused_by_a_tagger(cli, folder, files):
    done = cli("evaluate", folder / "tagger", "--data", files / "test.txt")
    assert done.status == 2
    assert "expected texts, as the model was fitted on, found rows of" in done.err


def test_a_tree_of_texts_names_its_words(cli, folder, tmp_path):
    made = ("--model", tmp_path / "tree", "--learner", "annotation-tree")
    assert cli("fit", folder / "train.jsonl", *made).status == 0
    done = cli("explain", tmp_path / "tree", "--plot", tmp_path / "tree.png")
    assert done.status == 0, done.err
    assert any(word in done.out for words in TOPICS.values() for word in words)
    assert (tmp_path / "tree.png").exists()


@pytest.mark.parametrize("target", ["f1", "precision=0.95", "recall=0.9"])
def test_thresholds_make_sets(cli, folder, tmp_path, target):
    path = tmp_path / "cut"
    made = ("--model", path, "--learner", "one-vs-rest")
    assert cli("fit", folder / "train.jsonl", *made).status == 0
    arguments = (folder / "test.jsonl", "--for", target)
    for _ in range(2):  # chosen again, they replace the first
        done = cli("thresholds", path, *arguments)
        assert done.status == 0, done.err
    assert f"Thresholds for {target} on 100 rows" in done.out
    lines = tmp_path / "lines"
    lines.write_text("wine and beer\n")
    sets = cli("predict", path, lines, "--sets", "--format", "jsonl")
    assert json.loads(sets.out)["labels"][0] == "drink"


def test_thresholds_of_features_keep_names(cli, files, tmp_path):
    path = tmp_path / "model"
    made = ("--model", path, "--learner", "one-vs-rest")
    assert cli("fit", files / "train.arff", *made).status == 0
    data = files / "test.arff"
    done = cli("thresholds", path, "--data", data, "--per-label", "--json")
    assert done.status == 0, done.err
    assert json.loads(done.out)["rows"] == 100
    assert "label 1" in cli("predict", path, data).out


def test_thresholds_need_rows_to_choose_by(cli, folder):
    done = cli("thresholds", folder / "tagger")
    assert (done.status, done.out) == (2, "")
    assert done.err == "error: FILE, rows to choose by, must follow MODEL.\n"


@pytest.mark.parametrize("target", ["precision=9", "f1=0.5", "recall=", "nosuch"])
def test_a_bad_target_is_refused_and_the_model_kept(cli, folder, target):
    before = (folder / "tagger" / "manifest.json").read_bytes()
    arguments = ("--data", folder / "test.jsonl", "--for", target)
    done = cli("thresholds", folder / "tagger", *arguments)
    assert done.status == 2
    assert "--for must be a cost, such as f1, or precision=" in done.err
    assert (folder / "tagger" / "manifest.json").read_bytes() == before


@pytest.fixture(scope="module")
def table(tmp_path_factory, folder):
    """Return a CSV file as people have them: title, body, and tags between ``;``."""
    path = tmp_path_factory.mktemp("table") / "mine.csv"
    rows = map(json.loads, (folder / "train.jsonl").read_text().splitlines())
    lines = (f"{i},{r['text']},{';'.join(r['labels'])}" for i, r in enumerate(rows))
    path.write_text("\n".join(["title,body,tags", *lines]))
    return path


def test_a_separator_that_was_told_is_noted_once(cli, table, tmp_path):
    model = ("--model", tmp_path / "model")
    done = cli("fit", table, *model)
    hint = "labels in 'tags' are separated by ';' (--label-separator if not)"
    assert (done.status, done.err.count(hint)) == (0, 1)
    other = tmp_path / "other.csv"
    other.write_text(table.read_text())
    done = cli("evaluate", tmp_path / "model", "--data", other)
    assert (done.status, done.err.count(hint)) == (0, 1)
    assert cli("describe", tmp_path / "model", "--json").out.count('"food"') >= 1
    done = cli("fit", table, *model, "--label-separator", "|")
    assert "'drink;food' looks like several: --label-separator ';' mak" in done.err
    done = cli("fit", table, *model, "--label-separator", ";")
    assert "label-separator" not in done.err
    done = cli("evaluate", tmp_path / "model", "--data", table, "--label-separator=;")
    assert (done.status, done.err) == (0, "")


@pytest.mark.parametrize("names", ["a", "a;b c", "a;b"])
def test_labels_are_not_doubted_without_reason(cli, tmp_path, names):
    path = tmp_path / "table.csv"
    path.write_text("\n".join(["text,labels", *[f"wine beer,{names}"] * 20]))
    done = cli("fit", path, "--model", tmp_path / "model")
    assert done.status == 0, done.err
    assert "looks like several" not in done.err


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("", "expected data, found an empty file."),
        ("text,tags\n", "expected rows, found none."),
        ("text,tags\nwine,\nbeer,\n", "expected labels, found none in 2 rows."),
        ("text,tags\n!,a\n?,b\n", "texts must have words"),
        ("words,tags\nwine,a\n", "line 1: expected a header with the text in a field"),
    ],
)
def test_a_table_without_something_to_learn_is_refused(
    cli, tmp_path, content, sentence
):
    path = tmp_path / "table.csv"
    path.write_text(content)
    done = cli("fit", path, "--model", tmp_path / "model")
    assert (done.status, done.out) == (2, "")
    assert sentence in done.err
    assert not (tmp_path / "model").exists()


def test_few_rows_are_enough_even_a_single_one(cli, tmp_path):
    path, model = tmp_path / "table.csv", tmp_path / "model"
    path.write_text("text,tags\nred wine,drink\n")
    done = cli("fit", path, "--model", model)
    assert done.status == 0, done.err
    assert "1 row is too few" in done.err
    assert "model on 1 row of" in cli("evaluate", model, path).out
    path.write_text("text,tags\nred wine,drink\nrye bread,food\n")
    assert cli("fit", path, "--model", model).status == 0
    for text, tag in (("wine", "drink"), ("bread", "food")):
        lines = tmp_path / "lines"
        lines.write_text(text)
        assert f"0\t{tag}\t" in cli("predict", model, lines, "-k", "1").out


def test_a_label_of_every_row_is_learnt(cli, tmp_path):
    train = written(tmp_path / "train.jsonl", 100, seed=2, extra=["always"])
    done = cli("fit", train, "--model", tmp_path / "model")
    assert done.status == 0, done.err
    out = cli("predict", tmp_path / "model", train, "--sets").out
    assert out.count("\talways\t") == 100


@pytest.mark.slow
def test_texts_without_words_and_long_texts_get_an_answer(process, folder):
    text = "!?\n\n" + "wine " * 10_000 + "\n"
    done = process("predict", folder / "tagger", "-k", "1", input=text.encode())
    assert (done.status, done.err) == (0, "")
    rows = [line.split("\t") for line in done.out.splitlines()[1:]]
    assert [row[0] for row in rows] == ["0", "1", "2"]
    assert rows[2][1] == "drink"


def test_features_in_place_of_texts_are_refused(cli, folder, files, standard_input):
    for name, format in {"svm": "svmlight", "txt": "xc", "arff": "meka"}.items():
        done = cli("predict", folder / "tagger", files / f"test.{name}", "-k", "1")
        assert (done.status, done.out) == (2, "")
        assert "expected texts, as the model was fitted on, found rows" in done.err
        assert f"({format})." in done.err
    standard_input((files / "test.svm").read_bytes())
    done = cli("predict", folder / "tagger")
    assert (done.status, done.out) == (2, "")
    assert "--from lines takes each line for a text." in done.err
    done = cli("predict", folder / "tagger", files / "test.svm", "--from", "lines")
    assert (done.status, done.err) == (0, "")


@pytest.mark.slow
def test_texts_are_refused_by_a_model_of_features(process, model, table):
    done = process("predict", model, table)
    assert (done.status, done.out) == (2, "")
    assert "found texts; in Python, TextVectorizer makes them." in done.err
    done = process("predict", model, input=b"a bottle of wine\n")
    assert (done.status, done.out) == (2, "")
    assert done.err.startswith(
        "error: standard-input, line 1: expected rows of features, as the model was "
        "fitted on, found 'a bottle of wine'."
    )


@pytest.mark.slow
def test_texts_on_a_closed_standard_input_are_none(process, folder, tmp_path):
    closed = {"preexec_fn": lambda: os.close(0)}
    done = process("predict", folder / "tagger", **closed)
    assert (done.status, done.out, done.err) == (0, "row\tlabel\tscore\n", "")
    done = process("fit", "-", "--model", tmp_path / "model", **closed)
    assert (done.status, done.out) == (2, "")
    assert done.err == "error: standard-input: expected data, found an empty file.\n"


def test_the_language_of_texts_is_told_and_printed(cli, tmp_path):
    rows = [
        '{"text": "Metsässä on sieniä, ja ne ovat syötäviä", "labels": ["nature"]}',
        '{"text": "Kirjat ovat hyllyssä, mutta se ei ole auki", "labels": ["books"]}',
    ]
    train = tmp_path / "train.jsonl"
    train.write_text("\n".join(rows), encoding="utf-8")
    made = ("--model", tmp_path / "model", "--json")
    done = cli("fit", train, *made, "--language", "auto")
    assert done.status == 0, done.err
    assert json.loads(done.out)["language"] == "fi"
    refused = cli("fit", train, *made, "--language", "xx")
    assert refused.status == 2
    assert "--language must be one of auto, da, de" in refused.err


def test_labels_of_a_vocabulary_are_suggested_and_named(cli, tmp_path):
    names = {"x:wine": "wine", "x:bread": "bread", "x:cheese": "cheese"}
    vocabulary = tmp_path / "vocabulary.tsv"
    lines = (f"<{label}>\t{name}\n" for label, name in names.items())
    vocabulary.write_text("".join(lines), encoding="utf-8")
    rows = [("red wine", "x:wine"), ("rye bread", "x:bread"), ("wine", "x:wine")] * 10
    train = tmp_path / "train.jsonl"
    lines = (json.dumps({"text": text, "labels": [x]}) + "\n" for text, x in rows)
    train.write_text("".join(lines), encoding="utf-8")
    made = ("--model", tmp_path / "model", "--learner", "one-vs-rest")
    done = cli("fit", train, *made, "--vocabulary", vocabulary)
    assert done.status == 0, done.err
    text = tmp_path / "text.txt"
    text.write_text("some cheese")
    done = cli("predict", tmp_path / "model", text, "-k", "1")
    header, line = done.out.splitlines()
    assert header == "row\tlabel\tscore\tname"
    assert line.startswith("0\tx:cheese\t")
    assert line.endswith("\tcheese")
    done = cli("predict", tmp_path / "model", text, "-k", "1", "--format", "jsonl")
    assert json.loads(done.out)["names"] == ["cheese"]
    vocabulary.write_text("<y:other>\tother\n")
    refused = cli("fit", train, *made, "--vocabulary", vocabulary)
    assert refused.status == 2
    assert "expected labels of the data, found none of 2" in refused.err


def test_a_label_brings_its_broader_terms(cli, tmp_path):
    pytest.importorskip("rdflib")
    vocabulary, train = tmp_path / "animals.ttl", tmp_path / "train.csv"
    vocabulary.write_text(
        "@prefix skos: <http://www.w3.org/2004/02/skos/core#> .\n@prefix x: <x:> .\n"
        'x:animal skos:prefLabel "animal" .\n'
        'x:cat skos:prefLabel "cat" ; skos:broader x:animal .\n'
    )
    train.write_text("text,tags\n" + "a cat,cat\na bird,animal\na stone,thing\n" * 5)
    model = tmp_path / "model"
    made = ("--model", model, "--learner", "one-vs-rest", "--broader")
    done = cli("fit", train, *made, "--vocabulary", vocabulary)
    assert done.status == 0, done.err
    text = tmp_path / "text.txt"
    text.write_text("my cat")
    done = cli("predict", model, text, "--sets", "--format", "jsonl")
    assert json.loads(done.out)["labels"] == ["cat", "animal"]
    refused = cli("fit", train, *made)
    assert (refused.status, refused.out) == (2, "")
    assert "--broader must come with --vocabulary" in refused.err


def test_rows_of_features_have_no_language(cli, files):
    made = ("--model", files / "model", "--learner", "one-vs-rest")
    for option in (("--language", "de"), ("--analyzer", "char")):
        refused = cli("fit", files / "train.txt", *made, *option)
        assert (refused.status, refused.out) == (2, "")
        assert f"{option[0]} needs texts, found rows of features" in refused.err


def test_what_has_no_single_tree_names_what_it_explains(cli, tmp_path):
    texts, model = tmp_path / "x.csv", tmp_path / "m"
    rows = "".join(f"wine {n % 3},{n % 3}\n" for n in range(12))
    texts.write_text(f"text,tags\n{rows}")
    cli("fit", texts, "--model", model, "--learner", "label-tree")
    assert cli("explain", model).err.endswith(
        "expected a tree over labels, found a LabelTree; give --text TEXT or a FILE, "
        "without --plot and --html, to have a row explained.\n"
    )
