"""Vocabularies: what files say, hierarchies, and what is refused."""

import gzip
import socket
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

import manylabel as ml
from manylabel.exceptions import DataError, MissingExtra

TURTLE = """
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix x: <http://example.org/> .
x:animal a skos:Concept ; skos:prefLabel "animal"@en, "eläin"@fi ;
    skos:altLabel "beast"@en, "creature"@en ; skos:narrower x:dog .
x:mammal skos:prefLabel "mammal"@en ; skos:broader x:animal .
x:cat skos:prefLabel "cat"@en, "kissa"@fi ; skos:broader x:mammal .
x:dog skos:prefLabel "dog"@en-GB ; skos:hiddenLabel "hound"@en-GB .
x:old skos:prefLabel "old"@en ; owl:deprecated true .
x:nameless skos:broader x:cat .
"""
XML = """<?xml version="1.0"?>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
         xmlns:skos="http://www.w3.org/2004/02/skos/core#">
  <skos:Concept rdf:about="http://example.org/cat">
    <skos:prefLabel xml:lang="en">cat</skos:prefLabel>
    <skos:broader rdf:resource="http://example.org/animal"/>
  </skos:Concept>
  <skos:Concept rdf:about="http://example.org/animal">
    <skos:prefLabel xml:lang="en">animal</skos:prefLabel>
  </skos:Concept>
</rdf:RDF>
"""
TSV = "<http://example.org/cat>\tcat\n\n<http://example.org/dog>\tdog\tD1\n"
BOMB = """<?xml version="1.0"?>
<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;"><!ENTITY c "&b;&b;">]>
<x>&c;</x>
"""
X = "http://example.org/"
graphs = st.dictionaries(
    st.sampled_from("abcdef"), st.lists(st.sampled_from("abcdef"), max_size=3)
)


@pytest.fixture
def write(tmp_path):
    def written(text, name="file"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return written


@pytest.mark.parametrize("name", ["v.ttl", "v"])
def test_turtle_has_names_synonyms_and_broader_terms(write, name):
    vocabulary = ml.Vocabulary.read(write(TURTLE, name))
    assert list(vocabulary) == [X + each for each in ("animal", "cat", "dog", "mammal")]
    assert vocabulary.names(X + "animal") == ["animal", "beast", "creature"]
    assert vocabulary.names(X + "dog") == ["dog", "hound"]
    assert vocabulary.languages == ("en", "fi", "en-GB")
    assert vocabulary.parents() == {
        X + "cat": [X + "mammal"],
        X + "dog": [X + "animal"],
        X + "mammal": [X + "animal"],
    }


def test_names_are_shown_in_a_language_or_the_next_best(write):
    vocabulary = ml.Vocabulary.read(write(TURTLE), language="fi")
    assert vocabulary.name(X + "cat") == "kissa"
    assert vocabulary.name(X + "mammal") == "mammal"
    assert vocabulary.name("no such label") == "no such label"
    assert vocabulary.set_params(language="en").name(X + "cat") == "cat"


@pytest.mark.parametrize("name", ["v.rdf", "v"])
def test_rdf_xml_is_read(write, name):
    vocabulary = ml.Vocabulary.read(write(XML, name))
    assert vocabulary.name(X + "cat") == "cat"
    assert vocabulary.parents() == {X + "cat": [X + "animal"]}


@pytest.mark.parametrize("name", ["v.tsv", "v"])
def test_the_tsv_of_annif_is_read(write, name):
    vocabulary = ml.Vocabulary.read(write(TSV, name))
    assert {label: vocabulary.name(label) for label in vocabulary} == {
        X + "cat": "cat",
        X + "dog": "dog",
    }


def test_a_name_a_line_is_a_label_of_that_name(write):
    vocabulary = ml.Vocabulary.read(write("red wine\nbread\n", "names.txt"))
    assert list(vocabulary) == ["bread", "red wine"]
    assert vocabulary.name("bread") == "bread"


def test_gzipped_files_are_read(tmp_path):
    path = tmp_path / "v.ttl.gz"
    path.write_bytes(gzip.compress(TURTLE.encode()))
    assert len(ml.Vocabulary.read(path)) == 4


def test_labels_may_be_called_by_their_names(write):
    named = ml.Vocabulary.read(write(TURTLE)).by_name()
    assert named.parents(["cat", "animal"]) == {"cat": ["animal"]}
    assert named.names("animal") == ["animal", "beast", "creature"]


def ancestors(graph, label):
    """Return all labels above a label; slow and obvious."""
    above = {each for each in graph.get(label, ()) if each in graph}
    return above | {far for each in above for far in ancestors(graph, each)}


@given(graphs, st.sets(st.sampled_from("abcdef")))
def test_parents_bring_all_ancestors_that_are_labels(graph, labels):
    downwards = {k: [v for v in given if v < k] for k, given in graph.items()}
    vocabulary = ml.Vocabulary({k: {"broader": v} for k, v in downwards.items()})
    found = vocabulary.parents(labels)
    for label in labels & downwards.keys():
        assert ancestors(
            found | {each: found.get(each, []) for each in labels}, label
        ) == (ancestors(downwards, label) & labels)


@given(graphs)
def test_cycles_are_said_and_nothing_else_is(graph):
    vocabulary = ml.Vocabulary({k: {"broader": v} for k, v in graph.items()})

    def reaches(label, seen=()):
        return label in seen or any(
            reaches(each, (*seen, label)) for each in graph[label] if each in graph
        )

    if any(map(reaches, graph)):
        with pytest.raises(
            ValueError, match=r"broader must have no cycle\. Got '.*' b"
        ):
            vocabulary.parents()
        with pytest.raises(ValueError, match="no cycle"):
            vocabulary.tree("abcdef")
    else:
        vocabulary.parents()
        for child, parent in vocabulary.tree("abcdef").items():
            assert parent in graph[child]


def test_a_label_brings_its_parents_by_a_vocabulary(write):
    vocabulary = ml.Vocabulary.read(write(TURTLE)).by_name()
    texts = ["a cat", "a dog", "a bird", "a stone"] * 5
    tags = [["cat"], ["dog"], ["animal"], ["thing"]] * 5
    rules = ml.Rules(parents=vocabulary)
    assert ml.Tagger(rules=rules).fit(texts, tags).predict(["cat"]) == [
        ["animal", "cat"]
    ]


def test_a_label_tree_grows_by_a_vocabulary(write):
    vocabulary = ml.Vocabulary.read(write(TURTLE)).by_name()
    texts = ["a cat", "a dog", "a bird", "a stone"] * 5
    tags = [["cat"], ["dog"], ["animal"], ["thing"]] * 5
    taggers = [
        ml.Tagger(ml.LabelTree(parents=parents)).fit(texts, tags)
        for parents in (
            vocabulary,
            {"cat": "mammal", "mammal": "animal", "dog": "animal"},
        )
    ]
    one, other = (tagger.learner_.get_params()["parents"] for tagger in taggers)
    assert one.tolist() == other.tolist()


def test_vocabularies_are_saved_with_rules(write, tmp_path):
    vocabulary = ml.Vocabulary.read(write(TURTLE)).by_name()
    tags = [["cat"], ["animal"]] * 5
    tagger = ml.Tagger(rules=ml.Rules(parents=vocabulary)).fit(["a cat", "a"] * 5, tags)
    tagger.save(tmp_path / "model")
    again = ml.load(tmp_path / "model").rules.parents
    assert again.concepts == vocabulary.concepts


@pytest.mark.parametrize(
    ("text", "name", "message"),
    [
        (BOMB, "v.rdf", r"expected RDF/XML without <!DOCTYPE"),
        (XML[:200], "v.rdf", "expected SKOS in RDF/XML, found what is none: SAXParse"),
        ("@prefix x: <", "v.ttl", "expected SKOS in Turtle, found what is none: BadS"),
        ("[" * 100_000, "v.ttl", "expected SKOS in Turtle, found what is none: Recur"),
        ("<x>\tcat\ncat\n", "v.tsv", r"line 2: expected <uri>, a tab and a name, fo"),
        ("<x>\t\n", "v.tsv", r"line 1: expected <uri>, a tab and a name"),
    ],
)
def test_refuses_what_is_no_vocabulary(write, text, name, message):
    with pytest.raises(DataError, match=message):
        ml.Vocabulary.read(write(text, name))


@pytest.mark.parametrize("name", ["v.ttl", "v.tsv", "v.rdf", "v.txt"])
def test_refuses_files_that_are_too_large(write, name):
    text = {"v.ttl": TURTLE, "v.tsv": TSV, "v.rdf": XML, "v.txt": "cat\n" * 20}[name]
    with pytest.raises(DataError, match="a vocabulary of at most 50 bytes, found more"):
        ml.Vocabulary.read(write(text, name), max_bytes=50)


def test_nothing_is_fetched(write, monkeypatch):
    def refuse(*_, **__):
        raise AssertionError("the network")

    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(socket, "create_connection", refuse)
    imports = TURTLE + "<> owl:imports <http://127.0.0.1:9/x.ttl> ."
    assert len(ml.Vocabulary.read(write(imports))) == 4
    relative = XML.replace("http://example.org/", "http://127.0.0.1:9/")
    assert len(ml.Vocabulary.read(write(relative, "v.rdf"))) == 2


def test_without_rdflib_says_how_to_get_it(write, monkeypatch):
    monkeypatch.setitem(sys.modules, "rdflib", None)
    with pytest.raises(MissingExtra, match=r"manylabel\[skos\]"):
        ml.Vocabulary.read(write(TURTLE))


def test_a_folder_cannot_hold_a_vocabulary_that_is_none():
    from manylabel.persistence.state import rebuild

    params = {"concepts.dict": {"cat": {"names": 3}}, "language": None}
    with pytest.raises(ValueError, match="concepts must have names, synonyms, broader"):
        rebuild("Vocabulary", params, {})
